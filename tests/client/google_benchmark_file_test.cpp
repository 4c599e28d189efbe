#include "client/strict_json.h"
#include "tests/client/recorded_samples.h"

namespace assay::client {
namespace {

std::string file_of(const std::string& entries) {
  return R"({"context": {"num_cpus": 4}, "benchmarks": [)" + entries + "]}";
}

// A name, its real time and the rest.
std::string entry_of(const std::string& name,
                     const std::string& time,
                     const std::string& rest = "") {
  return R"({"name": ")" + name + R"(", "iterations": 10, "real_time": )" + time + rest + "}";
}

TEST(GoogleBenchmarkFile, RefusesFaultsByTheirEntry) {
  EXPECT_EQ(error_of(file_of(R"({"iterations": 3})")), "benchmarks[0]: name: expected a text");
  EXPECT_EQ(
      error_of(file_of(entry_of("a", "1") + "," + entry_of("b", "1", R"(, "time_unit": "min")"))),
      "benchmarks[1]: time_unit: `min` is no unit of time; expected ns, us, ms or s");
}

TEST(GoogleBenchmarkFile, ReadsEveryEntryInItsOwnUnit) {
  const RecordedFile file = parsed(file_of(entry_of("a", "1", R"(, "time_unit": "us")") + "," +
                                           entry_of("b", "1000", R"(, "time_unit": "ns")") + "," +
                                           entry_of("c", "2", R"(, "time_unit": "s")")));
  ASSERT_EQ(file.rows.size(), 3U);
  EXPECT_EQ(file.rows[0].samples_ns(0), 1000.0);
  EXPECT_EQ(file.rows[1].samples_ns(0), 1000.0);
  EXPECT_EQ(file.rows[2].samples_ns(0), 2e9);
}

TEST(GoogleBenchmarkFile, MakesRepetitionsSamplesOfOneRow) {
  const RecordedFile file =
      parsed(file_of(entry_of("a", "3") + "," + entry_of("b", "9") + "," + entry_of("a", "4") +
                     "," + entry_of("a_mean", "3.5", R"(, "run_name": "a",
                        "run_type": "aggregate", "aggregate_name": "mean")")));
  ASSERT_EQ(file.rows.size(), 2U);
  EXPECT_EQ(file.rows[0].name(), "a");
  EXPECT_EQ(file.rows[0].samples_ns_size(), 2);
  EXPECT_FALSE(file.rows[0].has_time());
  EXPECT_TRUE(has_note(file, "1 aggregates left out")) << notes_of(file);
}

TEST(GoogleBenchmarkFile, TakesTheMedianWhereThereAreOnlyAggregates) {
  const auto aggregate = [](const std::string& name, const std::string& time) {
    return entry_of(
        "a_" + name,
        time,
        R"(, "run_name": "a", "run_type": "aggregate", "aggregate_name": ")" + name + "\"");
  };
  const RecordedFile file =
      parsed(file_of(aggregate("stddev", "0.5") + "," + aggregate("mean", "4") + "," +
                     aggregate("median", "3") + "," + aggregate("cv", "2")));
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.rows[0].time_ns(), 3.0);
  EXPECT_EQ(file.rows[0].samples_ns_size(), 0);
}

TEST(GoogleBenchmarkFile, LeavesOutComplexitiesAndKeepsEntriesWithoutTimes) {
  const RecordedFile file = parsed(file_of(
      R"({"name": "a_BigO", "run_type": "aggregate", "aggregate_name": "BigO",
          "cpu_coefficient": 1.5},
         {"name": "a_RMS", "rms": 0.02}, {"name": "b", "run_type": "iteration"})"));
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.rows[0].name(), "b");
  EXPECT_TRUE(has_note(file, "2 entries of complexity")) << notes_of(file);
  EXPECT_TRUE(has_note(file, "1 row without any time")) << notes_of(file);
}

TEST(GoogleBenchmarkFile, MakesParametersOfNamesThatAllHaveThem) {
  const RecordedFile file = parsed(
      file_of(entry_of("k/block:32/order:row", "1") + "," + entry_of("k/block:64/order:row", "2")));
  ASSERT_EQ(file.recording.parameters_size(), 2);
  EXPECT_EQ(file.rows[1].name(), "k");
  EXPECT_EQ(values_of(file.rows[1]), "64,row");
  for (const std::string other :
       {"k", "k/8", "j/block:8", "k/block:8/block:4", "k/block:8/order:row/threads:2"}) {
    const RecordedFile mixed =
        parsed(file_of(entry_of("k/block:32/order:row", "1") + "," + entry_of(other, "2")));
    EXPECT_EQ(mixed.recording.parameters_size(), 0) << other;
    EXPECT_EQ(mixed.rows[1].name(), other);
  }
}

// Of which one has the name of what the library itself adds to names.
TEST(GoogleBenchmarkFile, LeavesOutAParameterThatARowHasNot) {
  RecordedFile file;
  file.recording.add_parameters("width");
  file.recording.add_parameters("variant");
  file.recording.add_parameters("threads");
  for (const std::vector<std::string>& values :
       {std::vector<std::string>{"64", "one", ""}, {"64", "two", "2"}, {"64", "two", "4"}}) {
    v1::RecordedRow& row = file.rows.emplace_back();
    row.set_row(static_cast<std::uint32_t>(file.rows.size()));
    row.set_name("k");
    row.mutable_values()->Add(values.begin(), values.end());
    row.add_samples_ns(7);
  }
  const std::string text = *write_recorded(file, "google_benchmark");
  EXPECT_NE(text.find("\"k/width:64/variant:one\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"k/width:64/variant:two/threads:4\""), std::string::npos) << text;
  const RecordedFile read = parsed(text);
  ASSERT_EQ(read.recording.parameters_size(), 3);
  EXPECT_EQ(read.recording.parameters(2), "threads");
  EXPECT_EQ(texts_of(read), texts_of(file));
}

// One that is good, one that failed and one without samples; a counter that JSON does not have.
TEST(GoogleBenchmarkFile, WritesStrictJsonThatReadsBack) {
  RecordedFile file;
  file.recording.set_name("k");
  file.recording.add_parameters("block");
  for (int i = 0; i < 4; ++i) {
    v1::RecordedRow& row = file.rows.emplace_back();
    row.set_row(static_cast<std::uint32_t>(i + 1));
    row.set_name("k");
    row.add_values(std::to_string(32 << i));
  }
  file.rows[0].add_samples_ns(73'684'989.92919922);
  file.rows[0].add_samples_ns(7);
  file.rows[0].set_has_time(true);
  file.rows[0].set_time_ns(8);
  file.rows[1].set_failure(v1::WRONG_OUTPUT);
  file.rows[1].set_message("512 elements");
  file.rows[3].set_has_time(true);
  file.rows[3].set_time_ns(9);
  const std::string text = *write_recorded(file, "google_benchmark");
  const auto json = parse_strict_json(text);
  ASSERT_TRUE(json.ok()) << json.status();
  const nlohmann::json& failed = (*json)["benchmarks"][3];
  EXPECT_EQ(failed["name"], "k/block:64");
  EXPECT_EQ(failed["error_occurred"], true);
  EXPECT_EQ(failed["error_message"], "WRONG_OUTPUT: 512 elements");
  EXPECT_FALSE(failed.contains("real_time") || failed.contains("cpu_time"));
  const nlohmann::json& empty = (*json)["benchmarks"][4];
  EXPECT_EQ(empty["error_message"], "no samples");
  EXPECT_FALSE(empty.contains("real_time"));
  EXPECT_EQ(texts_of(parsed(text)), texts_of(file));

  v1::Metric& metric = *file.rows[0].add_metrics();
  metric.set_name("ratio");
  metric.set_value(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(parse_strict_json(*write_recorded(file, "google_benchmark")).ok());
}

TEST(GoogleBenchmarkFile, ReadsBackErrorsCountersAndProcessorTimes) {
  const RecordedFile file = parsed(file_of(
      entry_of("a", "3", R"(, "cpu_time": 2, "GB/s": 1.25)") + "," +
      entry_of("a", "4", R"(, "cpu_time": 3, "GB/s": NaN)") +
      R"(, {"name": "b", "error_occurred": true, "error_message": "no device", "real_time": 0})"));
  EXPECT_EQ(file.rows[1].failure(), v1::RUNTIME);
  EXPECT_EQ(file.rows[1].message(), "no device");
  EXPECT_EQ(file.rows[1].samples_ns_size(), 0);
  EXPECT_EQ(texts_of(parsed(*write_recorded(file, "google_benchmark"))), texts_of(file));
}

}  // namespace
}  // namespace assay::client
