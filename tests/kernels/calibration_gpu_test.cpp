// Every CUDA variant of calibration against the bits of the cpu: ragged edges, grids and extra
// rounds, which must not show.
#include "kernels/calibration/cuda_tables.h"
#include "kernels/calibration/operator.h"
#include "tests/kernels/attention_gpu_call.h"

namespace assay::kernels::calibration {
namespace {

using Settings = std::vector<Setting>;

class CalibrationGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) {
      GTEST_SKIP() << "no CUDA device";
    }
  }
};

TEST_F(CalibrationGpu, EveryMutantIsRejectedByItsBits) {
  for (const CudaMutant& mutant : kCudaTables.mutants) {
    expect_rejected(calibration(), mutant);
  }
}

TEST_F(CalibrationGpu, EveryVariantAndLaunchParameterHasTheBitsOfTheCpu) {
  std::vector<Settings> parameters;
  for (const char* blocks : {"0", "1", "3", "1000"}) {
    for (const char* extra : {"0", "20", "1000"}) {
      parameters.push_back({{"blocks", blocks}, {"extra", extra}});
    }
  }
  for (const CudaVariant& variant : kCudaTables.variants) {
    for (const char* elements : {"1", "3", "4", "5", "255", "257", "1023", "1025", "300001"}) {
      for (const char* steps : {"0", "1", "2", "17", "100"}) {
        expect_wanted_bits(
            calibration(), variant.name, {{"elements", elements}, {"steps", steps}}, parameters);
      }
    }
  }
}

// Small enough for a race checker.
TEST_F(CalibrationGpu, RunsEachVariantOnOneWorkload) {
  for (const CudaVariant& variant : kCudaTables.variants) {
    expect_wanted_bits(calibration(),
                       variant.name,
                       {{"elements", "1027"}, {"steps", "17"}},
                       {{}, {{"blocks", "2"}}});
  }
}

TEST_F(CalibrationGpu, RefusesAGridThatItCannotLaunch) {
  const WantedCall wanted = WantedCall::of(calibration(), {{"elements", "5"}});
  DeviceCall device({&wanted, 1});
  for (const CudaVariant& variant : kCudaTables.variants) {
    LaunchParameters parameters = make_parameters(variant.parameters, {});
    parameters.values[1] = -1;
    const Call call = device.call_of(wanted, parameters);
    EXPECT_EQ(cudaErrorInvalidValue, variant.stages[0].launch(call, nullptr)) << variant.name;
  }
}

TEST_F(CalibrationGpu, DescribesWhatItLaunches) {
  const WantedCall wanted = WantedCall::of(calibration(), {{"elements", "1025"}, {"steps", "1"}});
  DeviceCall device({&wanted, 1});
  for (const CudaVariant& variant : kCudaTables.variants) {
    CudaKernelInfo info;
    Trace trace;
    const Call call = device.call_of(wanted, make_parameters(variant.parameters, {}), &trace);
    ASSERT_CUDA(variant.stages[0].launch.describe(call, &info));
    run_stages(variant.stages, call, nullptr);
    ASSERT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(trace.kernels, std::vector<std::string>{info.name});
    EXPECT_EQ(info.grid.x, variant.name == "plain" ? 5U : 2U) << variant.name;
    EXPECT_EQ(info.attributes.localSizeBytes, 0U) << variant.name;
  }
}

}  // namespace
}  // namespace assay::kernels::calibration
