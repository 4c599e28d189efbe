#include "tests/kernels/exp_digest.h"

#include "kernels/qsa_decode/cpu_avx2.h"

#ifdef ASSAY_AVX2

namespace assay::kernels {
namespace {

using qsa_decode::avx2::Vector;

// Eight 32-bit hashes; each step is invertible, so that no result is lost to another.
__m256i mixed(__m256i word) {
  word = _mm256_xor_si256(word, _mm256_srli_epi32(word, 16));
  word = _mm256_mullo_epi32(word, _mm256_set1_epi32(static_cast<int>(0x85ebca6bU)));
  word = _mm256_xor_si256(word, _mm256_srli_epi32(word, 13));
  word = _mm256_mullo_epi32(word, _mm256_set1_epi32(static_cast<int>(0xc2b2ae35U)));
  return _mm256_xor_si256(word, _mm256_srli_epi32(word, 16));
}

}  // namespace

std::uint64_t exp_digest_avx2(std::uint32_t first, std::uint32_t end) {
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  const __m256i spread = _mm256_set1_epi32(static_cast<int>(0x9e3779b1U));
  __m256i argument = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)),
                                      _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  __m256i sum = _mm256_setzero_si256();
  for (std::uint32_t bits = first; bits != end; bits += 8) {
    const __m256i value = _mm256_castps_si256(Vector::exp(_mm256_castsi256_ps(argument)));
    const __m256i hash = mixed(_mm256_xor_si256(value, _mm256_mullo_epi32(argument, spread)));
    sum = _mm256_add_epi64(sum, _mm256_and_si256(hash, low));
    sum = _mm256_add_epi64(sum, _mm256_srli_epi64(hash, 32));
    argument = _mm256_add_epi32(argument, _mm256_set1_epi32(8));
  }
  alignas(32) std::uint64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), sum);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

void exp_avx2(const float* arguments, float* results) {
  Vector::store(results, Vector::exp(Vector::load(arguments)));
}

}  // namespace assay::kernels

#else

namespace assay::kernels {

std::uint64_t exp_digest_avx2(std::uint32_t /*first*/, std::uint32_t /*end*/) {
  return 0;
}

void exp_avx2(const float* /*arguments*/, float* /*results*/) {}

}  // namespace assay::kernels

#endif
