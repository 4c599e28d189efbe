#include "kernels/calibration/cpu_variants.h"

#include "kernels/calibration/mix.h"
#include "kernels/thread_pool.h"

#include <algorithm>
#include <array>
#include <string>

namespace assay::kernels::calibration {
namespace {

// ---- Launch parameters ----

enum Parameter : std::size_t { kThreads = kExtra + 1 };

AxisInfo threads_axis() {
  static const std::string count =
      std::to_string(std::min<std::size_t>(available_processors().size(), kMostThreads));
  return {.name = "threads",
          .help = "threads of a call, the caller included",
          .default_value = count,
          .min = 1,
          .max = kMostThreads};
}

const std::array<AxisInfo, 2>& parameters() {
  static const std::array<AxisInfo, 2> axes = {extra_axis("0"), threads_axis()};
  return axes;
}

// Of the mutant that keeps what is to be thrown away: there has to be some.
const std::array<AxisInfo, 2>& extra_parameters() {
  static const std::array<AxisInfo, 2> axes = {extra_axis("1000"), threads_axis()};
  return axes;
}

// ---- Launchers ----

// Each thread takes many shares of [0, num_places), so that one that falls behind is made up for.
template <class Function>
void share_out(std::int64_t num_places, int num_threads, const Function& function) {
  constexpr std::int64_t kSharesPerThread = 8;
  constexpr std::int64_t kMostPlaces = 65'536;
  const std::int64_t per_share =
      std::clamp<std::int64_t>(num_places / (num_threads * kSharesPerThread), 1, kMostPlaces);
  shared_threads().for_each(
      num_threads, (num_places + per_share - 1) / per_share, [&](std::int64_t share) {
        const std::int64_t begin = share * per_share;
        function(Walk{.begin = begin, .end = std::min(begin + per_share, num_places), .step = 1});
      });
}

void record(const Call& call, const char* name) {
  if (call.trace != nullptr) {
    call.trace->kernels.emplace_back(name);
  }
}

template <Mutation kMutation>
absl::Status launch_plain(const Call& call) {
  const Params params = params_of(call);
  record(call, "plain_mix");
  share_out(params.num_elements, call.parameters.values[kThreads], [&](const Walk& elements) {
    mix_each<kMutation>(params, elements);
  });
  return absl::OkStatus();
}

template <Mutation kMutation>
absl::Status launch_fours(const Call& call) {
  const Params params = params_of(call);
  record(call, "fours_mix");
  share_out(num_fours(params.num_elements),
            call.parameters.values[kThreads],
            [&](const Walk& fours) { mix_fours<kMutation>(params, fours); });
  return absl::OkStatus();
}

template <CpuLaunch kLaunch>
constexpr std::array<Stage<CpuLaunch>, 1> kStages = {{{.name = "mix", .launch = kLaunch}}};

// ---- Mutants ----

using Axis = std::pair<std::string_view, std::string_view>;

// Not a multiple of four.
constexpr Axis kRagged[] = {{"elements", "1027"}, {"steps", "17"}};

}  // namespace

std::span<const CpuVariant> cpu_variants() {
  static const std::array<CpuVariant, 2> variants = {{
      {.name = "plain",
       .idea = "one element at a time, a single chain of rounds",
       .parameters = parameters(),
       .stages = kStages<launch_plain<Mutation::kNone>>},
      {.name = "fours",
       .idea = "four elements at a time: 16-byte accesses and four chains side by side",
       .parameters = parameters(),
       .stages = kStages<launch_fours<Mutation::kNone>>},
  }};
  return variants;
}

std::span<const CpuMutant> cpu_mutants() {
  static const std::array<CpuMutant, 4> mutants = {{
      {.name = "one_round_less",
       .defect = "a chain ends one round early",
       .variant = "plain",
       .axes = kRagged,
       .parameters = parameters(),
       .stages = kStages<launch_plain<Mutation::kOneRoundLess>>},
      {.name = "skips_last_element",
       .defect = "the last element is not written",
       .variant = "plain",
       .axes = kRagged,
       .parameters = parameters(),
       .stages = kStages<launch_plain<Mutation::kSkipsLastElement>>},
      {.name = "keeps_extra_rounds",
       .defect = "the rounds that are to be thrown away are kept",
       .variant = "plain",
       .axes = kRagged,
       .parameters = extra_parameters(),
       .stages = kStages<launch_plain<Mutation::kKeepsExtraRounds>>},
      {.name = "drops_rest",
       .defect = "elements after the last whole four are not written",
       .variant = "fours",
       .axes = kRagged,
       .parameters = parameters(),
       .stages = kStages<launch_fours<Mutation::kDropsRest>>},
  }};
  return mutants;
}

}  // namespace assay::kernels::calibration
