#include "proto/numbers.h"
#include "proto/text.h"
#include "server/receipt_sections.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <string>

namespace assay::server {
namespace {

std::string ratio_text(double ratio, bool has_interval, double low, double high) {
  if (ratio <= 0) {
    return "-";
  }
  return has_interval ? absl::StrCat(proto::ratio_text(ratio), " ", proto::interval_text(low, high))
                      : proto::estimate_text(ratio);
}

std::string time_text(std::int64_t median_ns) {
  return median_ns > 0 ? proto::in_microseconds(median_ns) : "-";
}

std::string winner_line(const v1::ReceiptRace& race) {
  const std::string so_far = race.may_go_on() ? " so far" : "";
  if (!race.has_winner() || race.ranking().empty()) {
    return absl::StrCat("- **no winner", so_far, "**: nothing may rank\n");
  }
  const v1::ReceiptContender& winner = race.ranking(0);
  std::string text = absl::StrCat("- winner",
                                  so_far,
                                  ": ",
                                  markdown_code(proto::text_of(winner.arm())),
                                  ", ",
                                  time_text(winner.median_ns()),
                                  " us, ");
  if (proto::text_of(winner.arm()) == proto::text_of(race.baseline())) {
    text += "where the sweep began";
  } else {
    absl::StrAppend(
        &text,
        ratio_text(race.ratio(), race.has_interval(), race.ratio_low(), race.ratio_high()),
        " of ",
        markdown_code(proto::text_of(race.baseline())));
  }
  return absl::StrCat(
      text, "; to win takes more than the noise of ", proto::percent_text(race.noise()), "\n");
}

std::string counts_line(const v1::ReceiptRace& race) {
  return absl::StrCat(
      "- ",
      proto::counted(race.num_tried(), "configuration"),
      " tried, ",
      proto::with_commas(race.num_valid()),
      " valid, bits equal in ",
      proto::with_commas(race.num_bits_equal()),
      ": ",
      absl::StrJoin(race.standings(),
                    ", ",
                    [](std::string* out, const v1::CountBy& count) {
                      absl::StrAppend(
                          out, proto::with_commas(count.num()), " ", markdown_prose(count.label()));
                    }),
      "\n");
}

std::string outputs_line(const v1::ReceiptRace& race) {
  std::string text;
  for (const v1::TensorDigest& tensor : race.outputs()) {
    absl::StrAppend(&text,
                    text.empty() ? "- digests of the winner: " : ", ",
                    markdown_code(tensor.tensor()),
                    " ",
                    markdown_code(tensor.digest()));
  }
  return text.empty() ? "" : text + "\n";
}

std::string ranking_text(const v1::ReceiptRace& race) {
  MarkdownTable table{{{"#", true},
                       {"configuration"},
                       {"us", true},
                       {"of the winner", true},
                       {"standing"},
                       {"why"}},
                      {}};
  for (const v1::ReceiptContender& each : race.ranking()) {
    const bool is_winner = each.standing() == "winner";
    table.rows.push_back(
        {absl::StrCat(each.configuration()),
         markdown_code(proto::text_of(each.arm())),
         time_text(each.median_ns()),
         is_winner
             ? "1"
             : ratio_text(each.ratio(), each.has_interval(), each.ratio_low(), each.ratio_high()),
         markdown_prose(each.standing()),
         markdown_prose(each.message())});
  }
  const std::int64_t num_left = std::int64_t{race.num_valid()} - race.ranking_size();
  std::string text = table.text();
  if (num_left > 0) {
    absl::StrAppend(
        &text, "And ", proto::with_commas(num_left), " more that rank below these.\n\n");
  }
  return text;
}

std::string failures_text(const v1::ReceiptRace& race) {
  MarkdownTable table{{{"failure"}, {"configurations", true}, {"the first"}, {"why"}}, {}};
  for (const v1::ReceiptFailure& failure : race.failures()) {
    table.rows.push_back({proto::spoken(v1::FailureClass_Name(failure.failure())),
                          proto::with_commas(failure.num()),
                          markdown_code(proto::text_of(failure.first())),
                          markdown_code(failure.message())});
  }
  return table.text();
}

}  // namespace

std::string race_section(const v1::ReceiptExperiment& experiment) {
  std::string text;
  for (const v1::ReceiptRace& race : experiment.races()) {
    absl::StrAppend(&text,
                    "#### Sweep on ",
                    markdown_code(proto::text_of(race.workload())),
                    "\n\n",
                    winner_line(race),
                    counts_line(race),
                    outputs_line(race),
                    "\n",
                    ranking_text(race),
                    failures_text(race));
  }
  return text;
}

std::string ceiling_section(const v1::ReceiptExperiment& experiment) {
  MarkdownTable table{{{"ceiling"}, {"value", true}, {"what"}}, {}};
  for (const v1::Ceiling& ceiling : experiment.ceilings()) {
    table.rows.push_back({markdown_code(ceiling.name()),
                          markdown_prose(proto::quantity_text(ceiling.value(), ceiling.unit())),
                          markdown_prose(ceiling.help())});
  }
  return table.rows.empty() ? "" : "#### Ceilings\n\n" + table.text();
}

}  // namespace assay::server
