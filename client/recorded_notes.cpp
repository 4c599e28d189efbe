#include "client/recorded_notes.h"

#include "proto/text.h"
#include "tuning/ranking.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace assay::client {
namespace {

using proto::with_commas;
using tuning::Statistic;

constexpr double kConflict = 0.01;
constexpr int kLeastSamples = 3;

bool is_first_cold(const v1::RecordedRow& row) {
  if (row.samples_ns_size() < kLeastSamples) {
    return false;
  }
  v1::RecordedRow others;
  others.mutable_samples_ns()->Add(row.samples_ns().begin() + 1, row.samples_ns().end());
  const std::optional<double> median = tuning::value_of(others, Statistic::kMedian);
  return median.has_value() && row.samples_ns(0) > 2 * *median;
}

std::string counted(std::size_t num, const char* thing) {
  return absl::StrCat(with_commas(static_cast<std::int64_t>(num)), " ", thing, num == 1 ? "" : "s");
}

struct Counts {
  std::size_t num_cold = 0;
  std::size_t num_sampled = 0;
  std::size_t num_conflicting = 0;
  std::size_t num_outside = 0;
  std::size_t num_failed_sampled = 0;
  std::size_t num_unmeasured = 0;
  std::size_t num_not_positive = 0;
};

Counts counts_of(const RecordedFile& file) {
  Counts counts;
  for (const v1::RecordedRow& row : file.rows) {
    const bool has_samples = !row.samples_ns().empty();
    if (row.failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
      counts.num_failed_sampled += has_samples ? 1 : 0;
      continue;
    }
    counts.num_sampled += has_samples ? 1 : 0;
    counts.num_unmeasured += !has_samples && !row.has_time() ? 1 : 0;
    const bool has_fault =
        (row.has_time() && row.time_ns() <= 0) ||
        std::ranges::any_of(row.samples_ns(), [](double sample) { return sample <= 0; });
    counts.num_not_positive += has_fault ? 1 : 0;
    counts.num_cold += is_first_cold(row) ? 1 : 0;
    const std::optional<double> mean = tuning::value_of(row, Statistic::kMean);
    if (mean.has_value() && row.has_time()) {
      const auto [low, high] = std::ranges::minmax(row.samples_ns());
      counts.num_conflicting += std::abs(*mean - row.time_ns()) > kConflict * *mean ? 1 : 0;
      counts.num_outside += row.time_ns() < low || row.time_ns() > high ? 1 : 0;
    }
  }
  return counts;
}

}  // namespace

void add_notes(RecordedFile& file) {
  const Counts counts = counts_of(file);
  v1::Recording& recording = file.recording;
  if (counts.num_cold > 0) {
    recording.add_notes(
        absl::StrCat("in ",
                     with_commas(static_cast<std::int64_t>(counts.num_cold)),
                     " of ",
                     counted(counts.num_sampled, "row"),
                     " the first sample is cold, over twice the median of the others: it is kept, "
                     "and moves the mean but not the median"));
  }
  if (counts.num_conflicting > 0) {
    recording.add_notes(
        absl::StrCat("in ",
                     counted(counts.num_conflicting, "row"),
                     " the stated time is more than 1 % from the mean of the samples, in ",
                     counted(counts.num_outside, "row"),
                     " outside all of them: both are kept; median and mean are of the samples, "
                     "time is as stated"));
  }
  if (counts.num_failed_sampled > 0) {
    recording.add_notes(absl::StrCat(counted(counts.num_failed_sampled, "row"),
                                     " failed but with samples: never ranked"));
  }
  if (counts.num_not_positive > 0) {
    recording.add_notes(absl::StrCat(counted(counts.num_not_positive, "row"),
                                     " with a time that is not above 0: kept, but a statistic that "
                                     "is not above 0 never ranks"));
  }
  if (counts.num_unmeasured > 0) {
    recording.add_notes(absl::StrCat(counted(counts.num_unmeasured, "row"), " without any time"));
  }
}

std::string unranked_because(const RecordedFile& file) {
  std::set<std::string> names;
  std::set<std::string> devices;
  const auto& parameters = file.recording.parameters();
  const auto device = std::ranges::find(parameters, "device") - parameters.begin();
  for (const v1::RecordedRow& row : file.rows) {
    names.insert(row.name());
    if (device < row.values_size()) {
      devices.insert(row.values(static_cast<int>(device)));
    }
  }
  if (names.size() > 1) {
    return counted(names.size(), "benchmark") + " are not ranked against each other";
  }
  return devices.size() > 1
             ? counted(devices.size(), "device") + " are not ranked against each other"
             : "";
}

}  // namespace assay::client
