#include "client/catalogue_text.h"

#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

v1::Device& add_device(v1::ListDevicesResponse& response,
                       const std::string& name,
                       const std::string& backend,
                       bool available) {
  v1::Device& device = *response.add_devices();
  device.set_name(name);
  device.set_backend(backend);
  device.set_available(available);
  device.set_reason(available ? "" : "no driver");
  return device;
}

v1::ListOperatorsResponse one_operator() {
  v1::ListOperatorsResponse response;
  v1::OperatorInfo& info = *response.add_operators();
  info.set_name("qsa_decode");
  info.set_summary("attention over selected cells");
  info.set_bits_domain("any_device");
  v1::AxisInfo& axis = *info.add_axes();
  axis.set_name("kv");
  axis.set_help("KV format");
  axis.set_default_value("int8");
  axis.add_choices("fp16");
  axis.add_choices("int8");
  for (const char* name : {"one_cell", "two_cell"}) {
    v1::VariantInfo& variant = *info.add_variants();
    variant.set_name(name);
    variant.set_family("baseline");
    variant.set_bits_domain(variant.name() == "one_cell" ? "any_device" : "sm_90");
    variant.add_stages("chunk");
    variant.add_stages("merge");
    v1::AxisInfo& threads = *variant.add_parameters();
    threads.set_name("threads");
    threads.set_default_value("1");
    threads.set_min(1);
    threads.set_max(1024);
  }
  return response;
}

TEST(Catalogue, NamesTheValidOperators) {
  const auto found = find_operator(one_operator(), "softmax");
  ASSERT_TRUE(absl::IsNotFound(found.status()));
  EXPECT_EQ(found.status().message(), "operator `softmax`: expected one of qsa_decode");
}

TEST(Catalogue, ShowsModulesAndWhyOneIsInQuarantine) {
  v1::ListDevicesResponse response;
  v1::Device& device = add_device(response, "cpu", "cpu", true);
  v1::Module& broken = *device.add_modules();
  broken.set_name("broken");
  broken.set_reason("the runner exited with status 3");
  v1::Module& sound = *device.add_modules();
  sound.set_name("saxpy");
  sound.set_available(true);
  const std::string text = devices_text(response, Format::kTable);
  EXPECT_NE(text.find("cpu has in quarantine module broken: the runner exited with status 3\n"
                      "cpu has module saxpy\n"),
            std::string::npos)
      << text;
}

TEST(Catalogue, SaysOfARestartHowOftenAndWhyAndNothingWithoutOne) {
  v1::ListDevicesResponse response;
  v1::Device& device = add_device(response, "far", "cuda", false);
  device.set_last_runner_failure("start: exited with status 255");
  EXPECT_EQ(devices_text(response, Format::kTable).find("restarted"), std::string::npos)
      << devices_text(response, Format::kTable);
  device.set_num_runner_restarts(1);
  EXPECT_NE(devices_text(response, Format::kTable)
                .find("far: runner restarted once, because: start: exited with status 255\n"),
            std::string::npos)
      << devices_text(response, Format::kTable);
  device.set_num_runner_restarts(1'200);
  EXPECT_NE(devices_text(response, Format::kTable)
                .find("far: runner restarted 1,200 times, last because: start: "),
            std::string::npos);
}

TEST(Catalogue, SaysWhyNoDeviceIsAvailable) {
  v1::ListDevicesResponse response;
  add_device(response, "cuda0", "cuda", false);
  const auto device = default_device(response);
  ASSERT_TRUE(absl::IsFailedPrecondition(device.status()));
  EXPECT_EQ(device.status().message(), "no device is available (cuda0: no driver)");
}

TEST(Catalogue, PrefersTheFirstGpuThatIsThere) {
  v1::ListDevicesResponse response;
  add_device(response, "cpu", "cpu", true);
  add_device(response, "cuda0", "cuda", false);
  EXPECT_EQ(*default_device(response), "cpu");
  add_device(response, "cuda1", "cuda", true);
  add_device(response, "cuda2", "cuda", true);
  EXPECT_EQ(*default_device(response), "cuda1");
}

TEST(Catalogue, SaysWhatADeviceLacks) {
  v1::ListDevicesResponse response;
  add_device(response, "cuda", "cuda", false);
  v1::Capability& capability = *add_device(response, "cpu", "cpu", true).add_capabilities();
  capability.set_name("counters");
  capability.set_reason("not on cpu");
  EXPECT_NE(devices_text(response, Format::kTable)
                .find("\n\ncuda is not available: no driver\ncpu has no counters: not on cpu\n"),
            std::string::npos);
  EXPECT_NE(devices_text(response, Format::kCsv).find("\ncpu,cpu,true,"), std::string::npos);
}

TEST(Catalogue, ShowsTheNewestCeilingsOfADeviceOrHowToGetThem) {
  v1::ListDevicesResponse response;
  add_device(response, "gone", "cuda", false);
  add_device(response, "cpu", "cpu", true);
  *add_device(response, "cuda", "cuda", true).mutable_ceilings() =
      made_up_bench().configurations(0).ceilings();
  const std::string text = devices_text(response, Format::kTable);
  EXPECT_TRUE(text.ends_with(
      "\n\ngone is not available: no driver\n"
      "cpu: no ceilings are stored; `assay device bench --device cpu` measures them\n"
      "cuda: read 4.62 TB/s, fp32 60.0 TFLOP/s, measured 2026-01-31 (experiment 7)\n"))
      << text;
  EXPECT_NE(devices_text(response, Format::kCsv)
                .find(",read=4.625e+12 fp32=6e+13 launch=2310 activity_cost=-0.0012\n"),
            std::string::npos);
}

TEST(Catalogue, TeachesAnOperator) {
  EXPECT_EQ(operator_text(one_operator().operators(0), Format::kTable),
            "qsa_decode: attention over selected cells\n"
            "bits: any_device\n"
            "\n"
            "Axes of a workload (-a NAME=VALUE)\n"
            "axis  default  values      meaning\n"
            "kv    int8     fp16, int8  KV format\n"
            "\n"
            "Variants (the first is the baseline)\n"
            "variant   bit family  bits        stages        idea\n"
            "one_cell  baseline    any_device  chunk, merge\n"
            "two_cell  baseline    sm_90       chunk, merge\n"
            "\n"
            "Launch parameters (VARIANT:NAME=VALUE, or -a NAME=VALUE for both arms)\n"
            "parameter  default  values      of                  meaning\n"
            "threads    1        1 to 1,024  one_cell, two_cell\n");
}

}  // namespace
}  // namespace assay::client
