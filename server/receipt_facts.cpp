#include "server/receipt_facts.h"

#include "proto/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace assay::server {
namespace {

using Facts = google::protobuf::RepeatedPtrField<v1::Setting>;

// The least and the greatest of some values.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }

  bool any() const { return least <= most; }

  std::string percent() const {
    const std::string low = proto::percent_text(least);
    const std::string high = proto::percent_text(most);
    return low == high ? low : absl::StrCat(low, " to ", high);
  }
};

void add_fact(Facts& facts, const std::string& name, const std::string& value) {
  if (!value.empty()) {
    v1::Setting& fact = *facts.Add();
    fact.set_name(name);
    fact.set_value(value);
  }
}

std::string number_text(std::int64_t value) {
  return value == 0 ? "" : proto::with_commas(value);
}

std::string range_text(const std::set<std::int64_t>& values) {
  if (values.empty()) {
    return "";
  }
  const std::string first = proto::with_commas(*values.begin());
  return values.size() == 1 ? first
                            : absl::StrCat(first, " to ", proto::with_commas(*values.rbegin()));
}

void add_device(const v1::Device& device, Facts& facts) {
  add_fact(facts, "device", device.model());
  add_fact(facts, "backend", device.backend());
  add_fact(facts, "compute capability", device.compute_capability());
  add_fact(facts,
           device.backend() == "cpu" ? "threads" : "multiprocessors",
           number_text(device.num_multiprocessors()));
  add_fact(facts, "L2", device.l2_bytes() == 0 ? "" : proto::bytes_text(device.l2_bytes()));
  add_fact(
      facts, "memory", device.memory_bytes() == 0 ? "" : proto::bytes_text(device.memory_bytes()));
  add_fact(facts, "driver", device.driver_version());
  add_fact(facts, "toolkit", device.toolkit_version());
  add_fact(facts, "build flags", device.build_flags());
  add_fact(facts, "code", device.code_version());
}

// What the measurements were made with, as far as there are any.
struct Modes {
  std::set<std::string> caches;
  std::set<std::string> launches;
  std::set<std::string> sources;
  std::set<std::int64_t> num_calls;
  std::set<std::int64_t> num_rounds;
  std::set<std::string> ends;

  void add(const v1::Measurement& measurement) {
    std::int64_t num = 0;
    for (const v1::Block& block : measurement.blocks()) {
      num_calls.insert(block.num_calls());
      num = std::max<std::int64_t>(num, block.round() + 1);
    }
    if (num == 0) {
      return;
    }
    num_rounds.insert(num);
    sources.insert(proto::spoken(v1::TimingSource_Name(measurement.timing_source())));
    caches.insert(proto::spoken(v1::CacheMode_Name(measurement.cache_mode())));
    if (measurement.launch_mode() != v1::LAUNCH_MODE_UNSPECIFIED) {
      launches.insert(proto::spoken(v1::LaunchMode_Name(measurement.launch_mode())));
    }
  }
};

void add_modes(const v1::Experiment& experiment, Facts& facts) {
  Modes modes;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    modes.add(configuration.baseline());
    modes.add(configuration.candidate());
    // Every dropped configuration of a sweep has a reason of its own.
    if (!configuration.stopped_because().empty() && experiment.spec().kind() != v1::SWEEP) {
      modes.ends.insert(configuration.stopped_because());
    }
  }
  const v1::ExperimentSpec& spec = experiment.spec();
  const bool is_timed = spec.kind() != v1::CHECK && spec.kind() != v1::BENCH;
  add_fact(facts, "cache", absl::StrJoin(modes.caches, ", "));
  add_fact(facts, "launch", absl::StrJoin(modes.launches, ", "));
  add_fact(facts, "timing", absl::StrJoin(modes.sources, ", "));
  if (is_timed && spec.kind() != v1::MEASURE) {
    const v1::Schedule schedule =
        spec.schedule() == v1::SCHEDULE_UNSPECIFIED ? v1::BAB : spec.schedule();
    add_fact(facts, "schedule", v1::Schedule_Name(schedule));
  }
  add_fact(facts, "rounds", range_text(modes.num_rounds));
  add_fact(facts, "calls a block", range_text(modes.num_calls));
  add_fact(facts, "rounds ended", absl::StrJoin(modes.ends, ", "));
  add_fact(facts, "seed", spec.kind() == v1::BENCH ? "" : absl::StrCat(spec.seed()));
}

