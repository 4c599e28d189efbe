#include "server/source.h"

#include "db/blobs.h"
#include "proto/status.h"
#include "proto/text.h"
#include "server/lookup.h"
#include "tuning/content_digest.h"
#include "tuning/source_space.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>
#include <utility>

namespace assay::server {
namespace {

absl::Status at_digest(const absl::Status& status) {
  return proto::annotate(status, "spec.source_digest");
}

// "9.0" is sm_90.
std::string architecture_of(const v1::Device& device) {
  std::string digits = device.compute_capability();
  std::erase(digits, '.');
  return digits.empty() ? device.backend() : absl::StrCat("sm_", digits);
}

absl::StatusOr<v1::SourceSpec> read_source(const std::string& digest, const db::Store& store) {
  if (!tuning::is_content_digest(digest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", digest, "` is not 32 lower-case hexadecimal digits"));
  }
  ASSAY_ASSIGN_OR_RETURN(const bool is_here, store.has_blob(digest));
  if (!is_here) {
    return absl::NotFoundError(absl::StrCat("no source ", digest, " was uploaded"));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, store.blob(digest));
  if (bytes.size() > kMaxSourceSpecBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a specification of ",
                     proto::with_commas(static_cast<std::int64_t>(bytes.size())),
                     " bytes, the limit is ",
                     proto::with_commas(kMaxSourceSpecBytes)));
  }
  v1::SourceSpec source;
  if (!source.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("what was uploaded is no SourceSpec");
  }
  return source;
}

absl::Status check_data(const v1::SourceSpec& source, const db::Store& store) {
  for (int i = 0; i < source.tensors_size(); ++i) {
    const v1::SourceTensor& tensor = source.tensors(i);
    for (const auto& [name, digest] : {std::pair("fill", tensor.fill().digest()),
                                       std::pair("reference", tensor.reference().digest())}) {
      ASSAY_ASSIGN_OR_RETURN(const bool is_here, digest.empty() ? true : store.has_blob(digest));
      if (!is_here) {
        return absl::NotFoundError(absl::StrCat(
            "source.tensors[", i, "].", name, ".digest: no data ", digest, " was uploaded"));
      }
    }
  }
  return absl::OkStatus();
}

// The answer of a runner that would not take the request; it was not asked.
v1::RunnerReply refusal(const absl::Status& status, v1::FailureClass failure) {
  v1::RunnerReply reply;
  v1::RunnerError& error = *reply.mutable_error();
  error.set_code(static_cast<int>(status.code()));
  error.set_message(std::string(status.message()));
  error.set_refused(true);
  error.set_failure(failure);
  return reply;
}

absl::Status check_arms(const v1::SourceSpec& source, const v1::RunnerOpen& open) {
  for (const auto& [name, arm, is_set] :
       {std::tuple("baseline", &open.baseline(), open.has_baseline()),
        std::tuple("candidate", &open.candidate(), open.has_candidate())}) {
    const absl::Status held = is_set
                                  ? tuning::check_restrictions(source, open.workload().axes(), *arm)
                                  : absl::OkStatus();
    if (!held.ok()) {
      return proto::annotate(held, name);
    }
  }
  return absl::OkStatus();
}

bool is_good(const absl::StatusOr<v1::RunnerReply>& reply) {
  return reply.ok() && !reply->has_error();
}

// Data in pieces, then the definition; the first answer that is not good ends it.
absl::StatusOr<v1::RunnerReply> send_source(const v1::SourceSpec& source,
                                            const db::Store& store,
                                            const RunnerCall& call,
                                            std::chrono::nanoseconds timeout,
                                            const RunnerProcess::Progress& progress) {
  std::size_t total = 0;
  for (const std::string& digest : db::data_of(source)) {
    const absl::StatusOr<std::string> stored = store.blob(digest);
    if (!stored.ok()) {
      return refusal(stored.status(), v1::FAILURE_CLASS_UNSPECIFIED);
    }
    const std::string& bytes = *stored;
    total += bytes.size();
    if (total > kMaxSourceDataBytes) {
      return refusal(
          absl::ResourceExhaustedError(absl::StrCat("the source has more than ",
                                                    proto::with_commas(kMaxSourceDataBytes),
                                                    " bytes of data, the limit")),
          v1::RESOURCES);
    }
    for (std::size_t begin = 0; begin == 0 || begin < bytes.size(); begin += kBlobPieceBytes) {
      v1::RunnerRequest request;
      request.mutable_blob()->set_digest(digest);
      request.mutable_blob()->set_num_bytes(static_cast<std::int64_t>(bytes.size()));
      request.mutable_blob()->set_data(bytes.substr(begin, kBlobPieceBytes));
      auto reply = call(std::move(request), timeout, progress);
      if (!is_good(reply)) {
        return reply;
      }
    }
  }
  v1::RunnerRequest request;
  *request.mutable_define()->mutable_source() = source;
  return call(std::move(request), timeout, progress);
}

}  // namespace

absl::StatusOr<Description> with_source(const Description& description,
                                        const v1::ExperimentSpec& spec,
                                        const db::Store& store) {
  if (spec.source_digest().empty()) {
    return description;
  }
  if (spec.kind() == v1::BENCH || spec.kind() == v1::CHECK) {
    return at_digest(absl::InvalidArgumentError(
        absl::StrCat("a ", v1::ExperimentKind_Name(spec.kind()), " takes none")));
  }
  const auto source = read_source(spec.source_digest(), store);
  if (!source.ok()) {
    return at_digest(source.status());
  }
  const v1::Device& device = description.device;
  if (!device.compiles_source()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "spec.device: `",
        spec.device(),
        "` compiles no source: ",
        device.source_refused().empty() ? "its runner has no compiler" : device.source_refused()));
  }
  auto info = tuning::describe_source(*source, architecture_of(device));
  if (!info.ok()) {
    return at_digest(info.status());
  }
  if (find_named(description.operators, source->name()) != nullptr) {
    return at_digest(absl::InvalidArgumentError(absl::StrCat(
        "source.name: `", source->name(), "` is an operator of the catalogue; choose another")));
  }
  if (info->name() != spec.operator_name()) {
    return absl::InvalidArgumentError(absl::StrCat("spec.operator_name: `",
                                                   spec.operator_name(),
                                                   "`; that of the source is `",
                                                   info->name(),
                                                   "`"));
  }
  if (const absl::Status data = check_data(*source, store); !data.ok()) {
    return at_digest(data);
  }
  Description whole = description;
  if (spec.kind() == v1::SWEEP && spec.candidates_size() == 1) {
    auto restrictions = tuning::variant_restrictions(tuning::complete_source(*source),
                                                     spec.candidates(0).variant());
    if (!restrictions.ok()) {
      return proto::annotate(restrictions.status(), "spec.candidates[0].variant");
    }
    whole.restrictions = *std::move(restrictions);
  }
  whole.operators.push_back(*std::move(info));
  return whole;
}

RunnerCall SourceFeed::feeding(const v1::ExperimentSpec& spec,
                               std::uint64_t runner,
                               RunnerCall call) {
  if (spec.source_digest().empty()) {
    return call;
  }
  return [this, digest = spec.source_digest(), runner, call = std::move(call)](
             v1::RunnerRequest request,
             std::chrono::nanoseconds timeout,
             const RunnerProcess::Progress& progress) {
    return ask(digest, runner, call, std::move(request), timeout, progress);
  };
}

absl::StatusOr<std::vector<std::string>> blobs_of(const v1::ExperimentSpec& spec,
                                                  const db::Store& store) {
  if (spec.source_digest().empty()) {
    return std::vector<std::string>();
  }
  const auto source = read_source(spec.source_digest(), store);
  if (absl::IsNotFound(source.status())) {
    return std::vector<std::string>();
  }
  ASSAY_RETURN_IF_ERROR(source.status());
  const std::set<std::string> data = db::data_of(*source);
  std::vector<std::string> digests(data.begin(), data.end());
  digests.push_back(spec.source_digest());
  return digests;
}

absl::Status SourceFeed::load(const std::string& digest) {
  if (loaded_ == digest) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(v1::SourceSpec source, read_source(digest, store_));
  source_ = tuning::complete_source(std::move(source));
  loaded_ = digest;
  return absl::OkStatus();
}

absl::StatusOr<v1::RunnerReply> SourceFeed::ask(const std::string& digest,
                                                std::uint64_t runner,
                                                const RunnerCall& call,
                                                v1::RunnerRequest request,
                                                std::chrono::nanoseconds timeout,
                                                const RunnerProcess::Progress& progress) {
  if (const absl::Status loaded = load(digest); !loaded.ok()) {
    return refusal(loaded, v1::FAILURE_CLASS_UNSPECIFIED);
  }
  if (request.has_open()) {
    if (const absl::Status held = check_arms(source_, request.open()); !held.ok()) {
      return refusal(held, v1::CONSTRAINTS);
    }
  }
  if (defined_ != digest || runner_ != runner) {
    auto reply = send_source(source_, store_, call, timeout, progress);
    if (!is_good(reply)) {
      return reply;
    }
    if (!reply->has_defined()) {
      return absl::DataLossError("the runner answered a definition with another kind of reply");
    }
    defined_ = digest;
    runner_ = runner;
  }
  return call(std::move(request), timeout, progress);
}

}  // namespace assay::server
