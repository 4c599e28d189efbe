// An operator: what it computes, its variants, mutants, workloads and check suites, as plain
// structs and tables. The catalogue is data: the runner walks it, nothing else knows an operator by
// name. Bytes of inputs are a pure function of (workload axes, seed), the same on every host and
// device.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::kernels {

enum class DType : std::uint8_t { kF32, kF16, kBF16, kI8, kU8, kI32, kI64 };

std::string_view name_of(DType dtype);
std::int64_t size_bytes(DType dtype);

enum class Role : std::uint8_t {
  kInput,         // read-only for every variant
  kOutput,        // every element is written, compared and judged against the reference
  kIntermediate,  // compared where live; a variant may leave it alone only if its row says so
                  // (VariantRow::leaves)
  kScratch,       // never compared, poisoned with NaN patterns
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Role role = Role::kInput;
  std::vector<std::int64_t> shape;  // last index fastest
  // Inputs: equal keys mean equal bytes, so that buffers can be kept from one problem to the next.
  std::string content_key;
};

std::int64_t num_elements(const TensorSpec& tensor);
std::int64_t num_bytes(const TensorSpec& tensor);

// A half-open range of elements, in flat order.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Values and absolute tolerances per element of one output.
struct Reference {
  std::vector<double> values;
  std::vector<double> tolerances;
  // How many terms (visible keys) each element sums, where an operator tells its worst share of the
  // tolerance per bucket of them; else empty.
  std::vector<std::int32_t> num_terms;
};

// An axis of workloads, or a launch parameter: an integer in [min, max], or one of `choices`.
struct AxisInfo {
  std::string_view name;
  std::string_view help;
  std::string_view default_value;
  std::span<const std::string_view> choices = {};
  std::int64_t min = 0;
  std::int64_t max = 0;
};

using Setting = std::pair<std::string, std::string>;

// Axis values by name, all of them, in the operator's order, and the seed of the inputs.
struct Workload {
  std::vector<Setting> axes;
  std::uint64_t seed = 0;
};

// Fills in defaults, orders by `axes` and checks names and values.
// INVALID_ARGUMENT names the axis and the valid values; NOT_FOUND an unknown name.
absl::StatusOr<std::vector<Setting>> complete_settings(std::span<const AxisInfo> axes,
                                                       std::span<const Setting> given);

// One problem: the tensors of a workload. Immutable; safe to share between threads.
class Problem {
 public:
  virtual ~Problem() = default;
  // Inputs first, then outputs, intermediates and scratch. Call::tensors follows this order.
  virtual std::span<const TensorSpec> tensors() const = 0;
  // Writes the bytes of one input: num_bytes(tensors()[tensor]) of them.
  virtual void fill_input(std::size_t tensor, std::byte* bytes) const = 0;
  // The elements of an output or intermediate that must be written and are compared; sorted,
  // disjoint.
  virtual std::vector<ElementRange> live(std::size_t tensor) const = 0;
  // The float64 reference of one output.
  virtual Reference reference(std::size_t tensor) const = 0;
  // The fewest bytes that a call must move through memory, of inputs and outputs (not of scratch).
  virtual std::int64_t min_bytes() const = 0;
  // The fewest floating-point operations of a call, 2 for a multiply-add; exponentials and what
  // selects are not counted.
  virtual std::int64_t min_flops() const = 0;
};

// Launch parameters by their place in the variant's `parameters`: the integer, or the index of the
// choice.
inline constexpr std::size_t kMostParameters = 12;

struct LaunchParameters {
  std::array<std::int32_t, kMostParameters> values = {};
};

// Which kernels a launcher really ran, by name; null in timed calls.
struct Trace {
  std::vector<std::string> kernels;
};

// One call of a stage. `tensors` are device pointers on CUDA; capacity and alignment are the
// caller's (256 bytes).
struct Call {
  const Problem* problem = nullptr;
  void* const* tensors = nullptr;
  LaunchParameters parameters;
  Trace* trace = nullptr;
};

// A named part of a variant's call, timed by itself. Stages run in order on one stream.
template <class Launch>
struct Stage {
  std::string_view name;
  Launch launch = {};
};

inline constexpr std::string_view kBaselineFamily = "baseline";

// Bits domains beside "cpu" and "sm_XX": everywhere, and the architecture of a CUDA device.
inline constexpr std::string_view kAnyDevice = "any_device";
inline constexpr std::string_view kArchitecture = "architecture";

