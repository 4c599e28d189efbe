// The configurations of a tuning specification: every combination of the parameters' values that
// the restrictions let through. None of it is ever held: a search binds one parameter after the
// other and evaluates each restriction as soon as its parameters are bound.
#pragma once

#include "tuning/expression.h"
#include "tuning/value.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::tuning {

struct TuningParameter {
  std::string name;
  std::vector<Value> values;  // at least one
};

struct Restriction {
  std::string field;  // where it stands in the file, for errors
  Expression expression;
};

// What one restriction takes of that which those before it left.
struct Removal {
  std::size_t restriction = 0;  // its index
  std::int64_t num_removed = 0;
  std::int64_t num_left = 0;
};

struct SpaceCount {
  std::int64_t num_valid = 0;
  std::int64_t num_combinations = 0;
  std::vector<Removal> removals;  // in the order of evaluation, without those that remove nothing
};

// A value for each parameter, in their order.
using TuningValues = std::vector<Value>;

// A restriction that has no value for some configuration (a division by zero) is an error only
// where all others let that configuration through. RESOURCE_EXHAUSTED: more than 500,000,000
// evaluations.
class SearchSpace {
 public:
  static constexpr std::int64_t kMaxSteps = 2'000'000'000;

  // Expressions must be parsed for the parameters' names in their order. INVALID_ARGUMENT when the
  // number of combinations needs more than 63 bits.
  static absl::StatusOr<SearchSpace> make(std::vector<TuningParameter> parameters,
                                          std::vector<Restriction> restrictions,
                                          std::int64_t max_steps = kMaxSteps);

  const std::vector<TuningParameter>& parameters() const { return parameters_; }

  const std::vector<Restriction>& restrictions() const { return restrictions_; }

  std::int64_t max_steps() const { return max_steps_; }

  std::int64_t num_combinations() const { return num_combinations_; }

  // Parameters that no restriction joins are counted apart and multiplied.
  absl::StatusOr<SpaceCount> count() const;

  // The valid configurations in the file's order, the last parameter fastest, until `visitor` gives
  // false.
  absl::Status visit(const std::function<bool(const TuningValues&)>& visitor) const;

  // What visit() would show as number `index`, from 0. OUT_OF_RANGE behind the last. Parts without
  // a restriction are jumped over.
  absl::StatusOr<TuningValues> configuration(std::int64_t index) const;

  // Whether `restriction` holds; INVALID_ARGUMENT names its field and the values it was given. Adds
  // the steps that it took to `num_steps` where there is one.
  absl::StatusOr<bool> holds(const Restriction& restriction,
                             const TuningValues& values,
                             std::int64_t* num_steps = nullptr) const;

  // Why `values`, one for each parameter, are no valid configuration; empty when they are.
  std::vector<std::string> faults_of(const TuningValues& values) const;

 private:
  std::vector<TuningParameter> parameters_;
  std::vector<Restriction> restrictions_;
  std::int64_t num_combinations_ = 1;
  std::int64_t max_steps_ = kMaxSteps;
};

}  // namespace assay::tuning
