#include "server/receipt_race.h"

#include "proto/text.h"
#include "tuning/sweep_races.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace assay::server {
namespace {

using tuning::RaceEntry;
using tuning::RaceResult;
using tuning::Standing;

constexpr Standing kStandings[] = {Standing::kWinner,
                                   Standing::kTied,
                                   Standing::kBehind,
                                   Standing::kDropped,
                                   Standing::kUnclear,
                                   Standing::kFailed};

// By standing, then by the ratio to the winner; one without a ratio comes last of its standing.
bool ranks_before(const RaceEntry* a, const RaceEntry* b) {
  if (a->standing != b->standing) {
    return a->standing < b->standing;
  }
  if ((a->ratio > 0) != (b->ratio > 0)) {
    return a->ratio > 0;
  }
  return a->ratio < b->ratio;
}

void add_ranking(const RaceResult& result, v1::ReceiptRace& race) {
  std::vector<const RaceEntry*> entries;
  for (const RaceEntry& entry : result.entries) {
    if (entry.standing != Standing::kFailed) {
      entries.push_back(&entry);
    }
  }
  std::ranges::stable_sort(entries, ranks_before);
  entries.resize(std::min(entries.size(), kMaxReceiptContenders));
  for (const RaceEntry* entry : entries) {
    v1::ReceiptContender& contender = *race.add_ranking();
    contender.set_configuration(entry->configuration);
    *contender.mutable_arm() = entry->arm;
    contender.set_standing(std::string(tuning::name_of(entry->standing)));
    contender.set_median_ns(entry->median_ns);
    contender.set_ratio(entry->ratio);
    contender.set_has_interval(entry->has_interval);
    contender.set_ratio_low(entry->ratio_low);
    contender.set_ratio_high(entry->ratio_high);
    contender.set_message(entry->message);
  }
}

void add_failures(const RaceResult& result, v1::ReceiptRace& race) {
  std::map<v1::FailureClass, v1::ReceiptFailure> failures;
  for (const RaceEntry& entry : result.entries) {
    if (entry.standing != Standing::kFailed) {
      continue;
    }
    v1::ReceiptFailure& failure = failures[entry.failure];
    if (failure.num() == 0) {
      failure.set_failure(entry.failure);
      *failure.mutable_first() = entry.arm;
      failure.set_message(entry.message);
    }
    failure.set_num(failure.num() + 1);
  }
  for (const auto& [failure_class, failure] : failures) {
    *race.add_failures() = failure;
  }
}

void add_winner(const RaceResult& result, v1::ReceiptRace& race) {
  race.set_has_winner(result.winner.has_value());
  if (result.winner) {
    race.set_noise(result.noise);
    race.set_ratio(result.ratio);
    race.set_has_interval(result.has_interval);
    race.set_ratio_low(result.ratio_low);
    race.set_ratio_high(result.ratio_high);
  }
}

// What the race does not keep: bits.
void add_bits(const v1::Experiment& experiment, const RaceResult& result, v1::ReceiptRace& race) {
  const auto is_of_race = [&](const v1::Configuration& configuration) {
    return !result.entries.empty() &&
           configuration.configuration() >= result.entries.front().configuration &&
           configuration.configuration() <= result.entries.back().configuration;
  };
  const std::uint32_t winner = result.winner ? result.entries[*result.winner].configuration : 0;
  std::uint32_t num_equal = 0;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (!is_of_race(configuration)) {
      continue;
    }
    const auto& verdicts = configuration.verdicts();
    num_equal += !verdicts.empty() && verdicts[verdicts.size() - 1].bits_equal() ? 1 : 0;
    if (configuration.configuration() == winner) {
      *race.mutable_outputs() = configuration.candidate().outputs();
    }
  }
  race.set_num_bits_equal(num_equal);
}

}  // namespace

void add_races(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt) {
  for (const tuning::WorkloadRace& each : tuning::races_of(experiment)) {
    const RaceResult& result = each.result;
    v1::ReceiptRace& race = *receipt.add_races();
    *race.mutable_workload() = each.workload;
    *race.mutable_baseline() = result.baseline_arm;
    race.set_num_tried(static_cast<std::uint32_t>(result.entries.size()));
    race.set_num_valid(race.num_tried() - result.num_failed);
    race.set_may_go_on(each.may_go_on);
    for (const Standing standing : kStandings) {
      const auto num = std::ranges::count(result.entries, standing, &RaceEntry::standing);
      if (num > 0) {
        v1::CountBy& count = *race.add_standings();
        count.set_label(std::string(tuning::name_of(standing)));
        count.set_num(num);
      }
    }
    add_winner(result, race);
    add_failures(result, race);
    add_ranking(result, race);
    add_bits(experiment, result, race);
  }
}

}  // namespace assay::server
