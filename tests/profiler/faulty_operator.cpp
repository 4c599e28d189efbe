#include "tests/profiler/faulty_operator.h"

#include "tests/profiler/faulty_checks.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace assay::profiler {
namespace {

using kernels::Call;

enum Tensor : std::size_t { kX, kY, kOut, kProduct, kScratch, kNumTensors };

std::atomic<int> num_counted_calls = 0;

constexpr std::array<std::string_view, 2> kKinds = {"ramp", "zeros"};
constexpr std::array<kernels::AxisInfo, 2> kAxes = {
    {{.name = "n",
      .help = "elements",
      .default_value = "1000",
      .min = 1,
      .max = 10'000'000'000'000},
     {.name = "kind", .help = "of input", .default_value = "ramp", .choices = kKinds}}};

class AxpyProblem : public kernels::Problem {
 public:
  explicit AxpyProblem(const kernels::Workload& workload)
      : n_(std::stoll(workload.axes[0].second)), is_zero_(workload.axes[1].second == "zeros") {
    const std::string key = absl::StrCat(n_, "/", is_zero_);
    const auto tensor = [&](const char* name, kernels::Role role) {
      return kernels::TensorSpec{.name = name,
                                 .dtype = kernels::DType::kF32,
                                 .role = role,
                                 .shape = {n_},
                                 .content_key = absl::StrCat("axpy/", name, "/", key)};
    };
    tensors_ = {tensor("x", kernels::Role::kInput),
                tensor("y", kernels::Role::kInput),
                tensor("out", kernels::Role::kOutput),
                tensor("product", kernels::Role::kIntermediate),
                tensor("scratch", kernels::Role::kScratch)};
  }

  std::int64_t n() const { return n_; }

  std::span<const kernels::TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override {
    for (std::int64_t index = 0; index < n_; ++index) {
      const float value = input(tensor, index);
      std::memcpy(bytes + index * 4, &value, sizeof value);
    }
  }

  // The last element of the intermediate is never written.
  std::vector<kernels::ElementRange> live(std::size_t tensor) const override {
    return {{.begin = 0, .end = tensor == kProduct ? n_ - 1 : n_}};
  }

  kernels::Reference reference(std::size_t /*tensor*/) const override {
    kernels::Reference reference;
    for (std::int64_t index = 0; index < n_; ++index) {
      reference.values.push_back(2.0 * input(kX, index) + input(kY, index));
      reference.tolerances.push_back(1e-3);
      reference.num_terms.push_back(static_cast<std::int32_t>(index + 1));
    }
    return reference;
  }

  std::int64_t min_bytes() const override { return 3 * 4 * n_; }

  std::int64_t min_flops() const override { return 2 * n_; }

 private:
  float input(std::size_t tensor, std::int64_t index) const {
    return is_zero_ ? 0.0F : static_cast<float>(index % 97 + 1) * (tensor == kX ? 0.5F : 0.25F);
  }

