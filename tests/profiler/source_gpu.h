// A runner on the first CUDA device, which is given sources. Tests skip where there is none.
#pragma once

#include "profiler/runner.h"
#include "tests/profiler/source_specs.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

namespace assay::profiler {

class SourceGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = make_cuda_device(0);
    if (!device.ok()) {
      GTEST_SKIP() << "no CUDA device: " << device.status();
    }
    device_ = *std::move(device);
    const v1::Device hello = hello_of(*device_, {}).device();
    ASSERT_TRUE(hello.compiles_source()) << hello.source_refused();
    runner_ =
        std::make_unique<Runner>(*device_, std::span<const kernels::Operator* const>(), Plant());
  }

  std::string define(const v1::SourceSpec& spec) {
    v1::RunnerRequest request;
    *request.mutable_define()->mutable_source() = spec;
    v1::RunnerReply reply;
    const absl::Status status = runner_->answer(request, reply);
    EXPECT_TRUE(status.ok()) << status;
    return reply.defined().operator_info().name();
  }

  absl::StatusOr<v1::RunnerOpened> open(const v1::RunnerOpen& open) {
    v1::RunnerRequest request;
    *request.mutable_open() = open;
    v1::RunnerReply reply;
    const absl::Status status = runner_->answer(request, reply);
    return status.ok() ? absl::StatusOr<v1::RunnerOpened>(reply.opened()) : status;
  }

  v1::Measurement baseline_of(const std::string& name, const std::string& variant) {
    const auto opened = open(open_request(name, variant));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? opened->baseline() : v1::Measurement();
  }

  v1::RunnerClosed time_and_close() {
    v1::RunnerRequest time;
    time.mutable_time()->set_schedule(v1::BAB);
    time.mutable_time()->set_num_rounds(2);
    v1::RunnerReply reply;
    const absl::Status timed = runner_->answer(time, reply);
    EXPECT_TRUE(timed.ok()) << timed;
    for (const v1::StageSamples& stage : reply.timed().baseline().stages()) {
      for (const std::int64_t sample_ns : stage.samples_ns()) {
        EXPECT_GT(sample_ns, 0) << stage.stage();
      }
    }
    EXPECT_FALSE(reply.timed().baseline().stages().empty());
    v1::RunnerRequest close;
    close.mutable_close();
    const absl::Status closed = runner_->answer(close, reply);
    EXPECT_TRUE(closed.ok()) << closed;
    return reply.closed();
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace assay::profiler
