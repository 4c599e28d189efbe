/* out = a x + y: what the host and the CUDA side of the example share. */
#ifndef SAXPY_H
#define SAXPY_H

#include "assay/module.h"

enum { SAXPY_N, SAXPY_A }; /* axes */

enum { SAXPY_X, SAXPY_Y, SAXPY_OUT }; /* tensors */

#ifdef __cplusplus
extern "C" {
#endif

/* In saxpy_cuda.cu. */
extern const assay_variant saxpy_cuda_variants[];
extern const size_t saxpy_num_cuda_variants;

#ifdef __cplusplus
}
#endif

#endif
