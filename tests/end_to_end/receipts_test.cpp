// A receipt as people make it, paste it and check it, with the real programs.
#include "tests/end_to_end/real_runner.h"

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>

namespace assay {
namespace {

class Receipts : public RealRunner {
 protected:
  std::string made(const std::string& options) const {
    const std::string path = folder_ / "made";
    const Result result = assay("receipt " + options + " --overwrite -o " + path);
    EXPECT_EQ(result.status, 0) << result.text;
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  Result verified(const std::string& text) const {
    const std::string path = folder_ / "pasted";
    std::ofstream(path) << text;
    return assay("receipt --verify " + path);
  }

  // With another digit behind `begin`.
  static std::string changed(std::string text, const std::string& begin) {
    std::size_t place = text.find(begin);
    EXPECT_NE(place, std::string::npos) << begin;
    for (place += begin.size(); std::isdigit(static_cast<unsigned char>(text[place])) == 0;) {
      ++place;
    }
    text[place] = text[place] == '9' ? '8' : static_cast<char>(text[place] + 1);
    return text;
  }

  void run_experiments() const {
    const Result compared = assay(
        "compare qsa_decode --baseline one_cell --candidate two_cell --candidate hw_exp "
        "-a kv=int8 -a width=64 --rounds 12 --calls 3 --label 'see " +
        std::string("/ho") + "me/alice/notes'");
    EXPECT_EQ(compared.status, 3) << compared.text;
    const Result checked = assay("check qsa_decode --suite mutants");
    EXPECT_EQ(checked.status, 0) << checked.text;
  }
};

TEST_F(Receipts, AreMadeAgainAndVerifiedAlsoAfterAnotherJudgement) {
  Daemon daemon(arguments({}));
  run_experiments();
  const std::string markdown = made("1 2");
  const std::string json = made("1 2 --format json");
  for (const char* part : {"### 1. COMPARE of `qsa_decode`",
                           "- label: `see (path removed)`",
                           "1 rejected",
                           "elements of \\`out\\` differ, first out",
                           "mutants: 14 of 14 rejected",
                           "on a GPU: everything here ran on the backend cpu"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
  }
  EXPECT_EQ((markdown + json).find("alice"), std::string::npos);
  EXPECT_EQ(made("1 2"), markdown);

  // A judgement that asks for more leaves the receipt of before as it was.
  const std::size_t until = markdown.find("verdicts until `") + 16;
  const std::string moment = markdown.substr(until, markdown.find('`', until) - until);
  const Result judged = assay("judge 1 --least-effect 0.5");
  EXPECT_EQ(judged.status, 0) << judged.text;
  EXPECT_NE(made("1 2"), markdown);
  EXPECT_EQ(made("1 2 --judged-until " + moment), markdown);
  EXPECT_EQ(made("1 2 --format json --judged-until " + moment), json);

  std::string pasted = "See below.\r\n";
  for (const char c : markdown) {
    pasted += c == '\n' ? "  \r\n" : std::string(1, c);
  }
  for (const std::string& text : {markdown, json, pasted}) {
    const Result result = verified(text);
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(result.text, "matches: experiment 1, 2\n");
  }
  const Result in_text = verified(changed(markdown, "| 1 | `two_cell"));
  EXPECT_EQ(in_text.status, 3) << in_text.text;
  EXPECT_EQ(in_text.text.find("differs: line "), 0U) << in_text.text;
  const Result in_json = verified(changed(json, "\"candidate_median_ns\": "));
  EXPECT_EQ(in_json.status, 3) << in_json.text;
  EXPECT_NE(in_json.text.find("].candidate_median_ns: the receipt says "), std::string::npos)
      << in_json.text;
  const Result elsewhere = verified(changed(markdown, "- request: `"));
  EXPECT_EQ(elsewhere.status, 1) << elsewhere.text;
  EXPECT_NE(elsewhere.text.find("no such experiment here"), std::string::npos) << elsewhere.text;
  EXPECT_EQ(verified("hello").status, 2);
}

}  // namespace
}  // namespace assay
