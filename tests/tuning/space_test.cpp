#include "tuning/space.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace assay::tuning {
namespace {

using Parameters = std::vector<std::pair<std::string, std::int64_t>>;

// Each parameter takes 1, 2, ... up to its number.
SearchSpace space_of(const Parameters& sizes,
                     const std::vector<std::string>& expressions,
                     std::int64_t max_steps = SearchSpace::kMaxSteps) {
  std::vector<TuningParameter> parameters;
  std::vector<std::string> names;
  for (const auto& [name, num] : sizes) {
    TuningParameter parameter{name, {}};
    for (std::int64_t value = 1; value <= num; ++value) {
      parameter.values.emplace_back(value);
    }
    parameters.push_back(std::move(parameter));
    names.push_back(name);
  }
  std::vector<Restriction> restrictions;
  for (const std::string& text : expressions) {
    restrictions.push_back({"rule " + text, *Expression::parse(text, names)});
  }
  return *SearchSpace::make(std::move(parameters), std::move(restrictions), max_steps);
}

std::string text_of(const TuningValues& values) {
  std::string text;
  for (const Value& value : values) {
    text += value_text(value) + " ";
  }
  return text;
}

std::vector<std::string> visited(const SearchSpace& space) {
  std::vector<std::string> texts;
  EXPECT_TRUE(space
                  .visit([&](const TuningValues& values) {
                    texts.push_back(text_of(values));
                    return true;
                  })
                  .ok());
  return texts;
}

const std::vector<std::string> kRules = {"a * b <= 4", "c != a", "d > 1 or e == 1", "1 < 2"};

TEST(SearchSpace, RefusesMoreCombinationsThanCanBeCounted) {
  std::vector<TuningParameter> parameters;
  for (int i = 0; i < 64; ++i) {
    parameters.push_back({"p" + std::to_string(i), {std::int64_t{0}, std::int64_t{1}}});
  }
  EXPECT_EQ(SearchSpace::make(parameters, {}).status().message(),
            "more than 9,223,372,036,854,775,807 combinations; use fewer values");
  parameters.resize(62);
  EXPECT_EQ(SearchSpace::make(parameters, {})->count()->num_valid, std::int64_t{1} << 62);
}

TEST(SearchSpace, EndsWhereItsStepsAreUsedUp) {
  const Parameters sizes = {{"a", 10}, {"b", 10}};
  const std::vector<std::string> rules = {"a < 3", "b in range(10)"};
  EXPECT_EQ(space_of(sizes, rules, 200).count().status().message(),
            "the restrictions need more than 200 steps to evaluate; use fewer values, or "
            "restrictions of fewer parameters");
  EXPECT_EQ(space_of(sizes, rules, 200).configuration(17).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(space_of(sizes, rules, 1000).count()->num_valid, 18);
}

TEST(SearchSpace, IsAnErrorWhereOnlyAValuelessRestrictionDecides) {
  const SearchSpace guarded =
      space_of({{"a", 3}, {"b", 3}, {"c", 3}}, {"a % (b - 1) == 0", "b > 1", "c < 3"});
  EXPECT_EQ(guarded.count()->num_valid, 8);
  EXPECT_EQ(visited(guarded).size(), 8U);

  const SearchSpace open = space_of({{"a", 3}, {"b", 3}}, {"a % (b - 2) == 0"});
  EXPECT_EQ(open.count().status().message(),
            "rule a % (b - 2) == 0: unsupported expression: position 3: division by zero "
            "(a=1, b=2)");
  EXPECT_FALSE(open.visit([](const TuningValues&) { return true; }).ok());
  EXPECT_FALSE(open.configuration(5).ok());
}

TEST(SearchSpace, CountsWhatItVisits) {
  const SearchSpace space = space_of({{"a", 3}, {"b", 4}, {"c", 2}, {"d", 2}, {"e", 3}}, kRules);
  const std::vector<std::string> all = visited(space);
  std::size_t num_expected = 0;
  for (int a = 1; a <= 3; ++a) {
    for (int b = 1; b <= 4; ++b) {
      for (int c = 1; c <= 2; ++c) {
        num_expected += a * b <= 4 && c != a ? 4 : 0;
      }
    }
  }
  EXPECT_EQ(all.size(), num_expected);
  const absl::StatusOr<SpaceCount> count = space.count();
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_EQ(count->num_valid, static_cast<std::int64_t>(num_expected));
  EXPECT_EQ(count->num_combinations, 144);
}

TEST(SearchSpace, SaysWhatEachRestrictionTakesOfWhatThoseBeforeLeft) {
  const SearchSpace space = space_of({{"a", 3}, {"b", 4}, {"c", 2}, {"d", 2}, {"e", 3}}, kRules);
  const absl::StatusOr<SpaceCount> count = space.count();
  ASSERT_TRUE(count.ok()) << count.status();
  ASSERT_EQ(count->removals.size(), 3U);
  std::int64_t num_left = count->num_combinations;
  for (const Removal& removal : count->removals) {
    EXPECT_GT(removal.num_removed, 0);
    num_left -= removal.num_removed;
    EXPECT_EQ(removal.num_left, num_left);
    EXPECT_NE(removal.restriction, 3U);
  }
  EXPECT_EQ(num_left, count->num_valid);
}

TEST(SearchSpace, VisitsInTheFilesOrderUntilToldToStop) {
  const SearchSpace space = space_of({{"a", 2}, {"b", 3}}, {"a + b != 3"});
  EXPECT_EQ(visited(space), (std::vector<std::string>{"1 1 ", "1 3 ", "2 2 ", "2 3 "}));
  int num_seen = 0;
  EXPECT_TRUE(space.visit([&](const TuningValues&) { return ++num_seen < 2; }).ok());
  EXPECT_EQ(num_seen, 2);
}

TEST(SearchSpace, GivesTheConfigurationOfANumber) {
  const SearchSpace space =
      space_of({{"a", 3}, {"b", 4}, {"c", 2}, {"d", 2}, {"e", 3}}, {"a * b <= 4", "c != a"});
  const std::vector<std::string> all = visited(space);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const absl::StatusOr<TuningValues> values = space.configuration(static_cast<std::int64_t>(i));
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(text_of(*values), all[i]);
  }
  for (const std::int64_t index : {std::int64_t{-1}, static_cast<std::int64_t>(all.size())}) {
    EXPECT_EQ(space.configuration(index).status().code(), absl::StatusCode::kOutOfRange);
  }
}

TEST(SearchSpace, IsEmptyWhereARestrictionNeverHolds) {
  const SearchSpace space = space_of({{"a", 3}, {"b", 2}}, {"a > b", "False", "b > 0"});
  const absl::StatusOr<SpaceCount> count = space.count();
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_EQ(count->num_valid, 0);
  EXPECT_TRUE(visited(space).empty());
}

// In the order of the file 20 to the 6th would be bound before the first restriction is.
TEST(SearchSpace, CountsByBindingWhatRestrictionsNeedFirst) {
  Parameters sizes;
  std::vector<std::string> rules;
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    sizes.emplace_back("b" + number, 20);
    sizes.emplace_back("free" + number, 4);
    rules.push_back("b" + number + " == last");
  }
  sizes.emplace_back("last", 20);
  rules.emplace_back("b0 + b1 + b2 + b3 + b4 + b5 + last > 0");
  EXPECT_EQ(space_of(sizes, rules, 100'000).count()->num_valid, 20 * 4096);
}

TEST(SearchSpace, JumpsToANumberBehindMillions) {
  const SearchSpace space =
      space_of({{"a", 2}, {"b", 1000}, {"c", 1000}, {"d", 1000}, {"e", 1000}}, {"a == 2"});
  EXPECT_EQ(text_of(*space.configuration(999'999'999'999)), "2 1000 1000 1000 1000 ");
  EXPECT_EQ(text_of(*space.configuration(1'002'003'004)), "2 2 3 4 5 ");
}

}  // namespace
}  // namespace assay::tuning
