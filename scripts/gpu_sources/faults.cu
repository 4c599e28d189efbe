// y = 2 x; by the macro `MODE` it also writes far outside of its buffer (1) or never returns (2).
extern "C" __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
#if MODE == 1
  y[(1LL << 40) + i] = 1.0f;
#elif MODE == 2
  while (*reinterpret_cast<const volatile float*>(x) != 1e30f) {
  }
#endif
  y[i] = 2.0f * x[i];
}
