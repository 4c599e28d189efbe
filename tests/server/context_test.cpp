#include "server/context.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::server {
namespace {

template <typename Change>
std::string error_of(const Change& change) {
  v1::Context context;
  change(context);
  const absl::Status status = check_context(context);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

void add_label(v1::Context& context, const std::string& name, const std::string& value) {
  v1::Setting& label = *context.add_labels();
  label.set_name(name);
  label.set_value(value);
}

TEST(Context, NamesTheFieldThatIsPastItsLimit) {
  for (const std::string& commit : {std::string("abcdef"),
                                    std::string(65, 'a'),
                                    std::string("ABCDEF0"),
                                    std::string("main-12")}) {
    EXPECT_EQ(error_of([&](v1::Context& context) { context.set_commit(commit); }),
              "spec.context.commit: must be 7 to 64 hexadecimal digits in small letters");
  }
  EXPECT_EQ(error_of([](v1::Context& context) { context.set_committed_ns(-1); }),
            "spec.context.committed_ns: must not be negative");
  EXPECT_EQ(error_of([](v1::Context& context) { context.set_branch(std::string(201, 'x')); }),
            "spec.context.branch: has 201 bytes, the limit is 200");
  EXPECT_EQ(error_of([](v1::Context& context) { context.set_note(std::string(4'001, 'x')); }),
            "spec.context.note: has 4001 bytes, the limit is 4000");
  const std::string with_nul("a\0b", 3);
  EXPECT_EQ(error_of([&](v1::Context& context) { context.set_branch(with_nul); }),
            "spec.context.branch: has a NUL character");
  EXPECT_EQ(error_of([&](v1::Context& context) { context.set_note(with_nul); }),
            "spec.context.note: has a NUL character");
  EXPECT_EQ(error_of([&](v1::Context& context) { add_label(context, with_nul, ""); }),
            "spec.context.labels[0].name: has a NUL character");
  EXPECT_EQ(error_of([&](v1::Context& context) { add_label(context, "x", with_nul); }),
            "spec.context.labels[0].value: has a NUL character");
  EXPECT_EQ(error_of([](v1::Context& context) {
              for (int i = 0; i < 33; ++i) {
                add_label(context, std::to_string(i), "");
              }
            }),
            "spec.context.labels: has 33, the limit is 32");
  for (const char* name : {"", "a=b"}) {
    EXPECT_EQ(error_of([&](v1::Context& context) { add_label(context, name, "x"); }),
              "spec.context.labels[0].name: must be 1 to 200 bytes without =");
  }
  EXPECT_EQ(error_of([](v1::Context& context) { add_label(context, std::string(201, 'x'), ""); }),
            "spec.context.labels[0].name: has 201 bytes, the limit is 200");
  EXPECT_EQ(error_of([](v1::Context& context) { add_label(context, "x", std::string(201, 'x')); }),
            "spec.context.labels[0].value: has 201 bytes, the limit is 200");
  EXPECT_EQ(error_of([](v1::Context& context) {
              add_label(context, "x", "1");
              add_label(context, "x", "2");
            }),
            "spec.context.labels[1].name: `x` is there already");
}

TEST(Context, TakesWhatIsWithin) {
  v1::Context context;
  EXPECT_TRUE(check_context(context).ok());
  context.set_commit("0123456789abcdef");
  context.set_committed_ns(1);
  context.set_branch(std::string(200, 'x'));
  context.set_note(std::string(4'000, 'x'));
  add_label(context, "pr", "a=b");
  add_label(context, std::string(200, 'x'), "");
  EXPECT_TRUE(check_context(context).ok());
}

}  // namespace
}  // namespace assay::server
