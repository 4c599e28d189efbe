// The walks as a grid of CUDA threads makes them, thread by thread on the host.
#include "kernels/calibration/mix.h"

#include "tests/kernels/calibration/model.h"

#include <gtest/gtest.h>

#include <memory>

namespace assay::kernels::calibration {
namespace {

constexpr std::uint32_t kUnwritten = 0xA5A5'A5A5;
constexpr std::int64_t kRoom = 8;

// Aligned to 16 bytes, with room behind that nobody may write.
struct Words {
  explicit Words(std::int64_t num_words)
      : fours(static_cast<std::size_t>(num_words + kRoom) / 4 + 1) {
    for (std::size_t i = 0; i < fours.size() * 4; ++i) {
      data()[i] = kUnwritten;
    }
  }

  std::uint32_t* data() { return fours.data()->words; }

  std::vector<Four> fours;
};

using Body = void (*)(const Params& params, Walk walk);

std::vector<std::uint32_t> run_grid(Params params, std::int64_t num_threads, Body body) {
  const bool is_fours = body != mix_each<Mutation::kNone>;
  Words x(params.num_elements);
  Words y(params.num_elements);
  for (std::int64_t i = 0; i < params.num_elements; ++i) {
    x.data()[i] = static_cast<std::uint32_t>(i * i);
  }
  params.x = x.data();
  params.y = y.data();
  const std::int64_t end = is_fours ? num_fours(params.num_elements) : params.num_elements;
  for (std::int64_t thread = 0; thread < num_threads; ++thread) {
    body(params, {.begin = thread, .end = end, .step = num_threads});
  }
  return {y.data(), y.data() + params.num_elements + kRoom};
}

Params params_of(std::int64_t num_elements, std::uint32_t rounds, std::uint32_t extra_rounds) {
  return {.x = nullptr,
          .y = nullptr,
          .num_elements = num_elements,
          .num_rounds = rounds,
          .num_extra_rounds = extra_rounds,
          .nothing = 0};
}

TEST(Mix, EveryGridWritesEachElementAndNothingElse) {
  for (const Body body : {&mix_each<Mutation::kNone>, &mix_fours<Mutation::kNone>}) {
    for (std::int64_t size = 1; size < 40; ++size) {
      for (const std::int64_t num_threads : {1, 3, 7, 64}) {
        const std::vector<std::uint32_t> y = run_grid(params_of(size, 5, 2), num_threads, body);
        for (std::int64_t i = 0; i < size + kRoom; ++i) {
          const std::uint32_t wanted =
              i < size ? word_after(static_cast<std::uint32_t>(i * i), 5) : kUnwritten;
          ASSERT_EQ(y[static_cast<std::size_t>(i)], wanted) << size << " " << num_threads;
        }
      }
    }
  }
}

// With a mask that lets everything through, what is thrown away shows.
TEST(Mix, RunsTheExtraRounds) {
  for (const Body body : {&mix_each<Mutation::kNone>, &mix_fours<Mutation::kNone>}) {
    Params params = params_of(7, 100, 30);
    params.nothing = ~0U;
    const std::vector<std::uint32_t> y = run_grid(params, 2, body);
    for (std::uint32_t i = 0; i < 7; ++i) {
      EXPECT_EQ(y[i], word_after(i * i, 100) ^ word_after(i * i, 130));
    }
  }
}

}  // namespace
}  // namespace assay::kernels::calibration
