// The sizes of a source for a workload and an arm: shapes, grids, scalars. `spec` is complete
// (complete_source()) and valid; `axes` has every axis of it, and parameters that an arm leaves
// open have their default. Errors name field and values.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/source_scope.h"

#include "absl/status/statusor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::tuning {

inline constexpr std::int64_t kMaxSourceElements = std::int64_t{1} << 40;  // of a tensor, less
inline constexpr std::int64_t kMaxSharedBytes = std::int64_t{1} << 20;

struct StageSizes {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};   // blocks
  std::array<std::uint32_t, 3> block = {1, 1, 1};  // threads
  std::int64_t shared_bytes = 0;                   // dynamic
  // For each argument the bytes of its scalar, little-endian; empty for a tensor.
  std::vector<std::vector<std::byte>> scalars;
};

// For each tensor its extents, none negative. INVALID_ARGUMENT.
absl::StatusOr<std::vector<std::vector<std::int64_t>>> source_shapes(const v1::SourceSpec& spec,
                                                                     const SourceSettings& axes);

// For each stage of the arm's variant. NOT_FOUND: no such variant or parameter. RESOURCE_EXHAUSTED:
// more blocks, threads or shared bytes than any device has. Else INVALID_ARGUMENT.
absl::StatusOr<std::vector<StageSizes>> source_stages(const v1::SourceSpec& spec,
                                                      const SourceSettings& axes,
                                                      const v1::Arm& arm);

}  // namespace assay::tuning
