// What changed from run to run beside the time. An event is no alarm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::history {

// One run of one arm on one workload. Empty or 0: unknown.
struct SeriesPoint {
  std::int64_t experiment_id = 0;
  std::int64_t median_ns = 0;
  std::int64_t lower_quartile_ns = 0;
  std::int64_t upper_quartile_ns = 0;
  std::uint32_t num_samples = 0;
  std::string code_digest;
  std::string bits_digest;  // of all outputs
  std::string family;
  std::uint32_t num_registers = 0;  // the most of its kernels
  std::int64_t local_bytes = 0;     // of a thread, spills among them; 0: none
  bool rejected = false;            // its bits or its tolerance: it has no time
};

enum class EventKind : std::uint8_t {
  kRejected,
  kFamily,     // another bit family: its bits are not those before
  kBits,       // other output bits within one family: a bit epoch
  kCode,       // another code digest
  kRegisters,  // more of them
  kSpills,     // more local memory
};

struct Event {
  std::size_t point = 0;  // index in the series
  std::int64_t experiment_id = 0;
  EventKind kind = EventKind::kCode;
  std::string message;
};

// In the order of the series. A run is compared with the one before it, its bits with the last run
// of its family that was not rejected.
std::vector<Event> events_of(std::span<const SeriesPoint> series);

// "rejected", "family", "bits", "code", "registers", "spills".
std::string_view name_of(EventKind kind);

}  // namespace assay::history
