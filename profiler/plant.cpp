#include "profiler/plant.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace assay::profiler {
namespace {

constexpr std::array<std::pair<std::string_view, PlantKind>, 5> kKinds = {
    {{"spin", PlantKind::kSpin},
     {"crash", PlantKind::kCrash},
     {"garbage", PlantKind::kGarbage},
     {"print", PlantKind::kPrint},
     {"exit", PlantKind::kExit}}};
constexpr int kPlantedExit = 3;

}  // namespace

absl::StatusOr<Plant> parse_plant(std::string_view text) {
  Plant plant;
  const std::size_t colon = text.find(':');
  for (const auto& [name, kind] : kKinds) {
    if (name == text.substr(0, colon)) {
      plant.kind = kind;
    }
  }
  std::uint64_t seed = 0;
  const bool has_seed = colon != std::string_view::npos;
  if (plant.kind == PlantKind::kNone ||
      (has_seed && !absl::SimpleAtoi(std::string(text.substr(colon + 1)), &seed))) {
    return absl::InvalidArgumentError(
        absl::StrCat("plant `",
                     std::string(text),
                     "`: expected spin, crash, garbage, print or exit, with :SEED or without"));
  }
  if (has_seed) {
    plant.seed = seed;
  }
  return plant;
}

void spring(Plant& plant, std::uint64_t seed, Device& device, int fd) {
  if (plant.kind == PlantKind::kNone || plant.seed.value_or(seed) != seed) {
    return;
  }
  switch (std::exchange(plant.kind, PlantKind::kNone)) {
    case PlantKind::kNone:
      break;
    case PlantKind::kSpin:
      device.spin();
      break;
    case PlantKind::kCrash:
      // A tool's own handler must not turn the crash into an exit.
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      break;
    case PlantKind::kGarbage: {
      constexpr std::string_view kGarbage = "\xFF\xFF\xFF\xFFnot a frame at all\n";
      [[maybe_unused]] const ssize_t written = write(fd, kGarbage.data(), kGarbage.size());
      break;
    }
    case PlantKind::kPrint:
      std::puts("printed by a kernel or a library");
      std::fflush(stdout);
      break;
    case PlantKind::kExit:
      _exit(kPlantedExit);
  }
}

}  // namespace assay::profiler
