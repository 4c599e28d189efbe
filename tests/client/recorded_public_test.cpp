// What is known of files that other projects published.
#include "tests/client/recorded_samples.h"
#include "tuning/ranking.h"
#include "tuning/recorded_points.h"
#include "tuning/replay.h"

#include <array>
#include <cmath>

namespace assay::client {
namespace {

using tuning::Statistic;

// The file of that name in `file`; skips the test where it is not there.
#define ASSAY_PUBLIC_FILE(file, name)                               \
  const std::optional<std::string> file##_text = public_text(name); \
  if (!file##_text.has_value()) {                                   \
    GTEST_SKIP() << "../shared/data is not there";                  \
  }                                                                 \
  const RecordedFile file = parsed(*file##_text)

std::string winner_of(const RecordedFile& file, Statistic statistic) {
  const tuning::Ranking ranking = tuning::rank(file.rows, statistic);
  return values_of(file.rows[ranking.ties.at(0).row]) +
         absl::StrCat(" ", std::llround(ranking.ties[0].value_ns / 1e3));
}

std::vector<std::string> kernel_rows(const RecordedFile& file) {
  std::vector<std::string> texts;
  for (v1::RecordedRow row : file.rows) {
    row.clear_metrics();
    row.clear_message();
    texts.push_back(row.ShortDebugString());
  }
  return texts;
}

TEST(RecordedPublic, DedispersionHasAnotherWinnerByMeanThanByMedian) {
  ASSAY_PUBLIC_FILE(file, "benchmark_hub/dedispersion_A100_cache.json.gz");
  EXPECT_EQ(file.recording.format(), "kernel_tuner_cache");
  EXPECT_EQ(file.recording.device_name(), "NVIDIA A100-PCIE-40GB");
  ASSERT_EQ(file.rows.size(), 11'130U);
  EXPECT_EQ(file.rows[0].samples_ns_size(), 32);
  EXPECT_EQ(winner_of(file, Statistic::kMean), "4,64,1,1,3,0,1,0 68117");
  EXPECT_EQ(winner_of(file, Statistic::kMedian), "8,96,1,1,7,0,1,0 67620");
  EXPECT_GT(tuning::rank(file.rows, Statistic::kMedian).ties.size(), 1U);
}

TEST(RecordedPublic, DedispersionInT4HasTheSameRows) {
  ASSAY_PUBLIC_FILE(file, "benchmark_hub/dedispersion_A100_T4.json.gz");
  EXPECT_EQ(file.recording.format(), "t4");
  EXPECT_TRUE(has_note(file, "`miliseconds` is read as milliseconds")) << notes_of(file);
  ASSAY_PUBLIC_FILE(cache, "benchmark_hub/dedispersion_A100_cache.json.gz");
  EXPECT_EQ(kernel_rows(file), kernel_rows(cache));
  const absl::StatusOr<std::string> written = write_recorded(file, "t4");
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(texts_of(parsed(*written)), texts_of(file));
}

TEST(RecordedPublic, PnpolyStatesTimesThatItsSamplesContradict) {
  for (const char* name : {"benchmark_hub/pnpoly_RTX_3090_cache.json.gz",
                           "benchmark_hub/pnpoly_RTX_3090_T4.json.gz"}) {
    ASSAY_PUBLIC_FILE(file, name);
    const tuning::Ranking ranking = tuning::rank(file.rows, Statistic::kTime);
    EXPECT_EQ(file.rows.size(), 4'092U);
    EXPECT_EQ(ranking.num_ranked, 3'762U);
    EXPECT_EQ(ranking.failures.at(v1::RUNTIME), 330U);
    EXPECT_TRUE(has_note(file, "in 3,327 rows the stated time")) << notes_of(file);
    EXPECT_TRUE(has_note(file, "in 3,067 rows outside all of them")) << notes_of(file);
    EXPECT_TRUE(has_note(file, "12 rows failed")) << notes_of(file);
    EXPECT_EQ(winner_of(file, Statistic::kTime), "0,256,20,2 7224");
    EXPECT_EQ(winner_of(file, Statistic::kMean), "0,64,20,0 8714");
    for (const char* format : {"t4", "google_benchmark", "nvbench"}) {
      EXPECT_EQ(parsed(*write_recorded(file, format)).rows.size(), 4'092U) << format;
    }
  }
}

TEST(RecordedPublic, VectorAddBeginsColdInEveryRow) {
  ASSAY_PUBLIC_FILE(file, "kernel_tuner/cache_file.json");
  EXPECT_EQ(file.rows.size(), 15U);
  EXPECT_EQ(winner_of(file, Statistic::kMedian).substr(0, 4), "896 ");
  EXPECT_EQ(winner_of(file, Statistic::kMean).substr(0, 4), "768 ");
  EXPECT_TRUE(has_note(file, "in 15 of 15 rows the first sample is cold")) << notes_of(file);
}

TEST(RecordedPublic, CutCachesKeepTheirWholeEntries) {
  ASSAY_PUBLIC_FILE(file, "kernel_tuner/cache_file.json");
  const std::string& text = *file_text;
  std::size_t last_entry = text.size();
  for (int i = 0; i < 3; ++i) {
    last_entry = text.rfind('}', last_entry - 1);
  }
  const RecordedFile open = parsed(text.substr(0, last_entry + 1) + ",");
  EXPECT_EQ(open.rows.size(), 15U);
  EXPECT_TRUE(has_note(open, "the file ends before its end")) << notes_of(open);
  EXPECT_FALSE(has_note(open, "truncated entry")) << notes_of(open);
  std::size_t ninth = 0;
  for (int i = 0; i < 9; ++i) {
    ninth = text.find("\"timestamp\"", ninth + 1);
  }
  const RecordedFile cut = parsed(text.substr(0, ninth));
  std::vector<std::string> first_eight = texts_of(file);
  first_eight.resize(8);
  EXPECT_EQ(texts_of(cut), first_eight);
  EXPECT_TRUE(has_note(cut, "1 truncated entry skipped")) << notes_of(cut);
}

TEST(RecordedPublic, MixedValuesKeepTheirText) {
  ASSAY_PUBLIC_FILE(file, "kernel_tuner/mixed_types_cache.json");
  ASSERT_FALSE(file.rows.empty());
  EXPECT_EQ(values_of(file.rows[0]), "128,alg_2,15,true,2.45");
  EXPECT_EQ(texts_of(parsed(*write_recorded(file, "t4"))).size(), file.rows.size());
}

TEST(RecordedPublic, NvbenchFilesOfTwoDevicesAreReadAndWritten) {
  for (const char* name : {"nvbench/test_ref.json", "nvbench/test_cmp.json"}) {
    ASSAY_PUBLIC_FILE(file, name);
    EXPECT_EQ(file.recording.device_name(), "0: Quadro GV100; 1: Quadro GP100");
    EXPECT_EQ(file.rows.size(), 126U);
    EXPECT_EQ(tuning::rank(file.rows, Statistic::kTime).failures.at(v1::CONSTRAINTS), 38U);
    EXPECT_EQ(texts_of(parsed(*write_recorded(file, "nvbench"))), texts_of(file));
  }
}

TEST(RecordedPublic, GoogleBenchmarkFilesAreReadAndWritten) {
  for (const char* name :
       {"googlecpp_output", "test1_run1", "test1_run2", "test3_run0", "test4_run", "test5_run0"}) {
    ASSAY_PUBLIC_FILE(file, std::string("google_benchmark/") + name + ".json");
    EXPECT_FALSE(file.rows.empty()) << name;
    EXPECT_EQ(texts_of(parsed(*write_recorded(file, "google_benchmark"))), texts_of(file)) << name;
  }
}

// Means over 32 seeds of (best found / best there is) after some tries.
TEST(RecordedPublic, GeneticBeatsRandomOnBothCaches) {
  constexpr std::array<std::size_t, 4> kTries = {50, 100, 200, 400};
  for (const char* name : {"benchmark_hub/dedispersion_A100_cache.json.gz",
                           "benchmark_hub/pnpoly_RTX_3090_cache.json.gz"}) {
    ASSAY_PUBLIC_FILE(file, name);
    const auto points = tuning::points_of(file.recording, file.rows);
    ASSERT_TRUE(points.ok()) << points.status();
    std::vector<std::optional<double>> costs;
    for (const v1::RecordedRow& row : file.rows) {
      costs.push_back(tuning::value_of(row, Statistic::kMedian));
    }
    const auto genetic = tuning::mean_best("genetic", *points, costs, kTries, 32, 1);
    const auto random = tuning::mean_best("random", *points, costs, kTries, 32, 1);
    ASSERT_TRUE(genetic.ok() && random.ok());
    for (std::size_t i = 1; i < kTries.size(); ++i) {
      EXPECT_LT(*(*genetic)[i], *(*random)[i]) << name << " after " << kTries[i];
    }
  }
}

}  // namespace
}  // namespace assay::client
