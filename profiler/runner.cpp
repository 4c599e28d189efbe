#include "profiler/runner.h"

#include "profiler/arm_plan.h"
#include "profiler/checks.h"
#include "profiler/failure_class.h"
#include "profiler/watchdog.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::chrono::seconds kWriteTimeout{60};
constexpr std::chrono::milliseconds kProgressInterval{200};
constexpr std::chrono::hours kNoDeadline{24};

Deadline never() {
  return Deadline::max();
}

}  // namespace

v1::RunnerHello hello_of(Device& device, std::span<const kernels::Operator* const> catalogue) {
  v1::RunnerHello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_pid(static_cast<std::uint32_t>(getpid()));
  *hello.mutable_device() = device.description();
  for (const kernels::Operator* op : catalogue) {
    v1::OperatorInfo info = device.describe(*op);
    if (!info.variants().empty()) {
      *hello.add_operators() = std::move(info);
    }
  }
  return hello;
}

Runner::Runner(Device& device, std::span<const kernels::Operator* const> catalogue, Plant plant)
    : state_(device), catalogue_(catalogue), plant_(plant) {}

Runner::~Runner() = default;

absl::StatusOr<const kernels::Operator*> Runner::find_operator(const std::string& name) const {
  std::string valid;
  for (const kernels::Operator* op : catalogue_) {
    if (op->name == name) {
      return op;
    }
    absl::StrAppend(&valid, valid.empty() ? "" : ", ", std::string(op->name));
  }
  return absl::NotFoundError(absl::StrCat("no operator `", name, "`; valid: ", valid));
}

absl::Status Runner::validate(const v1::RunnerValidate& request) const {
  ASSAY_ASSIGN_OR_RETURN(const kernels::Operator* op, find_operator(request.operator_name()));
  for (int place = 0; place < request.workloads_size(); ++place) {
    if (const auto workload = complete_workload(*op, request.workloads(place)); !workload.ok()) {
      return proto::annotate(workload.status(), absl::StrCat("workloads[", place, "]"));
    }
  }
  for (int place = 0; place < request.arms_size(); ++place) {
    if (const auto plan = state_.device.plan(*op, request.arms(place)); !plan.ok()) {
      return proto::annotate(plan.status(), absl::StrCat("arms[", place, "]"));
    }
  }
  return absl::OkStatus();
}

absl::Status Runner::open(const v1::RunnerOpen& request, v1::RunnerReply& reply) {
  session_.reset();
  auto op = find_operator(request.operator_name());
  if (!op.ok()) {
    return refused(op.status());
  }
  spring(plant_, request.workload().seed(), state_.device, out_fd_);
  session_ = std::make_unique<Session>(state_, **op);
  ASSAY_ASSIGN_OR_RETURN(*reply.mutable_opened(), session_->open(request));
  return absl::OkStatus();
}

absl::Status Runner::check(std::uint64_t sequence,
                           const v1::RunnerCheck& request,
                           v1::RunnerReply& reply) {
  session_.reset();
  auto op = find_operator(request.operator_name());
  if (!op.ok()) {
    return refused(op.status());
  }
  auto last = std::chrono::steady_clock::now();
  const auto progress = [&](double share, const std::string& message) -> absl::Status {
    const auto now = std::chrono::steady_clock::now();
    if (out_fd_ < 0 || now - last < kProgressInterval) {
      return absl::OkStatus();
    }
    last = now;
    v1::RunnerReply frame;
    frame.set_sequence(sequence);
    frame.mutable_progress()->set_progress(share);
    frame.mutable_progress()->set_message(message);
    return write_frame(out_fd_, frame, deadline_after(kWriteTimeout));
  };
  ASSAY_ASSIGN_OR_RETURN(*reply.mutable_checked(), run_check(state_, **op, request, progress));
  return absl::OkStatus();
}

absl::Status Runner::bench(v1::RunnerReply& reply) {
  session_.reset();
  auto ceilings = state_.device.bench();
  if (absl::IsResourceExhausted(ceilings.status())) {
    return refused(ceilings.status());
  }
  ASSAY_RETURN_IF_ERROR(ceilings.status());
  reply.mutable_benched()->mutable_ceilings()->Assign(ceilings->begin(), ceilings->end());
  return absl::OkStatus();
}

absl::Status Runner::answer(const v1::RunnerRequest& request, v1::RunnerReply& reply) {
  switch (request.request_case()) {
    case v1::RunnerRequest::kValidate:
      reply.mutable_validated();
      return refused(validate(request.validate()));
    case v1::RunnerRequest::kOpen:
      return open(request.open(), reply);
    case v1::RunnerRequest::kTime:
    case v1::RunnerRequest::kClose:
      break;
    case v1::RunnerRequest::kCheck:
      return check(request.sequence(), request.check(), reply);
    case v1::RunnerRequest::kBench:
      return bench(reply);
    case v1::RunnerRequest::kBlob:
    case v1::RunnerRequest::kDefine:
      return refused(absl::FailedPreconditionError("source needs a CUDA device"));
    case v1::RunnerRequest::REQUEST_NOT_SET:
      return refused(absl::InvalidArgumentError("request: not set"));
  }
  if (session_ == nullptr) {
    return refused(absl::FailedPreconditionError("nothing is open"));
  }
  if (request.has_time()) {
    ASSAY_ASSIGN_OR_RETURN(*reply.mutable_timed(), session_->time(request.time()));
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(*reply.mutable_closed(), session_->close(request.close()));
  session_.reset();
  return absl::OkStatus();
}

absl::Status Runner::serve(int in_fd, int out_fd, const std::string& nonce) {
  out_fd_ = out_fd;
  v1::RunnerReply hello;
  *hello.mutable_hello() = hello_of(state_.device, catalogue_);
  ASSAY_RETURN_IF_ERROR(write_magic(out_fd, nonce, deadline_after(kWriteTimeout)));
  ASSAY_RETURN_IF_ERROR(write_frame(out_fd, hello, deadline_after(kWriteTimeout)));

  FrameReader reader(in_fd);
  Watchdog watchdog(in_fd);
  while (true) {
    v1::RunnerRequest request;
    if (absl::Status status = reader.read(request, never()); !status.ok()) {
      return absl::IsUnavailable(status) ? absl::OkStatus() : status;
    }
    watchdog.arm(deadline_after(request.deadline_ns() > 0
                                    ? std::chrono::nanoseconds(request.deadline_ns())
                                    : std::chrono::nanoseconds(kNoDeadline)));
    v1::RunnerReply reply;
    absl::Status status = answer(request, reply);
    if (!status.ok()) {
      reply.Clear();
      reply.mutable_error()->set_code(static_cast<int>(status.code()));
      reply.mutable_error()->set_message(std::string(status.message()));
      reply.mutable_error()->set_refused(is_refused(status));
      reply.mutable_error()->set_failure(failure_of(status));
    }
    reply.set_sequence(request.sequence());
    ASSAY_RETURN_IF_ERROR(write_frame(out_fd, reply, deadline_after(kWriteTimeout)));
    watchdog.disarm();
    if (!status.ok() && !is_refused(status)) {
      return status;
    }
  }
}

}  // namespace assay::profiler
