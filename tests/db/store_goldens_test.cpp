#include "db/connection.h"
#include "db/statement.h"
#include "db/store.h"
#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;
using GoldensTest = StoreTest;

v1::ListGoldensRequest list_request(bool include_replaced, std::uint32_t page_size = 0) {
  v1::ListGoldensRequest list;
  list.set_include_replaced(include_replaced);
  list.set_page_size(page_size);
  return list;
}

// "workload=digest" in the order of the reply, over all pages.
std::string pages(const Store& store, v1::ListGoldensRequest list) {
  std::string text;
  do {
    const auto page = store.goldens(list);
    EXPECT_TRUE(page.ok()) << page.status();
    for (const v1::Golden& one : page->goldens()) {
      text += one.workload() + "=" + one.digest() + " ";
    }
    list.set_page_token(page->next_page_token());
  } while (!list.page_token().empty());
  return text;
}

TEST_F(GoldensTest, RefusesWhatIsNoEpoch) {
  const auto store = open();
  const auto code = [&](std::vector<v1::Golden> goldens) {
    return store->accept_bits(std::move(goldens), 1).status().code();
  };
  EXPECT_EQ(code({}), absl::StatusCode::kInvalidArgument);
  v1::Golden without_reason = golden("a", "1");
  without_reason.clear_reason();
  EXPECT_EQ(code({without_reason}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({golden("a", "")}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({golden("a", "1"), golden("a", "2")}), absl::StatusCode::kInvalidArgument);
  v1::Golden other_reason = golden("b", "1");
  other_reason.set_reason("another");
  EXPECT_EQ(code({golden("a", "1"), other_reason}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(query("SELECT count(*) FROM t_epoch"), "0");
}

TEST_F(GoldensTest, RefusesATokenOrAPageThatIsNotOurs) {
  const auto store = open();
  v1::ListGoldensRequest list = list_request(false);
  list.set_page_token("e1");
  EXPECT_EQ(store->goldens(list).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store->goldens(list_request(false, 10'001)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(GoldensTest, KeepsWhatAnEpochReplaced) {
  const auto store = open();
  const auto first = store->accept_bits({golden("b", "b1"), golden("a", "a1")}, 10);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->epoch(), 1);
  v1::Golden better = golden("a", "a2");
  better.set_reason("new order of sums");
  better.add_figures()->set_name("mean_kl");
  better.mutable_figures(0)->set_value("0.00066");
  v1::Golden same = golden("b", "b1");
  same.set_reason(better.reason());
  *same.mutable_figures() = better.figures();
  const auto second = store->accept_bits({better, same}, 20);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->epoch(), 2);
  EXPECT_EQ(second->num_unchanged(), 1U);

  v1::Golden expected = better;
  expected.set_epoch(2);
  expected.set_accepted_ns(20);
  expected.set_replaced_digest("a1");
  ASSERT_EQ(second->goldens_size(), 1);
  EXPECT_TRUE(MessageDifferencer::Equals(expected, second->goldens(0)));
  EXPECT_TRUE(
      MessageDifferencer::Equals(expected, store->goldens(list_request(false))->goldens(0)));
  EXPECT_EQ(*store->golden_digest(golden("a", "")), "a2");
  EXPECT_EQ(pages(*store, list_request(false)), "a=a2 b=b1 ");
  EXPECT_EQ(pages(*store, list_request(true)), "a=a1 b=b1 a=a2 ");
  EXPECT_EQ(query("SELECT group_concat(digest) FROM goldens WHERE is_current"), "b1,a2");
}

TEST_F(GoldensTest, MakesNoEpochWhenNothingChanges) {
  const auto store = open();
  ASSERT_TRUE(store->accept_bits({golden("a", "1")}, 1).ok());
  const auto again = store->accept_bits({golden("a", "1"), golden("a", "1")}, 2);
  EXPECT_EQ(again->epoch(), 0);
  EXPECT_EQ(again->num_unchanged(), 1U);
  EXPECT_EQ(query("SELECT count(*) FROM t_epoch"), "1");
}

TEST_F(GoldensTest, KeepsTheDigestOfAGoldenFileThatTheFirstEpochReplaces) {
  const auto store = open();
  v1::Golden over_file = golden("a", "2");
  over_file.set_replaced_digest("1");
  EXPECT_EQ(store->accept_bits({over_file}, 1)->goldens(0).replaced_digest(), "1");
}

TEST_F(GoldensTest, PagesThroughEverythingOnce) {
  const auto store = open();
  ASSERT_TRUE(store->accept_bits({golden("a", "1"), golden("b", "1"), golden("c", "1")}, 1).ok());
  ASSERT_TRUE(store->accept_bits({golden("b", "2"), golden("d", "1")}, 2).ok());
  for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 6U}) {
    EXPECT_EQ(pages(*store, list_request(false, size)), "a=1 b=2 c=1 d=1 ");
    EXPECT_EQ(pages(*store, list_request(true, size)), "a=1 b=1 c=1 b=2 d=1 ");
  }
  v1::ListGoldensRequest other = list_request(false);
  other.set_operator_name("tree_attention");
  EXPECT_EQ(pages(*store, other), "");
}

TEST_F(GoldensTest, FindsTheDigestOfOneKeyOnly) {
  const auto store = open();
  ASSERT_TRUE(store->accept_bits({golden("a", "1")}, 1).ok());
  EXPECT_EQ(*store->golden_digest(golden("a", "")), "1");
  v1::Golden other = golden("a", "");
  other.set_domain("cpu");
  EXPECT_EQ(*store->golden_digest(other), std::nullopt);
  other = golden("a", "");
  other.set_family("hw_exp");
  EXPECT_EQ(*store->golden_digest(other), std::nullopt);
}

}  // namespace
}  // namespace assay::db
