// The states of one experiment as server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
#pragma once

#include "server/scheduler.h"

#include "absl/status/statusor.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace assay::server {

inline constexpr std::chrono::seconds kHeartBeat{10};

class HttpWatch {
 public:
  // Of the experiment `id`, 0: the newest. Fails as Scheduler::next_state does.
  static absl::StatusOr<std::unique_ptr<HttpWatch>> open(Scheduler& scheduler, std::int64_t id);

  // What is to be sent next, after a bounded wait; empty: nothing yet. One `data:` line with the
  // whole state for each change, a comment when kHeartBeat brought none, the event `end` after the
  // final state, and `failed` with code and message where the rest cannot be had.
  std::string next();

  // Nothing comes after what next() gave.
  bool is_over() const { return over_; }

 private:
  HttpWatch(Scheduler& scheduler, std::int64_t id) : scheduler_(scheduler), id_(id) {}

  absl::Status wait(std::chrono::milliseconds bound);

  Scheduler& scheduler_;
  std::int64_t id_;
  std::uint64_t seen_ = 0;
  std::string text_;  // not yet given
  bool over_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace assay::server
