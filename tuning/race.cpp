#include "tuning/race.h"

#include <algorithm>
#include <cmath>

namespace assay::tuning {
namespace {

const v1::StageVerdict* total_of(const v1::Configuration& configuration) {
  if (configuration.verdicts().empty()) {
    return nullptr;
  }
  const v1::Verdict& verdict = configuration.verdicts(configuration.verdicts_size() - 1);
  const auto total = std::ranges::find_if(
      verdict.stages(), [](const v1::StageVerdict& stage) { return stage.stage() == "total"; });
  return total == verdict.stages().end() ? nullptr : &*total;
}

v1::FailureClass failure_of_bits(const v1::BitsReport& bits) {
  switch (bits.failed()) {
    case v1::BITS_CHECK_UNSPECIFIED:
      return v1::FAILURE_CLASS_UNSPECIFIED;
    case v1::BITS_FINISHED:
      return bits.failure() == v1::FAILURE_CLASS_UNSPECIFIED ? v1::LAUNCH : bits.failure();
    case v1::BITS_WRITTEN:
    case v1::BITS_INPUTS:
    case v1::BITS_TOLERANCE:
      return v1::WRONG_OUTPUT;
    default:
      return v1::BIT_DRIFT;
  }
}

bool is_faster(const v1::Configuration& configuration) {
  return !configuration.verdicts().empty() &&
         configuration.verdicts(configuration.verdicts_size() - 1).verdict() == v1::FASTER;
}

}  // namespace

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::kWinner:
      return "winner";
    case Standing::kTied:
      return "tied";
    case Standing::kBehind:
      return "behind";
    case Standing::kDropped:
      return "dropped";
    case Standing::kUnclear:
      return "unclear";
    case Standing::kFailed:
      return "failed";
  }
  return "";
}

v1::FailureClass failure_of(const v1::Configuration& configuration) {
  switch (configuration.outcome()) {
    case v1::FINISHED:
      break;
    case v1::TIMED_OUT:
      return v1::TIMEOUT;
    case v1::REFUSED:
      return configuration.failure() == v1::FAILURE_CLASS_UNSPECIFIED ? v1::CONSTRAINTS
                                                                      : configuration.failure();
    default:
      return v1::RUNTIME;
  }
  const v1::FailureClass baseline = failure_of_bits(configuration.baseline().bits());
  return configuration.has_candidate() && baseline == v1::FAILURE_CLASS_UNSPECIFIED
             ? failure_of_bits(configuration.candidate().bits())
             : baseline;
}

void Race::add(const v1::Configuration& configuration) {
  if (contestants_.empty()) {
    baseline_arm_ = configuration.baseline_arm();
  }
  Contestant& contestant = contestants_.emplace_back();
  RaceEntry& entry = contestant.entry;
  contestant.against = static_cast<int>(chain_.size()) - 1;
  entry.configuration = configuration.configuration();
  entry.arm = configuration.candidate_arm();
  entry.failure = failure_of(configuration);
  if (entry.failure != v1::FAILURE_CLASS_UNSPECIFIED) {
    entry.standing = Standing::kFailed;
    const v1::BitsReport& bits = configuration.candidate().bits();
    entry.message = configuration.message().empty() ? bits.detail() : configuration.message();
    return;
  }
  const v1::StageVerdict* total = total_of(configuration);
  if (total == nullptr || total->candidate_median_ns() <= 0) {
    entry.message = total == nullptr ? "it was not timed" : total->reason();
    return;
  }
  entry.median_ns = total->candidate_median_ns();
  contestant.bar = total->bar();
  Step& step = contestant.step;
  if (total->baseline_median_ns() > 0) {
    step.middle = std::log(static_cast<double>(total->candidate_median_ns()) /
                           static_cast<double>(total->baseline_median_ns()));
  }
  if (total->has_ratio() && total->ratio_low() > 0) {
    step = {.middle = std::log(total->ratio()),
            .low = std::log(total->ratio_low()),
            .high = std::log(total->ratio_high()),
            .has_interval = true};
  }
  if (configuration.stopped_because().starts_with(std::string(kDropReason))) {
    entry.standing = Standing::kDropped;
    entry.message = configuration.stopped_because().substr(kDropReason.size());
  } else if (!step.has_interval) {
    entry.message = total->reason();
  }
  contestant.cost = chain_.empty() ? static_cast<double>(entry.median_ns)
                                   : contestants_[chain_.back()].cost * std::exp(step.middle);
  if (chain_.empty() || is_faster(configuration)) {
    chain_.push_back(contestants_.size() - 1);
  }
}

