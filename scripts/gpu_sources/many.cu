// y = x + TAG: a kernel of its own for each TAG, with more shared memory than there is for half of
// them.
extern "C" __global__ void add_tag(const int* x, int* y, int n) {
  extern __shared__ int unused[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] + TAG;
  }
}
