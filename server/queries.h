// Queries of people, a few at a time: each holds a thread, a connection and a heap of its own.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"

#include <atomic>

namespace assay::server {

inline constexpr int kMaxQueries = 4;  // at once

// Methods may be called from any thread.
class Queries {
 public:
  explicit Queries(const db::Store& store) : store_(store) {}

  // As db/query.h says. RESOURCE_EXHAUSTED: kMaxQueries others run.
  absl::Status run(const v1::QueryRequest& request, const db::QueryCaller& caller);

 private:
  const db::Store& store_;
  std::atomic<int> num_running_ = 0;
};

}  // namespace assay::server
