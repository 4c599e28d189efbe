#include "client/explain_profile.h"

#include "client/numbers.h"
#include "client/samples.h"
#include "client/variation.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <functional>
#include <set>

namespace assay::client {
namespace {

using Stages = google::protobuf::RepeatedPtrField<v1::StageSamples>;

// Of a pass without blocks; 0: no samples.
std::int64_t median_of_stage(const Stages& stages, std::string_view name) {
  for (const v1::StageSamples& stage : stages) {
    if (stage.stage() == name) {
      return median_of({stage.samples_ns().begin(), stage.samples_ns().end()});
    }
  }
  return 0;
}

// "A text, B text" of the arms that have one.
std::string both(const v1::Configuration& configuration,
                 const std::function<std::string(Role)>& text_of) {
  std::vector<std::string> texts;
  for (const Role role : kRoles) {
    const std::string text = text_of(role);
    if (!text.empty()) {
      texts.push_back(absl::StrCat(role == Role::kBaseline ? "A " : "B ", text));
    }
  }
  // An arm alone needs no name.
  return configuration.has_candidate_arm() || texts.empty() ? absl::StrJoin(texts, ", ")
                                                            : texts.front().substr(2);
}

std::string modes_text(const v1::Configuration& configuration) {
  std::set<std::string> texts;
  for (const Role role : kRoles) {
    const v1::Measurement& measurement = measurement_of(configuration, role);
    if (measurement.timing_source() == v1::TIMING_SOURCE_UNSPECIFIED) {
      continue;
    }
    std::string text = proto::spoken(v1::TimingSource_Name(measurement.timing_source()));
    if (measurement.launch_mode() != v1::LAUNCH_MODE_UNSPECIFIED) {
      absl::StrAppend(&text, ", ", proto::spoken(v1::LaunchMode_Name(measurement.launch_mode())));
    }
    if (measurement.cache_mode() != v1::CACHE_MODE_UNSPECIFIED) {
      absl::StrAppend(
          &text,
          ", ",
          proto::spoken(v1::CacheMode_Name(measurement.cache_mode())),
          measurement.num_input_sets() > 0
              ? absl::StrCat(" (", counted(measurement.num_input_sets(), "input set"), ")")
              : "");
    }
    texts.insert(text);
  }
  return absl::StrJoin(texts, "; ");
}

std::string admission_text(const v1::Measurement& measurement) {
  if (!measurement.has_admission()) {
    return "";
  }
  const v1::Admission& admission = measurement.admission();
  std::string text = absl::StrCat(admission.stable() ? "stable" : "not stable",
                                  " after ",
                                  duration_text(admission.waited_ns()));
  if (admission.sm_clock_mhz() > 0) {
    absl::StrAppend(&text, " at ", with_commas(admission.sm_clock_mhz()));
    if (admission.wanted_sm_clock_mhz() > 0) {
      absl::StrAppend(&text, " of ", with_commas(admission.wanted_sm_clock_mhz()));
    }
    absl::StrAppend(&text, " MHz");
  }
  return admission.detail().empty() ? text : absl::StrCat(text, " (", admission.detail(), ")");
}

std::string others_text(const v1::Measurement& measurement) {
  std::int64_t num_blocks = 0;
  std::uint32_t most = 0;
  for (const v1::Block& block : measurement.blocks()) {
    num_blocks += block.num_other_processes() > 0 ? 1 : 0;
    most = std::max(most, block.num_other_processes());
  }
  return num_blocks == 0 ? ""
                         : absl::StrCat("in ",
                                        with_commas(num_blocks),
                                        " of ",
                                        counted(measurement.blocks_size(), "block"),
                                        " (at most ",
                                        with_commas(most),
                                        ")");
}

std::string events_text(const v1::Measurement& measurement) {
  const std::int64_t median_ns = median_of_stage(measurement.event_stages(), "total");
  return median_ns > 0 ? in_microseconds(median_ns) + " us" : "";
}

// What of a call's time in a replayed graph its kernels take.
std::string graph_text(const v1::Configuration& configuration, Role role) {
  const v1::Measurement& measurement = measurement_of(configuration, role);
  const std::int64_t kernels_ns = median_of_stage(measurement.activity_stages(), "total");
  const std::int64_t whole_ns = stage_median_ns(configuration, role, "total");
  if (kernels_ns <= 0) {
    return "";
  }
  std::string text = in_microseconds(kernels_ns) + " us";
  if (whole_ns > 0) {
    absl::StrAppend(&text,
                    " of ",
                    in_microseconds(whole_ns),
                    " us end to end (",
                    percent_text(static_cast<double>(kernels_ns) / static_cast<double>(whole_ns)),
                    ")");
  }
  return text;
}

// "x, y, z" without the ones at the end; the number of all where no shape is known.
std::string shape_text(const google::protobuf::RepeatedField<std::uint32_t>& sizes,
                       std::uint32_t num) {
  int last = sizes.size();
  while (last > 1 && sizes.Get(last - 1) == 1) {
    --last;
  }
  if (last == 0) {
    return num > 0 ? with_commas(num) : "-";
  }
  return absl::StrJoin(
      sizes.begin(), sizes.begin() + last, " x ", [](std::string* text, std::uint32_t size) {
        *text += with_commas(size);
      });
}

// Whether the other arm has a kernel of the same instructions.
std::string equal_text(const v1::KernelResources& kernel, const v1::Measurement& other) {
  if (kernel.machine_code().empty()) {
    return "-";
  }
  bool is_known = false;
  for (const v1::KernelResources& its : other.resources()) {
    is_known = is_known || !its.machine_code().empty();
    if (its.machine_code() == kernel.machine_code()) {
      return "yes";
    }
  }
  return is_known ? "no" : "-";
}

}  // namespace

void add_profile_facts(Report& report, const v1::Configuration& configuration) {
  const auto fact = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      report.facts.emplace_back(name, value);
    }
  };
  const auto of_arm = [&](std::string (*text_of)(const v1::Measurement&)) {
    return both(configuration,
                [&](Role role) { return text_of(measurement_of(configuration, role)); });
  };
  fact("timing", modes_text(configuration));
  fact("admission", of_arm(admission_text));
  fact("other processes", of_arm(others_text));
  fact("by events", of_arm(events_text));
  fact("kernels", both(configuration, [&](Role role) { return graph_text(configuration, role); }));
}

