#include "server/receipt.h"

#include "proto/status.h"
#include "server/receipt_difference.h"
#include "server/receipt_experiment.h"
#include "server/receipt_markdown.h"
#include "server/receipt_not_run.h"
#include "server/scheduler.h"
#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

absl::Status check_request(const v1::ReceiptRequest& request) {
  if (request.experiment_ids().empty() || request.experiment_ids_size() > kMaxReceiptExperiments) {
    return absl::InvalidArgumentError(
        absl::StrCat("experiment_ids: must be 1 to ", kMaxReceiptExperiments));
  }
  if (request.judged_until_ns() < 0) {
    return absl::InvalidArgumentError("judged_until_ns: must not be negative");
  }
  for (int i = 0; i < request.experiment_ids_size(); ++i) {
    if (request.experiment_ids(i) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("experiment_ids[", i, "]: must not be negative"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Experiment> final_experiment(const db::Store& store, std::int64_t id) {
  v1::GetRequest get;
  get.set_experiment_id(id);
  ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, store.get(get));
  if (!is_final(experiment.state())) {
    return absl::FailedPreconditionError(absl::StrCat("experiment ",
                                                      experiment.experiment_id(),
                                                      " is ",
                                                      v1::TaskState_Name(experiment.state()),
                                                      ": its receipt is made when it ends"));
  }
  return experiment;
}

absl::StatusOr<v1::Receipt> receipt_of(const db::Store& store, const v1::ReceiptRequest& request) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  v1::Receipt receipt;
  receipt.set_format_version(kReceiptFormat);
  std::set<std::int64_t> seen;
  for (int i = 0; i < request.experiment_ids_size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment,
                           final_experiment(store, request.experiment_ids(i)));
    if (!seen.insert(experiment.experiment_id()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("experiment_ids[", i, "]: ", experiment.experiment_id(), " is there twice"));
    }
    const bool was_judged = newest_judged_ns(experiment) > 0;
    keep_verdicts_until(request.judged_until_ns(), experiment);
    // Where all verdicts are later, the moment that was asked for is what makes the same receipt.
    const std::int64_t newest = newest_judged_ns(experiment);
    receipt.set_judged_until_ns(std::max(
        receipt.judged_until_ns(), newest == 0 && was_judged ? request.judged_until_ns() : newest));
    *receipt.add_experiments() = receipt_experiment(experiment);
  }
  add_not_run(receipt);
  receipt.set_digest(digest_of(receipt));
  return receipt;
}

// The ids of this database, in the receipt's order.
absl::StatusOr<v1::ReceiptRequest> request_of(const db::Store& store, const ReceiptNames& names) {
  ASSAY_ASSIGN_OR_RETURN(const auto requests, store.request_ids());
  std::map<std::string, std::int64_t> ids;
  for (const auto& [id, request_id] : requests) {
    ids.emplace(receipt_name(request_id), id);
  }
  v1::ReceiptRequest request;
  request.set_judged_until_ns(names.judged_until_ns);
  for (std::size_t i = 0; i < names.requests.size(); ++i) {
    const auto found = ids.find(names.requests[i]);
    if (found == ids.end()) {
      return absl::NotFoundError(absl::StrCat(
          "experiments[", i, "].request: no such experiment here, ", names.requests[i]));
    }
    request.add_experiment_ids(found->second);
  }
  return request;
}

// A receipt that does not fit its own digest was changed, whatever is stored.
v1::VerifyReceiptResponse changed(const v1::Receipt& receipt) {
  v1::VerifyReceiptResponse response;
  response.set_difference(absl::StrCat("digest: the receipt was changed, it names ",
                                       receipt.digest(),
                                       " and is ",
                                       digest_of(receipt)));
  return response;
}

}  // namespace

std::string digest_of(v1::Receipt receipt) {
  receipt.clear_digest();
  return tuning::content_digest(receipt.SerializeAsString());
}

absl::StatusOr<v1::ReceiptResponse> make_receipt(const db::Store& store,
                                                 const v1::ReceiptRequest& request) {
  v1::ReceiptResponse response;
  ASSAY_ASSIGN_OR_RETURN(*response.mutable_receipt(), receipt_of(store, request));
  response.set_markdown(receipt_markdown(response.receipt()));
  return response;
}

absl::StatusOr<v1::VerifyReceiptResponse> verify_receipt(const db::Store& store,
                                                         const v1::VerifyReceiptRequest& request) {
  if (request.has_receipt() == !request.markdown().empty()) {
    return absl::InvalidArgumentError("receipt, markdown: exactly one of them must be set");
  }
  const bool is_text = !request.markdown().empty();
  ASSAY_ASSIGN_OR_RETURN(const ReceiptNames names,
                         is_text ? names_in(request.markdown()) : names_in(request.receipt()));
  const absl::StatusOr<v1::ReceiptRequest> again = request_of(store, names);
  if (!again.ok()) {
    const bool was_changed = !is_text && digest_of(request.receipt()) != request.receipt().digest();
    return absl::IsNotFound(again.status()) && was_changed
               ? absl::StatusOr<v1::VerifyReceiptResponse>(changed(request.receipt()))
               : again.status();
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::Receipt stored, receipt_of(store, *again));
  v1::VerifyReceiptResponse response;
  response.set_difference(is_text ? first_difference(request.markdown(), receipt_markdown(stored))
                                  : first_difference(request.receipt(), stored));
  response.set_matches(response.difference().empty());
  *response.mutable_experiment_ids() = again->experiment_ids();
  return response;
}

}  // namespace assay::server
