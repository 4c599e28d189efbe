#include "server/runner_dialogue.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

// How a runner's progress message begins that is the log of a source's compile.
constexpr std::string_view kCompilerSays = "compiler:\n";

v1::FailureClass refusal_class(const v1::RunnerError& error) {
  if (error.failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
    return error.failure();
  }
  return static_cast<absl::StatusCode>(error.code()) == absl::StatusCode::kResourceExhausted
             ? v1::RESOURCES
             : v1::CONSTRAINTS;
}

v1::Outcome outcome_of(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kDeadlineExceeded:
      return v1::TIMED_OUT;
    case absl::StatusCode::kDataLoss:
      return v1::BAD_FRAME;
    default:
      return v1::CRASHED;
  }
}

}  // namespace

std::chrono::nanoseconds RunnerDialogue::deadline() const {
  const std::int64_t by_default =
      spec_.kind() == v1::CHECK ? kDefaultCheckDeadlineNs : kDefaultDeadlineNs;
  return std::chrono::nanoseconds(spec_.deadline_ns() == 0 ? by_default : spec_.deadline_ns());
}

absl::StatusOr<v1::RunnerReply> RunnerDialogue::ask(const v1::RunnerRequest& request,
                                                    v1::RunnerReply::ReplyCase expected,
                                                    double progress_from,
                                                    double progress_share) {
  context_.progress(progress_from);
  auto reply = call_(request, deadline(), [&](const v1::RunnerProgress& progress) {
    if (progress.message().starts_with(kCompilerSays)) {
      compiler_log_ = progress.message().substr(kCompilerSays.size());
      return;
    }
    context_.progress(progress_from + progress_share * std::clamp(progress.progress(), 0.0, 1.0));
  });
  if (!reply.ok()) {
    run_.runner_is_sound = false;
    run_.cancelled = reply.status().code() == absl::StatusCode::kCancelled;
    return fail(outcome_of(reply.status().code()), std::string(reply.status().message()));
  }
  if (reply->has_error()) {
    const v1::RunnerError& error = reply->error();
    run_.runner_is_sound = error.refused();
    if (error.refused()) {
      run_.configuration.set_failure(refusal_class(error));
      return fail(v1::REFUSED, error.message());
    }
    return fail(outcome_of(static_cast<absl::StatusCode>(error.code())), error.message());
  }
  if (reply->reply_case() != expected) {
    run_.runner_is_sound = false;
    return fail(v1::BAD_FRAME, "the runner answered with another kind of reply");
  }
  return *std::move(reply);
}

absl::Status RunnerDialogue::fail(v1::Outcome outcome, const std::string& message) {
  failed_ = true;
  run_.configuration.set_outcome(outcome);
  run_.configuration.set_message(message);
  return absl::AbortedError(message);
}

}  // namespace assay::server
