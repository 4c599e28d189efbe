// A state that lanes of a warp share while it is merged. Each lane knows one of the states to fold
// and by which factors it folds; each holds some dims of the sum.
#pragma once

#include "kernels/attention/cuda_state.cuh"

#include <bit>
#include <cstdint>

namespace assay::kernels::attention {

ASSAY_DEVICE const float* shuffle_from(const float* pointer, int lane) {
  const auto bits = reinterpret_cast<std::uint64_t>(pointer);
  const auto low = static_cast<std::uint32_t>(shuffle_from(static_cast<std::int32_t>(bits), lane));
  const auto high = static_cast<std::uint64_t>(
      static_cast<std::uint32_t>(shuffle_from(static_cast<std::int32_t>(bits >> 32), lane)));
  return reinterpret_cast<const float*>(high << 32 | low);
}

// kWidth lanes of a warp, from a multiple of kWidth on.
template <int kWidth>
struct LaneSpan {
  ASSAY_DEVICE static int place() { return lane_id() % kWidth; }

  ASSAY_DEVICE static int first_lane() { return lane_id() - place(); }

  template <class Value>
  ASSAY_DEVICE static Value shuffle_from(Value value, int place) {
    return attention::shuffle_from(value, first_lane() + place);
  }

  // Places where it is true, as bits.
  ASSAY_DEVICE static std::uint32_t mask(bool is_true) {
    return warp_mask(is_true) >> first_lane() & (0xFFFFFFFFU >> (kLanes - kWidth));
  }

  // The highest of `places` up to the own one; there is one.
  ASSAY_DEVICE static int last_of(std::uint32_t places) {
    const std::uint32_t up_to = places & (0xFFFFFFFFU >> (kLanes - 1 - place()));
#ifdef __CUDA_ARCH__
    return kLanes - 1 - __clz(static_cast<int>(up_to));
#else
    return kLanes - 1 - std::countl_zero(up_to);
#endif
  }
};

// The factors of a fold in order, a lane for each of its states: of the state so far, and of the
// lane's. Maxima come first, since nothing else of the fold needs the one before.
struct LaneFactors {
  float m;  // the largest up to the lane's
  float before;
  float own;

  // Of a state that is alone in its fold.
  static ASSAY_DEVICE LaneFactors alone(float max) { return {max, 0.0F, 1.0F}; }

  // The fold begins at place `first`, after `max_before`; the one before the lane's in it is at
  // `last`, below `first`: none.
  template <int kWidth>
  static ASSAY_DEVICE LaneFactors of(float max, int first, int last, float max_before = kNoScore) {
    const int place = LaneSpan<kWidth>::place();
    float m = max;
    for (int distance = 1; distance < kWidth; distance *= 2) {
      const float other = shuffle_from(m, lane_id() - distance);
      m = place - distance >= first ? larger_of(other, m) : m;
    }
    m = larger_of(max_before, m);
    const float at_last = LaneSpan<kWidth>::shuffle_from(m, last);
    float factors[2] = {add_bits(last < first ? max_before : at_last, -m), add_bits(max, -m)};
    exp_bits_each(factors);
    return {m, factors[0], factors[1]};
  }
};

// A lane's dims of a state that kWidth lanes share. Nothing is -0, so that the first state of a
// fold needs no case: its factors are 0 and 1, -0 times 0 is -0, and x + -0 is x.
template <int kFloats, int kWidthOf>
struct MergeState {
  static constexpr int kWidth = kWidthOf;
  static constexpr int kFours = kFloats / 4;

  float m;
  float l;
  Float4 o[kFours];

  // But for m.
  ASSAY_DEVICE void clear() {
    l = -0.0F;
    ASSAY_UNROLL
    for (int i = 0; i < kFloats; ++i) {
      o[i / 4].values[i % 4] = -0.0F;
    }
  }

  // The state at a place of a fold, but for m.
  template <Defect kDefect>
  ASSAY_DEVICE void fold_in(const LaneFactors& factors,
                            int place,
                            float later_l,
                            const Float4 (&later)[kFours]) {
    const float before = LaneSpan<kWidth>::shuffle_from(factors.before, place);
    const float own = LaneSpan<kWidth>::shuffle_from(factors.own, place);
    l = folded<kDefect>(before, own, l, later_l);
    ASSAY_UNROLL
    for (int i = 0; i < kFloats; ++i) {
      float& value = o[i / 4].values[i % 4];
      value = folded<kDefect>(before, own, value, later[i / 4].values[i % 4]);
    }
  }

  ASSAY_DEVICE void store(const StateArrays& arrays, std::int64_t place, int dim, int at) const {
    if (at == 0) {
      arrays.m[place] = m;
      arrays.l[place] = l;
    }
    auto* to = reinterpret_cast<Float4*>(arrays.o + place * dim + at);
    ASSAY_UNROLL
    for (int i = 0; i < kFours; ++i) {
      to[i] = o[i];
    }
  }

 private:
  template <Defect kDefect>
  static ASSAY_DEVICE float folded(float before, float own, float value, float later) {
    if constexpr (kDefect == Defect::kMergesInReverse) {
      return FoldFactors{0.0F, own, before}.fold(later, value);
    }
    return FoldFactors{0.0F, before, own}.fold(value, later);
  }
};

}  // namespace assay::kernels::attention
