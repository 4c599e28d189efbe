#include "server/bits.h"

#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace assay::server {
namespace {

constexpr std::string_view kBaselineFamily = "baseline";
constexpr std::string_view kMutants = "mutants";

bool passed_own_checks(const v1::Measurement& measurement) {
  const v1::BitsReport& bits = measurement.bits();
  const bool within = bits.tolerance_known() && bits.tolerance_used() <= 1;
  switch (bits.failed()) {
    case v1::BITS_CHECK_UNSPECIFIED:
      return true;
    case v1::BITS_GOLDEN:
      return within || !bits.tolerance_known();
    case v1::BITS_EQUAL:
      return measurement.family() != kBaselineFamily && within;
    default:
      return false;
  }
}

class Collector {
 public:
  Collector(const v1::Experiment& experiment, const v1::OperatorInfo& info)
      : experiment_(experiment), info_(info) {}

  absl::Status add_arm(const v1::Workload& workload, const v1::Measurement& measurement) {
    if (!passed_own_checks(measurement)) {
      return absl::OkStatus();
    }
    for (const v1::TensorDigest& output : measurement.outputs()) {
      ASSAY_RETURN_IF_ERROR(add(proto::text_of(workload),
                                output.tensor(),
                                measurement.arm().variant(),
                                measurement.family(),
                                output.digest()));
    }
    return absl::OkStatus();
  }

  absl::Status add_check(const v1::CheckResult& check) {
    const bool passed = check.passed() || check.rejected_by() == v1::BITS_GOLDEN;
    if (!passed || check.suite() == kMutants) {
      return absl::OkStatus();
    }
    for (const v1::CaseDigest& digest : check.digests()) {
      ASSAY_RETURN_IF_ERROR(
          add(digest.workload(), "all", case_variant(info_), digest.family(), digest.digest()));
    }
    return absl::OkStatus();
  }

  std::vector<v1::Golden> take() { return std::move(goldens_); }

 private:
  absl::Status add(const std::string& workload,
                   const std::string& tensor,
                   const std::string& variant,
                   const std::string& family,
                   const std::string& digest) {
    const std::string domain = bits_domain(info_, variant, family, experiment_.device());
    const auto [known, inserted] =
        seen_.emplace(std::tuple(workload, tensor, family, domain), digest);
    if (!inserted) {
      if (known->second == digest) {
        return absl::OkStatus();
      }
      return absl::FailedPreconditionError(absl::StrCat("`",
                                                        tensor,
                                                        "` of ",
                                                        workload,
                                                        " has two digests in family `",
                                                        family,
                                                        "`: name one variant"));
    }
    v1::Golden& golden = goldens_.emplace_back();
    golden.set_operator_name(info_.name());
    golden.set_workload(workload);
    golden.set_tensor(tensor);
    golden.set_family(family);
    golden.set_domain(domain);
    golden.set_digest(digest);
    golden.set_experiment_id(experiment_.experiment_id());
    return absl::OkStatus();
  }

  const v1::Experiment& experiment_;
  const v1::OperatorInfo& info_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::string> seen_;
  std::vector<v1::Golden> goldens_;
};

}  // namespace

absl::Status check_accept(const v1::AcceptBitsRequest& request) {
  if (request.reason().empty() || request.reason().size() > kMaxReasonBytes) {
    return absl::InvalidArgumentError("reason: must be 1 to 1,000 bytes");
  }
  if (request.figures_size() > kMaxFigures) {
    return absl::InvalidArgumentError(
        absl::StrCat("figures: must be at most 32, there are ", request.figures_size()));
  }
  for (int i = 0; i < request.figures_size(); ++i) {
    const v1::Setting& figure = request.figures(i);
    if (figure.name().empty() || figure.value().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("figures[", i, "]: must have a name and a value"));
    }
    if (figure.name().size() > kMaxFigureBytes || figure.value().size() > kMaxFigureBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("figures[", i, "]: name and value must have at most 200 bytes each"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Golden>> acceptable_bits(const v1::Experiment& experiment,
                                                        const v1::OperatorInfo& info,
                                                        const std::string& variant) {
  if (experiment.state() != v1::DONE) {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment ",
                     experiment.experiment_id(),
                     " is ",
                     proto::spoken(v1::TaskState_Name(experiment.state())),
                     ", not done"));
  }
  Collector collector(experiment, info);
  std::set<std::string> variants;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (configuration.outcome() != v1::FINISHED) {
      continue;
    }
    for (const v1::Measurement* arm : {&configuration.baseline(), &configuration.candidate()}) {
      variants.insert(arm->arm().variant());
      if (!arm->outputs().empty() && (variant.empty() || arm->arm().variant() == variant)) {
        ASSAY_RETURN_IF_ERROR(collector.add_arm(configuration.workload(), *arm));
      }
    }
    if (configuration.has_check() && variant.empty()) {
      ASSAY_RETURN_IF_ERROR(collector.add_check(configuration.check()));
    }
  }
  if (!variant.empty() && !variants.contains(variant)) {
    return absl::NotFoundError(absl::StrCat(
        "variant: `", variant, "` was not measured by experiment ", experiment.experiment_id()));
  }
  std::vector<v1::Golden> goldens = collector.take();
  if (goldens.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment ",
                     experiment.experiment_id(),
                     " has no digest of an arm that passed its own checks"));
  }
  return goldens;
}

absl::StatusOr<v1::AcceptBitsResponse> accept_bits(const v1::AcceptBitsRequest& request,
                                                   const v1::Experiment& experiment,
                                                   const v1::OperatorInfo& info,
                                                   const Goldens& goldens,
                                                   db::Store& store,
                                                   std::int64_t now_ns) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Golden> found,
                         acceptable_bits(experiment, info, request.variant()));
  std::vector<v1::Golden> changed;
  std::uint32_t num_unchanged = 0;
  for (const v1::Golden& golden : found) {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<std::string> in_force, goldens.find(golden));
    if (in_force == golden.digest()) {
      ++num_unchanged;
      continue;
    }
    v1::Golden& next = changed.emplace_back(golden);
    next.set_reason(request.reason());
    *next.mutable_figures() = request.figures();
    next.set_replaced_digest(in_force.value_or(""));
  }
  v1::AcceptBitsResponse response;
  if (!changed.empty()) {
    ASSAY_ASSIGN_OR_RETURN(response, store.accept_bits(std::move(changed), now_ns));
  }
  response.set_num_unchanged(response.num_unchanged() + num_unchanged);
  return response;
}

}  // namespace assay::server
