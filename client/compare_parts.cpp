#include "client/compare_parts.h"

#include "client/numbers.h"
#include "client/variation.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace assay::client {
namespace {

void add_fact(Report& report, const std::string& name, const std::string& value) {
  if (!value.empty()) {
    report.facts.emplace_back(name, value);
  }
}

std::string range_text(const std::set<std::int64_t>& values) {
  if (values.empty()) {
    return "-";
  }
  const std::string first = with_commas(*values.begin());
  return values.size() == 1 ? first : absl::StrCat(first, " to ", with_commas(*values.rbegin()));
}

// How many rounds the configurations took.
std::set<std::int64_t> rounds_of(const v1::Experiment& experiment) {
  std::set<std::int64_t> rounds;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    std::int64_t last = 0;
    for (const v1::Block& block : configuration.baseline().blocks()) {
      last = std::max<std::int64_t>(last, block.round() + 1);
    }
    if (last > 0) {
      rounds.insert(last);
    }
  }
  return rounds;
}

// "1 crashed, 2 faster".
std::string counts_text(const std::map<std::string, std::int64_t>& numbers) {
  return absl::StrJoin(numbers, ", ", [](std::string* text, const auto& entry) {
    absl::StrAppend(text, with_commas(entry.second), " ", entry.first);
  });
}

const v1::StageVerdict& total_of(const v1::Configuration& configuration) {
  const v1::Verdict& verdict = last_verdict(configuration);
  const auto total = std::ranges::find(verdict.stages(), "total", &v1::StageVerdict::stage);
  return total == verdict.stages().end() ? v1::StageVerdict::default_instance() : *total;
}

// What A/A controls found; a floor is stored for each that has a ratio.
void add_controls(Report& report, const v1::Experiment& experiment) {
  std::int64_t num_controls = 0;
  std::int64_t num_claims = 0;
  std::int64_t num_without = 0;
  std::string reason;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const v1::VerdictKind kind = last_verdict(configuration).statistical_verdict();
    num_controls += has_noise_floor(configuration) ? 1 : 0;
    num_claims +=
        has_noise_floor(configuration) && (kind == v1::FASTER || kind == v1::SLOWER) ? 1 : 0;
    if (lacks_noise_floor(configuration)) {
      ++num_without;
      const std::string& why = total_of(configuration).reason();
      reason = reason.empty() ? std::string(absl::StripPrefix(why, "undecided: ")) : reason;
    }
  }
  report.closing.push_back(absl::StrCat(counted(num_controls, "A/A control"),
                                        ": ",
                                        with_commas(num_claims),
                                        " by statistics not the same code; noise floors stored: ",
                                        with_commas(num_controls)));
  if (num_without > 0) {
    report.closing.push_back(absl::StrCat("no noise floor stored for ",
                                          counted(num_without, "workload"),
                                          ": ",
                                          reason,
                                          reason.empty() ? "" : "; ",
                                          "raise --budget, --rounds or --deadline"));
  }
}

}  // namespace

const v1::Verdict& last_verdict(const v1::Configuration& configuration) {
  return configuration.verdicts().empty()
             ? v1::Verdict::default_instance()
             : configuration.verdicts(configuration.verdicts_size() - 1);
}

const v1::Arm& arm_of(const v1::Measurement& measurement, const v1::Arm& asked) {
  return measurement.arm().variant().empty() ? asked : measurement.arm();
}

bool shows_times(const v1::Configuration& configuration) {
  return configuration.outcome() == v1::FINISHED &&
         last_verdict(configuration).verdict() != v1::REJECTED &&
         !last_verdict(configuration).stages().empty();
}

bool has_noise_floor(const v1::Configuration& configuration) {
  return total_of(configuration).has_ratio();
}

bool lacks_noise_floor(const v1::Configuration& configuration) {
  return configuration.outcome() == v1::FINISHED &&
         last_verdict(configuration).verdict() != v1::REJECTED && !has_noise_floor(configuration);
}

bool has_alarm(const v1::Measurement& measurement) {
  return measurement.bits().tolerance_alarm();
}

