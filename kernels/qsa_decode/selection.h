// Which cells each query attends to, and where they lie: the integer inputs of a workload. Made by
// integer steps only, from the axes and the seed.
#pragma once

#include "kernels/qsa_decode/contract.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace assay::kernels::qsa_decode {

inline constexpr std::int64_t kLeastCells = 40'960;
inline constexpr std::int64_t kMostCells = std::int64_t{4} << 20;
inline constexpr std::int64_t kMostPartials = std::int64_t{1} << 17;  // chunks of all queries

// How a workload's selections are made, and the shape that they need.
struct SelectionPlan {
  enum class Pattern : std::uint8_t { kWindow, kBlocks, kGaps, kRepeats, kMixed };
  enum class Sharing : std::uint8_t { kIndependent, kShared, kDisjoint };
  enum class Residency : std::uint8_t { kAll, kHoles, kOneOfEachChunk, kSecondChunk, kNone };
  enum class Spread : std::uint8_t { kUniform, kBorders, kFalling, kRandom };

  std::int32_t streams = 1;
  std::int32_t queries_per_stream = 1;
  std::int32_t width = 0;
  Pattern pattern = Pattern::kWindow;
  Sharing sharing = Sharing::kIndependent;
  Residency residency = Residency::kAll;
  Spread spread = Spread::kUniform;
  std::int64_t cells_per_part = 0;  // of a stream; of a query where selections are disjoint
  Shape shape = {};
};

// INVALID_ARGUMENT names the axis.
absl::StatusOr<SelectionPlan> parse_selection(const Workload& workload);

struct Selection {
  std::vector<std::int32_t> widths;         // [num_queries], may be more than cap
  std::vector<std::int32_t> ids;            // [num_queries, cap]; past the width: cell 0
  std::vector<std::int32_t> physical_page;  // [num_logical_pages], resident or not
  std::vector<bool> is_resident;            // [num_logical_pages]
};

Selection make_selection(const SelectionPlan& plan, std::uint64_t seed);

}  // namespace assay::kernels::qsa_decode