const v1::Arm* Race::incumbent() const {
  return chain_.empty() ? nullptr : &contestants_[chain_.back()].entry.arm;
}

bool Race::is_last_incumbent() const {
  return !chain_.empty() && chain_.back() + 1 == contestants_.size();
}

std::optional<double> Race::last_cost() const {
  if (contestants_.empty() || contestants_.back().cost <= 0) {
    return std::nullopt;
  }
  return contestants_.back().cost;
}

Race::Step Race::step_to_winner(std::size_t place) const {
  const Contestant& contestant = contestants_[place];
  Step step = contestant.step;
  auto next = chain_.begin() + contestant.against + 1;
  // An incumbent's own way began with itself.
  if (const auto own = std::ranges::find(chain_, place); own != chain_.end()) {
    step = {.has_interval = true};
    next = own + 1;
  }
  for (; next != chain_.end(); ++next) {
    const Step& between = contestants_[*next].step;
    step.middle -= between.middle;
    step.low -= between.high;
    step.high -= between.low;
    step.has_interval = step.has_interval && between.has_interval;
  }
  return step;
}

// Of what was judged against the winner; of what it was judged by itself where nothing was.
double Race::noise_of(const RaceResult& result) const {
  double of_ties = 0;
  double of_others = 0;
  for (std::size_t place = 0; place < contestants_.size(); ++place) {
    const Contestant& contestant = contestants_[place];
    const bool is_judged = contestant.against + 1 == static_cast<int>(chain_.size());
    if (!is_judged || !contestant.step.has_interval) {
      continue;
    }
    const bool is_tied = result.entries[place].standing == Standing::kTied;
    of_ties = is_tied ? std::max(of_ties, contestant.bar) : of_ties;
    of_others = of_others == 0 ? contestant.bar : std::min(of_others, contestant.bar);
  }
  const double of_winner = contestants_[chain_.back()].bar;
  return of_ties > 0 ? of_ties : of_others > 0 ? of_others : of_winner;
}

RaceResult Race::result() const {
  RaceResult result;
  result.baseline_arm = baseline_arm_;
  for (std::size_t place = 0; place < contestants_.size(); ++place) {
    const Contestant& contestant = contestants_[place];
    RaceEntry& entry = result.entries.emplace_back(contestant.entry);
    result.num_failed += entry.standing == Standing::kFailed ? 1 : 0;
    if (contestant.cost <= 0) {
      continue;
    }
    const Step step = step_to_winner(place);
    entry.ratio = std::exp(step.middle);
    entry.has_interval = step.has_interval;
    entry.ratio_low = std::exp(step.low);
    entry.ratio_high = std::exp(step.high);
    if (entry.standing != Standing::kDropped && step.has_interval) {
      const bool is_near = step.low <= std::log1p(contestant.bar);
      entry.standing = is_near ? Standing::kTied : Standing::kBehind;
    }
  }
  if (chain_.empty()) {
    return result;
  }
  result.winner = chain_.back();
  RaceEntry& winner = result.entries[chain_.back()];
  winner.standing = Standing::kWinner;
  winner.ratio = winner.ratio_low = winner.ratio_high = 1;
  result.noise = noise_of(result);
  // The way from the arm that the race began with to the winner.
  Step whole = {.has_interval = true};
  for (const std::size_t place : chain_) {
    const Step& step = contestants_[place].step;
    whole.middle += step.middle;
    whole.low += step.low;
    whole.high += step.high;
    whole.has_interval = whole.has_interval && step.has_interval;
  }
  result.ratio = std::exp(whole.middle);
  result.has_interval = whole.has_interval;
  result.ratio_low = std::exp(whole.low);
  result.ratio_high = std::exp(whole.high);
  return result;
}

}  // namespace assay::tuning
