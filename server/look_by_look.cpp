#include "server/look_by_look.h"

#include "profiler/schedule.h"
#include "proto/status.h"
#include "server/elapsed.h"
#include "server/hopeless.h"
#include "server/measurement_parts.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace assay::server {
namespace {

using Clock = std::chrono::steady_clock;

class Looks {
 public:
  Looks(const v1::ExperimentSpec& spec,
        const RunContext& context,
        profiler::JudgeOptions options,
        RunnerDialogue& runner,
        ConfigurationRun& run)
      : spec_(spec), context_(context), options_(std::move(options)), runner_(runner), run_(run) {}

  absl::Status until_decided() {
    const bool alone = !run_.configuration.has_candidate_arm();
    // A measurement is not judged, so it has one look; asked for more rounds, it has them all.
    const std::uint32_t one_look = alone ? profiler::kLooks.front() : profiler::kLooks.back();
    const std::uint32_t max_rounds = spec_.max_rounds() == 0 ? one_look : spec_.max_rounds();
    std::int64_t budget_ns = spec_.budget_ns() == 0 ? kDefaultBudgetNs : spec_.budget_ns();
    ASSAY_ASSIGN_OR_RETURN(const bool dropped, is_dropped(max_rounds, budget_ns));
    if (dropped) {
      return absl::OkStatus();
    }
    for (const std::uint32_t look : profiler::kLooks) {
      const std::uint32_t target = std::min(look, max_rounds);
      ASSAY_RETURN_IF_ERROR(run_rounds(target, max_rounds, budget_ns));
      if (budget_ns <= 0) {
        run_.configuration.set_stopped_because(profiler::kBudgetUsed);
        return absl::OkStatus();
      }
      if (target == max_rounds) {
        break;
      }
      options_.now_ns = context_.now_ns();
      const std::string reached = alone ? "" : why_enough();
      if (!reached.empty()) {
        run_.configuration.set_stopped_because(reached);
        return absl::OkStatus();
      }
    }
    run_.configuration.set_stopped_because(profiler::kRoundsUsed);
    return absl::OkStatus();
  }

 private:
  // Whether a sweep gave it up.
  absl::StatusOr<bool> is_dropped(std::uint32_t max_rounds, std::int64_t& budget_ns) {
    const double drop_above =
        spec_.sweep().drop_above() == 0 ? kDefaultDropAbove : spec_.sweep().drop_above();
    for (const std::uint32_t look : kDropLooks) {
      if (!context_.may_drop || look >= max_rounds) {
        return false;
      }
      ASSAY_RETURN_IF_ERROR(run_rounds(look, max_rounds, budget_ns));
      const std::string why = why_hopeless(run_.configuration, drop_above);
      if (!why.empty()) {
        run_.configuration.set_stopped_because(why);
        return true;
      }
      if (budget_ns <= 0) {
        return false;
      }
    }
    return false;
  }

  // Why no more rounds are needed after a look; empty: they are.
  std::string why_enough() const {
    const v1::Verdict verdict = profiler::judge(run_.configuration, options_);
    if (spec_.interval_width() == 0) {
      return profiler::wants_more_rounds(verdict) ? "" : "verdict reached";
    }
    const v1::StageVerdict* total = profiler::headline_of(verdict);
    const bool is_narrow = total != nullptr && total->has_ratio() &&
                           total->ratio_high() - total->ratio_low() <= spec_.interval_width();
    return is_narrow ? "interval as narrow as asked" : "";
  }

  // Up to `target` rounds in all, in requests that stay well within the runner's deadline. What the
  // rounds took is taken from the budget; 0 when it is used up.
  absl::Status run_rounds(std::uint32_t target, std::uint32_t max_rounds, std::int64_t& budget_ns) {
    std::uint32_t done = num_rounds(run_.configuration);
    while (done < target && budget_ns > 0) {
      v1::RunnerRequest request;
      v1::RunnerTime& time = *request.mutable_time();
      time.set_schedule(options_.schedule);
      time.set_first_round(done);
      time.set_num_rounds(target - done);
      time.set_seed(spec_.seed());
      time.set_budget_ns(std::min<std::int64_t>(budget_ns, runner_.deadline().count() / 2));
      const double a_round = kTimeShare / max_rounds;
      const Clock::time_point start = Clock::now();
      ASSAY_ASSIGN_OR_RETURN(const v1::RunnerReply reply,
                             runner_.ask(request,
                                         v1::RunnerReply::kTimed,
                                         kOpenShare + a_round * done,
                                         a_round * (target - done)));
      budget_ns = std::max<std::int64_t>(0, budget_ns - elapsed_ns(start));
      append_both(run_.configuration, reply.timed().baseline(), reply.timed().candidate());
      const std::uint32_t before = std::exchange(done, num_rounds(run_.configuration));
      if (done <= before) {
        run_.runner_is_sound = false;
        return runner_.fail(v1::BAD_FRAME, "the runner timed no round");
      }
    }
    if (done >= target) {
      budget_ns = std::max<std::int64_t>(budget_ns, 1);
    }
    return absl::OkStatus();
  }

  const v1::ExperimentSpec& spec_;
  const RunContext& context_;
  profiler::JudgeOptions options_;
  RunnerDialogue& runner_;
  ConfigurationRun& run_;
};

}  // namespace

absl::Status time_look_by_look(const v1::ExperimentSpec& spec,
                               const RunContext& context,
                               const profiler::JudgeOptions& options,
                               RunnerDialogue& runner,
                               ConfigurationRun& run) {
  return Looks(spec, context, options, runner, run).until_decided();
}

}  // namespace assay::server
