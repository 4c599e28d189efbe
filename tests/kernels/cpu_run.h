// Runs cpu rows of the catalogue on workloads and keeps every tensor's bytes.
#pragma once

#include "kernels/operator.h"

#include "absl/status/status.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace assay::kernels {

// Bytes of the two NaN patterns that a call's results are filled with.
inline constexpr std::byte kPoison{0xff};
inline constexpr std::byte kOtherPoison{0x7f};

struct CpuTensors {
  std::shared_ptr<const Problem> problem;
  std::vector<std::vector<std::byte>> bytes;  // as Problem::tensors()
};

Workload make_workload(const Operator& op,
                       const std::vector<Setting>& axes,
                       std::uint64_t seed = 0);

// Parameters by name; the rest at their defaults.
LaunchParameters make_parameters(std::span<const AxisInfo> axes, const std::vector<Setting>& given);

// Inputs filled, everything else poisoned.
CpuTensors make_tensors(const Operator& op, const Workload& workload, std::byte poison = kPoison);

absl::Status run_stages(std::span<const Stage<CpuLaunch>> stages,
                        const LaunchParameters& parameters,
                        CpuTensors* tensors,
                        Trace* trace = nullptr);

CpuTensors run_variant(const Operator& op,
                       const Workload& workload,
                       std::string_view variant,
                       const std::vector<Setting>& parameters,
                       std::byte poison = kPoison);

// As above on inputs that are there already; the results are copied out.
CpuTensors run_variant_on(const Operator& op,
                          CpuTensors* tensors,
                          std::string_view variant,
                          const std::vector<Setting>& parameters);

// The name of the first output or intermediate that differs where it is live; empty: none does.
std::string first_difference(const CpuTensors& a, const CpuTensors& b);

// The largest share of the tolerance that an element of an output uses.
double tolerance_used(const CpuTensors& tensors);

}  // namespace assay::kernels
