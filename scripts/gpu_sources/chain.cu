// y = a chain of `kSteps` rounded multiply-adds of x: as slow as the chain is long, whatever the
// memory. Both lengths end in the same bits: the chain stands still at 1.
constexpr int kSteps = 4000;

extern "C" __global__ void chain(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float value = x[i];
    for (int step = 0; step < kSteps; ++step) {
      value = fmaf(0.5f, value, 0.5f);
    }
    y[i] = value;
  }
}
