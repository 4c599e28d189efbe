// y = a x + b in place order: `elements` a thread, `stride` apart or together, unrolled by
// `unroll`.
extern "C" __global__ void axpb(const float* __restrict__ x, float* __restrict__ y, int n) {
#if apart
  const int step = blockDim.x;
  const int first = blockIdx.x * blockDim.x * elements + threadIdx.x;
#else
  const int step = 1;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * elements;
#endif
#pragma unroll unroll
  for (int k = 0; k < elements; ++k) {
    const int i = first + k * step;
    if (i < n) {
      y[i] = fmaf(0.5f, x[i], 3.0f);
    }
  }
}
