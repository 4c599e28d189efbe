// Names of hardware counters that reports know by more than their name, all of them. Others are
// shown as they are called.
#pragma once

#include "proto/assay.pb.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::client {

inline constexpr std::string_view kDramRead = "dram__bytes_read.sum";
inline constexpr std::string_view kDramWritten = "dram__bytes_write.sum";
inline constexpr std::string_view kKernelTime = "gpu__time_duration.sum";

// Counts operations, not instructions.
inline constexpr std::string_view kTensorFlops = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";

// Count instructions of threads.
inline constexpr std::string_view kFusedMultiplyAdds =
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
inline constexpr std::string_view kAdds = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
inline constexpr std::string_view kMultiplies =
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";

// Nothing unless it was counted and is a number.
std::optional<double> metric_of(const v1::KernelCounters& kernel, std::string_view name);

// Read and written in DRAM; nothing unless both were counted.
std::optional<double> dram_bytes(const v1::KernelCounters& kernel);

// On tensor cores; elsewhere, a fused multiply-add counting twice. Nothing unless one of the terms
// was counted.
std::optional<double> tensor_flops(const v1::KernelCounters& kernel);
std::optional<double> scalar_flops(const v1::KernelCounters& kernel);

// The heading of a metric's column: "DRAM read", "L2 hits"; the name where there is no better one.
std::string metric_title(std::string_view name);

// Metrics with a title come first, in this order; the others are last.
std::size_t metric_rank(std::string_view name);

// The value in the unit that the name tells: bytes, a rate, a share, a time or a count.
std::string metric_text(std::string_view name, double value);

}  // namespace assay::client