  std::int64_t n_;
  bool is_zero_;
  std::vector<kernels::TensorSpec> tensors_;
};

struct View {
  std::int64_t n;
  float* x;
  float* y;
  float* out;
  float* product;
  float* scratch;
};

View view_of(const Call& call) {
  const auto at = [&](Tensor tensor) { return static_cast<float*>(call.tensors[tensor]); };
  return {.n = static_cast<const AxpyProblem*>(call.problem)->n(),
          .x = at(kX),
          .y = at(kY),
          .out = at(kOut),
          .product = at(kProduct),
          .scratch = at(kScratch)};
}

absl::Status multiply(const Call& call) {
  const View view = view_of(call);
  if (call.trace != nullptr) {
    call.trace->kernels.emplace_back("multiply");
  }
  for (std::int64_t index = 0; index + 1 < view.n; ++index) {
    view.product[index] = 2.0F * view.x[index];
  }
  return absl::OkStatus();
}

void add_to(const View& view, std::int64_t end) {
  for (std::int64_t index = 0; index < end; ++index) {
    view.out[index] = 2.0F * view.x[index] + view.y[index];
  }
}

absl::Status add(const Call& call) {
  if (call.trace != nullptr) {
    call.trace->kernels.emplace_back("add");
  }
  add_to(view_of(call), view_of(call).n);
  return absl::OkStatus();
}

absl::Status add_backwards(const Call& call) {
  const View view = view_of(call);
  for (std::int64_t index = view.n - 1; index >= 0; --index) {
    view.out[index] = 2.0F * view.x[index] + view.y[index];
  }
  return absl::OkStatus();
}

absl::Status add_half(const Call& call) {
  add_to(view_of(call), view_of(call).n / 2);
  return absl::OkStatus();
}

absl::Status add_beyond(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[view.n] = 1.0F;
  return absl::OkStatus();
}

absl::Status add_in_place(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.y[view.n - 1] += 1.0F;
  return absl::OkStatus();
}

absl::Status add_restlessly(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[0] = static_cast<float>(++num_counted_calls);
  return absl::OkStatus();
}

absl::Status add_scratch(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[view.n - 1] += view.scratch[0];
  return absl::OkStatus();
}

absl::Status add_nothing_unwritten(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[0] += 0.0F * view.product[view.n - 1];
  return absl::OkStatus();
}

// The twelfth element behind the end, which only a NaN there shows.
absl::Status add_past_end(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[view.n - 1] += 0.0F * view.x[view.n + 11];
  return absl::OkStatus();
}

absl::Status add_drifting(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[view.n - 1] += 1e-5F;
  return absl::OkStatus();
}

// Its bits follow the number of elements.
absl::Status add_by_size(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[1] += view.n > 30 ? 1e-5F : 0.0F;
  return absl::OkStatus();
}

absl::Status add_far(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  view.out[view.n - 1] += 1.0F;
  return absl::OkStatus();
}

absl::Status refuse(const Call& /*call*/) {
  return absl::InvalidArgumentError("shape is not taken");
}

absl::Status add_printing(const Call& call) {
  if (call.trace != nullptr) {
    std::puts("a kernel prints");
    std::fflush(stdout);
  }
  return add(call);
}

absl::Status add_lazily(const Call& call) {
  return ++num_counted_calls > 3 ? absl::OkStatus() : add(call);
}

absl::Status add_meddling(const Call& call) {
  const View view = view_of(call);
  add_to(view, view.n);
  // What changes no output of this call.
  if (++num_counted_calls > 3) {
    view.x[0] = -0.0F;
    view.out[0] = 0.5F * 2.0F + 0.25F;
    view.product[0] = 1.0F;
  }
  return absl::OkStatus();
}

template <kernels::CpuLaunch kAdd>
constexpr std::array<kernels::Stage<kernels::CpuLaunch>, 2> kStages = {
    {{.name = "multiply", .launch = multiply}, {.name = "add", .launch = kAdd}}};

constexpr std::array<kernels::Stage<kernels::CpuLaunch>, 1> kAddOnly = {
    {{.name = "add", .launch = add}}};
constexpr std::array<kernels::Stage<kernels::CpuLaunch>, 1> kHalfOnly = {
    {{.name = "add", .launch = add_half}}};

bool leaves_product(const kernels::LaunchParameters& /*parameters*/, std::size_t tensor) {
  return tensor == kProduct;
}

bool leaves_all(const kernels::LaunchParameters& /*parameters*/, std::size_t /*tensor*/) {
  return true;
}

constexpr std::array<kernels::AxisInfo, 2> kParameters = {
    {{.name = "width", .help = "", .default_value = "4", .min = 1, .max = 8},
     {.name = "order", .help = "", .default_value = "ramp", .choices = kKinds}}};

absl::Status never(const kernels::LaunchParameters& /*parameters*/) {
  return absl::FailedPreconditionError("the host has no such instruction");
}

constexpr std::array<kernels::CpuVariant, 21> kVariants = {
    {{.name = "plain", .idea = "loops", .parameters = kParameters, .stages = kStages<add>},
     {.name = "alias", .idea = "the same code", .parameters = kParameters, .stages = kStages<add>},
     {.name = "twin", .idea = "loops backwards", .stages = kStages<add_backwards>},
     {.name = "partial", .idea = "", .stages = kStages<add_half>},
     {.name = "overrun", .idea = "", .stages = kStages<add_beyond>},
     {.name = "in_place", .idea = "", .stages = kStages<add_in_place>},
     {.name = "restless", .idea = "", .stages = kStages<add_restlessly>},
     {.name = "scratchy", .idea = "", .stages = kStages<add_scratch>},
     {.name = "peeking", .idea = "", .stages = kStages<add_nothing_unwritten>},
     {.name = "past_end", .idea = "", .stages = kStages<add_past_end>},
     {.name = "drifting", .idea = "", .stages = kStages<add_drifting>},
     {.name = "far", .idea = "", .stages = kStages<add_far>},
     {.name = "other_family", .idea = "", .family = "other", .stages = kStages<add_backwards>},
     {.name = "refusing", .idea = "", .stages = kStages<refuse>},
     {.name = "unavailable", .idea = "", .stages = kStages<add>, .available = never},
     {.name = "printing", .idea = "", .stages = kStages<add_printing>},
     {.name = "lazy_when_timed", .idea = "", .stages = kStages<add_lazily>},
     {.name = "meddling_when_timed", .idea = "", .stages = kStages<add_meddling>},
     {.name = "by_size", .idea = "", .stages = kStages<add_by_size>, .bits_domain = "cpu"},
     {.name = "brief", .idea = "", .stages = kAddOnly, .leaves = leaves_product},
     {.name = "brief_half", .idea = "", .stages = kHalfOnly, .leaves = leaves_all}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 1> kSmall = {{{"n", "64"}}};
constexpr std::array<kernels::CpuMutant, 3> kMutants = {
    {{.name = "adds_half",
      .defect = "leaves half of the output",
      .variant = "plain",
      .axes = kSmall,
      .stages = kStages<add_half>},
     {.name = "harmless", .defect = "none at all", .variant = "plain", .stages = kStages<add>},
     {.name = "brief_harmless", .defect = "none", .variant = "brief", .stages = kAddOnly}}};

constexpr std::array<kernels::NamedWorkload, 1> kNamed = {
    {{.name = "small", .help = "", .axes = kSmall}}};

absl::Status validate_axpy(const kernels::Workload& workload) {
  return workload.axes[0].second == "13" ? absl::InvalidArgumentError("n: 13 is not taken")
                                         : absl::OkStatus();
}

std::unique_ptr<kernels::Problem> make_axpy(const kernels::Workload& workload) {
  return std::make_unique<AxpyProblem>(workload);
}

}  // namespace

const kernels::Operator& faulty_operator() {
  static const kernels::Operator op = {.name = "axpy",
                                       .summary = "out = 2 x + y",
                                       .axes = kAxes,
                                       .validate = validate_axpy,
                                       .make_problem = make_axpy,
                                       .cpu_variants = kVariants,
                                       .cpu_mutants = kMutants,
                                       .workloads = kNamed,
                                       .suites = faulty_suites(),
                                       .invariances = faulty_invariances(),
                                       .tolerance_alarm = 0.005};
  return op;
}

void reset_faulty_operator() {
  num_counted_calls = 0;
}

}  // namespace assay::profiler
