#include "client/tuning_header.h"

#include "client/numbers.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

constexpr std::string_view kHead =
    R"(// Launch parameters that sweeps found best, as `assay tuning export --format header` wrote them.
// find() gives the entry of a workload or null, parameter() takes your own default for null.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay_tuned {

struct Setting {
  std::string_view name;
  std::string_view value;
};

struct Axis {
  std::string_view name;
  std::string_view value;
  bool is_number;  // one up to a factor of two away is near
};

struct Entry {
  std::string_view operator_name;
  std::string_view variant;
  std::string_view device_model;
  std::string_view compute_capability;  // "9.0"; empty: a cpu
  std::int64_t median_ns;
  std::span<const Axis> workload;
  std::span<const Setting> parameters;
  std::string_view provenance;
};

// clang-format off
)";

constexpr std::string_view kTail = R"(
// clang-format on

// Whether `text` is an integer of at most 18 digits, and which.
constexpr bool to_integer(std::string_view text, std::int64_t& value) {
  value = 0;
  if (text.empty() || text.size() > 18) {
    return false;
  }
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return false;
    }
    value = value * 10 + (c - '0');
  }
  return true;
}

// How many times apart two values are, from 1 to 2; 0: they are another case.
constexpr double times_apart(const Axis& known, std::string_view wanted) {
  if (known.value == wanted) {
    return 1;
  }
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (!known.is_number || !to_integer(known.value, a) || !to_integer(wanted, b)) {
    return 0;
  }
  const std::int64_t smaller = a < b ? a : b;
  const std::int64_t larger = a < b ? b : a;
  const bool is_near = smaller > 0 && larger <= 2 * smaller;
  return is_near ? static_cast<double>(larger) / static_cast<double>(smaller) : 0;
}

// The product over the axes: 1 for the same workload, 0 for another case.
constexpr double times_apart(const Entry& entry, std::span<const Setting> workload) {
  if (entry.workload.size() != workload.size()) {
    return 0;
  }
  double product = 1;
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const bool is_same_axis = entry.workload[i].name == workload[i].name;
    product *= is_same_axis ? times_apart(entry.workload[i], workload[i].value) : 0;
  }
  return product;
}

// The entry of this operator, variant (empty: any) and compute capability whose workload is the
// same, else the nearest, of equally near ones the fastest; null: there is none. `workload` has
// every axis in the operator's order.
constexpr const Entry* find(std::string_view operator_name,
                            std::string_view variant,
                            std::string_view compute_capability,
                            std::span<const Setting> workload) {
  const Entry* best = nullptr;
  double best_times = 0;
  for (const Entry& entry : kEntries) {
    if (entry.operator_name != operator_name || entry.compute_capability != compute_capability ||
        (!variant.empty() && entry.variant != variant)) {
      continue;
    }
    const double times = times_apart(entry, workload);
    const bool is_first = best == nullptr || times < best_times;
    if (times > 0 && (is_first || (times == best_times && entry.median_ns < best->median_ns))) {
      best = &entry;
      best_times = times;
    }
  }
  return best;
}

// The text of a launch parameter, or `fallback` without an entry that has it.
constexpr std::string_view parameter(const Entry* entry,
                                     std::string_view name,
                                     std::string_view fallback) {
  if (entry != nullptr) {
    for (const Setting& setting : entry->parameters) {
      if (setting.name == name) {
        return setting.value;
      }
    }
  }
  return fallback;
}

// The same of an integer.
constexpr std::int64_t parameter(const Entry* entry, std::string_view name, std::int64_t fallback) {
  std::int64_t value = 0;
  return to_integer(parameter(entry, name, std::string_view()), value) ? value : fallback;
}

}  // namespace assay_tuned
)";

absl::StatusOr<std::string> literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') {
      return absl::InvalidArgumentError("has a control character, which a header cannot hold");
    }
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + "\"";
}

std::string array_head(const std::string& type, const std::string& name) {
  return absl::StrCat("inline constexpr ", type, " ", name, "[] = {");
}

// No array is empty in C++: a span of none is taken of it.
std::string array_tail(bool is_empty) {
  return is_empty ? "{}};\n" : "};\n";
}

absl::StatusOr<std::string> parameters_array(const std::string& name, const v1::Arm& arm) {
  std::string text = array_head("Setting", name);
  for (const v1::Setting& setting : arm.parameters()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string left, literal(setting.name()));
    ASSAY_ASSIGN_OR_RETURN(const std::string right, literal(setting.value()));
    absl::StrAppend(&text, "{", left, ", ", right, "}, ");
  }
  return text + array_tail(arm.parameters().empty());
}

