#include "profiler/runner.h"

#include "profiler/arm_plan.h"
#include "profiler/checks.h"
#include "profiler/failure_class.h"
#include "profiler/watchdog.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::chrono::seconds kWriteTimeout{60};
constexpr std::chrono::milliseconds kProgressInterval{200};
constexpr std::chrono::hours kNoDeadline{24};

Deadline never() {
  return Deadline::max();
}

// With the failure class, which proto::annotate() leaves behind.
absl::Status annotated(const absl::Status& status, const std::string& context) {
  return with_failure(proto::annotate(status, context), failure_of(status));
}

// What is no refusal is a fault of what ran.
v1::FailureClass class_of(const absl::Status& status) {
  const v1::FailureClass known = failure_of(status);
  return known == v1::FAILURE_CLASS_UNSPECIFIED && !is_refused(status) ? v1::RUNTIME : known;
}

}  // namespace

v1::RunnerHello hello_of(Device& device,
                         std::span<const kernels::Operator* const> catalogue,
                         bool allow_unsandboxed) {
  v1::RunnerHello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_pid(static_cast<std::uint32_t>(getpid()));
  *hello.mutable_device() = device.description();
  absl::Status takes_source = device.takes_source();
  if (takes_source.ok()) {
    takes_source = SourceCompiler::availability(allow_unsandboxed);
  }
  hello.mutable_device()->set_compiles_source(takes_source.ok());
  hello.mutable_device()->set_source_refused(std::string(takes_source.message()));
  for (const kernels::Operator* op : catalogue) {
    v1::OperatorInfo info = device.describe(*op);
    if (!info.variants().empty()) {
      *hello.add_operators() = std::move(info);
    }
  }
  return hello;
}

Runner::Runner(Device& device,
               std::span<const kernels::Operator* const> catalogue,
               Plant plant,
               SourceCompiler::Settings compiler)
    : state_(device),
      catalogue_(catalogue),
      plant_(plant),
      compiler_settings_(compiler),
      compiler_(std::move(compiler)) {}

Runner::~Runner() = default;

SourceOperator* Runner::find_source(const std::string& name) const {
  return source_ != nullptr && source_->name() == name ? source_.get() : nullptr;
}

absl::StatusOr<const kernels::Operator*> Runner::find_operator(const std::string& name) const {
  std::string valid;
  for (const kernels::Operator* op : catalogue_) {
    if (op->name == name) {
      return op;
    }
    absl::StrAppend(&valid, valid.empty() ? "" : ", ", std::string(op->name));
  }
  if (source_ != nullptr) {
    absl::StrAppend(&valid, valid.empty() ? "" : ", ", source_->name());
  }
  return absl::NotFoundError(absl::StrCat("no operator `", name, "`; valid: ", valid));
}

absl::Status Runner::validate(const v1::RunnerValidate& request) const {
  std::optional<CatalogueSubject> of_catalogue;
  Subject* subject = find_source(request.operator_name());
  if (subject == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(const kernels::Operator* op, find_operator(request.operator_name()));
    subject = &of_catalogue.emplace(state_.device, *op);
  }
  std::vector<kernels::Workload> workloads;
  for (int place = 0; place < request.workloads_size(); ++place) {
    auto workload = subject->complete(request.workloads(place));
    if (!workload.ok()) {
      return annotated(workload.status(), absl::StrCat("workloads[", place, "]"));
    }
    workloads.push_back(*std::move(workload));
  }
  if (of_catalogue.has_value()) {
    // Its arms are the same for every workload.
    workloads.resize(1);
  } else if (workloads.empty()) {
    ASSAY_ASSIGN_OR_RETURN(workloads.emplace_back(), subject->complete({}));
  }
  for (int place = 0; place < request.arms_size(); ++place) {
    for (const kernels::Workload& workload : workloads) {
      if (const absl::Status status = subject->validate(workload, request.arms(place));
          !status.ok()) {
        return annotated(status, absl::StrCat("arms[", place, "]"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Runner::open(std::uint64_t sequence,
                          const v1::RunnerOpen& request,
                          v1::RunnerReply& reply) {
  session_.reset();
  SourceOperator* const source = find_source(request.operator_name());
  if (source != nullptr) {
    session_ = std::make_unique<Session>(state_, *source);
  } else {
    auto op = find_operator(request.operator_name());
    if (!op.ok()) {
      return refused(op.status());
    }
    session_ = std::make_unique<Session>(state_, **op);
  }
  spring(plant_, request.workload().seed(), state_.device, out_fd_);
  auto opened = session_->open(request);
  if (source != nullptr) {
    if (const std::string log = source->take_log(); !log.empty()) {
      ASSAY_RETURN_IF_ERROR(send_progress(sequence, 0, absl::StrCat("compiler:\n", log)));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(*reply.mutable_opened(), std::move(opened));
  return absl::OkStatus();
}

absl::Status Runner::define(const v1::RunnerDefine& request, v1::RunnerReply& reply) {
  session_.reset();
  // What the source before was given need not be sent again.
  const auto find_blob = [&](const std::string& digest) {
    const Blob sent = blobs_.find(digest);
    return sent == nullptr && source_ != nullptr ? source_->find_blob(digest) : sent;
  };
  ASSAY_ASSIGN_OR_RETURN(
      auto source, SourceOperator::define(request.source(), find_blob, state_.device, compiler_));
  if (find_operator(source->name()).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("source.name: `", source->name(), "` is an operator of the catalogue"));
  }
  blobs_ = SourceBlobs();
  source_ = std::move(source);
  *reply.mutable_defined()->mutable_operator_info() = source_->info();
  return absl::OkStatus();
}

absl::Status Runner::send_progress(std::uint64_t sequence,
                                   double share,
                                   const std::string& message) {
  if (out_fd_ < 0) {
    return absl::OkStatus();
  }
  v1::RunnerReply frame;
  frame.set_sequence(sequence);
  frame.mutable_progress()->set_progress(share);
  frame.mutable_progress()->set_message(message);
  return write_frame(out_fd_, frame, deadline_after(kWriteTimeout));
}

absl::Status Runner::check(std::uint64_t sequence,
                           const v1::RunnerCheck& request,
                           v1::RunnerReply& reply) {
  session_.reset();
  if (find_source(request.operator_name()) != nullptr) {
    return refused(absl::NotFoundError(
        absl::StrCat("`", request.operator_name(), "` is source and brings no checks")));
  }
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
    return send_progress(sequence, share, message);
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
      return open(request.sequence(), request.open(), reply);
    case v1::RunnerRequest::kTime:
    case v1::RunnerRequest::kClose:
      break;
    case v1::RunnerRequest::kCheck:
      return check(request.sequence(), request.check(), reply);
    case v1::RunnerRequest::kBench:
      return bench(reply);
    case v1::RunnerRequest::kBlob:
      reply.mutable_kept();
      return refused(blobs_.add(request.blob()));
    case v1::RunnerRequest::kDefine:
      return refused(define(request.define(), reply));
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
  *hello.mutable_hello() =
      hello_of(state_.device, catalogue_, compiler_settings_.allow_unsandboxed);
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
      reply.mutable_error()->set_failure(class_of(status));
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
