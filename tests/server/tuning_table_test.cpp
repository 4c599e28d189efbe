#include "server/tuning_table.h"

#include "tests/server/fixture.h"

namespace assay::server {
namespace {

class TuningTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = db::Store::open({.path = folder_ / "assay.db"});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    v1::Device& device = description_.device;
    device.set_model("scripted");
    device.set_uuid("uuid");
    device.set_compute_capability("9.0");
    device.set_toolkit_version("13.0");
    device.set_driver_version("580");
    v1::OperatorInfo& info = description_.operators.emplace_back();
    info.set_name("fake");
    add_axis(info, "kv").add_choices("int8");
    info.mutable_axes(0)->add_choices("fp16");
    info.mutable_axes(0)->set_default_value("int8");
    add_axis(info, "width").set_default_value("1000");
    info.mutable_axes(1)->set_max(1'000'000);
  }

  static v1::AxisInfo& add_axis(v1::OperatorInfo& info, const std::string& name) {
    v1::AxisInfo& axis = *info.add_axes();
    axis.set_name(name);
    return axis;
  }

  void add(const std::string& workload,
           const std::string& value,
           const std::string& driver = "580",
           std::int64_t measured_ns = 1,
           const std::string& code = "code",
           std::int64_t median_ns = 1'000) {
    v1::Tuning tuning;
    tuning.set_device_model("scripted");
    tuning.set_compute_capability("9.0");
    tuning.set_operator_name("fake");
    tuning.set_workload(workload);
    tuning.set_code_digest(code);
    tuning.set_toolkit_version("13.0");
    tuning.set_driver_version(driver);
    tuning.mutable_arm()->set_variant("knob");
    v1::Setting& speed = *tuning.mutable_arm()->add_parameters();
    speed.set_name("speed");
    speed.set_value(value);
    tuning.set_median_ns(median_ns);
    tuning.set_measured_ns(measured_ns);
    const absl::Status stored = store_->set_tuning(tuning);
    ASSERT_TRUE(stored.ok()) << stored;
  }

  v1::LookupTuningResponse look_up(
      const std::vector<std::pair<std::string, std::string>>& axes = {},
      const std::string& code_digest = "") {
    v1::LookupTuningRequest request;
    request.set_operator_name("fake");
    request.set_code_digest(code_digest);
    for (const auto& [name, value] : axes) {
      request.add_axes()->set_name(name);
      request.mutable_axes(request.axes_size() - 1)->set_value(value);
    }
    const auto answer = lookup_tuning(*store_, description_, request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *answer : v1::LookupTuningResponse();
  }

  static std::string speed_of(const v1::LookupTuningResponse& answer) {
    return answer.has_tuning() ? answer.tuning().arm().parameters(0).value() : "none";
  }

  Folder folder_;
  std::unique_ptr<db::Store> store_;
  Description description_;
};

TEST_F(TuningTableTest, SaysThatNothingIsTuned) {
  const v1::LookupTuningResponse answer = look_up();
  EXPECT_FALSE(answer.has_tuning());
  EXPECT_EQ(answer.missing(), "not tuned: no sweep of `fake` on scripted is near this workload");
}

TEST_F(TuningTableTest, NamesTheOperatorAndTheAxisThatItDoesNotKnow) {
  v1::LookupTuningRequest request;
  request.set_operator_name("nope");
  EXPECT_EQ(lookup_tuning(*store_, description_, request).status(),
            absl::NotFoundError("operator_name: no operator `nope`; it is one of `fake`"));
  request.set_operator_name("fake");
  request.add_axes()->set_name("rows");
  EXPECT_EQ(
      lookup_tuning(*store_, description_, request).status(),
      absl::NotFoundError("axes[0].name: no workload axis `rows`; it is one of `kv`, `width`"));
}

TEST_F(TuningTableTest, KeepsCasesApartThatDifferInOneSetting) {
  add("kv=int8,width=1000", "4");
  add("kv=fp16,width=1000", "8");
  EXPECT_EQ(speed_of(look_up()), "4");
  EXPECT_EQ(speed_of(look_up({{"kv", "fp16"}})), "8");
  EXPECT_EQ(look_up({{"kv", "fp16"}}).match(), "exact");
  EXPECT_EQ(speed_of(look_up({{"kv", "fp16"}, {"width", "100000"}})), "none");
}

TEST_F(TuningTableTest, TakesTheNearestWithinAFactorOfTwo) {
  add("kv=int8,width=1000", "4");
  add("kv=int8,width=4000", "8");
  EXPECT_EQ(speed_of(look_up({{"width", "1900"}})), "4");
  EXPECT_EQ(speed_of(look_up({{"width", "2100"}})), "8");
  EXPECT_EQ(look_up({{"width", "2100"}}).match(), "nearest: width 4000 for 2100");
  EXPECT_EQ(speed_of(look_up({{"width", "8001"}})), "none");
}

TEST_F(TuningTableTest, MarksWhatIsStaleAndPrefersWhatIsFresh) {
  add("kv=int8,width=1000", "4", "570", 2);
  EXPECT_EQ(look_up().tuning().stale(), "the driver was 570, it is 580");
  add("kv=int8,width=1500", "8", "580", 1);
  EXPECT_EQ(speed_of(look_up()), "8");
  EXPECT_EQ(look_up().tuning().stale(), "");
  EXPECT_EQ(look_up({}, "other").tuning().stale(),
            "the driver was 570, it is 580; the machine code was code, it is other");
}

TEST_F(TuningTableTest, TakesTheNewerOfTwoCodesOfOneVariant) {
  add("kv=int8,width=1000", "4", "580", 1, "other code", 900);
  add("kv=int8,width=1000", "8", "580", 2);
  EXPECT_EQ(speed_of(look_up()), "8");
}

TEST_F(TuningTableTest, ReplacesTheEntryOfTheSameKeyOnly) {
  add("kv=int8,width=1000", "4");
  add("kv=int8,width=1000", "8");
  add("kv=int8,width=1000", "2", "570");
  EXPECT_EQ(store_->tunings(v1::ListTuningsRequest())->size(), 2U);
  EXPECT_EQ(speed_of(look_up()), "8");
}

}  // namespace
}  // namespace assay::server
