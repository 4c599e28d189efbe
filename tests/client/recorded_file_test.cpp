#include "client/recorded_file.h"

#include "tests/client/recorded_samples.h"

namespace assay::client {
namespace {

const std::string kCache =
    R"({"device_name": "card", "kernel_name": "add", "tune_params_keys": ["block"],
        "tune_params": {"block": [32, 64]}, "cache": {
        "32": {"block": 32, "time": 0.5, "times": [0.4, 0.5, 0.6]},
        "64": {"block": 64, "time": 0.25, "times": [0.2, 0.25, 0.3]}}})";

TEST(RecordedFile, SaysWhatItLookedFor) {
  EXPECT_EQ(error_of(""), "empty file");
  EXPECT_EQ(error_of(" \n"), "empty file");
  EXPECT_EQ(error_of("[1, 2]"), "expected a JSON object");
  EXPECT_EQ(error_of("\x7f"
                     "ELF")
                .substr(0, 38),
            "not JSON: parse error at line 1, colum");
  EXPECT_EQ(error_of(R"({"Metadata": {}, "Results": []})"),
            "none of the known formats; looked for `cache` with `tune_params_keys` (Kernel Tuner), "
            "`results` whose entries have a `configuration` (T4), `benchmarks` whose entries have "
            "`states` (nvbench) or else a `name` (Google Benchmark); found `Metadata`, `Results`");
  EXPECT_NE(error_of("{}").find("; found no member"), std::string::npos);
  EXPECT_NE(error_of(R"({"device_name": "card", "tune_par)").find("before the file ended"),
            std::string::npos);
  EXPECT_EQ(write_recorded({}, "csv").status().message(),
            "format `csv`: expected one of google_benchmark, nvbench, t4");
}

TEST(RecordedFile, RefusesAFaultInTheMiddleWithItsPlace) {
  std::string text = kCache;
  text.replace(text.find("0.25"), 4, "@@@@");
  EXPECT_NE(error_of(text).find("not JSON: parse error at line 4, column"), std::string::npos)
      << error_of(text);
}

TEST(RecordedFile, RecognisesEveryFormatByItsContent) {
  EXPECT_EQ(parsed(kCache).recording.format(), "kernel_tuner_cache");
  EXPECT_EQ(parsed(R"({"schema_version": "1.0.0", "results": []})").recording.format(), "t4");
  EXPECT_EQ(parsed(R"({"benchmarks": [{"name": "BM"}]})").recording.format(), "google_benchmark");
  EXPECT_EQ(parsed(R"({"context": {}, "benchmarks": []})").recording.format(), "google_benchmark");
  EXPECT_EQ(parsed(R"({"benchmarks": [{"name": "b", "states": []}]})").recording.format(),
            "nvbench");
}

// Wherever a session was killed, what it had finished is there, and nothing else.
TEST(RecordedFile, ReadsTheWholeEntriesOfAFileThatEndsAnywhere) {
  const std::vector<std::string> whole = texts_of(parsed(kCache));
  ASSERT_EQ(whole.size(), 2U);
  const std::size_t begin = kCache.find("\"cache\"") + 10;
  const std::size_t second = kCache.find("\"64\"");
  for (std::size_t size = begin; size < kCache.size(); ++size) {
    const RecordedFile file = parsed(kCache.substr(0, size));
    std::vector<std::string> expected = whole;
    const std::size_t first_end = second - 10;
    expected.resize(size <= kCache.rfind("0.3]}") + 4 ? (size < first_end ? 0 : 1) : 2);
    EXPECT_EQ(texts_of(file), expected) << size;
    EXPECT_TRUE(has_note(file, "the file ends before its end")) << size;
    const bool is_in_second = size > second && expected.size() == 1;
    EXPECT_EQ(has_note(file, "; 1 truncated entry skipped"),
              is_in_second || (expected.empty() && size > kCache.find("\"32\"")))
        << size << kCache.substr(0, size);
  }
}

TEST(RecordedFile, ReadsNumbersThatJsonDoesNotHaveAsAbsent) {
  const RecordedFile file = parsed(
      R"({"tune_params_keys": ["a"], "cache": {
          "NaN": {"a": "NaN, -inf", "time": NaN, "times": [1, -Infinity, nan], "GB/s": inf},
          "2": {"a": 2, "time": -nan}}})");
  ASSERT_EQ(file.rows.size(), 2U);
  EXPECT_EQ(values_of(file.rows[0]), "NaN, -inf");
  EXPECT_FALSE(file.rows[0].has_time());
  EXPECT_EQ(file.rows[0].samples_ns_size(), 1);
  EXPECT_EQ(file.rows[0].metrics_size(), 0);
  EXPECT_TRUE(has_note(file, "5 NaN or infinity")) << notes_of(file);
  EXPECT_TRUE(has_note(file, "1 row without any time")) << notes_of(file);
  EXPECT_NE(error_of(R"({"cache": nano})"), "");
}

TEST(RecordedFile, RefusesTimesBeyondAllBoundsAndFlagsThoseThatAreNotAboveZero) {
  const auto cache_of = [](const std::string& time) {
    return R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": )" + time + "}}}";
  };
  for (const std::string time : {"1e13", "1e307"}) {
    EXPECT_EQ(error_of(cache_of(time)),
              "row 1: a time of over 9e18 ns, or a figure without a bound");
  }
  EXPECT_TRUE(has_note(parsed(cache_of("0")), "1 row with a time that is not above 0"));
  EXPECT_EQ(notes_of(parsed(cache_of("0.1"))), "");
}

TEST(RecordedFile, FlagsFirstSamplesThatAreCold) {
  const RecordedFile file = parsed(
      R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "times": [5, 2, 2, 3]},
          "2": {"a": 2, "times": [3, 2, 2, 3]}, "3": {"a": 3, "times": [9, 2]}}})");
  EXPECT_TRUE(has_note(file, "in 1 of 3 rows the first sample is cold")) << notes_of(file);
}

}  // namespace
}  // namespace assay::client