Table kernel_table(const v1::Configuration& configuration) {
  const bool has_two = configuration.has_candidate_arm();
  Table table;
  if (has_two) {
    table.columns.push_back({"arm"});
  }
  for (const Column& column : {Column{"stage"},
                               Column{"kernel"},
                               Column{"registers", Align::kRight},
                               Column{"shared bytes", Align::kRight},
                               Column{"local bytes", Align::kRight},
                               Column{"grid", Align::kRight},
                               Column{"block", Align::kRight},
                               Column{"blocks an SM", Align::kRight},
                               Column{"occupancy", Align::kRight},
                               Column{"code"}}) {
    table.columns.push_back(column);
  }
  if (has_two) {
    table.columns.push_back({"in both arms"});
  }
  for (const Role role : kRoles) {
    for (const v1::KernelResources& kernel : measurement_of(configuration, role).resources()) {
      std::vector<std::string>& row = table.rows.emplace_back();
      if (has_two) {
        row.emplace_back(role == Role::kBaseline ? "A" : "B");
      }
      row.insert(
          row.end(),
          {kernel.stage(),
           kernel.kernel(),
           with_commas(kernel.num_registers()),
           absl::StrCat(with_commas(kernel.static_shared_bytes()),
                        " + ",
                        with_commas(kernel.dynamic_shared_bytes())),
           with_commas(kernel.local_bytes()),
           shape_text(kernel.grid(), kernel.num_blocks()),
           shape_text(kernel.block(), kernel.num_threads()),
           kernel.num_resident_blocks() > 0 ? with_commas(kernel.num_resident_blocks()) : "-",
           kernel.occupancy() > 0 ? percent_text(kernel.occupancy()) : "-",
           kernel.machine_code().empty() ? "-" : digest_prefix(kernel.machine_code())});
      if (has_two) {
        const Role other = role == Role::kBaseline ? Role::kCandidate : Role::kBaseline;
        row.push_back(equal_text(kernel, measurement_of(configuration, other)));
      }
    }
  }
  return table;
}

}  // namespace assay::client
