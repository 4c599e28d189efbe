// Why a verdict is what it is: every figure that it rests on, stage by stage.
#include "client/compare_parts.h"
#include "client/explain_profile.h"
#include "client/numbers.h"
#include "client/report.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace assay::client {
namespace {

using FigureOf = std::function<std::string(const v1::StageVerdict&)>;

std::string spoken_verdict(v1::VerdictKind kind) {
  return proto::spoken(v1::VerdictKind_Name(kind));
}

std::string times_text(std::int64_t median_ns, std::int64_t lower_ns, std::int64_t upper_ns) {
  return median_ns <= 0 ? "-"
                        : absl::StrCat(in_microseconds(median_ns),
                                       " (",
                                       in_microseconds(lower_ns),
                                       " to ",
                                       in_microseconds(upper_ns),
                                       ")");
}

// A figure that only a stage with a ratio has.
FigureOf with_ratio(FigureOf figure) {
  return [figure = std::move(figure)](const v1::StageVerdict& stage) {
    return stage.has_ratio() ? figure(stage) : std::string("-");
  };
}

class Explanation {
 public:
  Explanation(const v1::Experiment& experiment, const v1::Configuration& configuration)
      : experiment_(experiment),
        configuration_(configuration),
        verdict_(last_verdict(configuration)) {}

  Report build() {
    add_facts();
    table_.columns.push_back({"", Align::kLeft});
    for (const v1::StageVerdict& stage : verdict_.stages()) {
      table_.columns.push_back({stage.stage(), Align::kRight});
    }
    if (!verdict_.stages().empty()) {
      add_times();
      add_cycles();
      if (configuration_.has_candidate_arm()) {
        add_ratio();
        add_bars();
      }
      add_samples();
      report_.tables.push_back(std::move(table_));
    }
    if (Table kernels = kernel_table(configuration_); !kernels.rows.empty()) {
      report_.tables.push_back(std::move(kernels));
    }
    for (const v1::StageVerdict& stage : verdict_.stages()) {
      if (stage.stage() != "total" && !stage.reason().empty()) {
        report_.closing.push_back(absl::StrCat(stage.stage(), ": ", stage.reason()));
      }
    }
    return std::move(report_);
  }

 private:
  void fact(const std::string& name, const std::string& value) {
    if (!value.empty()) {
      report_.facts.emplace_back(name, value);
    }
  }

  void row(const std::string& name, const FigureOf& figure) {
    std::vector<std::string>& cells = table_.rows.emplace_back();
    cells.push_back(name);
    for (const v1::StageVerdict& stage : verdict_.stages()) {
      cells.push_back(figure(stage));
    }
  }

  void add_facts() {
    fact("configuration",
         absl::StrCat(with_commas(configuration_.configuration()),
                      " of ",
                      with_commas(experiment_.num_configurations())));
    fact("workload", proto::text_of(configuration_.workload()));
    fact("A", proto::text_of(arm_of(configuration_.baseline(), configuration_.baseline_arm())));
    if (configuration_.has_candidate_arm()) {
      fact("B", proto::text_of(arm_of(configuration_.candidate(), configuration_.candidate_arm())));
    }
    if (configuration_.verdicts().empty()) {
      fact("verdict", absl::StrCat("none: ", configuration_.message()));
      return;
    }
    fact("verdict", spoken_verdict(verdict_.verdict()));
    fact("why", verdict_.reason());
    fact("judged",
         absl::StrCat(time_text(verdict_.judged_ns()),
                      ", by rule ",
                      verdict_.rule_version(),
                      configuration_.verdicts_size() > 1
                          ? absl::StrCat("; the newest of ", configuration_.verdicts_size())
                          : ""));
    fact("bits", verdict_.bits_equal() ? "equal" : "");
    fact("golden", verdict_.golden());
    fact("A/A noise", noise_text());
    add_profile_facts(report_, configuration_);
    fact("clocks", clocks_text());
    fact("code", verdict_.identical_code() ? "identical machine code and parameters" : "");
    fact("stopped", configuration_.stopped_because());
  }

  std::string noise_text() const {
    if (!configuration_.has_candidate_arm() || experiment_.spec().kind() == v1::CALIBRATE) {
      return "";
    }
    if (!verdict_.has_noise_floor()) {
      return absl::StrCat("none is stored for this device, workload and mode; `assay calibrate ",
                          experiment_.spec().operator_name(),
                          "` measures it");
    }
    return absl::StrCat(percent_text(verdict_.noise_floor()),
                        ", of ",
                        time_text(verdict_.noise_floor_ns()),
                        " (experiment ",
                        verdict_.noise_floor_experiment_id(),
                        ")",
                        verdict_.noise_floor_stale().empty()
                            ? ""
                            : absl::StrCat("; stale: ", verdict_.noise_floor_stale()));
  }

