#include "kernels/tree_attention/cpu_variants.h"

#include "kernels/attention/cpu_engine.h"
#include "kernels/attention/cpu_launch.h"
#include "kernels/thread_pool.h"
#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/cpu_tasks.h"
#include "kernels/tree_attention/cpu_tiles.h"
#include "kernels/tree_attention/mutation.h"

#include "absl/status/status.h"

#include <array>
#include <cstdint>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

using attention::CpuSettings;
using attention::EngineMutation;
using attention::Family;

// ---- Launchers ----

// Groups that a mutant's merge reads first.
constexpr std::int32_t kFirstBatch = 4;

template <Mutation kMutation>
EngineMutation attend_mutation(std::int32_t group) {
  switch (kMutation) {
    case Mutation::kDropsFourthSlice:
      return EngineMutation::kDropsFourthSlice;
    case Mutation::kDropsFourthSliceInChunk:
      return group < kFirstBatch ? EngineMutation::kNone : EngineMutation::kDropsFourthSlice;
    case Mutation::kSlicesInReverse:
      return EngineMutation::kSlicesInReverse;
    case Mutation::kContractsOneFold:
      return EngineMutation::kContractsOneFold;
    default:
      return EngineMutation::kNone;
  }
}

template <Mutation kMutation>
EngineMutation merge_mutation() {
  switch (kMutation) {
    case Mutation::kMergesInReverse:
      return EngineMutation::kMergesInReverse;
    case Mutation::kLeavesTailUnwritten:
      return EngineMutation::kLeavesTailUnwritten;
    default:
      return EngineMutation::kNone;
  }
}

template <Family kFamily, Mutation kMutation>
absl::Status launch_attend(const Call& call) {
  if (absl::Status status = check_tables(call); !status.ok()) {
    return status;
  }
  const Params params = params_of(call);
  const CpuSettings settings = attention::cpu_settings(call.parameters);
  const std::vector<AttendTask> tasks =
      AttendTasks<kMutation>::all(params, settings.pairs_per_tile);
  for (const AttendTask& task : tasks) {
    if (task.group >= params.num_groups) {
      return absl::InvalidArgumentError("num_groups: no room for a group that a mutant adds");
    }
  }
  const TileMaker<kMutation> maker = {
      .params = params,
      .dim = shape_of(call).dim,
      .cache_elements = num_elements(call.problem->tensors()[kKCache])};
  attention::record_attend(call, kFamily);
  shared_threads().for_each(
      settings.threads, static_cast<std::int64_t>(tasks.size()), [&](std::int64_t index) {
        const AttendTask& task = tasks[static_cast<std::size_t>(index)];
        attention::GroupTile tile;
        maker.make(task, &tile);
        attention::attend_kernel(settings, kFamily, attend_mutation<kMutation>(task.group))(tile);
      });
  return absl::OkStatus();
}

template <Mutation kMutation>
absl::Status launch_merge(const Call& call) {
  const Params params = params_of(call);
  const std::int32_t dim = shape_of(call).dim;
  const CpuSettings settings = attention::cpu_settings(call.parameters);
  const attention::MergeKernel kernel =
      attention::merge_kernel(settings, merge_mutation<kMutation>());
  attention::record_merge(call);
  const std::int64_t num_states = std::int64_t{params.num_rows} * params.num_heads;
  shared_threads().for_each(settings.threads, num_states, [&](std::int64_t state) {
    const auto row = static_cast<std::int32_t>(state / params.num_heads);
    const attention::KeyRange keys =
        AttendTasks<kMutation>::keys_of(params, entry_of(params, params.row_stream[row]), row);
    kernel({.dim = dim,
            .first = keys.begin / attention::kGroupKeys,
            .end = attention::num_groups_of(keys.end),
            .batch = settings.merge_batch,
            .m = params.partial_m + state,
            .l = params.partial_l + state,
            .o = params.partial_o + state * dim,
            .state_stride = num_states,
            .out = params.out + state * dim,
            .result = params.result + state * dim});
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

// Two short streams, their rows up to eight deep; unread entries are NaN.
constexpr Axis kShort[] = {
    {"heads", "12"}, {"kv_heads", "2"}, {"streams", "2"}, {"rows", "8"}, {"committed", "1003"}};
// Nine groups: two runs, and more than a batch of the merge.
constexpr Axis kLong[] = {{"heads", "8"}, {"kv_heads", "2"}, {"rows", "2"}, {"committed", "4400"}};
constexpr Axis kAcrossGroups[] = {
    {"heads", "12"}, {"kv_heads", "2"}, {"rows", "16"}, {"committed", "500"}, {"plan", "2048"}};

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
  static const std::array<CpuMutant, 14> mutants = {{
      mutant<Mutation::kCutsPaths>("cuts_paths", "a path ends at depth 3", kShort),
      mutant<Mutation::kScaleOffBySixteenth>(
          "scale_off_by_sixteenth", "the score scale is 1/16 too large", kShort),
      mutant<Mutation::kDropsFourthSlice>(
          "drops_fourth_slice", "a group's fourth slice is left out", kShort),
      mutant<Mutation::kDropsFourthSliceInChunk>(
          "drops_fourth_slice_in_chunk",
          "a group's fourth slice is left out past the first four groups",
          kLong),
      mutant<Mutation::kReadsNextTile>(
          "reads_next_tile", "a key tile's values are those of the next tile", kShort),
      mutant<Mutation::kWrongHeadMap>(
          "wrong_head_map", "query head h reads key head h mod HK", kShort),
      mutant<Mutation::kGroupsAnchoredAtCommitted>("groups_anchored_at_committed",
                                                   "groups are counted from the committed length",
                                                   kAcrossGroups),
      mutant<Mutation::kReadsNeighbourCache>(
          "reads_neighbour_cache", "a stream reads the cache of the next one", kShort),
      mutant<Mutation::kReadsPastCommitted>(
          "reads_past_committed",
          "the first key of a path is taken from the cache, past its end",
          kShort),
      mutant<Mutation::kMergesInReverse>(
          "merges_in_reverse", "the merge folds groups last to first", kLong),
      mutant<Mutation::kSlicesInReverse>(
          "slices_in_reverse", "a group's slices are folded last to first", kShort),
      mutant<Mutation::kContractsOneFold>(
          "contracts_one_fold", "the fold of slices fuses the other of its two products", kShort),
      mutant<Mutation::kKeepsMaskedValues>(
          "keeps_masked_values", "the values of masked keys are not zeroed", kShort),
      mutant<Mutation::kLeavesTailUnwritten>(
          "leaves_tail_unwritten", "the last 8 dims of the output are not written", kShort),
  }};
  return mutants;
}

}  // namespace assay::kernels::tree_attention
