#include "server/receipt_difference.h"

#include "server/receipt_markdown.h"
#include "tests/server/receipt_fixtures.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

TEST(ReceiptDifference, IsNoneOfAReceiptAndItself) {
  const v1::Receipt receipt = made_up_receipt();
  EXPECT_EQ(first_difference(receipt, receipt), "");
  const std::string text = receipt_markdown(receipt);
  EXPECT_EQ(first_difference(text, text), "");
}

TEST(ReceiptDifference, NamesTheFieldOfAMessage) {
  const v1::Receipt stored = made_up_receipt();
  v1::Receipt found = stored;
  found.mutable_experiments(0)
      ->mutable_rows(0)
      ->mutable_verdict()
      ->mutable_stages(1)
      ->set_candidate_median_ns(987'601);
  EXPECT_EQ(
      first_difference(found, stored),
      "experiments[0].rows[0].verdict.stages[1].candidate_median_ns: the receipt says 987601, "
      "stored is 987600");
  found = stored;
  found.mutable_experiments(2)->mutable_not_run()->RemoveLast();
  EXPECT_TRUE(first_difference(found, stored)
                  .starts_with("experiments[2].not_run[2]: the receipt says nothing, stored is \""))
      << first_difference(found, stored);
  found = stored;
  found.mutable_experiments(2)->add_not_run("more");
  EXPECT_EQ(first_difference(found, stored),
            "experiments[2].not_run[3]: the receipt says \"more\", stored is nothing");
  found = stored;
  found.set_digest(std::string(32, '0'));
  EXPECT_EQ(first_difference(found, stored),
            "digest: the receipt says " + found.digest() + ", stored is " + stored.digest());
}

// Whatever digit is changed, it is found.
TEST(ReceiptDifference, FindsEveryChangedDigitOfAText) {
  const std::string stored = receipt_markdown(made_up_receipt());
  int num_digits = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] >= '0' && stored[i] <= '9') {
      std::string found = stored;
      found[i] = found[i] == '9' ? '8' : static_cast<char>(found[i] + 1);
      EXPECT_NE(first_difference(found, stored), "") << i;
      ++num_digits;
    }
  }
  EXPECT_GT(num_digits, 300);
}

TEST(ReceiptDifference, NamesTheColumnOfATable) {
  const std::string stored = receipt_markdown(made_up_receipt());
  EXPECT_TRUE(first_difference(replaced(stored, "| 987.6 |", "| 887.6 |"), stored)
                  .ends_with(", column chunk B us: the receipt says 887.6, stored is 987.6"))
      << first_difference(replaced(stored, "| 987.6 |", "| 887.6 |"), stored);
  EXPECT_EQ(first_difference(replaced(stored, "- seed: 5", "- seed: 6"), stored).substr(0, 5),
            "line ");
  // A line too many is one, too.
  EXPECT_NE(first_difference(replaced(stored, "- seed: 5", "- seed: 5\n- fast: yes"), stored), "");
}

TEST(ReceiptDifference, LooksOverWhatAPasteChanges) {
  const std::string stored = receipt_markdown(made_up_receipt());
  std::string pasted = "What this pull request does.\r\n\r\n";
  for (const char c : stored) {
    pasted += c == '\n' ? "  \r\n" : std::string(1, c);
  }
  EXPECT_EQ(first_difference(pasted + "\r\nReviewed by me.\r\n", stored), "");
}

TEST(ReceiptDifference, ReadsWhatIsNeededToMakeItAgain) {
  const v1::Receipt receipt = made_up_receipt();
  const auto of_message = names_in(receipt);
  const auto of_text = names_in(receipt_markdown(receipt));
  ASSERT_TRUE(of_message.ok()) << of_message.status();
  ASSERT_TRUE(of_text.ok()) << of_text.status();
  EXPECT_EQ(of_text->requests, of_message->requests);
  EXPECT_EQ(of_text->requests.size(), 4U);
  EXPECT_EQ(of_text->requests[0], receipt_name("compare"));
  EXPECT_EQ(of_text->judged_until_ns, receipt.judged_until_ns());
  EXPECT_EQ(of_message->judged_until_ns, receipt.judged_until_ns());
}

TEST(ReceiptDifference, RefusesATextOfSeveralReceipts) {
  const std::string text = receipt_markdown(made_up_receipt());
  std::string second = replaced(text, "- seed: 5", "- seed: 6");
  for (const std::string& more : {second, " " + second, "> " + second, "\t" + second}) {
    for (const std::string& both : {text + more, more + text}) {
      EXPECT_EQ(names_in(both).status(),
                absl::InvalidArgumentError(
                    "markdown: has the heading `## Receipt of assay` 2 times: verify each receipt "
                    "in a file of its own"))
          << more.substr(0, 3);
    }
  }
  EXPECT_TRUE(names_in("as `## Receipt of assay` says\n" + text).ok());
}

TEST(ReceiptDifference, RefusesWhatIsNoReceipt) {
  const std::string text = receipt_markdown(made_up_receipt());
  for (const std::string& wrong :
       {std::string(),
        std::string("hello"),
        text.substr(0, text.size() / 2),
        replaced(text, "format `1`", "format `2`"),
        replaced(text, "verdicts until `1", "verdicts until `x"),
        replaced(text, "- request: `", "- request: `g"),
        replaced(text, receipt_name("check"), receipt_name("compare"))}) {
    EXPECT_EQ(names_in(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
  v1::Receipt receipt = made_up_receipt();
  receipt.set_format_version(2);
  EXPECT_EQ(names_in(receipt).status().message(), "format_version: is 2, this daemon makes 1");
  receipt = made_up_receipt();
  receipt.mutable_experiments(1)->set_request("x");
  EXPECT_EQ(names_in(receipt).status().message(),
            "experiments[1].request: must be 32 lower-case hexadecimal digits");
  receipt.clear_experiments();
  EXPECT_EQ(names_in(receipt).status().message(), "experiments: a receipt has 1 to 100");
}

}  // namespace
}  // namespace assay::server
