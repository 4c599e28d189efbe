// A fault planted on request of the command line, for tests of the other side: it makes one open
// misbehave.
#pragma once

#include "profiler/device.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::profiler {

enum class PlantKind : std::uint8_t { kNone, kSpin, kCrash, kGarbage, kPrint, kExit };

struct Plant {
  PlantKind kind = PlantKind::kNone;
  std::optional<std::uint64_t> seed;  // only opens of this workload seed; else the next one
};

// "spin", "crash:7". INVALID_ARGUMENT lists the kinds.
absl::StatusOr<Plant> parse_plant(std::string_view text);

// Misbehaves at an open with this seed, at most once; may not return. `fd` is where frames go.
void spring(Plant& plant, std::uint64_t seed, Device& device, int fd);

}  // namespace assay::profiler
