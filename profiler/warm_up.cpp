#include "profiler/warm_up.h"

#include "profiler/statistics.h"
#include "profiler/tensor.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

namespace assay::profiler {
namespace {

constexpr double kStable = 0.03;
constexpr std::int64_t kMostCalls = 1000;

}  // namespace

std::int64_t median_call_ns(const BlockTimes& times) {
  const auto total = std::ranges::find(times.stages, "total", &v1::StageSamples::stage);
  if (total == times.stages.end()) {
    return 0;
  }
  const auto& samples = total->samples_ns();
  const auto middle = median(std::span(samples.data(), static_cast<std::size_t>(samples.size())));
  return middle.ok() ? std::llround(*middle) : 0;
}

bool WarmUp::is_done(std::int64_t now_ns) const {
  const std::int64_t elapsed_ns = now_ns - start_ns_;
  if (num_batches_ < 2) {
    return num_batches_ == 1 && elapsed_ns >= most_ns_;
  }
  return (elapsed_ns >= least_ns_ && change_ <= kStable) || elapsed_ns >= most_ns_;
}

std::uint32_t WarmUp::next_calls() const {
  if (batch_call_ns_ <= 0) {
    return 1;
  }
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(least_ns_ / 4 / batch_call_ns_, 3, kMostCalls));
}

void WarmUp::add(const BlockTimes& times, std::int64_t now_ns) {
  const std::int64_t median_ns = median_call_ns(times);
  change_ = call_ns_ > 0 && median_ns > 0 ? std::abs(static_cast<double>(median_ns - call_ns_)) /
                                                static_cast<double>(call_ns_)
                                          : 1.0;
  call_ns_ = median_ns;
  batch_call_ns_ = (now_ns - end_ns_) / std::max<std::int64_t>(times.block.num_calls(), 1);
  end_ns_ = now_ns;
  num_calls_ += times.block.num_calls();
  ++num_batches_;
}

std::string WarmUp::account() const {
  return absl::StrFormat("%s calls in %d ms, last two batches within %.1f %%",
                         with_commas(static_cast<std::int64_t>(num_calls_)),
                         (end_ns_ - start_ns_) / 1'000'000,
                         100 * change_);
}

}  // namespace assay::profiler
