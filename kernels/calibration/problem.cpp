#include "kernels/calibration/problem.h"

#include "kernels/inputs.h"
#include "kernels/thread_pool.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace assay::kernels::calibration {
namespace {

// Integers below 2^32 are exact in double, so that any other one is far outside.
constexpr double kTolerance = 0.5;

template <class Function>
void for_each_element(std::int64_t num_elements, const Function& function) {
  constexpr std::int64_t kMostPerTask = 65'536;
  constexpr std::int64_t kTasks = 64;
  const std::int64_t per_task = std::clamp<std::int64_t>(num_elements / kTasks, 1, kMostPerTask);
  shared_threads().for_each(static_cast<int>(available_processors().size()),
                            (num_elements + per_task - 1) / per_task,
                            [&](std::int64_t task) {
                              const std::int64_t end =
                                  std::min((task + 1) * per_task, num_elements);
                              for (std::int64_t i = task * per_task; i < end; ++i) {
                                function(i);
                              }
                            });
}

// In wide arithmetic, reduced once a round.
std::uint64_t calibration_reference(std::uint64_t word, std::uint32_t steps) {
  constexpr std::uint64_t kModulus = std::uint64_t{1} << 32;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint64_t sum = (word * 747'796'405 + 2'891'336'453) % kModulus;
    word = sum ^ (sum / 32'768);
  }
  return word;
}

class ChainProblem : public CalibrationProblem {
 public:
  ChainProblem(const Workload& workload, const Shape& shape)
      : shape_(shape), key_(make_key(workload.seed, "x")) {
    const auto tensor = [&](const char* name, Role role, std::string content_key) {
      return TensorSpec{.name = name,
                        .dtype = DType::kI32,
                        .role = role,
                        .shape = {shape_.num_elements},
                        .content_key = std::move(content_key)};
    };
    tensors_ = {tensor("x",
                       Role::kInput,
                       absl::StrCat("calibration/x/", workload.seed, "/", shape_.num_elements)),
                tensor("y", Role::kOutput, "")};
  }

  const Shape& shape() const override { return shape_; }

  std::span<const TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t /*tensor*/, std::byte* bytes) const override {
    for_each_element(shape_.num_elements, [&](std::int64_t i) {
      const std::uint32_t word = input(i);
      std::memcpy(bytes + i * std::int64_t{sizeof word}, &word, sizeof word);
    });
  }

  std::vector<ElementRange> live(std::size_t /*tensor*/) const override {
    return {{.begin = 0, .end = shape_.num_elements}};
  }

  Reference reference(std::size_t /*tensor*/) const override {
    const auto size = static_cast<std::size_t>(shape_.num_elements);
    Reference reference = {.values = std::vector<double>(size),
                           .tolerances = std::vector<double>(size, kTolerance),
                           .num_terms = {}};
    for_each_element(shape_.num_elements, [&](std::int64_t i) {
      const std::uint64_t word = calibration_reference(input(i), shape_.num_rounds);
      // As the i32 that the word's bits are.
      reference.values[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(word);
    });
    return reference;
  }

  std::int64_t min_bytes() const override {
    return num_bytes(tensors_[kX]) + num_bytes(tensors_[kY]);
  }

  std::int64_t min_flops() const override { return 0; }

 private:
  std::uint32_t input(std::int64_t i) const {
    return static_cast<std::uint32_t>(random_word(key_, static_cast<std::uint64_t>(i)) >> 32);
  }

  Shape shape_;
  std::uint64_t key_;
  std::array<TensorSpec, kNumTensors> tensors_;
};

}  // namespace

absl::Status validate(const Workload& workload) {
  return parse_shape(workload).status();
}

std::unique_ptr<Problem> make_problem(const Workload& workload) {
  return std::make_unique<ChainProblem>(workload, *parse_shape(workload));
}

}  // namespace assay::kernels::calibration
