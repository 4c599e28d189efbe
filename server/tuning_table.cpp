#include "server/tuning_table.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/lookup.h"
#include "server/settings.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::server {
namespace {

struct Match {
  double distance = std::numeric_limits<double>::infinity();  // 0: exact
  std::string text;                                           // what differs
};

// How far a stored bucket is from the wanted axes; infinite: it is another case.
Match match_bucket(const std::string& bucket, const AxisInfos& infos, const Settings& wanted) {
  const std::vector<std::string> parts = absl::StrSplit(bucket, ',');
  if (parts.size() != static_cast<std::size_t>(wanted.size())) {
    return {};
  }
  Match match = {.distance = 0, .text = ""};
  for (int i = 0; i < wanted.size(); ++i) {
    const std::string& name = wanted[i].name();
    const std::string prefix = name + "=";
    const std::string& part = parts[static_cast<std::size_t>(i)];
    if (!part.starts_with(prefix)) {
      return {};
    }
    const std::string value = part.substr(prefix.size());
    if (value == wanted[i].value()) {
      continue;
    }
    const v1::AxisInfo* info = find_axis(infos, name);
    double stored = 0;
    double asked = 0;
    const bool is_number = info != nullptr && info->choices().empty() &&
                           absl::SimpleAtod(value, &stored) &&
                           absl::SimpleAtod(wanted[i].value(), &asked) && stored > 0 && asked > 0;
    if (!is_number || std::abs(std::log2(stored / asked)) > 1) {
      return {};
    }
    match.distance += std::abs(std::log2(stored / asked));
    absl::StrAppend(
        &match.text, match.text.empty() ? "" : ", ", name, " ", value, " for ", wanted[i].value());
  }
  return match;
}

// The wanted axes, all of them in the operator's order.
absl::StatusOr<Settings> complete_axes(const v1::OperatorInfo& info,
                                       const v1::LookupTuningRequest& request) {
  Settings wanted = default_settings(info.axes());
  for (int i = 0; i < request.axes_size(); ++i) {
    const std::string path = absl::StrCat("axes[", i, "]");
    const v1::AxisInfo* axis = find_axis(info.axes(), request.axes(i).name());
    if (axis == nullptr) {
      return absl::NotFoundError(absl::StrCat(path,
                                              ".name: no workload axis `",
                                              request.axes(i).name(),
                                              "`; it is ",
                                              one_of(names_of(info.axes()))));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string value,
                           canonical_value(*axis, request.axes(i).value(), path + ".value"));
    set_value(wanted, axis->name(), value);
  }
  return wanted;
}

// Whether `a` is the better answer than `b`, which is newer. Of one variant on one workload the
// newer counts, however fast the older was.
bool is_better(const v1::Tuning& a, double a_distance, const v1::Tuning& b, double b_distance) {
  if (a.stale().empty() != b.stale().empty()) {
    return a.stale().empty();
  }
  if (a.workload() == b.workload() && a.arm().variant() == b.arm().variant()) {
    return false;
  }
  return std::pair(a_distance, a.median_ns()) < std::pair(b_distance, b.median_ns());
}

}  // namespace

std::string bucket_of(const v1::Workload& workload) {
  std::vector<std::string> parts;
  for (const v1::Setting& axis : workload.axes()) {
    parts.push_back(absl::StrCat(axis.name(), "=", axis.value()));
  }
  return absl::StrJoin(parts, ",");
}

std::optional<v1::Tuning> tuning_of(const Sweep::Ended& ended,
                                    const v1::ExperimentSpec& spec,
                                    const v1::Device& device) {
  const tuning::RaceResult& race = ended.result;
  if (!race.winner) {
    return std::nullopt;
  }
  v1::Tuning tuning;
  tuning.set_device_model(device.model());
  tuning.set_compute_capability(device.compute_capability());
  tuning.set_operator_name(spec.operator_name());
  tuning.set_workload(bucket_of(ended.workload));
  tuning.set_code_digest(ended.winner.code_digest());
  tuning.set_toolkit_version(device.toolkit_version());
  tuning.set_driver_version(device.driver_version());
  *tuning.mutable_arm() = race.entries[*race.winner].arm;
  tuning.set_median_ns(race.entries[*race.winner].median_ns);
  *tuning.mutable_baseline_arm() = race.baseline_arm;
  tuning.set_ratio(race.ratio);
  tuning.set_ratio_low(race.has_interval ? race.ratio_low : race.ratio);
  tuning.set_ratio_high(race.has_interval ? race.ratio_high : race.ratio);
  tuning.set_noise(race.noise);
  for (const tuning::RaceEntry& entry : race.entries) {
    if (entry.standing == tuning::Standing::kTied) {
      *tuning.add_ties() = entry.arm;
    }
  }
  tuning.set_num_configurations(static_cast<std::uint32_t>(race.entries.size()));
  tuning.set_num_valid(ended.num_valid);
  tuning.set_num_failed(race.num_failed);
  tuning.set_strategy(spec.sweep().strategy().empty() ? "exhaustive" : spec.sweep().strategy());
  tuning.set_seed(spec.seed());
  tuning.set_code_version(device.code_version());
  tuning.set_device_uuid(device.uuid());
  tuning.set_cache_mode(ended.winner.cache_mode());
  tuning.set_launch_mode(ended.winner.launch_mode());
  return tuning;
}

