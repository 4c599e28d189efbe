// A receipt as the text that is pasted into a pull request: made from the message alone, so it
// states nothing that the message does not. Figures have their first digits; the digest covers all
// of them.
#pragma once

#include "proto/assay.pb.h"

#include <string>
#include <string_view>

namespace assay::server {

// By these a receipt is found in a text and read again.
inline constexpr std::string_view kReceiptHeading = "## Receipt of assay";
inline constexpr std::string_view kReceiptRequest = "- request: ";
inline constexpr std::string_view kReceiptDigestLine = "Receipt digest ";
inline constexpr std::string_view kReceiptFormatIs = "format ";
inline constexpr std::string_view kReceiptJudgedUntil = "verdicts until ";

std::string receipt_markdown(const v1::Receipt& receipt);

}  // namespace assay::server
