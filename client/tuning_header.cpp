#include "client/tuning_header.h"

#include "client/numbers.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace assay::client {
namespace {

constexpr std::string_view kHead =
    R"(// Launch parameters that sweeps found best. Written by `assay tuning export --format header`;
// do not edit. Where find() gives null, use your own defaults: parameter() takes them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay_tuned {

struct Setting {
  std::string_view name;
  std::string_view value;
};

struct Entry {
  std::string_view operator_name;
  std::string_view variant;
  std::string_view device_model;
  std::string_view compute_capability;
  std::span<const Setting> workload;
  std::span<const Setting> parameters;
  std::string_view provenance;
};

// clang-format off
)";

constexpr std::string_view kTail = R"(// clang-format on

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

// 0 for the same workload; negative: another case. Integers may be a factor of two apart, and then
// cost 1000 at most: their larger by their smaller, less 1, in thousandths.
constexpr std::int64_t distance(std::span<const Setting> known, std::span<const Setting> wanted) {
  if (known.size() != wanted.size()) {
    return -1;
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != wanted[i].name) {
      return -1;
    }
    if (known[i].value == wanted[i].value) {
      continue;
    }
    std::int64_t a = 0;
    std::int64_t b = 0;
    if (!to_integer(known[i].value, a) || !to_integer(wanted[i].value, b) || a == 0 || b == 0) {
      return -1;
    }
    const std::int64_t smaller = a < b ? a : b;
    const std::int64_t larger = a < b ? b : a;
    if (larger > 2 * smaller) {
      return -1;
    }
    sum += (larger - smaller) * 1000 / smaller + 1;
  }
  return sum;
}

// The entry of this operator, variant (empty: any) and compute capability ("9.0") whose workload is
// the same, else the nearest; null: there is none. `workload` has every axis in the operator's
// order.
constexpr const Entry* find(std::string_view operator_name,
                            std::string_view variant,
                            std::string_view compute_capability,
                            std::span<const Setting> workload) {
  const Entry* best = nullptr;
  std::int64_t best_distance = -1;
  for (const Entry& entry : kEntries) {
    if (entry.operator_name != operator_name || entry.compute_capability != compute_capability ||
        (!variant.empty() && entry.variant != variant)) {
      continue;
    }
    const std::int64_t away = distance(entry.workload, workload);
    if (away >= 0 && (best == nullptr || away < best_distance)) {
      best = &entry;
      best_distance = away;
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
constexpr std::int64_t parameter(const Entry* entry,
                                 std::string_view name,
                                 std::int64_t fallback) {
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

absl::StatusOr<std::string> settings_array(
    const std::string& name, const google::protobuf::RepeatedPtrField<v1::Setting>& settings) {
  // No array is empty in C++.
  std::string text = absl::StrCat("inline constexpr Setting ", name, "[] = {");
  for (const v1::Setting& setting : settings) {
    ASSAY_ASSIGN_OR_RETURN(const std::string left, literal(setting.name()));
    ASSAY_ASSIGN_OR_RETURN(const std::string right, literal(setting.value()));
    absl::StrAppend(&text, "{", left, ", ", right, "}, ");
  }
  return absl::StrCat(text, settings.empty() ? "{}" : "", "};\n");
}

std::string span_of(const std::string& name, int size) {
  return absl::StrCat("std::span(", name, ").first(", size, ")");
}

google::protobuf::RepeatedPtrField<v1::Setting> axes_of(const std::string& workload) {
  google::protobuf::RepeatedPtrField<v1::Setting> axes;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(workload, ',', absl::SkipEmpty()))) {
    const std::vector<std::string> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
    v1::Setting& axis = *axes.Add();
    axis.set_name(sides[0]);
    axis.set_value(sides.size() > 1 ? sides[1] : "");
  }
  return axes;
}

std::string provenance_of(const v1::Tuning& tuning) {
  return absl::StrCat("experiment ",
                      tuning.experiment_id(),
                      ", ",
                      time_text(tuning.measured_ns()),
                      " UTC, code ",
                      tuning.code_version(),
                      ", toolkit ",
                      tuning.toolkit_version(),
                      ", driver ",
                      tuning.driver_version(),
                      ", machine code ",
                      tuning.code_digest(),
                      ", ",
                      ratio_text(tuning.ratio()),
                      " of ",
                      proto::text_of(tuning.baseline_arm()),
                      ", noise ",
                      percent_text(tuning.noise()),
                      tuning.stale().empty() ? "" : absl::StrCat(", stale: ", tuning.stale()));
}

}  // namespace

absl::StatusOr<std::string> tuning_header(const v1::ListTuningsResponse& table) {
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
    const auto axes = axes_of(tuning.workload());
    ASSAY_ASSIGN_OR_RETURN(const std::string workload, settings_array(workload_name, axes));
    ASSAY_ASSIGN_OR_RETURN(const std::string parameters,
                           settings_array(parameters_name, tuning.arm().parameters()));
    absl::StrAppend(&arrays, workload, parameters);
    absl::StrAppend(&entries, "    {");
    for (const std::string& text : {tuning.operator_name(),
                                    tuning.arm().variant(),
                                    tuning.device_model(),
                                    tuning.compute_capability()}) {
      ASSAY_ASSIGN_OR_RETURN(const std::string quoted, literal(text));
      absl::StrAppend(&entries, quoted, ", ");
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string provenance, literal(provenance_of(tuning)));
    absl::StrAppend(&entries,
                    span_of(workload_name, axes.size()),
                    ", ",
                    span_of(parameters_name, tuning.arm().parameters_size()),
                    ", ",
                    provenance,
                    "},\n");
  }
  return absl::StrCat(std::string(kHead), arrays, entries, "};\n", std::string(kTail));
}

}  // namespace assay::client