std::string why_stale(const v1::Tuning& tuning,
                      const v1::Device& device,
                      const std::string& code_digest) {
  std::vector<std::string> reasons;
  const auto compare = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was != is) {
      reasons.push_back(absl::StrCat("the ", what, " was ", was, ", it is ", is));
    }
  };
  compare("toolkit", tuning.toolkit_version(), device.toolkit_version());
  compare("driver", tuning.driver_version(), device.driver_version());
  if (!code_digest.empty()) {
    compare("machine code", tuning.code_digest(), code_digest);
  }
  return absl::StrJoin(reasons, "; ");
}

absl::Status mark_stale(const db::Store& store,
                        const v1::ListDevicesResponse& devices,
                        v1::Tuning& tuning) {
  for (const v1::Device& device : devices.devices()) {
    if (device.available() && device.uuid() == tuning.device_uuid()) {
      ASSAY_ASSIGN_OR_RETURN(const std::string code_digest, store.newest_code_digest(tuning));
      tuning.set_stale(why_stale(tuning, device, code_digest));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<v1::Arm>>> stored_winners(const db::Store& store,
                                                                   const Plan& plan,
                                                                   const v1::Device& device) {
  v1::ListTuningsRequest request;
  request.set_operator_name(plan.spec().operator_name());
  request.set_device_model(device.model());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Tuning> known, store.tunings(request));
  std::vector<std::optional<v1::Arm>> starts;
  for (std::uint32_t index = 0; index < plan.num_workloads(); ++index) {
    const std::string bucket = bucket_of(plan.workload(index));
    const auto found = std::ranges::find_if(known, [&](const v1::Tuning& tuning) {
      return tuning.workload() == bucket &&
             tuning.arm().variant() == plan.spec().candidates(0).variant() &&
             tuning.compute_capability() == device.compute_capability();
    });
    starts.push_back(found == known.end() ? std::nullopt : std::optional(found->arm()));
  }
  return starts;
}

absl::StatusOr<v1::LookupTuningResponse> lookup_tuning(const db::Store& store,
                                                       const Description& description,
                                                       const v1::LookupTuningRequest& request) {
  const v1::OperatorInfo* info = find_named(description.operators, request.operator_name());
  // An operator from source is known by its tunings alone.
  const v1::OperatorInfo unknown;
  const bool is_source = info == nullptr && request.operator_name().find('@') != std::string::npos;
  if (info == nullptr && !is_source) {
    return absl::NotFoundError(absl::StrCat("operator_name: no operator `",
                                            request.operator_name(),
                                            "`; it is ",
                                            one_of(names_of(description.operators))));
  }
  Settings wanted = request.axes();
  if (!is_source) {
    ASSAY_ASSIGN_OR_RETURN(wanted, complete_axes(*info, request));
  }
  v1::ListTuningsRequest list;
  list.set_operator_name(request.operator_name());
  list.set_device_model(description.device.model());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Tuning> known, store.tunings(list));
  v1::LookupTuningResponse response;
  double best_distance = 0;
  for (v1::Tuning tuning : known) {
    const Match match =
        match_bucket(tuning.workload(), (is_source ? unknown : *info).axes(), wanted);
    if (!std::isfinite(match.distance) ||
        tuning.compute_capability() != description.device.compute_capability() ||
        (!request.variant().empty() && tuning.arm().variant() != request.variant())) {
      continue;
    }
    std::string code_digest = request.code_digest();
    if (code_digest.empty()) {
      ASSAY_ASSIGN_OR_RETURN(code_digest, store.newest_code_digest(tuning));
    }
    tuning.set_stale(why_stale(tuning, description.device, code_digest));
    if (!response.has_tuning() ||
        is_better(tuning, match.distance, response.tuning(), best_distance)) {
      *response.mutable_tuning() = tuning;
      response.set_match(match.distance == 0 ? "exact" : absl::StrCat("nearest: ", match.text));
      best_distance = match.distance;
    }
  }
  if (!response.has_tuning()) {
    response.set_missing(absl::StrCat("not tuned: no sweep of `",
                                      request.operator_name(),
                                      request.variant().empty() ? "" : "` with `",
                                      request.variant(),
                                      "` on ",
                                      description.device.model(),
                                      " is near this workload"));
  }
  return response;
}

}  // namespace assay::server
