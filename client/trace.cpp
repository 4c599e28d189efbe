#include "client/trace.h"

#include "client/compare_parts.h"
#include "client/samples.h"
#include "client/saturated.h"
#include "client/trace_calls.h"
#include "client/trace_json.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace assay::client {
namespace {

// A block on the schedule, with what only its measurement knows.
struct Leg {
  const v1::Block* block = nullptr;
  std::string arm;
  std::int64_t duration_ns = 0;
  std::int64_t median_ns = 0;
};

// Of "span" where there is one: on CUDA "total" leaves out what lies between kernels.
std::int64_t duration_of(const v1::Measurement& measurement, const BlockSamples& place) {
  const v1::StageSamples* stage = find_stage(measurement, "span");
  if (stage == nullptr) {
    stage = find_stage(measurement, "total");
  }
  std::int64_t sum_ns = 0;
  for (const std::int64_t sample_ns : samples_of(stage, place)) {
    sum_ns = saturated_sum(sum_ns, std::max<std::int64_t>(sample_ns, 0));
  }
  std::int64_t duration_ns = 0;
  const auto num_calls = std::int64_t{std::max(place.block->calls_per_sample(), 1U)};
  return __builtin_mul_overflow(sum_ns, num_calls, &duration_ns)
             ? std::numeric_limits<std::int64_t>::max()
             : duration_ns;
}

void add_legs(const std::string& arm, const v1::Measurement& measurement, std::vector<Leg>& legs) {
  for (const BlockSamples& place : blocks_of(measurement)) {
    legs.push_back({.block = place.block,
                    .arm = arm,
                    .duration_ns = duration_of(measurement, place),
                    .median_ns = median_of(samples_of(find_stage(measurement, "total"), place))});
  }
}

std::string arguments_of(const Leg& leg) {
  const v1::Block& block = *leg.block;
  JsonMembers members;
  members.add("arm", leg.arm)
      .add_integer("round", block.round())
      .add_integer("leg", block.leg())
      .add_integer("num_calls", block.num_calls())
      .add_integer("calls_per_sample", std::max(block.calls_per_sample(), 1U))
      .add_integer64("median_ns", leg.median_ns)
      .add_integer("sm_clock_mhz", block.sm_clock_mhz())
      .add_integer("wanted_sm_clock_mhz", block.wanted_sm_clock_mhz())
      .add("throttle_reasons", block.throttle_reasons())
      .add_integer("num_other_processes", block.num_other_processes())
      .add_flag("disqualified", block.disqualified());
  if (block.disqualified()) {
    members.add("disqualified_because", block.disqualified_because());
  }
  return members.text();
}

class Trace {
 public:
  explicit Trace(const v1::Experiment& experiment) : experiment_(experiment) {}

  absl::StatusOr<std::string> write() {
    if (!find_origin()) {
      return absl::FailedPreconditionError(
          absl::StrCat("experiment ",
                       experiment_.experiment_id(),
                       " (",
                       proto::spoken(v1::ExperimentKind_Name(experiment_.spec().kind())),
                       ") has no timed blocks; a trace needs a compare, measure or calibrate that "
                       "timed something"));
    }
    for (const v1::Configuration& configuration : experiment_.configurations()) {
      add(configuration);
    }
    JsonMembers other;
    other.add_integer64("experiment_id", experiment_.experiment_id())
        .add("operator", experiment_.spec().operator_name())
        .add("device", experiment_.device().model())
        .add("clock", "steady clock of the runner, since the first block");
    return json_.finish(other);
  }

 private:
  // The start of the first block.
  bool find_origin() {
    bool found = false;
    for (const v1::Configuration& configuration : experiment_.configurations()) {
      for (const v1::Measurement* measurement :
           {&configuration.baseline(), &configuration.candidate()}) {
        for (const v1::Block& block : measurement->blocks()) {
          origin_ns_ = found ? std::min(origin_ns_, block.started_ns()) : block.started_ns();
          found = true;
        }
      }
    }
    return found;
  }

  std::int64_t since_origin(std::int64_t time_ns) const {
    return saturated_difference(time_ns, origin_ns_);
  }

