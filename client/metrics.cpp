#include "client/metrics.h"

#include "client/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace assay::client {
namespace {

struct Titled {
  std::string_view name;
  std::string_view title;
};

constexpr std::array kTitles = {
    Titled{kDramRead, "DRAM read"},
    Titled{kDramWritten, "DRAM written"},
    Titled{"dram__bytes.sum", "DRAM"},
    Titled{"dram__bytes.sum.per_second", "DRAM rate then"},
    Titled{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM of peak"},
    Titled{"lts__t_bytes.sum", "L2"},
    Titled{"lts__t_sector_hit_rate.pct", "L2 hits"},
    Titled{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 of peak"},
    Titled{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor pipe"},
    Titled{"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "tensor issue"},
    Titled{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM of peak"},
    Titled{"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy"},
    Titled{kTensorFlops, "tensor flop"},
    Titled{kFusedMultiplyAdds, "fp32 fma"},
    Titled{kAdds, "fp32 add"},
    Titled{kMultiplies, "fp32 mul"},
    Titled{kKernelTime, "time then"},
};

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

struct Term {
  std::string_view name;
  double factor;
};

// Of the terms that were counted.
std::optional<double> weighted_sum(const v1::KernelCounters& kernel, std::span<const Term> terms) {
  std::optional<double> sum;
  for (const Term& term : terms) {
    if (const std::optional<double> value = metric_of(kernel, term.name)) {
      sum = sum.value_or(0) + term.factor * *value;
    }
  }
  return sum;
}

}  // namespace

std::optional<double> metric_of(const v1::KernelCounters& kernel, std::string_view name) {
  for (const v1::Metric& metric : kernel.metrics()) {
    if (metric.name() == name && std::isfinite(metric.value())) {
      return metric.value();
    }
  }
  return std::nullopt;
}

std::optional<double> dram_bytes(const v1::KernelCounters& kernel) {
  const std::optional<double> read = metric_of(kernel, kDramRead);
  const std::optional<double> written = metric_of(kernel, kDramWritten);
  return read && written ? std::optional(*read + *written) : std::nullopt;
}

std::optional<double> tensor_flops(const v1::KernelCounters& kernel) {
  constexpr std::array kTerms = {Term{kTensorFlops, 1}};
  return weighted_sum(kernel, kTerms);
}

std::optional<double> scalar_flops(const v1::KernelCounters& kernel) {
  constexpr std::array kTerms = {Term{kFusedMultiplyAdds, 2}, Term{kAdds, 1}, Term{kMultiplies, 1}};
  return weighted_sum(kernel, kTerms);
}

std::string metric_title(std::string_view name) {
  const std::size_t rank = metric_rank(name);
  return std::string(rank < kTitles.size() ? kTitles[rank].title : name);
}

std::size_t metric_rank(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kTitles, name, &Titled::name) -
                                  kTitles.begin());
}

std::string metric_text(std::string_view name, double value) {
  if (has(name, ".pct") || has(name, "_pct")) {
    return percent_text(value / 100);
  }
  const bool is_rate = name.ends_with(".per_second");
  if (has(name, "bytes")) {
    return quantity_text(value, is_rate ? "bytes/s" : "bytes");
  }
  if (has(name, "time_duration")) {
    return quantity_text(value, "ns");
  }
  if (has(name, "__ops_path_tensor")) {
    return quantity_text(value, is_rate ? "flop/s" : "flop");
  }
  constexpr double kLargestWhole = 9e15;
  if (!is_rate && value == std::floor(value) && std::abs(value) < kLargestWhole) {
    return with_commas(static_cast<std::int64_t>(value));
  }
  return quantity_text(value, is_rate ? "/s" : "");
}

}  // namespace assay::client
