#include "proto/numbers.h"
#include "server/receipt_sections.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>

namespace assay::server {
namespace {

proto::Varying varying(const v1::ReceiptExperiment& experiment,
                       proto::Settings (*settings_of)(const v1::ReceiptRow&)) {
  std::vector<proto::Settings> rows;
  for (const v1::ReceiptRow& row : experiment.rows()) {
    rows.push_back(settings_of(row));
  }
  return proto::Varying(rows);
}

proto::Settings workload_of(const v1::ReceiptRow& row) {
  return proto::settings_of(row.workload());
}

proto::Settings baseline_of(const v1::ReceiptRow& row) {
  return proto::settings_of(row.baseline().arm());
}

proto::Settings candidate_of(const v1::ReceiptRow& row) {
  return proto::settings_of(row.candidate().arm());
}

}  // namespace

bool is_judged(const v1::ReceiptExperiment& experiment) {
  return experiment.kind() != v1::MEASURE;
}

std::string share_text(double share) {
  return std::isfinite(share) ? absl::StrFormat("%.3g", share) : "-";
}

std::string shape_text(const v1::TensorDigest& tensor) {
  return absl::StrCat(tensor.dtype(), " [", absl::StrJoin(tensor.shape(), ", "), "]");
}

RowNames::RowNames(const v1::ReceiptExperiment& experiment)
    : is_judged_(is_judged(experiment)),
      workloads_(varying(experiment, workload_of)),
      baselines_(varying(experiment, baseline_of)),
      candidates_(varying(experiment, candidate_of)) {}

std::vector<std::pair<std::string, std::string>> RowNames::constant_facts() const {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&facts](const char* name, const std::string& value) {
    if (!value.empty()) {
      facts.emplace_back(name, value);
    }
  };
  add("workload", workloads_.constant_text());
  add(is_judged_ ? "A" : "arm", baselines_.constant_text());
  if (is_judged_) {
    add("B", candidates_.constant_text());
  }
  return facts;
}

std::string RowNames::workload(const v1::ReceiptRow& row) const {
  return workloads_.text_of(workload_of(row));
}

void RowNames::add_columns(MarkdownTable& table) const {
  table.columns.push_back({"#", true});
  if (workloads_.any()) {
    table.columns.push_back({"workload"});
  }
  if (baselines_.any()) {
    table.columns.push_back({is_judged_ ? "A" : "arm"});
  }
  if (is_judged_ && candidates_.any()) {
    table.columns.push_back({"B"});
  }
}

std::vector<std::string> RowNames::cells(const v1::ReceiptRow& row) const {
  std::vector<std::string> cells = {absl::StrCat(row.configuration())};
  if (workloads_.any()) {
    cells.push_back(markdown_code(workload(row)));
  }
  if (baselines_.any()) {
    cells.push_back(markdown_code(baselines_.text_of(baseline_of(row))));
  }
  if (is_judged_ && candidates_.any()) {
    cells.push_back(markdown_code(candidates_.text_of(candidate_of(row))));
  }
  return cells;
}

void BucketTable::add(const std::string& name,
                      const google::protobuf::RepeatedPtrField<v1::ToleranceBucket>& buckets) {
  for (const v1::ToleranceBucket& found : buckets) {
    auto place =
        std::ranges::lower_bound(buckets_, found.least_terms(), {}, [](const Bucket& each) {
          return each.worst.least_terms();
        });
    if (place == buckets_.end() || place->worst.least_terms() != found.least_terms()) {
      place = buckets_.insert(place, Bucket{.worst = found, .num_elements = 0, .name = name});
    } else if (found.tolerance_used() > place->worst.tolerance_used()) {
      place->worst = found;
      place->name = name;
    }
    place->num_elements += found.num_elements();
  }
}

std::string BucketTable::text() const {
  MarkdownTable table{
      {{"terms", true}, {"elements", true}, {"worst share of the tolerance", true}, {"in"}}, {}};
  for (const Bucket& bucket : buckets_) {
    const std::string least = proto::with_commas(bucket.worst.least_terms());
    const bool is_one = bucket.worst.least_terms() == bucket.worst.most_terms();
    table.rows.push_back(
        {is_one ? least
                : absl::StrCat(least, " to ", proto::with_commas(bucket.worst.most_terms())),
         proto::with_commas(bucket.num_elements),
         share_text(bucket.worst.tolerance_used()),
         markdown_code(bucket.name)});
  }
  return table.text();
}

}  // namespace assay::server
