#include "tests/client/recorded_samples.h"

namespace assay::client {
namespace {

// A cache of the entries, of parameters block and method.
std::string cache_of(const std::string& entries) {
  return R"({"device_name": "card", "kernel_name": "add", "objective": "time",
             "tune_params_keys": ["block", "method"], "cache": {)" +
         entries + "}}";
}

TEST(CacheFile, RefusesFaultsByTheirEntry) {
  EXPECT_EQ(error_of(cache_of(R"("1,a": 3)")), "cache[\"1,a\"]: expected an object");
  EXPECT_EQ(error_of(cache_of(R"("1,a": {"block": 1})")), "cache[\"1,a\"]: method: missing");
  EXPECT_EQ(error_of(cache_of(R"("1,a": {"block": [1], "method": "a"})")),
            "cache[\"1,a\"]: block: expected a number, a text, true or false");
  EXPECT_EQ(error_of(cache_of(R"("1,a": {"block": 1, "method": "a", "times": 3})")),
            "cache[\"1,a\"]: times: expected a list");
  EXPECT_EQ(error_of(cache_of(R"("1,a": {"block": 1, "method": "a", "times": ["3"]})")),
            "cache[\"1,a\"]: times: expected numbers");
  EXPECT_EQ(error_of(cache_of(R"("1,a": {"block": 1, "method": "a", "time": [3]})")),
            "cache[\"1,a\"]: time: expected milliseconds or the word of a failure");
  EXPECT_EQ(error_of(R"({"tune_params_keys": "block", "cache": {}})"),
            "tune_params_keys: expected a list of names");
  EXPECT_EQ(error_of(R"({"tune_params_keys": [1], "cache": {}})"),
            "tune_params_keys: expected a list of names");
}

TEST(CacheFile, ReadsWordsOfFailures) {
  const RecordedFile file = parsed(cache_of(
      R"("1,a": {"block": 1, "method": "a", "time": "CompilationFailedConfig"},
         "2,a": {"block": 2, "method": "a", "time": "RuntimeFailedConfig", "times": [1.5]},
         "3,a": {"block": 3, "method": "a", "time": "InvalidConfig"},
         "4,a": {"block": 4, "method": "a", "time": "SomethingElse"})"));
  ASSERT_EQ(file.rows.size(), 4U);
  EXPECT_EQ(file.rows[0].failure(), v1::COMPILE);
  EXPECT_EQ(file.rows[1].failure(), v1::RUNTIME);
  EXPECT_EQ(file.rows[1].samples_ns_size(), 1);
  EXPECT_EQ(file.rows[2].failure(), v1::CONSTRAINTS);
  EXPECT_EQ(file.rows[3].failure(), v1::RUNTIME);
  EXPECT_EQ(file.rows[3].message(), "SomethingElse");
  EXPECT_FALSE(file.rows[0].has_time());
  EXPECT_TRUE(has_note(file, "1 row failed but with samples")) << notes_of(file);
}

TEST(CacheFile, ReadsTimesInNanosecondsAndKeepsMetrics) {
  const RecordedFile file = parsed(cache_of(
      R"("32,true": {"block": 32, "method": true, "time": 0.127, "times": [0.127, 73.68498992919922],
          "compile_time": 440.5, "GFLOP/s": 12.5, "timestamp": "2022-12-23"})"));
  EXPECT_EQ(file.recording.name(), "add");
  EXPECT_EQ(file.recording.device_name(), "card");
  EXPECT_EQ(file.recording.objective(), "time");
  ASSERT_EQ(file.rows.size(), 1U);
  const v1::RecordedRow& row = file.rows[0];
  EXPECT_EQ(row.row(), 1U);
  EXPECT_EQ(values_of(row), "32,true");
  EXPECT_EQ(row.time_ns(), 127'000.0);
  EXPECT_DOUBLE_EQ(row.samples_ns(1), 73'684'989.92919922);
  ASSERT_EQ(row.metrics_size(), 2);
  EXPECT_EQ(row.metrics(0).name(), "compilation_ns");
  EXPECT_EQ(row.metrics(0).value(), 440'500'000.0);
  EXPECT_EQ(row.metrics(1).name(), "GFLOP/s");
}

}  // namespace
}  // namespace assay::client