void add_run_facts(Report& report, const v1::Experiment& experiment) {
  const bool is_judged = experiment.spec().kind() != v1::MEASURE;
  std::set<std::string> caches;
  std::set<std::string> launches;
  std::set<std::string> sources;
  std::set<std::int64_t> num_calls;
  const std::set<std::int64_t> num_rounds = rounds_of(experiment);
  double coverage = 1.0;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    for (const v1::Measurement* measurement :
         {&configuration.baseline(), &configuration.candidate()}) {
      if (measurement->blocks_size() > 0) {
        sources.insert(proto::spoken(v1::TimingSource_Name(measurement->timing_source())));
        if (measurement->launch_mode() != v1::LAUNCH_MODE_UNSPECIFIED) {
          launches.insert(proto::spoken(v1::LaunchMode_Name(measurement->launch_mode())));
        }
        caches.insert(proto::spoken(v1::CacheMode_Name(measurement->cache_mode())));
      }
      for (const v1::Block& block : measurement->blocks()) {
        num_calls.insert(block.num_calls());
      }
    }
    for (const v1::StageVerdict& stage : last_verdict(configuration).stages()) {
      coverage = stage.has_ratio() ? std::min(coverage, stage.coverage()) : coverage;
    }
  }
  const v1::ExperimentSpec& spec = experiment.spec();
  add_fact(report, "operator", spec.operator_name());
  add_fact(report, "cache", absl::StrJoin(caches, ", "));
  add_fact(report, "launch", absl::StrJoin(launches, ", "));
  add_fact(report, "timing", absl::StrJoin(sources, ", "));
  const std::string schedule =
      spec.schedule() == v1::SCHEDULE_UNSPECIFIED ? "BAB" : v1::Schedule_Name(spec.schedule());
  add_fact(report,
           is_judged ? "schedule" : "rounds",
           num_rounds.empty() ? "nothing was timed"
                              : absl::StrCat(is_judged ? schedule + ", " : "",
                                             range_text(num_rounds),
                                             is_judged ? " rounds of " : " of ",
                                             range_text(num_calls),
                                             " calls a block"));
  if (is_judged && coverage < 1.0) {
    add_fact(
        report,
        "interval",
        absl::StrFormat("of the median ratio, coverage %.2f %%", std::floor(coverage * 1e4) / 1e2));
  }
  add_fact(report, "seed", absl::StrCat(spec.seed()));
  add_context_facts(report, experiment);
}

Report timed_head(const v1::Experiment& experiment) {
  Report report;
  add_device_facts(report, experiment);
  add_run_facts(report, experiment);
  for (auto& [name, value] : Variation(experiment).constant_facts()) {
    report.facts.emplace_back(name, std::move(value));
  }
  return report;
}

void add_closing(Report& report, const v1::Experiment& experiment) {
  std::map<std::string, std::int64_t> verdicts;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    ++verdicts[proto::spoken(configuration.outcome() == v1::FINISHED
                                 ? v1::VerdictKind_Name(last_verdict(configuration).verdict())
                                 : v1::Outcome_Name(configuration.outcome()))];
  }
  add_closing(report, experiment, counts_text(verdicts));
}

void add_closing(Report& report, const v1::Experiment& experiment, const std::string& outcomes) {
  const bool is_judged = experiment.spec().kind() != v1::MEASURE;
  std::map<std::string, std::int64_t> goldens;
  std::int64_t num_equal = 0;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const v1::Verdict& verdict = last_verdict(configuration);
    num_equal += configuration.outcome() == v1::FINISHED && verdict.bits_equal() ? 1 : 0;
    if (!verdict.golden().empty()) {
      ++goldens[verdict.golden()];
    }
  }
  const std::int64_t num = experiment.configurations_size();
  std::string line = counted(num, "configuration");
  if (is_judged && num > 0) {
    absl::StrAppend(&line,
                    ": ",
                    outcomes,
                    "; bits equal in ",
                    with_commas(num_equal),
                    " of ",
                    with_commas(num));
  }
  if (!goldens.empty()) {
    absl::StrAppend(&line, "; goldens: ", counts_text(goldens));
  }
  report.closing.push_back(line);
  if (experiment.spec().kind() == v1::CALIBRATE) {
    add_controls(report, experiment);
  }
  std::int64_t num_alarms = 0;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    num_alarms += has_alarm(configuration.baseline()) || has_alarm(configuration.candidate());
  }
  if (num_alarms > 0) {
    report.closing.push_back(
        absl::StrCat("warning: the tolerance alarm of the operator is passed in ",
                     counted(num_alarms, "configuration")));
  }
  if (const std::string unfinished = unfinished_text(experiment); !unfinished.empty()) {
    report.closing.push_back(unfinished);
  }
}

}  // namespace assay::client
