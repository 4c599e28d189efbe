// The names that a source's expressions use, with their values for a workload and an arm.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/expression.h"
#include "tuning/value.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::tuning {

using SourceSettings = google::protobuf::RepeatedPtrField<v1::Setting>;

// Of one launch parameter: an integer, a float, True or False (`true` and `false` too) where the
// text is one, else a string.
Value source_value(std::string_view text);

// NOT_FOUND lists the variants.
absl::StatusOr<const v1::SourceVariant*> source_variant(const v1::SourceSpec& spec,
                                                        const std::string& name);

// All parameters of the arm's variant with their values' text, in the specification's order.
// NOT_FOUND: the variant has not what the arm sets.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> source_parameters(
    const v1::SourceSpec& spec, const v1::Arm& arm);

class SourceScope {
 public:
  // Of axes alone. INVALID_ARGUMENT: one has no integer.
  static absl::StatusOr<SourceScope> make(const v1::SourceSpec& spec, const SourceSettings& axes);

  // Parameters that the arm's variant has not are not there.
  static absl::StatusOr<SourceScope> make(const v1::SourceSpec& spec,
                                          const SourceSettings& axes,
                                          const v1::Arm& arm);

  const std::vector<std::string>& names() const { return names_; }

  absl::StatusOr<Value> evaluate(const std::string& field, const std::string& text) const;

  // INVALID_ARGUMENT: no integer, or below `min`; RESOURCE_EXHAUSTED: above `max`. A whole float
  // counts as an integer.
  absl::StatusOr<std::int64_t> integer(const std::string& field,
                                       const std::string& text,
                                       std::int64_t min,
                                       std::int64_t max) const;

  // INVALID_ARGUMENT unless it is true.
  absl::Status require(const std::string& field, const std::string& text) const;

 private:
  absl::StatusOr<Value> evaluate(const std::string& field, const Expression& expression) const;
  absl::Status with_values(const absl::Status& error,
                           const std::string& field,
                           const Expression& expression) const;
  void add(const std::string& name, Value value);

  std::vector<std::string> names_;
  std::vector<Value> values_;
};

}  // namespace assay::tuning
