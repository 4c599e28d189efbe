#include "kernels/qsa_decode/cpu_variants.h"

#include "kernels/numerics.h"
#include "kernels/qsa_decode/cpu_kernels.h"
#include "kernels/thread_pool.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::kernels::qsa_decode {

namespace avx2 {

bool is_available() {
#if defined(__x86_64__)
  // The processor's own bit: not every compiler knows "f16c" by name.
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const bool has_f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  return chunk_kernel({}) != nullptr && __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("fma") != 0 && has_f16c;
#else
  return false;
#endif
}

}  // namespace avx2

namespace {

// ---- Launch parameters ----

constexpr std::string_view kMerges[] = {"all_chunks", "bounded"};
constexpr std::string_view kBatches[] = {"4", "8", "16", "32"};
constexpr std::string_view kSteps[] = {"1", "2", "4", "8"};
constexpr std::string_view kIsas[] = {"portable", "avx2"};
constexpr std::int32_t kIsaAvx2 = 1;

AxisInfo cells_per_step() {
  return {.name = "cells_per_step",
          .help = "cells that share a load of q",
          .default_value = "2",
          .choices = kSteps};
}

AxisInfo merge(std::string_view form) {
  return {.name = "merge",
          .help = "walk the whole capacity, or stop at the width and fold in batches",
          .default_value = form,
          .choices = kMerges};
}

AxisInfo merge_batch() {
  return {.name = "merge_batch",
          .help = "chunks that the bounded merge folds at a time",
          .default_value = "16",
          .choices = kBatches};
}

AxisInfo threads() {
  static const std::string count =
      std::to_string(std::min<std::size_t>(available_processors().size(), kMostThreads));
  return {.name = "threads",
          .help = "threads of a call, the caller included",
          .default_value = count,
          .min = 1,
          .max = kMostThreads};
}

AxisInfo isa() {
  return {.name = "isa",
          .help = "instruction set, never a bit",
          .default_value = kIsas[avx2::is_available() ? kIsaAvx2 : 0],
          .choices = kIsas};
}

// Places of the parameters in a row that has cells_per_step; without it each is one lower.
enum Parameter : std::size_t { kCellsPerStep, kMerge, kMergeBatch, kThreads, kIsa };

const std::array<AxisInfo, 5>& step_parameters() {
  static const std::array<AxisInfo, 5> parameters = {
      cells_per_step(), merge("bounded"), merge_batch(), threads(), isa()};
  return parameters;
}

const std::array<AxisInfo, 4>& one_cell_parameters() {
  static const std::array<AxisInfo, 4> parameters = {
      merge("all_chunks"), merge_batch(), threads(), isa()};
  return parameters;
}

const std::array<AxisInfo, 4>& lane_cell_parameters() {
  static const std::array<AxisInfo, 4> parameters = {
      merge("bounded"), merge_batch(), threads(), isa()};
  return parameters;
}

struct Settings {
  std::int32_t cells_per_step = 1;
  MergeForm merge = MergeForm::kAllChunks;
  std::int32_t merge_batch = 4;
  std::int32_t threads = 1;
  bool use_avx2 = false;
};

template <ChunkForm kForm>
Settings settings_of(const LaunchParameters& parameters) {
  constexpr bool kHasSteps = kForm == ChunkForm::kTwoCell || kForm == ChunkForm::kHwExp;
  const auto at = [&](Parameter parameter) {
    return parameters.values[kHasSteps ? parameter : parameter - 1U];
  };
  return {.cells_per_step = kHasSteps ? 1 << at(kCellsPerStep) : 1,
          .merge = static_cast<MergeForm>(at(kMerge)),
          .merge_batch = 4 << at(kMergeBatch),
          .threads = at(kThreads),
          .use_avx2 = at(kIsa) == kIsaAvx2};
}

template <ChunkForm kForm>
absl::Status available(const LaunchParameters& parameters) {
  if (settings_of<kForm>(parameters).use_avx2 && !avx2::is_available()) {
    return absl::FailedPreconditionError("isa: avx2 needs a processor with AVX2, FMA and F16C");
  }
  return absl::OkStatus();
}

// ---- Launchers ----

constexpr std::string_view kFormNames[] = {"one_cell", "two_cell", "lane_cell", "hw_exp"};

// Enough tasks for every thread, and chunks of a task that share one load of q.
constexpr std::int32_t kTasksPerThread = 8;
constexpr std::int32_t kMostChunksPerTask = 8;

void record(const Call& call, std::string name) {
  if (call.trace != nullptr) {
    call.trace->kernels.push_back(std::move(name));
  }
}

template <ChunkForm kForm, Mutation kMutation>
absl::Status launch_chunk(const Call& call) {
  const Shape& shape = shape_of(call);
  const Params params = params_of(call);
  if (absl::Status status = check_indices(shape, params); !status.ok()) {
    return status;
  }
  const Settings settings = settings_of<kForm>(call.parameters);
  const KernelChoice choice = {.form = kForm,
                               .kv = shape.kv,
                               .cells_per_step = settings.cells_per_step,
                               .mutation = kMutation};
  const ChunkKernel kernel =
      settings.use_avx2 ? avx2::chunk_kernel(choice) : portable::chunk_kernel(choice);
  if (kernel == nullptr) {
    return absl::InvalidArgumentError("kv: no kernel of this variant for the format");
  }
  record(call,
         absl::StrCat(std::string(kFormNames[static_cast<std::size_t>(kForm)]),
                      "_chunk_",
                      settings.use_avx2 ? "avx2" : "portable"));

  const std::int64_t num_chunks = std::int64_t{shape.num_queries} * kNumKvHeads * shape.num_chunks;
  const auto per_task = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      num_chunks / (std::int64_t{settings.threads} * kTasksPerThread), 1, kMostChunksPerTask));
  const std::int32_t tasks_per_head = (shape.num_chunks + per_task - 1) / per_task;
  shared_threads().for_each(settings.threads,
                            std::int64_t{shape.num_queries} * kNumKvHeads * tasks_per_head,
                            [&](std::int64_t index) {
                              const auto row = static_cast<std::int32_t>(index / tasks_per_head);
                              const auto first =
                                  static_cast<std::int32_t>(index % tasks_per_head) * per_task;
                              kernel(params,
                                     {.query = row / kNumKvHeads,
                                      .kv_head = row % kNumKvHeads,
                                      .first = first,
                                      .end = std::min(first + per_task, shape.num_chunks)});
                            });
  return absl::OkStatus();
}

