/* Kernels of your own as a shared library: a module exports the one symbol `assay_module`, which
 * returns tables of operators. C11 and C++; no C++ type and no exception crosses.
 *
 * A module owns everything that it hands over, and it must stay as it is while the process lives.
 * What assay passes to a callback is lent until the callback returns. Callbacks come from one
 * thread. Every struct begins with its size, set to sizeof by whoever fills it in, so that a module
 * loads where later structs are longer. Names are 1 to 64 letters, digits and '_'; other texts are
 * printable ASCII of at most 200 bytes, or null where they are optional. */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H

/* NOLINTBEGIN: C, in the words of C. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define ASSAY_MODULE_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define ASSAY_MODULE_EXPORT __attribute__((visibility("default")))
#endif

#define ASSAY_MODULE_ABI 1
#define ASSAY_MAX_RANK 8

enum { ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_I8, ASSAY_U8, ASSAY_I32, ASSAY_I64 };

enum {
  ASSAY_INPUT,        /* read-only for every variant */
  ASSAY_OUTPUT,       /* every live element is written, compared and judged */
  ASSAY_INTERMEDIATE, /* written and compared like an output, but not judged */
  ASSAY_SCRATCH       /* never compared, poisoned before a call */
};

/* How an input gets its bytes, from the seed, the tensor's name and the element's index alone.
 * Integers are uniform over all their values in both generators. */
enum {
  ASSAY_FILL_CALLBACK,
  ASSAY_FILL_NORMAL, /* near the standard normal, in [-6, 6] */
  ASSAY_FILL_UNIFORM /* in [-1, 1) */
};

/* Where a callback that can fail says why, beside a code other than 0: a text ended by a zero. */
typedef struct assay_error {
  size_t size;
  char* text;
  size_t num_bytes; /* that `text` has room for */
} assay_error;

/* The values of the operator's axes by place: an integer, or the index of a choice. */
typedef struct assay_workload {
  size_t size;
  const int64_t* values;
  size_t num_values;
  uint64_t seed;
} assay_workload;

/* An axis of workloads, or a launch parameter: an integer in [min, max], or one of `choices`. */
typedef struct assay_axis {
  size_t size;
  const char* name;
  const char* help; /* may be null */
  int64_t default_value;
  int64_t min;
  int64_t max;
  const char* const* choices; /* null: an integer; else min and max are not looked at */
  size_t num_choices;
} assay_axis;

/* A half-open range of elements in flat order. */
typedef struct assay_range {
  int64_t begin;
  int64_t end;
} assay_range;

typedef struct assay_tensor {
  size_t size;
  const char* name;
  int32_t dtype;
  int32_t role;
  int32_t fill; /* of an input */
  /* Extents, the last index fastest; 0 is fine. A function of the workload alone. */
  int (*shape)(const assay_workload* workload,
               int64_t extents[ASSAY_MAX_RANK],
               size_t* rank,
               assay_error* error);
  /* An input's bytes under ASSAY_FILL_CALLBACK, in host memory: a function of the workload alone.
   */
  void (*fill_bytes)(const assay_workload* workload, void* bytes, size_t num_bytes);
  /* Which elements of an output or intermediate are written and compared: sorted and disjoint.
   * Returns how many ranges there are and writes at most `capacity`. Null: all elements. */
  size_t (*live)(const assay_workload* workload, assay_range* ranges, size_t capacity);
  /* What an output should be, in float64, and how far each element may be off. `tensors` are in
   * host memory, by place; all but inputs are null. Null: bits are compared and nothing is judged.
   */
  void (*reference)(const assay_workload* workload,
                    const void* const* tensors,
                    double* values,
                    double* tolerances,
                    size_t num_elements);
} assay_tensor;

/* One call of a stage. Tensors are by place, device pointers for cuda, aligned to 256 bytes.
 * Parameters are by their place in the variant's table: the integer, or the index of the choice. */
typedef struct assay_call {
  size_t size;
  const assay_workload* workload;
  void* const* tensors; /* null in a description */
  size_t num_tensors;
  const int32_t* parameters;
  size_t num_parameters;
  assay_error* error;
} assay_call;

/* What one launch asks of a CUDA device. */
typedef struct assay_kernel {
  size_t size;
  const char* name;
  void* function; /* a cudaFunction_t, as the module's own cudaGetFuncBySymbol gives it */
  uint32_t grid[3];
  uint32_t block[3];
  size_t dynamic_shared_bytes;
} assay_kernel;

/* A part of a variant's call, timed by itself. Stages run in order. */
typedef struct assay_stage {
  size_t size;
  const char* name;
  /* Of a cpu variant: done when it returns. */
  int (*launch_cpu)(const assay_call* call);
  /* Of a cuda variant: enqueues on `stream`, a cudaStream_t, and nowhere else; it neither waits nor
   * allocates. Returns a cudaError_t, whose own text is shown. */
  int (*launch_cuda)(const assay_call* call, void* stream);
  /* Of a cuda variant: fills in its one kernel, and returns a cudaError_t. Null: not known. */
  int (*describe)(const assay_call* call, assay_kernel* kernel);
} assay_stage;

/* One implementation. The first of a table is the baseline: the simplest correct one. */
typedef struct assay_variant {
  size_t size;
  const char* name;
  const char* idea;             /* one sentence: what it adds to the row before; may be null */
  const char* family;           /* null: it must have the baseline's bits */
  const assay_axis* parameters; /* what may change speed and never bits; at most 12 */
  size_t num_parameters;
  const assay_stage* stages;
  size_t num_stages;
  int32_t min_compute_capability; /* 75 for 7.5; cuda only */
} assay_variant;

typedef struct assay_named_workload {
  size_t size;
  const char* name;
  const char* help;      /* may be null */
  const int64_t* values; /* of all axes, by place */
} assay_named_workload;

typedef struct assay_operator {
  size_t size;
  const char* name; /* known to people as MODULE.NAME */
  const char* summary;
  const assay_axis* axes;
  size_t num_axes;
  const assay_tensor* tensors;
  size_t num_tensors;
  const assay_variant* cpu_variants;
  size_t num_cpu_variants;
  const assay_variant* cuda_variants;
  size_t num_cuda_variants;
  const assay_named_workload* workloads; /* also the cases of `assay check` */
  size_t num_workloads;
  /* Refuses values that do not go together. Null: all do. */
  int (*validate)(const assay_workload* workload, assay_error* error);
  /* The fewest bytes that a call must move. Null: those of inputs and outputs. */
  int64_t (*min_bytes)(const assay_workload* workload);
  /* The fewest floating-point operations of a call, 2 for a multiply-add. Null: not known. */
  int64_t (*min_flops)(const assay_workload* workload);
} assay_operator;

typedef struct assay_module_table {
  size_t size;
  uint32_t abi_version; /* ASSAY_MODULE_ABI */
  const assay_operator* operators;
  size_t num_operators;
} assay_module_table;

/* What a module defines, with ASSAY_MODULE_EXPORT before it. */
typedef const assay_module_table* (*assay_module_function)(void);

#ifdef __cplusplus
}
#endif
/* NOLINTEND */

#endif
