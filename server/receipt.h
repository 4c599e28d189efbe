// Receipts of stored experiments, and whether one still says what is stored. A change of the
// message or of its Markdown is a new kReceiptFormat: a receipt of another format cannot be made
// again here.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::server {

inline constexpr std::uint32_t kReceiptFormat = 1;
inline constexpr int kMaxReceiptExperiments = 100;

// XXH3-128 of everything but the digest.
std::string digest_of(v1::Receipt receipt);

// INVALID_ARGUMENT: the ids. FAILED_PRECONDITION: one still runs or waits.
absl::StatusOr<v1::ReceiptResponse> make_receipt(const db::Store& store,
                                                 const v1::ReceiptRequest& request);

// INVALID_ARGUMENT: it is no receipt. NOT_FOUND: one of its experiments is not here.
absl::StatusOr<v1::VerifyReceiptResponse> verify_receipt(const db::Store& store,
                                                         const v1::VerifyReceiptRequest& request);

}  // namespace assay::server