std::vector<std::string> axes_of(const v1::Tuning& tuning) {
  return absl::StrSplit(tuning.workload(), ',', absl::SkipEmpty());
}

// What is not known to be an integer has to be equal.
bool is_number(const v1::ListOperatorsResponse& operators,
               const std::string& operator_name,
               const std::string& axis) {
  const auto info =
      std::ranges::find(operators.operators(), operator_name, &v1::OperatorInfo::name);
  if (info == operators.operators().end()) {
    return false;
  }
  const auto found = std::ranges::find(info->axes(), axis, &v1::AxisInfo::name);
  return found != info->axes().end() && found->choices().empty();
}

absl::StatusOr<std::string> workload_array(const std::string& name,
                                           const v1::Tuning& tuning,
                                           const v1::ListOperatorsResponse& operators) {
  std::string text = array_head("Axis", name);
  for (const std::string& axis : axes_of(tuning)) {
    const std::pair<std::string, std::string> sides = absl::StrSplit(axis, absl::MaxSplits('=', 1));
    ASSAY_ASSIGN_OR_RETURN(const std::string left, literal(sides.first));
    ASSAY_ASSIGN_OR_RETURN(const std::string right, literal(sides.second));
    const bool is_near = is_number(operators, tuning.operator_name(), sides.first);
    absl::StrAppend(&text, "{", left, ", ", right, is_near ? ", true}, " : ", false}, ");
  }
  return text + array_tail(axes_of(tuning).empty());
}

std::string span_of(const std::string& name, std::size_t size) {
  return absl::StrCat("std::span(", name, ").first(", size, ")");
}

std::string provenance_of(const v1::Tuning& tuning) {
  std::string text = absl::StrCat(
      "experiment ", tuning.experiment_id(), ", ", time_text(tuning.measured_ns()), " UTC");
  for (const auto& [what, value] : {std::pair("code", tuning.code_version()),
                                    std::pair("toolkit", tuning.toolkit_version()),
                                    std::pair("driver", tuning.driver_version()),
                                    std::pair("machine code", tuning.code_digest()),
                                    std::pair("stale:", tuning.stale())}) {
    if (!value.empty()) {
      absl::StrAppend(&text, ", ", what, " ", value);
    }
  }
  return absl::StrCat(text,
                      ", ",
                      ratio_text(tuning.ratio()),
                      " of ",
                      proto::text_of(tuning.baseline_arm()),
                      ", noise ",
                      percent_text(tuning.noise()));
}

absl::StatusOr<std::string> entry_text(const v1::Tuning& tuning,
                                       const std::string& workload,
                                       const std::string& parameters) {
  std::string text = "    {";
  for (const std::string& field : {tuning.operator_name(),
                                   tuning.arm().variant(),
                                   tuning.device_model(),
                                   tuning.compute_capability()}) {
    ASSAY_ASSIGN_OR_RETURN(const std::string quoted, literal(field));
    absl::StrAppend(&text, quoted, ", ");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string provenance, literal(provenance_of(tuning)));
  const auto num_parameters = static_cast<std::size_t>(tuning.arm().parameters_size());
  return absl::StrCat(text,
                      tuning.median_ns(),
                      ", ",
                      span_of(workload, axes_of(tuning).size()),
                      ", ",
                      span_of(parameters, num_parameters),
                      ",\n     ",
                      provenance,
                      "},\n");
}

}  // namespace

absl::StatusOr<std::string> tuning_header(const v1::ListTuningsResponse& table,
                                          const v1::ListOperatorsResponse& operators) {
  if (table.tunings().empty()) {
    return absl::FailedPreconditionError(
        "nothing to export: no entry is fresh; run `assay sweep`, or take stale ones by --stale");
  }
  std::string arrays;
  std::string entries = "inline constexpr Entry kEntries[] = {\n";
  for (int i = 0; i < table.tunings_size(); ++i) {
    const v1::Tuning& tuning = table.tunings(i);
    const std::string workload_name = absl::StrCat("kWorkload", i);
    const std::string parameters_name = absl::StrCat("kParameters", i);
    const auto workload = workload_array(workload_name, tuning, operators);
    const auto parameters = parameters_array(parameters_name, tuning.arm());
    const auto entry = entry_text(tuning, workload_name, parameters_name);
    for (const absl::Status& status : {workload.status(), parameters.status(), entry.status()}) {
      if (!status.ok()) {
        return proto::annotate(
            status,
            absl::StrCat("the entry of `", tuning.operator_name(), "` for ", tuning.workload()));
      }
    }
    absl::StrAppend(&arrays, *workload, *parameters);
    absl::StrAppend(&entries, *entry);
  }
  return absl::StrCat(std::string(kHead), arrays, entries, "};\n", std::string(kTail));
}

}  // namespace assay::client
