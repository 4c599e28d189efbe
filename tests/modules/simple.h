// The least that a module of a test needs: one operator, `double`, out = 2 x in fp32, whose cpu
// variants each have one stage.
#pragma once

#include "assay/module.h"

#include <cstddef>

namespace simple {

using Launch = int (*)(const assay_call* call);

inline std::size_t num_elements(const assay_call* call) {
  return static_cast<std::size_t>(call->workload->values[0]);
}

inline const float* x_of(const assay_call* call) {
  return static_cast<const float*>(call->tensors[0]);
}

inline float* out_of(const assay_call* call) {
  return static_cast<float*>(call->tensors[1]);
}

inline int plain(const assay_call* call) {
  for (std::size_t i = 0; i < num_elements(call); ++i) {
    out_of(call)[i] = 2 * x_of(call)[i];
  }
  return 0;
}

inline int shape(const assay_workload* workload,
                 int64_t extents[ASSAY_MAX_RANK],
                 size_t* rank,
                 assay_error* /*error*/) {
  extents[0] = workload->values[0];
  *rank = 1;
  return 0;
}

inline assay_variant variant(const char* name, const assay_stage* stage) {
  assay_variant variant = {};
  variant.size = sizeof variant;
  variant.name = name;
  variant.stages = stage;
  variant.num_stages = 1;
  return variant;
}

inline assay_stage stage(Launch launch) {
  assay_stage stage = {};
  stage.size = sizeof stage;
  stage.name = "only";
  stage.launch_cpu = launch;
  return stage;
}

// The module's table, as yet without variants.
inline assay_module_table* table_with(assay_operator& op) {
  static assay_axis axis = {};
  axis = {sizeof axis, "n", "elements", 1000, 1, 1 << 20, nullptr, 0};
  static assay_tensor tensors[2] = {};
  tensors[0].size = tensors[1].size = sizeof tensors[0];
  tensors[0].name = "x";
  tensors[0].role = ASSAY_INPUT;
  tensors[0].fill = ASSAY_FILL_UNIFORM;
  tensors[1].name = "out";
  tensors[1].role = ASSAY_OUTPUT;
  tensors[0].shape = tensors[1].shape = shape;
  op.size = sizeof op;
  op.name = "double";
  op.axes = &axis;
  op.num_axes = 1;
  op.tensors = tensors;
  op.num_tensors = 2;
  static assay_module_table table = {};
  table = {sizeof table, ASSAY_MODULE_ABI, &op, 1};
  return &table;
}

inline const assay_module_table* table_of(const assay_variant* variants, std::size_t num_variants) {
  static assay_operator op = {};
  op.cpu_variants = variants;
  op.num_cpu_variants = num_variants;
  return table_with(op);
}

inline const assay_module_table* cuda_table_of(const assay_variant* variants,
                                               std::size_t num_variants) {
  static assay_operator op = {};
  op.cuda_variants = variants;
  op.num_cuda_variants = num_variants;
  return table_with(op);
}

}  // namespace simple