  std::string clocks_text() const {
    if (verdict_.baseline_sm_clock_mhz() == 0 && verdict_.candidate_sm_clock_mhz() == 0) {
      return "";
    }
    return absl::StrCat("A at ",
                        with_commas(verdict_.baseline_sm_clock_mhz()),
                        " MHz, B at ",
                        with_commas(verdict_.candidate_sm_clock_mhz()),
                        " MHz");
  }

  void add_times() {
    row("A us (quartiles)", [](const v1::StageVerdict& stage) {
      return times_text(stage.baseline_median_ns(),
                        stage.baseline_lower_quartile_ns(),
                        stage.baseline_upper_quartile_ns());
    });
    if (configuration_.has_candidate_arm()) {
      row("B us (quartiles)", [](const v1::StageVerdict& stage) {
        return times_text(stage.candidate_median_ns(),
                          stage.candidate_lower_quartile_ns(),
                          stage.candidate_upper_quartile_ns());
      });
    }
  }

  // As long as the median at the clock that the arm ran at; reported, not judged.
  void add_cycles() {
    const auto cycles = [](std::int64_t median_ns, std::uint32_t clock_mhz) {
      return median_ns > 0
                 ? with_commas(std::llround(static_cast<double>(median_ns) * clock_mhz / 1000))
                 : std::string("-");
    };
    if (const std::uint32_t clock_mhz = verdict_.baseline_sm_clock_mhz(); clock_mhz > 0) {
      row("A cycles", [&](const v1::StageVerdict& stage) {
        return cycles(stage.baseline_median_ns(), clock_mhz);
      });
    }
    if (const std::uint32_t clock_mhz = verdict_.candidate_sm_clock_mhz();
        clock_mhz > 0 && configuration_.has_candidate_arm()) {
      row("B cycles", [&](const v1::StageVerdict& stage) {
        return cycles(stage.candidate_median_ns(), clock_mhz);
      });
    }
  }

  void add_ratio() {
    row("verdict", [](const v1::StageVerdict& stage) { return spoken_verdict(stage.verdict()); });
    row("by statistics",
        [](const v1::StageVerdict& stage) { return spoken_verdict(stage.statistical_verdict()); });
    row("B/A", with_ratio([](const v1::StageVerdict& stage) {
          return absl::StrFormat("%.4f", stage.ratio());
        }));
    row("interval", with_ratio([](const v1::StageVerdict& stage) {
          return absl::StrFormat("%.4f to %.4f", stage.ratio_low(), stage.ratio_high());
        }));
    row("coverage", with_ratio([](const v1::StageVerdict& stage) {
          return absl::StrFormat("%.2f %%", stage.coverage() * 100);
        }));
    row("paired rounds",
        [](const v1::StageVerdict& stage) { return with_commas(stage.num_rounds()); });
  }

  void add_bars() {
    row("has to lie beyond", with_ratio([](const v1::StageVerdict& stage) {
          return stage.bar() > 0 ? percent_text(stage.bar()) : std::string("-");
        }));
    row("  least effect", with_ratio([this](const v1::StageVerdict&) {
          return percent_text(verdict_.least_effect());
        }));
    row("  drift",
        with_ratio([](const v1::StageVerdict& stage) { return percent_text(stage.drift()); }));
    row("  A/A noise", with_ratio([this](const v1::StageVerdict&) {
          return verdict_.has_noise_floor() ? percent_text(verdict_.noise_floor())
                                            : std::string("-");
        }));
    row("  two modes apart", with_ratio([](const v1::StageVerdict& stage) {
          return stage.modes_apart() > 0 ? percent_text(stage.modes_apart()) : std::string("-");
        }));
  }

  void add_samples() {
    row("blocks", [](const v1::StageVerdict& stage) {
      return absl::StrCat(with_commas(stage.num_good_blocks()),
                          " good, ",
                          with_commas(stage.num_bad_blocks()),
                          " not");
    });
    row("samples", [](const v1::StageVerdict& stage) {
      return absl::StrCat(
          with_commas(stage.num_samples()), ", ", counted(stage.num_faults(), "fault"));
    });
  }

  const v1::Experiment& experiment_;
  const v1::Configuration& configuration_;
  const v1::Verdict& verdict_;
  Report report_;
  Table table_;
};

}  // namespace

std::string explanation_text(const v1::Experiment& experiment, Format format) {
  std::string text;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    absl::StrAppend(&text,
                    text.empty() ? "" : "\n",
                    report_text(Explanation(experiment, configuration).build(), format));
  }
  return text;
}

}  // namespace assay::client