  // Viewers take equal numbers of tracks for the same one, whatever their process.
  Track next_track(std::uint32_t process) { return {process, ++num_tracks_}; }

  void add(const v1::Configuration& configuration) {
    std::vector<Leg> legs;
    add_legs("A", configuration.baseline(), legs);
    add_legs("B", configuration.candidate(), legs);
    if (legs.empty()) {
      return;
    }
    const std::uint32_t process = configuration.configuration();
    json_.name_process(process,
                       absl::StrCat("configuration ",
                                    process,
                                    ": ",
                                    experiment_.spec().operator_name(),
                                    " ",
                                    proto::text_of(configuration.workload())));
    std::ranges::stable_sort(legs, [](const Leg& a, const Leg& b) {
      return a.block->started_ns() < b.block->started_ns();
    });
    const auto name =
        [](const char* arm, const v1::Measurement& measurement, const v1::Arm& asked) {
          return absl::StrCat(arm, " ", proto::text_of(arm_of(measurement, asked)));
        };
    const std::string baseline = name("A", configuration.baseline(), configuration.baseline_arm());
    const std::string candidate =
        name("B", configuration.candidate(), configuration.candidate_arm());
    add_schedule(process, legs, baseline, candidate);
    add_calls(process, baseline, configuration.baseline());
    add_calls(process, candidate, configuration.candidate());
    add_counters(process, legs);
  }

  void add_schedule(std::uint32_t process,
                    const std::vector<Leg>& legs,
                    const std::string& baseline,
                    const std::string& candidate) {
    const Track track = next_track(process);
    json_.name_track(track, "schedule");
    for (std::size_t i = 0; i < legs.size(); ++i) {
      const Leg& leg = legs[i];
      const std::int64_t start_ns = since_origin(leg.block->started_ns());
      std::int64_t end_ns = saturated_sum(start_ns, leg.duration_ns);
      // A sum of samples may be longer than the time they took.
      if (i + 1 < legs.size()) {
        end_ns = std::min(end_ns, since_origin(legs[i + 1].block->started_ns()));
      }
      json_.add_slice(track,
                      absl::StrCat(leg.arm == "A" ? baseline : candidate,
                                   leg.block->disqualified() ? " (disqualified)" : ""),
                      start_ns,
                      end_ns,
                      arguments_of(leg));
    }
  }

  void add_calls(std::uint32_t process,
                 const std::string& arm,
                 const v1::Measurement& measurement) {
    const std::vector<Slice> slices = call_slices(measurement, origin_ns_);
    std::vector<Track> tracks;
    for (const PlacedSlice& placed : place_slices(slices)) {
      while (tracks.size() <= placed.lane) {
        tracks.push_back(next_track(process));
        json_.name_track(tracks.back(),
                         tracks.size() == 1
                             ? absl::StrCat(arm, ": calls")
                             : absl::StrCat(arm, ": overlapping ", tracks.size() - 1));
      }
      const Slice& slice = slices[placed.slice];
      json_.add_slice(
          tracks[placed.lane], slice.name, slice.start_ns, slice.end_ns, slice.arguments);
    }
  }

  void add_counters(std::uint32_t process, const std::vector<Leg>& legs) {
    const auto add = [&](const Leg& leg, const char* name, const char* unit, double value) {
      // Zero is unknown.
      if (value > 0) {
        json_.add_counter(process, name, unit, since_origin(leg.block->started_ns()), value);
      }
    };
    for (const Leg& leg : legs) {
      add(leg, "SM clock", "MHz", leg.block->sm_clock_mhz());
      add(leg, "memory clock", "MHz", leg.block->memory_clock_mhz());
      add(leg, "temperature", "celsius", leg.block->temperature_celsius());
      add(leg, "power", "W", leg.block->power_milliwatts() / 1000.0);
    }
  }

  const v1::Experiment& experiment_;
  TraceJson json_;
  std::int64_t origin_ns_ = 0;
  std::uint32_t num_tracks_ = 0;
};

}  // namespace

absl::StatusOr<std::string> trace_text(const v1::Experiment& experiment) {
  return Trace(experiment).write();
}

}  // namespace assay::client
