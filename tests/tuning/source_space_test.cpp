#include "tuning/source_space.h"

#include "proto/text.h"
#include "tests/tuning/source_fixture.h"
#include "tuning/source_spec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::tuning {
namespace {

SourceSettings axes() {
  SourceSettings settings;
  settings.Add()->set_name("n");
  settings[0].set_value("1000");
  return settings;
}

v1::SourceSpec complete() {
  return complete_source(scaled_sum());
}

TEST(SourceSpace, NamesTheRestrictionThatDoesNotHold) {
  EXPECT_EQ(check_restrictions(complete(), axes(), *proto::parse_arm("plain:block=256")).ToString(),
            "INVALID_ARGUMENT: restrictions[0]: `block * (2 if unroll else 1) <= 256` does not "
            "hold (block=256, unroll=True)");
  v1::SourceSpec spec = complete();
  spec.set_restrictions(0, "n // (block - 64) > 1");
  EXPECT_NE(check_restrictions(spec, axes(), *proto::parse_arm("plain:block=64"))
                .message()
                .find("(n=1000, block=64)"),
            std::string::npos);
}

TEST(SourceSpace, LeavesOutRestrictionsOfParametersThatAVariantHasNot) {
  EXPECT_EQ(check_restrictions(complete(), axes(), *proto::parse_arm("wide")), absl::OkStatus());
  EXPECT_EQ(check_restrictions(complete(), axes(), *proto::parse_arm("plain:block=128")),
            absl::OkStatus());
  EXPECT_EQ(*variant_restrictions(complete(), "wide"), std::vector<std::string>());
  EXPECT_EQ(*variant_restrictions(complete(), "plain"),
            std::vector<std::string>{"block * (2 if unroll else 1) <= 256"});
  EXPECT_EQ(variant_restrictions(complete(), "none").status().code(), absl::StatusCode::kNotFound);
}

TEST(SourceSpace, GivesEveryParameterAsAMacro) {
  const auto macros = source_macros(complete(), *proto::parse_arm("plain:unroll=false"));
  ASSERT_TRUE(macros.ok()) << macros.status();
  EXPECT_EQ(*macros, (std::vector<std::string>{"SCALE", "block=128", "unroll=0"}));
  const auto wide = source_macros(complete(), *proto::parse_arm("wide"));
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(*wide, (std::vector<std::string>{"SCALE", "WIDE=4"}));
}

}  // namespace
}  // namespace assay::tuning
