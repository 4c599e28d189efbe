// The sum of x by atomic additions of floats, whose order and so whose bits change from run to run.
extern "C" __global__ void sum(const float* x, float* y, int n) {
  const int stride = gridDim.x * blockDim.x;
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  if (first == 0) {
    atomicExch(y + 1, 1.0f);
  }
  for (int i = first; i < n; i += stride) {
    atomicAdd(y, x[i]);
  }
}

extern "C" __global__ void clear(float* y) {
  y[threadIdx.x] = 0.0f;
}