template <ChunkForm kForm, Mutation kMutation>
absl::Status launch_merge(const Call& call) {
  const Params params = params_of(call);
  const Settings settings = settings_of<kForm>(call.parameters);
  const MergeChoice choice = {
      .form = settings.merge, .hw_exp = kForm == ChunkForm::kHwExp, .mutation = kMutation};
  const MergeKernel kernel =
      settings.use_avx2 ? avx2::merge_kernel(choice) : portable::merge_kernel(choice);
  if (kernel == nullptr) {
    return absl::InternalError("merge: no such kernel");
  }
  record(call,
         absl::StrCat(std::string(kMerges[static_cast<std::size_t>(settings.merge)]),
                      choice.hw_exp ? "_hw_exp_merge_" : "_merge_",
                      settings.use_avx2 ? "avx2" : "portable"));
  shared_threads().for_each(
      settings.threads, std::int64_t{params.num_queries} * kNumHeads, [&](std::int64_t index) {
        kernel(params,
               {.query = static_cast<std::int32_t>(index / kNumHeads),
                .head = static_cast<std::int32_t>(index % kNumHeads),
                .batch = settings.merge_batch});
      });
  return absl::OkStatus();
}

template <ChunkForm kForm,
          Mutation kChunkMutation = Mutation::kNone,
          Mutation kMergeMutation = Mutation::kNone>
constexpr std::array<Stage<CpuLaunch>, 2> kStages = {{
    {.name = "chunk", .launch = &launch_chunk<kForm, kChunkMutation>},
    {.name = "merge", .launch = &launch_merge<kForm, kMergeMutation>},
}};

// ---- Mutants ----

using Axis = std::pair<std::string_view, std::string_view>;

constexpr Axis kInt8[] = {{"kv", "int8"}, {"width", "2051"}, {"cap", "2112"}};
constexpr Axis kFp16[] = {{"kv", "fp16"}, {"width", "2051"}, {"cap", "2112"}};
constexpr Axis kQ4[] = {{"kv", "q4_0"}, {"width", "2051"}, {"cap", "2112"}};
constexpr Axis kHoles[] = {
    {"kv", "int8"}, {"width", "2051"}, {"cap", "2112"}, {"page_size", "1"}, {"resident", "cells"}};
constexpr Axis kTwoQueries[] = {{"kv", "int8"}, {"width", "2051"}, {"cap", "2112"}, {"n_q", "2"}};
constexpr Axis kRoomLeft[] = {{"kv", "int8"}, {"width", "1025"}, {"cap", "2112"}};

