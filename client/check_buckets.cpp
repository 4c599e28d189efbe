#include "client/check_buckets.h"

#include "client/numbers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace assay::client {
namespace {

std::string share_text(double share) {
  return absl::StrFormat("%.3g", share);
}

std::string terms_text(std::int64_t least, std::int64_t most) {
  return least == most ? with_commas(least)
                       : absl::StrCat(with_commas(least), " to ", with_commas(most));
}

}  // namespace

void CheckBuckets::add(const std::string& item, const v1::CheckResult& check) {
  for (const v1::ToleranceBucket& found : check.tolerance_buckets()) {
    Bucket& bucket = buckets_[found.least_terms()];
    bucket.most_terms = found.most_terms();
    bucket.num_elements += found.num_elements();
    if (bucket.item.empty() || found.tolerance_used() > bucket.tolerance_used) {
      bucket.tolerance_used = found.tolerance_used();
      bucket.item = item;
    }
  }
  if (!check.tolerance_alarm()) {
    return;
  }
  if (num_alarms_++ == 0 || check.tolerance_used() > alarming_) {
    alarming_ = check.tolerance_used();
    alarming_item_ = item;
  }
}

Table CheckBuckets::table() const {
  Table table{{{"terms", Align::kRight},
               {"elements", Align::kRight},
               {"worst share of the tolerance", Align::kRight},
               {"in", Align::kLeft}},
              {}};
  for (const auto& [least_terms, bucket] : buckets_) {
    table.rows.push_back({terms_text(least_terms, bucket.most_terms),
                          with_commas(bucket.num_elements),
                          share_text(bucket.tolerance_used),
                          bucket.item});
  }
  return table;
}

std::string CheckBuckets::warning() const {
  return num_alarms_ == 0 ? ""
                          : absl::StrCat("warning: ",
                                         counted(num_alarms_, "item"),
                                         num_alarms_ == 1 ? " is" : " are",
                                         " above the operator's tolerance alarm, the worst ",
                                         alarming_item_,
                                         " at ",
                                         share_text(alarming_),
                                         " of the tolerance: more than the formats explain");
}

}  // namespace assay::client
