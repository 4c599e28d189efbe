#include "client/regressions_text.h"

#include "client/listed_text.h"
#include "client/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <vector>

namespace assay::client {
namespace {

// Raw values under the names of the data model.
std::string regressions_csv(const v1::ListRegressionsResponse& response) {
  Table table{{{"regression_id"},
               {"state"},
               {"series_id"},
               {"operator_name"},
               {"workload"},
               {"stage"},
               {"arm"},
               {"device_uuid"},
               {"experiment_id"},
               {"previous_experiment_id"},
               {"commit"},
               {"previous_commit"},
               {"ratio"},
               {"ratio_low"},
               {"ratio_high"},
               {"before_ns"},
               {"after_ns"},
               {"code_digest"},
               {"detected_ns"},
               {"changed_ns"},
               {"confirmation_experiment_id"},
               {"fixed_experiment_id"},
               {"acknowledged_reason"},
               {"reason"}},
              {}};
  for (const v1::Regression& regression : response.regressions()) {
    const v1::Series& series = regression.series();
    table.rows.push_back({absl::StrCat(regression.regression_id()),
                          v1::RegressionState_Name(regression.state()),
                          absl::StrCat(series.series_id()),
                          series.operator_name(),
                          series.workload(),
                          series.stage(),
                          series.arm(),
                          series.device_uuid(),
                          absl::StrCat(regression.experiment_id()),
                          absl::StrCat(regression.previous_experiment_id()),
                          regression.commit(),
                          regression.previous_commit(),
                          raw_number_text(regression.ratio()),
                          raw_number_text(regression.ratio_low()),
                          raw_number_text(regression.ratio_high()),
                          absl::StrCat(regression.before_ns()),
                          absl::StrCat(regression.after_ns()),
                          regression.code_digest(),
                          absl::StrCat(regression.detected_ns()),
                          absl::StrCat(regression.changed_ns()),
                          absl::StrCat(regression.confirmation_experiment_id()),
                          absl::StrCat(regression.fixed_experiment_id()),
                          regression.acknowledged_reason(),
                          regression.reason()});
  }
  return csv_text(table);
}

std::string commits_text(const v1::Regression& regression) {
  return regression.commit().empty() ? "-"
                                     : absl::StrCat(digest_prefix(regression.previous_commit()),
                                                    "..",
                                                    digest_prefix(regression.commit()));
}

// "accepted" now, "epoch 3" before.
std::string mark_text(const v1::BitsEntry& entry) {
  if (entry.epoch() == 0) {
    return "-";
  }
  return absl::StrCat(
      entry.is_golden() ? "accepted" : "replaced", ", epoch ", entry.epoch(), ": ", entry.reason());
}

}  // namespace

std::string regressions_text(const v1::ListRegressionsResponse& response, Format format) {
  if (format == Format::kCsv) {
    return regressions_csv(response);
  }
  Table table{{{"id", Align::kRight},
               {"state"},
               {"operator"},
               {"arm"},
               {"workload"},
               {"stage"},
               {"device"},
               {"experiments"},
               {"commits"},
               {"before us", Align::kRight},
               {"after us", Align::kRight},
               {"new/old"},
               {"why"}},
              {}};
  for (const v1::Regression& regression : response.regressions()) {
    const v1::Series& series = regression.series();
    table.rows.push_back(
        {absl::StrCat(regression.regression_id()),
         proto::spoken(v1::RegressionState_Name(regression.state())),
         series.operator_name(),
         series.arm(),
         series.workload(),
         series.stage(),
         series.device_model(),
         absl::StrCat(regression.previous_experiment_id(), " to ", regression.experiment_id()),
         commits_text(regression),
         in_microseconds(regression.before_ns()),
         in_microseconds(regression.after_ns()),
         absl::StrCat(ratio_text(regression.ratio()),
                      " ",
                      interval_text(regression.ratio_low(), regression.ratio_high())),
         one_line(regression.reason())});
  }
  return table_text(table, format);
}

std::string bit_history_text(const v1::BitHistoryResponse& response, Format format) {
  const bool is_raw = format == Format::kCsv;
  std::vector<ListedRow> rows;
  for (const v1::BitsEntry& entry : response.entries()) {
    rows.push_back(
        {entry.operator_name(),
         is_raw ? entry.device_uuid() : entry.device_model(),
         entry.workload(),
         {entry.tensor(),
          entry.family(),
          is_raw ? entry.digest() : digest_prefix(entry.digest()),
          time_text(entry.first_ns()),
          absl::StrCat(entry.first_experiment_id()),
          entry.first_commit().empty() ? "-" : digest_prefix(entry.first_commit()),
          is_raw ? absl::StrCat(entry.num_measurements()) : with_commas(entry.num_measurements()),
          time_text(entry.last_ns()),
          absl::StrCat(entry.last_experiment_id()),
          absl::StrJoin(entry.variants(), ", "),
          mark_text(entry)}});
  }
  return listed_text({{"tensor"},
                      {"family"},
                      {"digest"},
                      {"first seen (UTC)"},
                      {"first experiment", Align::kRight},
                      {"commit"},
                      {"times", Align::kRight},
                      {"last seen (UTC)"},
                      {"last experiment", Align::kRight},
                      {"variants"},
                      {"accepted"}},
                     rows,
                     {{"operator", &ListedRow::operator_name, 0},
                      {"workload", &ListedRow::workload, 1},
                      {"device", &ListedRow::device, 5}},
                     format);
}

}  // namespace assay::client