std::string sweep_text(const v1::SweepSpec& sweep) {
  std::string text = sweep.strategy().empty() ? "exhaustive" : sweep.strategy();
  if (sweep.max_configurations() > 0) {
    absl::StrAppend(&text,
                    ", at most ",
                    proto::counted(sweep.max_configurations(), "configuration"),
                    " a workload");
  }
  if (sweep.budget_ns() > 0) {
    absl::StrAppend(&text,
                    ", at most ",
                    proto::duration_text(sweep.budget_ns()),
                    " of running time a workload");
  }
  return text;
}

// Figures of the verdicts that are there.
struct Judgement {
  std::set<std::int64_t> rules;
  std::set<std::int64_t> moments;
  std::set<std::string> stale;
  std::set<std::int64_t> floor_moments;
  double coverage = 1.0;
  Range least_effect;
  Range floor;
  Range drift;
  std::int64_t num_timed = 0;
  std::int64_t num_without_floor = 0;
  std::int64_t num_identical = 0;

  void add(const v1::Verdict& verdict) {
    rules.insert(verdict.rule_version());
    moments.insert(verdict.judged_ns());
    num_identical += verdict.identical_code() ? 1 : 0;
    const bool is_timed = std::ranges::any_of(
        verdict.stages(), [](const v1::StageVerdict& stage) { return stage.has_ratio(); });
    if (!is_timed) {
      return;
    }
    ++num_timed;
    least_effect.add(verdict.least_effect());
    for (const v1::StageVerdict& stage : verdict.stages()) {
      if (stage.has_ratio()) {
        coverage = std::min(coverage, stage.coverage());
        drift.add(stage.drift());
      }
    }
    if (!verdict.has_noise_floor()) {
      ++num_without_floor;
      return;
    }
    floor.add(verdict.noise_floor());
    floor_moments.insert(verdict.noise_floor_ns());
    if (!verdict.noise_floor_stale().empty()) {
      stale.insert(verdict.noise_floor_stale());
    }
  }

  std::string floor_text() const {
    if (!floor.any()) {
      return "none stored";
    }
    std::string text = absl::StrCat(
        floor.percent(), ", measured ", proto::time_text(*floor_moments.begin()), " UTC");
    if (floor_moments.size() > 1) {
      absl::StrAppend(&text, " to ", proto::time_text(*floor_moments.rbegin()), " UTC");
    }
    if (!stale.empty()) {
      absl::StrAppend(&text, "; stale: ", absl::StrJoin(stale, ", "));
    }
    if (num_without_floor > 0) {
      absl::StrAppend(&text,
                      "; none stored for ",
                      proto::with_commas(num_without_floor),
                      " of ",
                      proto::with_commas(num_timed),
                      " rows");
    }
    return text;
  }
};

}  // namespace

void add_environment(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  Facts& facts = *receipt.mutable_environment();
  const v1::ExperimentSpec& spec = experiment.spec();
  add_device(experiment.device(), facts);
  add_fact(facts, "source", spec.source_digest());
  if (spec.kind() == v1::CHECK) {
    add_fact(facts, "suite", spec.suite().empty() ? "all" : spec.suite());
  }
  if (spec.kind() == v1::SWEEP) {
    add_fact(facts, "strategy", sweep_text(spec.sweep()));
  }
  add_modes(experiment, facts);
}

void add_judged_by(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  Judgement judgement;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (!configuration.verdicts().empty()) {
      judgement.add(configuration.verdicts(configuration.verdicts_size() - 1));
    }
  }
  if (judgement.rules.empty()) {
    return;
  }
  Facts& facts = *receipt.mutable_judged_by();
  add_fact(facts, "rule", range_text(judgement.rules));
  std::string moments = proto::time_text(*judgement.moments.begin());
  if (const std::string last = proto::time_text(*judgement.moments.rbegin()); last != moments) {
    absl::StrAppend(&moments, " to ", last);
  }
  add_fact(facts, "judged", moments + " UTC");
  if (judgement.num_timed == 0) {
    return;
  }
  add_fact(facts,
           "intervals",
           absl::StrFormat("of the median ratio, coverage at least %.2f %%",
                           std::floor(judgement.coverage * 1e4) / 1e2));
  add_fact(facts, "least effect", judgement.least_effect.percent());
  if (experiment.spec().kind() != v1::CALIBRATE) {
    add_fact(facts, "noise floor", judgement.floor_text());
  }
  add_fact(facts, "drift of the stages", judgement.drift.percent());
  if (judgement.num_identical > 0) {
    add_fact(
        facts,
        "identical code",
        absl::StrCat(
            "in ", proto::counted(judgement.num_identical, "row"), ", never faster or slower"));
  }
}

}  // namespace assay::server
