#include "client/strict_json.h"
#include "tests/client/recorded_samples.h"

namespace assay::client {
namespace {

std::string t4_of(const std::string& results, const std::string& metadata = "") {
  return (metadata.empty() ? "{" : R"({"metadata": {)" + metadata + "}, ") + R"("results": [)" +
         results + R"(], "schema_version": "1.0.0"})";
}

const std::string kRow =
    R"({"configuration": {"block": 32, "order": "row"}, "invalidity": "correct",
    "correctness": 1, "times": {"compilation": 2.5, "runtimes": [0.4, 0.5]},
    "measurements": [{"name": "time", "value": 0.45, "unit": ""},
                     {"name": "GB/s", "value": 7.5, "unit": ""}], "objectives": ["time"]})";

TEST(T4File, RefusesFaultsByTheirField) {
  EXPECT_EQ(error_of(t4_of("3")), "results[0]: expected an object");
  EXPECT_EQ(error_of(t4_of(R"({"configuration": {}, "times": {}})")),
            "results[0]: invalidity: expected one of compile, constraints, correct, correctness, "
            "runtime, timeout");
  EXPECT_EQ(error_of(t4_of(R"({"invalidity": "correct", "times": {}})")),
            "results[0]: configuration: expected an object");
  EXPECT_EQ(error_of(t4_of(kRow + R"(, {"invalidity": "correct", "times": {},
                                       "configuration": {"block": 1}})")),
            "results[1]: configuration.order: missing");
  EXPECT_EQ(error_of(t4_of(kRow + R"(, {"invalidity": "correct", "times": {},
                               "configuration": {"block": 1, "order": "row", "more": 1}})")),
            "results[1]: configuration: has a parameter that the first row has not");
  EXPECT_EQ(error_of(t4_of(R"({"invalidity": "correct", "configuration": {}})")),
            "results[0]: times: expected an object");
  EXPECT_EQ(error_of(t4_of(R"({"invalidity": "correct", "configuration": {},
                               "times": {"runtimes": ["1"]}})")),
            "results[0]: times.runtimes: expected numbers");
  EXPECT_EQ(error_of(t4_of(kRow, R"("timeunit": "fortnights")")),
            "metadata.timeunit: `fortnights` is no unit of time; expected ns, us, ms or s");
}

TEST(T4File, ReadsTimesInTheUnitThatItStates) {
  EXPECT_EQ(parsed(t4_of(kRow)).rows[0].samples_ns(0), 400'000.0);
  EXPECT_TRUE(has_note(parsed(t4_of(kRow)), "no metadata.timeunit"));
  const RecordedFile file = parsed(t4_of(kRow, R"("timeunit": "seconds")"));
  const v1::RecordedRow& row = file.rows[0];
  EXPECT_EQ(row.samples_ns(1), 500'000'000.0);
  EXPECT_EQ(row.time_ns(), 450'000'000.0);
  EXPECT_EQ(values_of(row), "32,row");
  EXPECT_EQ(file.recording.objective(), "time");
  EXPECT_EQ(row.metrics_size(), 2);
  EXPECT_EQ(notes_of(file), "");
}

// Every class, values of every kind, times that no multiple of a unit is.
TEST(T4File, ReadsBackWhatItWrites) {
  RecordedFile file;
  file.recording.set_name("add");
  file.recording.set_device_name("a card");
  file.recording.set_objective("time");
  file.recording.add_parameters("block");
  for (int i = 0; i <= v1::CONSTRAINTS; ++i) {
    v1::RecordedRow& row = file.rows.emplace_back();
    row.set_row(static_cast<std::uint32_t>(i + 1));
    row.add_values(i == 0 ? "9007199254740993" : i == 1 ? "1e3" : i == 2 ? "0.1" : "text \"x\"");
    row.set_failure(static_cast<v1::FailureClass>(i));
    row.add_samples_ns(123'457 + i);
    row.add_samples_ns(73'684'989.92919922);
    if (i > 2) {
      row.set_message("it: did not");
    }
  }
  file.rows[0].set_has_time(true);
  file.rows[0].set_time_ns(1);
  file.rows[0].set_name("a name");
  v1::Metric& metric = *file.rows[0].add_metrics();
  metric.set_name("compilation_ns");
  metric.set_value(77);
  const std::string text = *write_recorded(file, "t4");
  EXPECT_TRUE(parse_strict_json(text).ok());
  const RecordedFile again = parsed(text);
  EXPECT_EQ(texts_of(again), texts_of(file));
  EXPECT_EQ(again.recording.name(), "add");
  EXPECT_EQ(again.recording.device_name(), "a card");
  EXPECT_NE(text.find("9007199254740993"), std::string::npos);
}

}  // namespace
}  // namespace assay::client
