// Queries of people, a few at a time: each holds a thread, a connection and a heap of its own.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <atomic>
#include <memory>

namespace assay::server {

inline constexpr int kMaxQueries = 4;  // at once

// Methods may be called from any thread.
class Queries {
 public:
  explicit Queries(const db::Store& store) : store_(store) {}

  // One among those that run, given back with the last copy; must not outlive this.
  using Place = std::shared_ptr<const void>;

  // RESOURCE_EXHAUSTED: kMaxQueries others run.
  absl::StatusOr<Place> enter();

  // As db/query.h says, in a place of its own.
  absl::Status run(const v1::QueryRequest& request, const db::QueryCaller& caller);

  // The same for who holds a place.
  absl::Status run_inside(const v1::QueryRequest& request, const db::QueryCaller& caller) const;

 private:
  const db::Store& store_;
  std::atomic<int> num_running_ = 0;
};

}  // namespace assay::server
