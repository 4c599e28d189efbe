#include "kernels/block_attention/cpu_variants.h"

#include "kernels/attention/cpu_engine.h"
#include "kernels/attention/cpu_launch.h"
#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/cpu_tiles.h"
#include "kernels/block_attention/mutation.h"
#include "kernels/thread_pool.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <array>
#include <cstdint>
#include <vector>

namespace assay::kernels::block_attention {

absl::Status check_tables(const Call& call) {
  const Shape& shape = shape_of(call);
  const Params params = params_of(call);
  const std::span<const std::int64_t> table(params.table,
                                            static_cast<std::size_t>(shape.num_streams) * 3);
  if (absl::Status status = check_shape(shape, table); !status.ok()) {
    return status;
  }
  for (std::int64_t stream = 0; stream < shape.num_streams; ++stream) {
    const std::int32_t context = params.lengths[stream];
    if (context < 0 ||
        attention::num_groups_of(std::int64_t{context} + shape.width) > shape.num_groups) {
      return absl::InvalidArgumentError(absl::StrCat(
          "lengths[", stream, "]: ", context, " keys do not fit ", shape.num_groups, " groups"));
    }
    const std::int64_t* entry = table.data() + stream * 3;
    const std::int64_t used =
        (shape.num_kv_heads - 1) * entry[2] + std::int64_t{context} * shape.dim;
    for (std::int64_t which = 0; which < 2; ++which) {
      const std::int64_t elements =
          num_elements(call.problem->tensors()[which == 0 ? kKContext : kVContext]);
      if (context > 0 && entry[which] > elements - used) {
        return absl::InvalidArgumentError(absl::StrCat("table[",
                                                       stream,
                                                       ", ",
                                                       which,
                                                       "]: ",
                                                       context,
                                                       " keys from element ",
                                                       entry[which],
                                                       " are outside the context of ",
                                                       elements));
      }
    }
  }
  return absl::OkStatus();
}

namespace {

using attention::CpuSettings;
using attention::EngineMutation;
using attention::Family;

// ---- Launchers ----

template <Mutation kMutation>
TileMaker<kMutation> tile_maker(const Call& call, const Params& params) {
  return {.params = params,
          .shape = shape_of(call),
          .context_elements = num_elements(call.problem->tensors()[kKContext])};
}

template <Family kFamily, Mutation kMutation>
absl::Status launch_attend(const Call& call) {
  if (absl::Status status = check_tables(call); !status.ok()) {
    return status;
  }
  const Params params = params_of(call);
  const CpuSettings settings = attention::cpu_settings(call.parameters);
  const TileMaker<kMutation> maker = tile_maker<kMutation>(call, params);
  const std::vector<AttendTask> tasks = maker.tasks(settings.pairs_per_tile);
  const attention::AttendKernel kernel = attention::attend_kernel(
      settings,
      kFamily,
      kMutation == Mutation::kDropsFourthSlice ? EngineMutation::kDropsFourthSlice
                                               : EngineMutation::kNone);
  attention::record_attend(call, kFamily);
  shared_threads().for_each(
      settings.threads, static_cast<std::int64_t>(tasks.size()), [&](std::int64_t index) {
        attention::GroupTile tile;
        maker.make(tasks[static_cast<std::size_t>(index)], &tile);
        kernel(tile);
      });
  return absl::OkStatus();
}

template <Mutation kMutation>
absl::Status launch_merge(const Call& call) {
  const Params params = params_of(call);
  const Shape& shape = shape_of(call);
  const CpuSettings settings = attention::cpu_settings(call.parameters);
  const TileMaker<kMutation> maker = tile_maker<kMutation>(call, params);
  const attention::MergeKernel kernel = attention::merge_kernel(
      settings,
      kMutation == Mutation::kMergesInReverse ? EngineMutation::kMergesInReverse
                                              : EngineMutation::kNone);
  attention::record_merge(call);
  const std::int64_t num_states = std::int64_t{shape.num_rows()} * shape.num_heads;
  shared_threads().for_each(settings.threads, num_states, [&](std::int64_t state) {
    const auto row = static_cast<std::int32_t>(state / shape.num_heads);
    const attention::KeyRange keys = maker.keys_of(row / shape.width, row % shape.width);
    kernel({.dim = shape.dim,
            .first = keys.begin / attention::kGroupKeys,
            .end = attention::num_groups_of(keys.end),
            .batch = settings.merge_batch,
            .m = params.partial_m + state,
            .l = params.partial_l + state,
            .o = params.partial_o + state * shape.dim,
            .state_stride = num_states,
            .out = params.out + state * shape.dim,
            .result = params.result + state * shape.dim});
  });
  return absl::OkStatus();
}

template <Family kFamily, Mutation kMutation = Mutation::kNone>
constexpr std::array<Stage<CpuLaunch>, 2> kStages = {{
    {.name = "attend", .launch = &launch_attend<kFamily, kMutation>},
    {.name = "merge", .launch = &launch_merge<kMutation>},
}};

// ---- Mutants ----

using Axis = std::pair<std::string_view, std::string_view>;

// A window that starts inside a tensor-core step; what it hides is NaN.
constexpr Axis kShort[] = {
    {"heads", "8"}, {"kv_heads", "2"}, {"streams", "2"}, {"context", "601"}, {"window", "500"}};
constexpr Axis kCausal[] = {{"heads", "8"},
                            {"kv_heads", "2"},
                            {"streams", "2"},
                            {"context", "601"},
                            {"window", "500"},
                            {"causal", "yes"}};
// Nine groups: two runs.
constexpr Axis kLong[] = {
    {"heads", "8"}, {"kv_heads", "2"}, {"width", "2"}, {"context", "4400"}, {"window", "-1"}};

template <Mutation kMutation>
CpuMutant mutant(std::string_view name, std::string_view defect, std::span<const Axis> axes) {
  return {.name = name,
          .defect = defect,
          .variant = "model_sm_90",
          .axes = axes,
          .parameters = attention::cpu_parameters(),
          .stages = kStages<Family::kTensorCore, kMutation>};
}

}  // namespace

// ---- Tables ----

std::span<const CpuVariant> cpu_variants() {
  static const std::array<CpuVariant, 2> variants = {{
      {.name = "model_sm_90",
       .idea = "every tensor-core step of sm_90 in integers and exact products",
       .parameters = attention::cpu_parameters(),
       .stages = kStages<Family::kTensorCore>,
       .available = &attention::cpu_available,
       .bits_domain = "sm_90"},
      {.name = "fp32",
       .idea = "plain fp32 fma in the same hierarchy, weights not rounded",
       .family = "fp32",
       .parameters = attention::cpu_parameters(),
       .stages = kStages<Family::kFp32>,
       .available = &attention::cpu_available},
  }};
  return variants;
}

std::span<const CpuMutant> cpu_mutants() {
  static const std::array<CpuMutant, 9> mutants = {{
      mutant<Mutation::kWindowOffByOne>(
          "window_off_by_one", "the window reaches one context key further", kShort),
      mutant<Mutation::kCausalOffByOne>(
          "causal_off_by_one", "a row sees the block key after its own", kCausal),
      mutant<Mutation::kScaleOffBySixteenth>(
          "scale_off_by_sixteenth", "the score scale is 1/16 too large", kShort),
      mutant<Mutation::kReadsNextTile>(
          "reads_next_tile", "a key tile's values are those of the next tile", kShort),
      mutant<Mutation::kWrongHeadMap>(
          "wrong_head_map", "query head h reads key head h mod HK", kShort),
      mutant<Mutation::kKeepsMaskedValues>(
          "keeps_masked_values", "the values of masked keys are not zeroed", kShort),
      mutant<Mutation::kDropsFourthSlice>(
          "drops_fourth_slice", "a group's fourth slice is left out", kShort),
      mutant<Mutation::kMergesInReverse>(
          "merges_in_reverse", "the merge folds groups last to first", kLong),
      mutant<Mutation::kReadsNeighbourContext>(
          "reads_neighbour_context", "a stream reads the context of the next one", kShort),
  }};
  return mutants;
}

}  // namespace assay::kernels::block_attention
