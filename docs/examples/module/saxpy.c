/* A module with one operator, out = a x + y in fp32: a product and a sum for each element, so that
 * every order of the elements gives the same bits. Three variants on cpu: the baseline, one that
 * may be faster, and one that is wrong. */
#include "saxpy.h"

#include <math.h>
#include <stdio.h>

static int shape(const assay_workload* workload,
                 int64_t extents[ASSAY_MAX_RANK],
                 size_t* rank,
                 assay_error* error) {
  (void)error;
  extents[0] = workload->values[SAXPY_N];
  *rank = 1;
  return 0;
}

/* One rounding of the product and one of the sum, each at most half a unit in the last place. */
static void reference(const assay_workload* workload,
                      const void* const* tensors,
                      double* values,
                      double* tolerances,
                      size_t num_elements) {
  const double a = (double)workload->values[SAXPY_A];
  const float* x = tensors[SAXPY_X];
  const float* y = tensors[SAXPY_Y];
  for (size_t i = 0; i < num_elements; ++i) {
    values[i] = a * x[i] + y[i];
    tolerances[i] = (fabs(a * x[i]) + fabs((double)y[i])) * 0x1p-23 + 0x1p-140;
  }
}

static int64_t min_flops(const assay_workload* workload) {
  return 2 * workload->values[SAXPY_N];
}

static void saxpy(const assay_call* call, size_t begin, size_t end) {
  const float a = (float)call->workload->values[SAXPY_A];
  const float* x = call->tensors[SAXPY_X];
  const float* y = call->tensors[SAXPY_Y];
  float* out = call->tensors[SAXPY_OUT];
  for (size_t i = begin; i < end; ++i) {
    out[i] = a * x[i] + y[i];
  }
}

static int launch_plain(const assay_call* call) {
  saxpy(call, 0, (size_t)call->workload->values[SAXPY_N]);
  return 0;
}

/* In pieces that fit a cache beside one another. */
static int launch_blocked(const assay_call* call) {
  const size_t n = (size_t)call->workload->values[SAXPY_N];
  const size_t block = (size_t)call->parameters[0];
  if (block == 0) {
    snprintf(call->error->text, call->error->num_bytes, "a block of no elements");
    return 1;
  }
  for (size_t begin = 0; begin < n; begin += block) {
    saxpy(call, begin, begin + block < n ? begin + block : n);
  }
  return 0;
}

/* The defect: the last element lacks y. */
static int launch_wrong(const assay_call* call) {
  const size_t last = (size_t)call->workload->values[SAXPY_N] - 1;
  const float* x = call->tensors[SAXPY_X];
  float* out = call->tensors[SAXPY_OUT];
  saxpy(call, 0, last);
  out[last] = (float)call->workload->values[SAXPY_A] * x[last];
  return 0;
}

static const assay_axis axes[] = {
    {.size = sizeof(assay_axis),
     .name = "n",
     .help = "elements",
     .default_value = 65536,
     .min = 1,
     .max = 1 << 28},
    {.size = sizeof(assay_axis),
     .name = "a",
     .help = "the factor",
     .default_value = 3,
     .min = -100,
     .max = 100},
};

static const assay_tensor tensors[] = {
    {.size = sizeof(assay_tensor),
     .name = "x",
     .dtype = ASSAY_F32,
     .role = ASSAY_INPUT,
     .fill = ASSAY_FILL_NORMAL,
     .shape = shape},
    {.size = sizeof(assay_tensor),
     .name = "y",
     .dtype = ASSAY_F32,
     .role = ASSAY_INPUT,
     .fill = ASSAY_FILL_NORMAL,
     .shape = shape},
    {.size = sizeof(assay_tensor),
     .name = "out",
     .dtype = ASSAY_F32,
     .role = ASSAY_OUTPUT,
     .shape = shape,
     .reference = reference},
};

static const assay_axis block[] = {
    {.size = sizeof(assay_axis),
     .name = "block",
     .help = "elements at a time",
     .default_value = 4096,
     .min = 1,
     .max = 1 << 20},
};

static const assay_stage plain[] = {
    {.size = sizeof(assay_stage), .name = "saxpy", .launch_cpu = launch_plain}};
static const assay_stage blocked[] = {
    {.size = sizeof(assay_stage), .name = "saxpy", .launch_cpu = launch_blocked}};
static const assay_stage wrong[] = {
    {.size = sizeof(assay_stage), .name = "saxpy", .launch_cpu = launch_wrong}};

static const assay_variant cpu_variants[] = {
    {.size = sizeof(assay_variant),
     .name = "plain",
     .idea = "one element after the other",
     .stages = plain,
     .num_stages = 1},
    {.size = sizeof(assay_variant),
     .name = "blocked",
     .idea = "in blocks",
     .parameters = block,
     .num_parameters = 1,
     .stages = blocked,
     .num_stages = 1},
    {.size = sizeof(assay_variant),
     .name = "wrong",
     .idea = "forgets y in the last element: it must be refused",
     .stages = wrong,
     .num_stages = 1},
};

static const int64_t one[] = {1, 3};
static const int64_t odd[] = {4099, -2};
static const int64_t large[] = {1 << 20, 3};

static const assay_named_workload workloads[] = {
    {.size = sizeof(assay_named_workload), .name = "one", .help = "one element", .values = one},
    {.size = sizeof(assay_named_workload), .name = "odd", .help = "no multiple", .values = odd},
    {.size = sizeof(assay_named_workload), .name = "large", .help = "4 MiB each", .values = large},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

ASSAY_MODULE_EXPORT const assay_module_table* assay_module(void) {
  static assay_operator operators[] = {
      {.size = sizeof(assay_operator),
       .name = "saxpy",
       .summary = "a x + y, elementwise in fp32",
       .axes = axes,
       .num_axes = COUNT(axes),
       .tensors = tensors,
       .num_tensors = COUNT(tensors),
       .cpu_variants = cpu_variants,
       .num_cpu_variants = COUNT(cpu_variants),
       .workloads = workloads,
       .num_workloads = COUNT(workloads),
       .min_flops = min_flops},
  };
  static const assay_module_table table = {.size = sizeof(assay_module_table),
                                           .abi_version = ASSAY_MODULE_ABI,
                                           .operators = operators,
                                           .num_operators = COUNT(operators)};
#ifdef SAXPY_CUDA
  operators[0].cuda_variants = saxpy_cuda_variants;
  operators[0].num_cuda_variants = saxpy_num_cuda_variants;
#endif
  return &table;
}
