// Reading a receipt that somebody hands in: which experiments it is about, and where it differs
// from the one that is stored. Pure.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

// What is needed to make it again.
struct ReceiptNames {
  std::vector<std::string> requests;  // ReceiptExperiment.request
  std::int64_t judged_until_ns = 0;
};

// INVALID_ARGUMENT: it is no receipt, several, or one of another format.
absl::StatusOr<ReceiptNames> names_in(const v1::Receipt& receipt);
absl::StatusOr<ReceiptNames> names_in(std::string_view markdown);

// "experiments[0].rows[1].verdict.stages[0].ratio: the receipt says 0.5, stored is 0.6"; empty:
// none.
std::string first_difference(const v1::Receipt& found, const v1::Receipt& stored);

// "line 12, column `A us`: the receipt says `1`, stored is `2`"; line 1 is the receipt's heading.
// Blanks at the ends of lines and carriage returns are no difference.
std::string first_difference(std::string_view found_markdown, std::string_view stored_markdown);

}  // namespace assay::server