template <ChunkForm kForm, Mutation kMutation>
CpuMutant chunk_mutant(std::string_view name, std::string_view defect, std::span<const Axis> axes) {
  constexpr bool kIsOneCell = kForm == ChunkForm::kOneCell;
  return {.name = name,
          .defect = defect,
          .variant = kFormNames[static_cast<std::size_t>(kForm)],
          .axes = axes,
          .parameters = kIsOneCell ? std::span<const AxisInfo>(one_cell_parameters())
                                   : std::span<const AxisInfo>(step_parameters()),
          .stages = kStages<kForm, kMutation>};
}

template <ChunkForm kForm, Mutation kMutation>
CpuMutant merge_mutant(std::string_view name, std::string_view defect, std::span<const Axis> axes) {
  CpuMutant mutant = chunk_mutant<kForm, Mutation::kNone>(name, defect, axes);
  mutant.stages = kStages<kForm, Mutation::kNone, kMutation>;
  return mutant;
}

}  // namespace

std::span<const CpuVariant> cpu_variants() {
  static const std::array<CpuVariant, 4> variants = {{
      {.name = "one_cell",
       .idea = "one cell at a time, a full butterfly for each head",
       .parameters = one_cell_parameters(),
       .stages = kStages<ChunkForm::kOneCell>,
       .available = &available<ChunkForm::kOneCell>},
      {.name = "two_cell",
       .idea = "cells share each load of q, a reduce-scatter over heads, cell-major weights and "
               "values four cells at a time",
       .parameters = step_parameters(),
       .stages = kStages<ChunkForm::kTwoCell>,
       .available = &available<ChunkForm::kTwoCell>},
      {.name = "lane_cell",
       .idea = "a cell in each vector lane and three heads at a time, the tree in registers",
       .parameters = lane_cell_parameters(),
       .stages = kStages<ChunkForm::kLaneCell>,
       .available = &available<ChunkForm::kLaneCell>},
      {.name = "hw_exp",
       .idea = "as two_cell with the exponential of libm",
       .family = "hw_exp",
       .parameters = step_parameters(),
       .stages = kStages<ChunkForm::kHwExp>,
       .available = &available<ChunkForm::kHwExp>},
  }};
  return variants;
}

std::span<const CpuMutant> cpu_mutants() {
  constexpr ChunkForm kOne = ChunkForm::kOneCell;
  constexpr ChunkForm kTwo = ChunkForm::kTwoCell;
  static const std::array<CpuMutant, 14> mutants = {{
      chunk_mutant<kOne, Mutation::kDropsLastCell>(
          "drops_last_cell", "the last cell of a chunk is dropped", kInt8),
      chunk_mutant<kOne, Mutation::kAdmitsMaskedCell>(
          "admits_masked_cell", "a cell that is not resident is attended as page 0", kHoles),
      chunk_mutant<kTwo, Mutation::kMaskedTakesNeighbour>(
          "masked_takes_neighbour", "a masked cell of a pair masks the other one too", kHoles),
      chunk_mutant<kTwo, Mutation::kWrongPartner>(
          "wrong_partner", "one level of the reduction meets a wrong partner", kFp16),
      chunk_mutant<kTwo, Mutation::kWeightsHeadMajor>(
          "weights_head_major", "weights are read head-major where they are cell-major", kInt8),
      chunk_mutant<kTwo, Mutation::kFoldsOutOfOrder>(
          "folds_out_of_order", "values of four cells are folded last to first", kInt8),
      merge_mutant<kTwo, Mutation::kMergeStopsEarly>(
          "merge_stops_early", "the merge leaves out the last live chunk", kInt8),
      merge_mutant<kTwo, Mutation::kMergeReadsPastBound>(
          "merge_reads_past_bound", "the merge folds in the chunk after the last one", kRoomLeft),
      merge_mutant<kOne, Mutation::kMergeFoldsInReverse>(
          "merge_folds_in_reverse", "the merge folds chunks last to first", kInt8),
      chunk_mutant<kTwo, Mutation::kScaleGroupOffByOne>(
          "scale_group_off_by_one", "values take the scale of the next group", kInt8),
      chunk_mutant<kTwo, Mutation::kNibblesSwapped>(
          "nibbles_swapped", "low and high nibbles of values change places", kQ4),
      chunk_mutant<kTwo, Mutation::kReadsNeighbourSelection>(
          "reads_neighbour_selection", "a query reads the selection of the next", kTwoQueries),
      chunk_mutant<kTwo, Mutation::kScoreScaleOffBySixteenth>(
          "score_scale_off_by_sixteenth", "the score scale is 1/16 too large", kInt8),
      merge_mutant<kTwo, Mutation::kLeavesOutputTailUnwritten>(
          "leaves_output_tail_unwritten", "the last dims of the output are not written", kInt8),
  }};
  return mutants;
}

}  // namespace assay::kernels::qsa_decode
