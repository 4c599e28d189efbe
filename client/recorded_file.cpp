#include "client/recorded_file.h"

#include "client/json_entries.h"
#include "client/non_finite.h"
#include "client/recorded_formats.h"
#include "client/recorded_notes.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cmath>

namespace assay::client {
namespace {

using Reader = absl::Status (*)(std::string_view, const JsonOutline&, RecordedFile&);

struct Format {
  const char* name;
  Reader reader;
};

constexpr double kMaxTime_ns = 9e18;  // what 64 bits hold

absl::Status check_figures(const v1::RecordedRow& row) {
  bool is_fine = std::abs(row.time_ns()) <= kMaxTime_ns;
  for (const double sample_ns : row.samples_ns()) {
    is_fine = is_fine && std::abs(sample_ns) <= kMaxTime_ns;
  }
  for (const v1::Metric& metric : row.metrics()) {
    is_fine = is_fine && std::isfinite(metric.value());
  }
  return is_fine ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat(
                       "row ", row.row(), ": a time of over 9e18 ns, or a figure without a bound"));
}

bool has(const OrderedJson& object, const char* name) {
  return object.is_object() && object.contains(name);
}

absl::StatusOr<Format> recognise(const JsonOutline& outline) {
  const OrderedJson& members = outline.members;
  const OrderedJson& entry = outline.first_entry;
  if (has(members, "cache") && has(members, "tune_params_keys")) {
    return Format{"kernel_tuner_cache", read_cache};
  }
  if (has(members, "results") && (has(entry, "configuration") || has(members, "schema_version"))) {
    return Format{"t4", read_t4};
  }
  if (has(members, "benchmarks") && (has(entry, "states") || has(members, "devices"))) {
    return Format{"nvbench", read_nvbench};
  }
  if (has(members, "benchmarks") && (has(entry, "name") || has(members, "context"))) {
    return Format{"google_benchmark", read_google_benchmark};
  }
  std::vector<std::string> found;
  for (const auto& [name, value] : members.items()) {
    found.push_back(absl::StrCat("`", name, "`"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "none of the known formats; looked for `cache` with `tune_params_keys` (Kernel Tuner), "
      "`results` whose entries have a `configuration` (T4), `benchmarks` whose entries have "
      "`states` (nvbench) or else a `name` (Google Benchmark); found ",
      found.empty() ? "no member" : absl::StrJoin(found, ", "),
      outline.is_cut ? " before the file ended" : ""));
}

}  // namespace

absl::StatusOr<RecordedFile> parse_recorded(std::string text) {
  RecordedFile file;
  const std::int64_t num_replaced = replace_non_finite(text);
  ASSAY_ASSIGN_OR_RETURN(
      const JsonOutline outline,
      read_entries(text, [](const std::string&, const OrderedJson&) { return absl::OkStatus(); }));
  ASSAY_ASSIGN_OR_RETURN(const Format format, recognise(outline));
  if (outline.num_entries > kMaxRecordedRows) {
    return absl::ResourceExhaustedError(
        absl::StrCat("has ",
                     proto::with_commas(static_cast<std::int64_t>(outline.num_entries)),
                     " entries, the limit is 1,000,000"));
  }
  file.recording.set_format(format.name);
  if (num_replaced > 0) {
    file.recording.add_notes(
        absl::StrCat(num_replaced, " NaN or infinity, which JSON does not have: read as absent"));
  }
  ASSAY_RETURN_IF_ERROR(format.reader(text, outline, file));
  if (file.rows.size() > kMaxRecordedRows) {
    return absl::ResourceExhaustedError(
        absl::StrCat("has ",
                     proto::with_commas(static_cast<std::int64_t>(file.rows.size())),
                     " rows, the limit is 1,000,000"));
  }
  for (std::size_t i = 0; i < file.rows.size(); ++i) {
    file.rows[i].set_row(static_cast<std::uint32_t>(i + 1));
    ASSAY_RETURN_IF_ERROR(check_figures(file.rows[i]));
  }
  file.recording.set_num_rows(static_cast<std::uint32_t>(file.rows.size()));
  if (outline.is_cut) {
    file.recording.add_notes(
        absl::StrCat("the file ends before its end: what is whole was read",
                     outline.is_entry_cut ? "; 1 truncated entry skipped" : ""));
  }
  add_notes(file);
  return file;
}

std::vector<std::string> export_formats() {
  return {"google_benchmark", "nvbench", "t4"};
}

absl::StatusOr<std::string> write_recorded(const RecordedFile& file, std::string_view format) {
  if (format == "t4") {
    return write_t4(file);
  }
  if (format == "google_benchmark") {
    return write_google_benchmark(file);
  }
  if (format == "nvbench") {
    return write_nvbench(file);
  }
  return absl::InvalidArgumentError(absl::StrCat("format `",
                                                 std::string(format),
                                                 "`: expected one of ",
                                                 absl::StrJoin(export_formats(), ", ")));
}

}  // namespace assay::client
