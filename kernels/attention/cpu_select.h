// From a run-time choice to a cpu kernel over the vector type V.
#pragma once

#include "kernels/attention/cpu_attend.h"
#include "kernels/attention/cpu_engine.h"
#include "kernels/attention/cpu_merge.h"

#include <cstdint>

namespace assay::kernels::attention {

template <class V>
struct KernelTable {
  using F8 = typename V::F8;

  static AttendKernel attend(Family family, EngineMutation mutation) {
    if (family == Family::kFp32) {
      return mutation == EngineMutation::kNone ? attend_of<Family::kFp32, EngineMutation::kNone>()
                                               : nullptr;
    }
    switch (mutation) {
      case EngineMutation::kNone:
        return attend_of<Family::kTensorCore, EngineMutation::kNone>();
      case EngineMutation::kDropsFourthSlice:
        return attend_of<Family::kTensorCore, EngineMutation::kDropsFourthSlice>();
      case EngineMutation::kSlicesInReverse:
        return attend_of<Family::kTensorCore, EngineMutation::kSlicesInReverse>();
      case EngineMutation::kContractsOneFold:
        return attend_of<Family::kTensorCore, EngineMutation::kContractsOneFold>();
      default:
        return nullptr;
    }
  }

  static MergeKernel merge(EngineMutation mutation) {
    switch (mutation) {
      case EngineMutation::kNone:
        return &MergeStage<V, EngineMutation::kNone>::merge;
      case EngineMutation::kMergesInReverse:
        return &MergeStage<V, EngineMutation::kMergesInReverse>::merge;
      case EngineMutation::kLeavesTailUnwritten:
        return &MergeStage<V, EngineMutation::kLeavesTailUnwritten>::merge;
      default:
        return nullptr;
    }
  }

  // Through the operands of the attend stage, two rows at a time as there.
  static void step(StepBlock* block) {
    float left[2][kStepTerms];
    std::int16_t left_exponents[2][kStepTerms];
    float values[8 * kStepTerms];
    std::int16_t exponents[8 * kStepTerms];
    const std::uint16_t* columns[8];
    for (int column = 0; column < 8; ++column) {
      columns[column] = block->b[column];
    }
    V::expand_keys(columns, kStepTerms, {.values = values, .exponents = exponents});
    LeftRow rows[2];
    F8 acc[2];
    for (int row = 0; row < 2; ++row) {
      V::expand_left(block->a[row], kStepTerms, left[row], left_exponents[row]);
      rows[row] = {.values = left[row], .exponents = left_exponents[row]};
      acc[row] = V::load(block->acc[row]);
    }
    V::template step<2>(rows, {.values = values, .exponents = exponents}, 0, acc);
    for (int row = 0; row < 2; ++row) {
      V::store(block->acc[row], acc[row]);
    }
  }

 private:
  template <Family kFamily, EngineMutation kMutation>
  static AttendKernel attend_of() {
    return &AttendStage<V, kFamily, kMutation>::attend;
  }
};

}  // namespace assay::kernels::attention
