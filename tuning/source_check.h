// The parts of validate_source() (tuning/source_spec.h).
#pragma once

#include "proto/assay.pb.h"
#include "tuning/expression.h"

#include "absl/status/status.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

absl::Status check_source_files(const v1::SourceSpec& spec);

// Axes, parameters, restrictions.
absl::Status check_source_space(const v1::SourceSpec& spec);

// Tensors with their fills and references; requires checked axes.
absl::Status check_source_tensors(const v1::SourceSpec& spec);

// Variants and stages; requires all others to be checked.
absl::Status check_source_variants(const v1::SourceSpec& spec);

// Names of axes, then of parameters: what expressions of stages and restrictions may use.
std::vector<std::string> source_names(const v1::SourceSpec& spec);
std::vector<std::string> axis_names(const v1::SourceSpec& spec);

absl::Status source_error(const std::string& field, std::string_view what);
absl::Status source_not_found(const std::string& field,
                              std::string_view name,
                              std::vector<std::string> valid);
std::string source_element(const std::string& field, int index);

// RESOURCE_EXHAUSTED naming limit and size.
absl::Status check_size(const std::string& field,
                        std::string_view of_what,
                        std::size_t size,
                        std::size_t limit);

// An identifier of C and of expressions.
absl::Status check_name(const std::string& field, const std::string& name);

// One line without control characters, not empty, not too long.
absl::Status check_line(const std::string& field, const std::string& text);

// "NAME" or "NAME=TEXT" of macros that are no launch parameters.
absl::Status check_defines(const std::string& field,
                           const google::protobuf::RepeatedPtrField<std::string>& defines,
                           const v1::SourceSpec& spec);
absl::Status check_options(const std::string& field,
                           const google::protobuf::RepeatedPtrField<std::string>& options);

absl::StatusOr<Expression> parse_source(const std::string& field,
                                        const std::string& text,
                                        const std::vector<std::string>& names);

}  // namespace assay::tuning
