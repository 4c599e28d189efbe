// A store with made-up series: experiments of one arm, each with a median and what else is to
// differ.
#pragma once

#include "db/store.h"
#include "server/points.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::server {

struct MadeUp {
  std::int64_t median_ns = 100'000;
  std::string arm = "twin:width=4";
  std::string code = "code of twin";
  std::string bits = "aaaa";
  std::string uuid = "fake-uuid";
  std::string commit = "";
  std::string driver = "driver 1";
  bool rejected = false;
  v1::CacheMode cache = v1::HOT;
};

class SeriesFixture : public testing::Test {
 protected:
  SeriesFixture() { reopen(); }

  void reopen() {
    store_.reset();
    auto store = db::Store::open({.path = folder_ / "assay.db"});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  // A finished MEASURE with twelve good samples around the median.
  static v1::Configuration configuration_of(const MadeUp& made) {
    v1::Configuration configuration;
    configuration.set_configuration(1);
    configuration.set_outcome(v1::FINISHED);
    const std::vector<std::pair<std::string, std::string>> axes = {
        {"behaviour", "ok"}, {"when", "open"}, {"ns", "1000000"}, {"rows", "4"}};
    for (const auto& [name, value] : axes) {
      v1::Setting& setting = *configuration.mutable_workload()->add_axes();
      setting.set_name(name);
      setting.set_value(value);
    }
    v1::Measurement& measurement = *configuration.mutable_baseline();
    v1::Arm& arm = *measurement.mutable_arm();
    arm.set_variant(made.arm.substr(0, made.arm.find(':')));
    if (const std::size_t colon = made.arm.find(':'); colon != std::string::npos) {
      const std::size_t equals = made.arm.find('=');
      arm.add_parameters()->set_name(made.arm.substr(colon + 1, equals - colon - 1));
      arm.mutable_parameters(0)->set_value(made.arm.substr(equals + 1));
    }
    *configuration.mutable_baseline_arm() = arm;
    measurement.set_family("baseline");
    measurement.set_code_digest(made.code);
    measurement.set_timing_source(v1::STEADY_CLOCK);
    measurement.set_launch_mode(v1::STREAM);
    measurement.set_cache_mode(made.cache);
    v1::Block& block = *measurement.add_blocks();
    block.set_num_calls(12);
    v1::StageSamples& total = *measurement.add_stages();
    total.set_stage("total");
    for (int i = -6; i < 6; ++i) {
      total.add_samples_ns(made.median_ns + 20 * i + 10);
    }
    v1::TensorDigest& output = *measurement.add_outputs();
    output.set_tensor("out");
    output.set_digest(made.bits);
    if (made.rejected) {
      measurement.mutable_bits()->set_failed(v1::BITS_TOLERANCE);
    }
    return configuration;
  }

  static v1::ExperimentSpec spec_of(const MadeUp& made) {
    v1::ExperimentSpec spec;
    spec.set_kind(v1::MEASURE);
    spec.set_operator_name("fake");
    spec.set_device("cpu");
    spec.mutable_context()->set_commit(made.commit);
    return spec;
  }

  // Gives the experiment's id; its time is a second after the one before.
  std::int64_t add(const MadeUp& made, bool with_points = true) {
    now_ns_ += 1'000'000'000;
    v1::SubmitRequest request;
    request.set_request_id("made up " + std::to_string(now_ns_));
    *request.mutable_spec() = spec_of(made);
    const auto experiment = store_->submit(request, 1, now_ns_);
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    v1::Device device;
    device.set_name("cpu");
    device.set_uuid(made.uuid);
    device.set_model("model of " + made.uuid);
    device.set_driver_version(made.driver);
    const std::int64_t id = experiment->experiment_id();
    EXPECT_TRUE(store_->start(id, device, now_ns_).ok());
    const v1::Configuration configuration = configuration_of(made);
    const absl::Status added =
        with_points ? store_->add_measured(
                          id, configuration, points_of(request.spec(), device, configuration))
                    : store_->add_configuration(id, configuration);
    EXPECT_TRUE(added.ok()) << added;
    EXPECT_TRUE(store_->finish(id, v1::DONE, "", now_ns_).ok());
    return id;
  }

  // Several at nearly the same time; gives the last id.
  std::int64_t add_level(const MadeUp& made, int num_runs, bool with_points = true) {
    std::int64_t id = 0;
    for (int i = 0; i < num_runs; ++i) {
      MadeUp run = made;
      run.median_ns += (i % 3 - 1) * made.median_ns / 1'000;
      id = add(run, with_points);
    }
    return id;
  }

  Folder folder_;
  std::unique_ptr<db::Store> store_;
  std::int64_t now_ns_ = 1'000'000'000'000;
};

}  // namespace assay::server
