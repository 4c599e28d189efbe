#include "client/replay_command.h"

#include "client/input_file.h"
#include "client/recorded_file.h"
#include "client/recorded_notes.h"
#include "client/replay_text.h"
#include "proto/status.h"
#include "tuning/recorded_points.h"
#include "tuning/replay.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::client {
namespace {

constexpr std::size_t kFirstTries = 25;
constexpr std::size_t kDefaultBudget = 400;
constexpr std::uint32_t kMaxRepeats = 10'000;

// 25, 50, 100, 200 and so on, then the budget.
absl::StatusOr<std::vector<std::size_t>> tries_of(const std::string& budget,
                                                  std::size_t num_points) {
  std::size_t limit = kDefaultBudget;
  if (!budget.empty() && (!absl::SimpleAtoi(budget, &limit) || limit == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget: `", budget, "`: expected a number of configurations"));
  }
  limit = std::min(limit, num_points);
  std::vector<std::size_t> tries;
  for (std::size_t num = kFirstTries; num < limit; num *= 2) {
    tries.push_back(num);
  }
  tries.push_back(limit);
  return tries;
}

absl::StatusOr<RecordedFile> read_recorded(const std::string& path) {
  absl::StatusOr<std::string> text = read_text(path, kMaxRecordedBytes);
  absl::StatusOr<RecordedFile> file = text.ok() ? parse_recorded(*std::move(text)) : text.status();
  if (file.ok()) {
    file->recording.set_file_name(base_name(path));
    return file;
  }
  return proto::annotate(file.status(), "--replay: " + path);
}

absl::StatusOr<Replay> replay_of(const RecordedFile& file, const ReplayOptions& options) {
  Replay replay;
  replay.seed = options.seed;
  replay.num_repeats = options.num_repeats;
  if (options.num_repeats == 0 || options.num_repeats > kMaxRepeats) {
    return absl::InvalidArgumentError("--repeats: must be in [1, 10,000]");
  }
  ASSAY_ASSIGN_OR_RETURN(
      replay.statistic,
      tuning::parse_statistic(options.objective.empty() ? "median" : options.objective));
  if (const std::string unranked = unranked_because(file); !unranked.empty()) {
    return absl::InvalidArgumentError(unranked);
  }
  replay.ranking = tuning::rank(file.rows, replay.statistic);
  if (replay.ranking.ties.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no row has a ", tuning::statistic_name(replay.statistic), "; see --objective"));
  }
  ASSAY_ASSIGN_OR_RETURN(const tuning::PointSet points,
                         tuning::points_of(file.recording, file.rows));
  ASSAY_ASSIGN_OR_RETURN(replay.tries, tries_of(options.budget, points.size()));
  std::vector<std::optional<double>> costs;
  costs.reserve(file.rows.size());
  for (const v1::RecordedRow& row : file.rows) {
    costs.push_back(tuning::value_of(row, replay.statistic));
  }
  std::vector<std::string> names = {options.strategy.empty() ? "genetic" : options.strategy};
  if (names.front() != "random") {
    names.emplace_back("random");
  }
  for (const std::string& name : names) {
    StrategyMeans& strategy = replay.strategies.emplace_back(StrategyMeans{name, {}});
    ASSAY_ASSIGN_OR_RETURN(
        strategy.means,
        tuning::mean_best(name, points, costs, replay.tries, options.num_repeats, options.seed));
  }
  return replay;
}

}  // namespace

absl::StatusOr<int> replay_file(Session& session, const ReplayOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const RecordedFile file, read_recorded(options.file));
  const absl::StatusOr<Replay> replay = replay_of(file, options);
  if (!replay.ok()) {
    return proto::annotate(replay.status(), "--replay: " + options.file);
  }
  session.console().out << replay_text(file, *replay, session.format()) << std::flush;
  return kFine;
}

}  // namespace assay::client
