#include "tests/profiler/simulation.h"

#include "profiler/noise_floor.h"
#include "profiler/schedule.h"
#include "profiler/verdict.h"
#include "tests/profiler/scripted.h"

#include <cmath>
#include <numbers>

namespace assay::profiler {

namespace {

// State of one experiment's machine; blocks and calls are made in order of time.
class Machine {
 public:
  Machine(Noise noise, double ratio, std::uint64_t seed)
      : noise_(noise), ratio_(ratio), seed_(seed) {
    wander_ = 0.02 * normal();
  }

  std::int64_t duration(const Call& call) {
    if (call.call == 0) {
      begin_block();
    }
    const bool is_candidate = call.arm == ArmRole::kCandidate;
    const double base = noise_ == Noise::kTicks ? 1'000.0 : 100'000.0;
    const double exact = base * (is_candidate ? ratio_ : 1.0) * level() * (1 + jitter());
    if (noise_ != Noise::kTicks) {
      return std::llround(exact);
    }
    const double start = 32.0 * uniform();
    return 32 * (std::llround(std::floor((start + exact) / 32.0)));
  }

 private:
  void begin_block() {
    ++block_;
    in_slow_mode_ = uniform() < 0.5;
    is_throttled_ = is_throttled_ != (uniform() < 0.05);
  }

  // What moves calls of both arms alike.
  double level() {
    switch (noise_) {
      case Noise::kLinearDrift:
        return 1 + 0.05 * block_ / (48.0 * 3.0);
      case Noise::kAutoregressive:
        wander_ = 0.9 * wander_ + 0.02 * std::sqrt(1 - 0.81) * normal();
        return 1 + wander_;
      case Noise::kModesByCall:
        return uniform() < 0.5 ? 1.2 : 1.0;
      case Noise::kModesByBlock:
        return in_slow_mode_ ? 1.2 : 1.0;
      case Noise::kThrottling:
        return is_throttled_ ? 1.1 : 1.0;
      default:
        return 1.0;
    }
  }

  double jitter() {
    switch (noise_) {
      case Noise::kHalfPercent:
        return 0.005 * normal();
      case Noise::kTwoPercent:
        return 0.02 * normal();
      case Noise::kFivePercent:
        return 0.05 * normal();
      case Noise::kAutoregressive:
        return 0;
      default:
        return 0.01 * normal();
    }
  }

  double uniform() { return random_uniform(seed_, 2, next_++); }

  double normal() {
    has_spare_ = !has_spare_;
    if (!has_spare_) {
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

  Noise noise_;
  double ratio_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  double block_ = -1;
  double wander_ = 0;
  double spare_ = 0;
  bool has_spare_ = false;
  bool in_slow_mode_ = false;
  bool is_throttled_ = false;
};

v1::Verdict run(Machine& machine, const JudgeOptions& options, std::uint32_t* rounds) {
  v1::Configuration configuration = equal_arms();
  v1::Verdict verdict;
  for (const std::uint32_t look : kLooks) {
    add_rounds(
        &configuration,
        look - *rounds,
        [&](const Call& call) { return machine.duration(call); },
        options.schedule);
    *rounds = look;
    verdict = judge(configuration, options);
    if (!wants_more_rounds(verdict)) {
      break;
    }
  }
  return verdict;
}

void count(const v1::Verdict& verdict, Tally* tally) {
  ++tally->num_experiments;
  switch (verdict.statistical_verdict()) {
    case v1::FASTER:
      ++tally->num_faster;
      break;
    case v1::SLOWER:
      ++tally->num_slower;
      break;
    case v1::SAME:
      ++tally->num_same;
      break;
    default:
      ++tally->num_undecided;
      tally->num_two_modes += verdict.reason().find("two modes") != std::string::npos ? 1 : 0;
  }
}

}  // namespace

std::string_view name_of(Noise noise) {
  switch (noise) {
    case Noise::kOnePercent:
      return "independent 1 % a call";
    case Noise::kFivePercent:
      return "independent 5 % a call";
    case Noise::kLinearDrift:
      return "5 % linear drift";
    case Noise::kAutoregressive:
      return "AR(1) 0.9 of 2 %";
    case Noise::kModesByCall:
      return "two modes 20 % apart, by call";
    case Noise::kModesByBlock:
      return "two modes 20 % apart, by block";
    case Noise::kThrottling:
      return "throttling steps of 10 %";
    case Noise::kTicks:
      return "32 ns ticks on a 1 us kernel";
    case Noise::kHalfPercent:
      return "independent 0.5 % a call";
    case Noise::kTwoPercent:
      return "independent 2 % a call";
  }
  return "";
}

bool has_modes(Noise noise) {
  return noise == Noise::kModesByCall || noise == Noise::kModesByBlock;
}

Tally simulate(Noise noise, double ratio, int num_experiments, const JudgeOptions& options) {
  Tally tally;
  for (int experiment = 0; experiment < num_experiments; ++experiment) {
    Machine machine(noise, ratio, static_cast<std::uint64_t>(experiment) * 16 + 1);
    std::uint32_t rounds = 0;
    const v1::Verdict verdict = run(machine, options, &rounds);
    tally.num_rounds += rounds;
    count(verdict, &tally);
  }
  return tally;
}

v1::NoiseFloor simulated_floor(Noise noise) {
  // No experiment of simulate() has this seed.
  Machine machine(noise, 1.0, 2);
  JudgeOptions options;
  options.identical_code = true;
  std::uint32_t rounds = 0;
  const auto floor = noise_floor_of({}, {}, run(machine, options, &rounds), 0);
  return floor.ok() ? *floor : v1::NoiseFloor();
}

}  // namespace assay::profiler
