#include "profiler/schedule.h"

namespace assay::profiler {

namespace {

constexpr std::uint64_t kLeadStream = 1;

// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31U);
}

// Of rounds 2k and 2k + 1 one is led by the candidate, which one by a coin from the seed.
bool candidate_leads(std::uint32_t round, std::uint64_t seed) {
  const bool coin = (random_bits(seed, kLeadStream, round / 2) & 1U) != 0;
  return coin == (round % 2 == 0);
}

}  // namespace

std::vector<ArmRole> round_legs(v1::Schedule schedule, std::uint32_t round, std::uint64_t seed) {
  if (schedule != v1::AB && schedule != v1::ABBA) {
    return {ArmRole::kCandidate, ArmRole::kBaseline, ArmRole::kCandidate};
  }
  const bool leads = candidate_leads(round, seed);
  const ArmRole first = leads ? ArmRole::kCandidate : ArmRole::kBaseline;
  const ArmRole second = leads ? ArmRole::kBaseline : ArmRole::kCandidate;
  if (schedule == v1::AB) {
    return {first, second};
  }
  return {first, second, second, first};
}

std::vector<ArmRole> measure_legs() {
  return {ArmRole::kBaseline};
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t key = mix(mix(seed + kGolden) + stream * kGolden);
  return mix(key + (index + 1) * kGolden);
}

double random_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, stream, index) >> 11U) * 0x1p-53;
}

}  // namespace assay::profiler
