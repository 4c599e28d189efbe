// The merge stage on cpu, over a vector type V of eight floats: groups in order into runs, runs in
// order into the row, one division. The factors of a batch of groups are found first, so that its
// values are folded while eight vectors of dims stay in registers.
#pragma once

#include "kernels/attention/cpu_engine.h"
#include "kernels/attention/softmax.h"

#include <cstdint>

namespace assay::kernels::attention {

template <class V, EngineMutation kMutation>
struct MergeStage {
  using F8 = typename V::F8;

  static constexpr int kTileVectors = 8;  // of dims
  static_assert(kMostDim % (kTileVectors * 8) == 0);

  // Of a run, or of the row.
  struct State {
    float m = 0;
    float l = 0;  // 0: empty
    float o[kMostDim];
  };

  // One state folded into another: its values, and what both sides are multiplied by. `a` is 0 and
  // `copies` set where the other was empty.
  struct Term {
    const float* o;
    float a;
    float b;
    bool copies;
  };

  static Term fold_scalars(float m, float l, const float* o, State* into) {
    if (into->l == 0.0F) {
      into->m = m;
      into->l = l;
      return {.o = o, .a = 0.0F, .b = 1.0F, .copies = true};
    }
    const FoldFactors factors = fold_factors(into->m, m);
    into->m = factors.m;
    into->l = factors.fold(into->l, l);
    return {.o = o, .a = factors.a, .b = factors.b, .copies = false};
  }

  static void fold_values(int dim, const Term* terms, int count, float* into) {
    for (int first = 0; first < dim; first += kTileVectors * 8) {
      F8 sums[kTileVectors];
      for (int i = 0; i < kTileVectors; ++i) {
        sums[i] = terms[0].copies ? V::set1(0.0F) : V::load(into + first + i * 8);
      }
      for (int term = 0; term < count; ++term) {
        const float* o = terms[term].o + first;
        const F8 a = V::set1(terms[term].a);
        const F8 b = V::set1(terms[term].b);
        for (int i = 0; i < kTileVectors; ++i) {
          const F8 value = V::load(o + i * 8);
          sums[i] = terms[term].copies ? value : V::fma(value, b, V::mul(sums[i], a));
        }
      }
      for (int i = 0; i < kTileVectors; ++i) {
        V::store(into + first + i * 8, sums[i]);
      }
    }
  }

  // Groups [first, end), all of one run.
  static void fold_groups(const MergeRow& row, std::int32_t first, std::int32_t end, State* run) {
    run->l = 0.0F;
    for (std::int32_t batch = first; batch < end; batch += row.batch) {
      Term terms[kRunGroups];
      int count = 0;
      for (std::int32_t turn = batch; turn < end && turn < batch + row.batch; ++turn) {
        constexpr bool kReverse = kMutation == EngineMutation::kMergesInReverse;
        const std::int64_t group = kReverse ? first + end - 1 - turn : turn;
        const std::int64_t at = group * row.state_stride;
        if (row.l[at] != 0.0F) {
          terms[count++] = fold_scalars(row.m[at], row.l[at], row.o + at * row.dim, run);
        }
      }
      if (count > 0) {
        fold_values(row.dim, terms, count, run->o);
      }
    }
  }

  static void merge(const MergeRow& row) {
    State total;
    State run;
    const std::int32_t first_run = row.first / kRunGroups;
    const std::int32_t end_run = (row.end + kRunGroups - 1) / kRunGroups;
    for (std::int32_t turn = first_run; turn < end_run; ++turn) {
      constexpr bool kReverse = kMutation == EngineMutation::kMergesInReverse;
      const std::int32_t index = kReverse ? first_run + end_run - 1 - turn : turn;
      const std::int32_t first = index * kRunGroups;
      const std::int32_t end = first + kRunGroups;
      fold_groups(row, first > row.first ? first : row.first, end < row.end ? end : row.end, &run);
      if (run.l != 0.0F) {
        const Term term = fold_scalars(run.m, run.l, run.o, &total);
        fold_values(row.dim, &term, 1, total.o);
      }
    }

    constexpr int kSkipped = kMutation == EngineMutation::kLeavesTailUnwritten ? 8 : 0;
    for (int d = 0; d < row.dim - kSkipped; d += 8) {
      const F8 quotient = V::div(V::load(total.o + d), V::set1(total.l));
      V::store(row.result + d, quotient);
      V::store_bf16(row.out + d, quotient);
    }
  }
};

}  // namespace assay::kernels::attention
