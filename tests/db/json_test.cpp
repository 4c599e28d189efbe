#include "db/json.h"

#include "proto/assay.pb.h"
#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

#include <limits>

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;

TEST(Json, RefusesWhatIsNotFiniteAndNamesThePath) {
  v1::Configuration configuration;
  configuration.add_verdicts();
  configuration.add_verdicts()->add_stages()->set_ratio(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(to_json(configuration).status(),
            absl::InvalidArgumentError("verdicts[1].stages[0].ratio: must be a finite number"));
}

TEST(Json, RefusesTextThatIsNotUtf8) {
  for (const std::string& text : {std::string("\xff"),
                                  std::string("\xc0\x80"),
                                  std::string("\xed\xa0\x80"),
                                  std::string("\xf4\x90\x80\x80"),
                                  std::string("\xe2\x82")}) {
    v1::Experiment experiment;
    experiment.mutable_device()->add_launch_prefix("ssh");
    experiment.mutable_device()->add_launch_prefix(text);
    EXPECT_EQ(to_json(experiment).status(),
              absl::InvalidArgumentError("device.launch_prefix[1]: is not UTF-8"));
  }
}

TEST(Json, RefusesAnEnumOfANewerProgram) {
  v1::Drift drift;
  drift.set_drift_class(static_cast<v1::DriftClass>(77));
  EXPECT_EQ(to_json(drift).status(),
            absl::InvalidArgumentError("drift_class: 77 is no value of DriftClass"));
}

TEST(Json, ReportsStoredTextThatIsNotOurs) {
  v1::Drift drift;
  EXPECT_EQ(from_json("{\"unknown_field\":1}", drift).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(from_json("{", drift).code(), absl::StatusCode::kDataLoss);
  google::protobuf::RepeatedField<std::int64_t> values;
  for (const char* text : {"", "[", "1,2", "[1;2]", "[1,x]", "[1.5]", "[99999999999999999999]"}) {
    EXPECT_EQ(integers_from_json(text, values).code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(Json, WritesIntegersAsIntegersAndEnumsByName) {
  v1::Drift drift;
  drift.set_num_elements(9'007'199'254'740'993);
  drift.set_max_ulp(std::numeric_limits<std::uint64_t>::max());
  drift.set_drift_class(v1::ULP_SIZED);
  drift.add_first_index(-1);
  drift.set_tensor("a\"\n");
  EXPECT_EQ(*to_json(drift),
            R"({"tensor":"a\"\u000a","num_elements":9007199254740993,"first_index":[-1],)"
            R"("max_ulp":18446744073709551615,"drift_class":"ULP_SIZED"})");
}

TEST(Json, ReadsBackExactlyWhatItWrote) {
  v1::Experiment experiment;
  fill(experiment);
  v1::Experiment again;
  ASSERT_TRUE(from_json(*to_json(experiment), again).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(experiment, again));

  v1::StageVerdict extremes;
  extremes.set_ratio(std::numeric_limits<double>::denorm_min());
  extremes.set_ratio_low(std::numeric_limits<double>::lowest());
  extremes.set_ratio_high(1e22);
  extremes.set_drift(5e-324);
  v1::StageVerdict extremes_again;
  ASSERT_TRUE(from_json(*to_json(extremes), extremes_again).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(extremes, extremes_again));
}

TEST(Json, KeepsLongArraysOfIntegers) {
  google::protobuf::RepeatedField<std::int64_t> values;
  values.Add(0);
  values.Add(std::numeric_limits<std::int64_t>::min());
  values.Add(std::numeric_limits<std::int64_t>::max());
  google::protobuf::RepeatedField<std::int64_t> again;
  ASSERT_TRUE(integers_from_json(integers_to_json(values), again).ok());
  EXPECT_EQ(std::vector(again.begin(), again.end()), std::vector(values.begin(), values.end()));
  ASSERT_TRUE(integers_from_json("[]", again).ok());
  EXPECT_EQ(again.size(), 0);
}

}  // namespace
}  // namespace assay::db
