#include "server/queries.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

namespace assay::server {

absl::StatusOr<Queries::Place> Queries::enter() {
  const Place place(nullptr, [this](const void*) { --num_running_; });
  if (++num_running_ > kMaxQueries) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxQueries, " queries run, the limit; ask again when one has ended"));
  }
  return place;
}

absl::Status Queries::run(const v1::QueryRequest& request, const db::QueryCaller& caller) {
  ASSAY_ASSIGN_OR_RETURN(const Place place, enter());
  return run_inside(request, caller);
}

absl::Status Queries::run_inside(const v1::QueryRequest& request,
                                 const db::QueryCaller& caller) const {
  return store_.query(request, caller);
}

}  // namespace assay::server
