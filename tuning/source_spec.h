// Kernels that people bring as source (v1::SourceSpec): what is a valid one, which operator it is.
// Pure: no file is opened and nothing compiled.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::tuning {

inline constexpr int kMaxSourceFiles = 64;
inline constexpr std::size_t kMaxSourceFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;  // of all files together
inline constexpr int kMaxSourceTensors = 64;
inline constexpr int kMaxSourceDimensions = 8;
inline constexpr int kMaxSourceVariants = 32;
inline constexpr int kMaxSourceStages = 16;      // of a variant
inline constexpr int kMaxSourceArguments = 64;   // of a stage
inline constexpr int kMaxSourceNames = 64;       // parameters, and as many axes
inline constexpr int kMaxSourceValues = 65'535;  // of a parameter
inline constexpr int kMaxSourceTexts = 256;      // restrictions, defines, options of one list
inline constexpr std::size_t kMaxSourceTextBytes = 10'000;  // of one of them, a value, a name

// Every rule, beyond those in proto/assay.proto: an integer tensor has a fill of its own (constant,
// index, uniform with bounds, file); fills and references of files have digests; every output
// reaches a stage of every variant; a variant has every parameter that its stages' expressions use;
// the first variant is of the family baseline. INVALID_ARGUMENT names the field by path
// (`source.tensors[2].shape[0]: ...`), NOT_FOUND lists the valid names, RESOURCE_EXHAUSTED gives
// limit and size.
absl::Status validate_source(const v1::SourceSpec& spec);

// The same with everything said that a valid one leaves open: at least one variant, each with
// family, file, stages with their files, and parameters (has_no_parameters for none); a fill for
// every input and in_out, with its bounds or deviation; one to three sizes become three; defaults.
v1::SourceSpec complete_source(v1::SourceSpec spec);

// "NAME@" and 8 hexadecimal digits over what is computed: the tensors with fills and references,
// the axes' names, and the scalars of the common stages that no launch parameter changes. Files,
// defines, options, variants and parameters can change and it stays the same operator, so that its
// goldens, noise and tunings stay together.
std::string source_operator_name(const v1::SourceSpec& spec);

// As a runner describes an operator of the catalogue. `architecture`, as "sm_90", is where its bits
// are promised. Errors are those of validate_source().
absl::StatusOr<v1::OperatorInfo> describe_source(const v1::SourceSpec& spec,
                                                 std::string_view architecture);

}  // namespace assay::tuning