// One implementation on one backend. Adding one is a kernel, a launcher and one row in its
// backend's table.
template <class Launch>
struct VariantRow {
  std::string_view name;
  std::string_view idea;                      // one sentence: what it adds to the row before
  std::string_view family = kBaselineFamily;  // bit family
  std::span<const AxisInfo> parameters = {};  // at most kMostParameters; speed, never bits
  std::span<const Stage<Launch>> stages = {};
  int min_compute_capability = 0;  // 75 for 7.5; CUDA only
  // Why this host or device cannot run it; OK where it can. Null: it always can.
  absl::Status (*available)(const LaunchParameters& parameters) = nullptr;
  // Whether this form leaves an intermediate unwritten; it is then not compared. Null: none.
  bool (*leaves)(const LaunchParameters& parameters, std::size_t tensor) = nullptr;
  // Where its bits are promised equal; empty: the operator's bits_domain for the baseline family,
  // for another one "cpu" or the architecture with the toolkit.
  std::string_view bits_domain = {};
};

// A variant with one planted defect, and the workload whose bits must show it.
template <class Launch>
struct MutantRow {
  std::string_view name;
  std::string_view defect;   // one sentence
  std::string_view variant;  // the variant it is planted in
  std::span<const std::pair<std::string_view, std::string_view>> axes =
      {};  // others at their default
  std::span<const AxisInfo> parameters = {};
  std::span<const Stage<Launch>> stages = {};
};

using CpuLaunch = absl::Status (*)(const Call& call);
using CpuVariant = VariantRow<CpuLaunch>;
using CpuMutant = MutantRow<CpuLaunch>;

// The CUDA tables, defined in kernels/cuda_operator.h so that host code needs no CUDA header.
struct CudaTables;

struct NamedWorkload {
  std::string_view name;
  std::string_view help;
  std::span<const std::pair<std::string_view, std::string_view>> axes = {};
};

// Many cases compared by bytes between the baseline and `arms`. Cases are made by number, so that
// none is stored.
struct CaseSuite {
  std::string_view suite;  // "parity"
  std::string_view name;   // "int8"
  std::string_view help;
  std::string_view count_by;  // the axis whose values are counted in the report
  std::int64_t num_cases = 0;
  Workload (*workload)(std::int64_t index) = nullptr;
  // Compared with row 0: "two_cell", "two_cell:cells_per_step=4". Empty: every variant of the
  // baseline family.
  std::span<const std::string_view> arms = {};
  bool against_reference = false;  // each arm's outputs also against float64
};

// Elements of the left problem's tensor that must equal as many of the right one's.
struct RangePair {
  ElementRange left;
  std::int64_t right_begin = 0;
};

// Two calls whose bits must be the same. An arm is text as in CaseSuite::arms.
struct InvariancePair {
  std::string name;  // "p=511, depth 3"
  Workload left;
  Workload right;
  std::string left_arm = {};  // empty: the arm at hand
  std::string right_arm = {};
};

// A change of the call that must leave bits alone: a stream alone or in a batch, another grid,
// padding. Pairs are made by number, the smallest first, so that the first that differs is the
// smallest.
struct Invariance {
  std::string_view name;  // "alone_equals_batch"
  std::string_view help;
  std::int64_t num_pairs = 0;
  InvariancePair (*pair)(std::int64_t index) = nullptr;
  // What must be equal in an output or intermediate of both problems; null: everything live, which
  // then is the same in both.
  std::vector<RangePair> (*matched)(const Problem& left,
                                    const Problem& right,
                                    std::size_t tensor) = nullptr;
  // The arms at hand. Empty: every variant of the baseline family. A pair whose arms this device
  // does not have is not run, and said so.
  std::span<const std::string_view> arms = {};
  std::int64_t num_repeats = 1;  // of the right call, each compared
};

struct Operator {
  std::string_view name;
  std::string_view summary;
  std::span<const AxisInfo> axes = {};
  // INVALID_ARGUMENT names the axis that breaks a rule across axes; OK costs no allocation of
  // tensors.
  absl::Status (*validate)(const Workload& workload) = nullptr;
  // Requires validate() to be OK.
  std::unique_ptr<Problem> (*make_problem)(const Workload& workload) = nullptr;
  std::span<const CpuVariant> cpu_variants = {};  // row 0 is the baseline
  std::span<const CpuMutant> cpu_mutants = {};
  const CudaTables* cuda = nullptr;  // null when built without CUDA
  std::span<const NamedWorkload> workloads = {};
  std::span<const CaseSuite> suites = {};
  std::span<const Invariance> invariances = {};
  std::string_view bits_domain = kAnyDevice;  // of the baseline family
  // A worst share of the tolerance above this passes, but the formats do not explain it.
  double tolerance_alarm = 1.0;
};

// All operators, sorted by name.
std::span<const Operator* const> catalogue();

// Null when there is none of that name.
const Operator* find_operator(std::string_view name);

}  // namespace assay::kernels
