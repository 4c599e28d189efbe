#include "client/recorded_notes.h"
#include "client/strict_json.h"
#include "tests/client/recorded_samples.h"

namespace assay::client {
namespace {

std::string file_of(const std::string& benchmarks) {
  return R"({"meta": {}, "devices": [{"id": 0, "name": "old"}, {"id": 1, "name": "new"}],
             "benchmarks": [)" +
         benchmarks + "]}";
}

std::string benchmark_of(const std::string& name, const std::string& states) {
  return R"({"name": ")" + name + R"(", "axes": null, "states": [)" + states + "]}";
}

// A state with one axis where it has a value, and a mean time where it has one.
std::string state_of(int device, const std::string& axis, const std::string& mean) {
  return R"({"device": )" + std::to_string(device) + R"(, "axis_values": )" +
         (axis.empty() ? "null" : R"([{"name": "N", "type": "int64", "value": ")" + axis + "\"}]") +
         R"(, "summaries": )" +
         (mean.empty() ? R"(null, "is_skipped": true, "skip_reason": "Not now."})"
                       : R"([{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value",
                              "type": "float64", "value": ")" +
                             mean + R"("}]}], "is_skipped": false})");
}

TEST(NvbenchFile, RefusesFaultsByTheirPlace) {
  EXPECT_EQ(error_of(file_of(R"({"name": "", "states": []})")),
            "benchmarks[0]: name: expected a text");
  EXPECT_EQ(error_of(file_of(benchmark_of("a", "3"))),
            "benchmarks[0]: states[0]: expected an object");
  EXPECT_EQ(error_of(file_of(benchmark_of("a", "") + "," + benchmark_of("b", "{}"))),
            "benchmarks[1]: states[0]: device: expected an integer");
  EXPECT_EQ(error_of(R"({"devices": [{"id": 0}], "benchmarks": []})"),
            "devices: expected objects of id and name");
}

TEST(NvbenchFile, KeepsDevicesAndBenchmarksApart) {
  const RecordedFile file =
      parsed(file_of(benchmark_of("plain", state_of(0, "", "0.001") + "," + state_of(1, "", "")) +
                     "," + benchmark_of("sized", state_of(1, "9007199254740993", "0.25"))));
  EXPECT_EQ(file.recording.device_name(), "0: old; 1: new");
  ASSERT_EQ(file.recording.parameters_size(), 2);
  ASSERT_EQ(file.rows.size(), 3U);
  EXPECT_EQ(values_of(file.rows[0]), "0,");
  EXPECT_EQ(file.rows[0].time_ns(), 1e6);
  EXPECT_EQ(file.rows[1].failure(), v1::CONSTRAINTS);
  EXPECT_EQ(file.rows[1].message(), "Not now.");
  EXPECT_EQ(values_of(file.rows[2]), "1,9007199254740993");
  EXPECT_TRUE(has_note(file, "measured on several devices")) << notes_of(file);
  EXPECT_EQ(unranked_because(file), "2 benchmarks are not ranked against each other");
  EXPECT_EQ(unranked_because(parsed(
                file_of(benchmark_of("a", state_of(0, "", "1") + "," + state_of(1, "", "1"))))),
            "2 devices are not ranked against each other");
  EXPECT_EQ(unranked_because(parsed(
                file_of(benchmark_of("a", state_of(0, "1", "1") + "," + state_of(0, "2", "1"))))),
            "");
}

TEST(NvbenchFile, ReadsFiguresThatAreNoNumbersAsAbsent) {
  const RecordedFile file =
      parsed(file_of(benchmark_of("a", state_of(0, "", "nan") + "," + state_of(0, "", "-inf"))));
  EXPECT_FALSE(file.rows[0].has_time() || file.rows[1].has_time());
  EXPECT_TRUE(has_note(file, "2 figures are no finite numbers")) << notes_of(file);
}

TEST(NvbenchFile, WritesStrictJsonThatReadsBack) {
  const RecordedFile file = parsed(
      file_of(benchmark_of("plain", state_of(0, "", "0.0010034715849794225")) + "," +
              benchmark_of("sized",
                           state_of(1, "9007199254740993", "0.25") + "," + state_of(1, "-2", ""))));
  const std::string text = *write_recorded(file, "nvbench");
  const auto json = parse_strict_json(text);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_TRUE((*json)["benchmarks"][0]["axes"].is_null());
  EXPECT_TRUE((*json)["benchmarks"][1]["states"][1]["summaries"].is_null());
  EXPECT_EQ((*json)["benchmarks"][1]["axes"][0]["type"], "int64");
  const RecordedFile again = parsed(text);
  EXPECT_EQ(texts_of(again), texts_of(file));
  EXPECT_EQ(again.recording.device_name(), file.recording.device_name());
}

TEST(NvbenchFile, WritesTheMeanOfSamples) {
  RecordedFile file;
  file.recording.add_parameters("block");
  file.recording.set_device_name("a card");
  v1::RecordedRow& row = file.rows.emplace_back();
  row.add_values("32");
  row.add_samples_ns(100);
  row.add_samples_ns(300);
  file.rows.emplace_back().add_values("64");
  file.rows[1].set_failure(v1::TIMEOUT);
  const RecordedFile again = parsed(*write_recorded(file, "nvbench"));
  ASSERT_EQ(again.rows.size(), 2U);
  EXPECT_EQ(again.rows[0].time_ns(), 200.0);
  EXPECT_EQ(values_of(again.rows[0]), "0,32");
  EXPECT_EQ(again.rows[1].failure(), v1::TIMEOUT);
  EXPECT_EQ(again.recording.device_name(), "0: a card");
}

}  // namespace
}  // namespace assay::client
