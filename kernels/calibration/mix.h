// The loops of all variants, on cpu and CUDA alike: chains of rounds, and the walks over elements
// that a thread makes. Functions have internal linkage.
#pragma once

#include "kernels/calibration/contract.h"
#include "kernels/calibration/mutation.h"
#include "kernels/numerics.h"

#include <cstdint>

namespace assay::kernels::calibration {

// Every `step`th place of [begin, end).
struct Walk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};

ASSAY_HOST_DEVICE static inline std::uint32_t next_word(std::uint32_t word) {
  word = word * kMultiplier + kIncrement;
  return word ^ (word >> kShift);
}

template <int kChains>
ASSAY_HOST_DEVICE static inline void run_rounds(std::uint32_t (&words)[kChains],
                                                std::uint32_t num_rounds) {
  for (std::uint32_t round = 0; round < num_rounds; ++round) {
    ASSAY_UNROLL_EACH
    for (std::uint32_t& word : words) {
      word = next_word(word);
    }
  }
}

// Chains side by side. What the extra rounds make meets the result behind a mask that clears it:
// nothing but running them tells so.
template <Mutation kMutation, int kChains>
ASSAY_HOST_DEVICE static inline void mix(std::uint32_t (&words)[kChains], const Params& params) {
  std::uint32_t num_rounds = params.num_rounds;
  if constexpr (kMutation == Mutation::kOneRoundLess) {
    num_rounds -= num_rounds > 0 ? 1 : 0;
  }
  run_rounds(words, num_rounds);

  std::uint32_t thrown_away[kChains];
  ASSAY_UNROLL_EACH
  for (int chain = 0; chain < kChains; ++chain) {
    thrown_away[chain] = words[chain];
  }
  run_rounds(thrown_away, params.num_extra_rounds);
  ASSAY_UNROLL_EACH
  for (int chain = 0; chain < kChains; ++chain) {
    if constexpr (kMutation == Mutation::kKeepsExtraRounds) {
      words[chain] = thrown_away[chain];
    } else {
      words[chain] ^= thrown_away[chain] & params.nothing;
    }
  }
}

// A walk over elements, one at a time.
template <Mutation kMutation>
ASSAY_HOST_DEVICE static inline void mix_each(const Params& params, Walk elements) {
  if constexpr (kMutation == Mutation::kSkipsLastElement) {
    elements.end -= elements.end == params.num_elements ? 1 : 0;
  }
  for (std::int64_t i = elements.begin; i < elements.end; i += elements.step) {
    std::uint32_t word[1] = {params.x[i]};
    mix<kMutation>(word, params);
    params.y[i] = word[0];
  }
}

struct alignas(16) Four {
  std::uint32_t words[kFour];
};

ASSAY_HOST_DEVICE static inline std::int64_t num_fours(std::int64_t num_elements) {
  return (num_elements + kFour - 1) / kFour;
}

// A walk over groups of four elements, four chains at a time. The last group may be short: chains
// beyond it run too, and are not stored.
template <Mutation kMutation>
ASSAY_HOST_DEVICE static inline void mix_fours(const Params& params, Walk fours) {
  for (std::int64_t i = fours.begin; i < fours.end; i += fours.step) {
    const std::int64_t first = i * kFour;
    const bool is_whole = first + kFour <= params.num_elements;
    Four four = {};
    if (is_whole) {
      four = reinterpret_cast<const Four*>(params.x)[i];
    } else {
      ASSAY_UNROLL_EACH
      for (int chain = 0; chain < kFour; ++chain) {
        four.words[chain] = first + chain < params.num_elements ? params.x[first + chain] : 0;
      }
    }

    mix<kMutation>(four.words, params);

    if (is_whole) {
      reinterpret_cast<Four*>(params.y)[i] = four;
    } else if constexpr (kMutation != Mutation::kDropsRest) {
      ASSAY_UNROLL_EACH
      for (int chain = 0; chain < kFour; ++chain) {
        if (first + chain < params.num_elements) {
          params.y[first + chain] = four.words[chain];
        }
      }
    }
  }
}

}  // namespace assay::kernels::calibration
