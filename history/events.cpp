#include "history/events.h"

#include "absl/strings/str_cat.h"

#include <map>

namespace assay::history {
namespace {

bool differs(const std::string& before, const std::string& after) {
  return !before.empty() && !after.empty() && before != after;
}

std::string from_to(const char* what, const std::string& before, const std::string& after) {
  return absl::StrCat(what, " from ", before, " to ", after);
}

class Collector {
 public:
  Collector(std::vector<Event>& events, std::size_t point, const SeriesPoint& run)
      : events_(events), point_(point), run_(run) {}

  void add(EventKind kind, std::string message) {
    events_.push_back({point_, run_.experiment_id, kind, std::move(message)});
  }

 private:
  std::vector<Event>& events_;
  std::size_t point_;
  const SeriesPoint& run_;
};

void compare(const SeriesPoint& before, const SeriesPoint& after, Collector& events) {
  if (differs(before.family, after.family)) {
    events.add(EventKind::kFamily, from_to("bit family", before.family, after.family));
  }
  if (differs(before.code_digest, after.code_digest)) {
    events.add(EventKind::kCode, from_to("code", before.code_digest, after.code_digest));
  }
  if (before.num_registers > 0 && after.num_registers > before.num_registers) {
    events.add(EventKind::kRegisters,
               from_to("registers of a thread",
                       absl::StrCat(before.num_registers),
                       absl::StrCat(after.num_registers)));
  }
  if (after.local_bytes > before.local_bytes) {
    events.add(EventKind::kSpills,
               from_to("local memory of a thread",
                       absl::StrCat(before.local_bytes, " bytes"),
                       absl::StrCat(after.local_bytes, " bytes")));
  }
}

}  // namespace

std::vector<Event> events_of(std::span<const SeriesPoint> series) {
  std::vector<Event> events;
  std::map<std::string, std::string> bits_of_family;
  for (std::size_t point = 0; point < series.size(); ++point) {
    const SeriesPoint& run = series[point];
    Collector collector(events, point, run);
    if (point > 0) {
      compare(series[point - 1], run, collector);
    }
    if (run.rejected) {
      collector.add(EventKind::kRejected, "rejected: it has no time");
      continue;
    }
    if (run.bits_digest.empty()) {
      continue;
    }
    std::string& bits = bits_of_family[run.family];
    if (differs(bits, run.bits_digest)) {
      collector.add(EventKind::kBits, from_to("output bits", bits, run.bits_digest));
    }
    bits = run.bits_digest;
  }
  return events;
}

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::kRejected:
      return "rejected";
    case EventKind::kFamily:
      return "family";
    case EventKind::kBits:
      return "bits";
    case EventKind::kCode:
      return "code";
    case EventKind::kRegisters:
      return "registers";
    case EventKind::kSpills:
      return "spills";
  }
  return "";
}

}  // namespace assay::history
