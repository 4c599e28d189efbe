#include "server/series_choice.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/lookup.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace assay::server {
namespace {

constexpr std::size_t kMostListed = 20;  // of what there is, in an error
constexpr std::string_view kWholeCall = "total";
constexpr std::string_view kSeedAxis = "seed";

using AllSeries = std::vector<v1::Series>;

// "`a` (3 points), `b` (1 point)": the most points first.
template <typename NameOf>
std::string listed(const AllSeries& all, const NameOf& name_of) {
  std::map<std::string, std::uint32_t> num_points;
  for (const v1::Series& series : all) {
    num_points[name_of(series)] += series.num_points();
  }
  std::vector<std::pair<std::string, std::uint32_t>> sorted(num_points.begin(), num_points.end());
  std::ranges::stable_sort(
      sorted, std::ranges::greater(), [](const auto& entry) { return entry.second; });
  const std::size_t num_more = sorted.size() - std::min(sorted.size(), kMostListed);
  sorted.resize(sorted.size() - num_more);
  const std::string text = absl::StrJoin(sorted, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(
        out, "`", entry.first, "` (", entry.second, entry.second == 1 ? " point)" : " points)");
  });
  return num_more == 0 ? text : absl::StrCat(text, " and ", num_more, " more");
}

template <typename NameOf>
absl::Status none(std::string_view field,
                  const std::string& wanted,
                  const AllSeries& all,
                  const NameOf& name_of) {
  return absl::NotFoundError(absl::StrCat(
      std::string(field), ": no series of `", wanted, "`; there is ", listed(all, name_of)));
}

// Keeps the series whose name is wanted, all of them where it is empty.
template <typename NameOf>
absl::Status keep(std::string_view field,
                  const std::string& wanted,
                  const NameOf& name_of,
                  AllSeries& all) {
  if (wanted.empty()) {
    return absl::OkStatus();
  }
  AllSeries kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const v1::Series& series) {
    return name_of(series) == wanted;
  });
  if (kept.empty()) {
    return none(field, wanted, all, name_of);
  }
  all = std::move(kept);
  return absl::OkStatus();
}

std::string workload_of(const v1::Series& series) {
  return series.workload();
}

std::string modes_of(const v1::Series& series) {
  return absl::StrCat(v1::CacheMode_Name(series.cache_mode()),
                      " ",
                      v1::LaunchMode_Name(series.launch_mode()),
                      " ",
                      v1::TimingSource_Name(series.timing_source()));
}

// The canonical text with what was asked for on the operator's axes, and their defaults on the
// others.
absl::StatusOr<std::string> wanted_workload(const v1::TrendRequest& request,
                                            const v1::OperatorInfo& info) {
  v1::Workload workload;
  for (const v1::AxisInfo& axis : info.axes()) {
    v1::Setting& setting = *workload.add_axes();
    setting.set_name(axis.name());
    setting.set_value(axis.default_value());
  }
  std::string seed = "0";
  for (int i = 0; i < request.axes_size(); ++i) {
    const v1::Setting& asked = request.axes(i);
    v1::Setting* const setting = find_named(*workload.mutable_axes(), asked.name());
    if (setting == nullptr && asked.name() != kSeedAxis) {
      std::vector<std::string> names = names_of(info.axes());
      names.emplace_back(kSeedAxis);
      return absl::NotFoundError(absl::StrCat("axes[",
                                              i,
                                              "].name: `",
                                              info.name(),
                                              "` has no axis `",
                                              asked.name(),
                                              "`; it is ",
                                              one_of(std::move(names))));
    }
    (setting == nullptr ? seed : *setting->mutable_value()) = asked.value();
  }
  std::string text = proto::text_of(workload);
  text.resize(text.rfind('=') + 1);
  return absl::StrCat(text, seed);
}

// Whether a canonical text sets each of the axes as asked.
bool has_axes(const std::string& workload,
              const google::protobuf::RepeatedPtrField<v1::Setting>& axes) {
  const std::string text = absl::StrCat(",", workload, ",");
  return std::ranges::all_of(axes, [&](const v1::Setting& axis) {
    return text.find(absl::StrCat(",", axis.name(), "=", axis.value(), ",")) != std::string::npos;
  });
}

absl::Status keep_workload(const v1::TrendRequest& request,
                           const v1::OperatorInfo* info,
                           AllSeries& all) {
  if (info != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(const std::string wanted, wanted_workload(request, *info));
    return keep("axes", wanted, workload_of, all);
  }
  AllSeries kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const v1::Series& series) {
    return has_axes(series.workload(), request.axes());
  });
  if (kept.empty()) {
    return absl::NotFoundError(
        absl::StrCat("axes: no series of such a workload; there is ", listed(all, workload_of)));
  }
  const bool is_one = std::ranges::all_of(
      kept, [&](const v1::Series& series) { return series.workload() == kept.front().workload(); });
  if (!is_one) {
    return absl::InvalidArgumentError(absl::StrCat(
        "axes: name several workloads, and the operator's defaults are not known here; choose one "
        "of ",
        listed(kept, workload_of)));
  }
  all = std::move(kept);
  return absl::OkStatus();
}

// Those with the modes that have the most points, of several the most recently measured.
AllSeries with_modes(const AllSeries& all) {
  std::map<std::string, std::pair<std::uint32_t, std::int64_t>> weight;
  for (const v1::Series& series : all) {
    auto& [num_points, newest] = weight[modes_of(series)];
    num_points += series.num_points();
    newest = std::max(newest, series.newest_experiment_id());
  }
  const auto chosen =
      std::ranges::max_element(weight, {}, [](const auto& entry) { return entry.second; });
  AllSeries kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const v1::Series& series) {
    return modes_of(series) == chosen->first;
  });
  return kept;
}

// Of one device and mode.
absl::StatusOr<v1::Series> most_measured(const AllSeries& all) {
  const auto most = std::ranges::max_element(all, {}, &v1::Series::num_points);
  const auto num_most =
      std::ranges::count(all, most->num_points(), [](const auto& s) { return s.num_points(); });
  if (num_most > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("arm: several have as many points; choose one of ",
                     listed(all, [](const v1::Series& series) { return series.arm(); })));
  }
  return *most;
}

v1::Series best_of(const AllSeries& all) {
  v1::Series best = all.front();
  best.clear_series_id();
  best.clear_arm();
  best.clear_num_points();
  best.set_variant(std::string(kBestVariant));
  for (const v1::Series& series : all) {
    best.set_newest_experiment_id(
        std::max(best.newest_experiment_id(), series.newest_experiment_id()));
  }
  return best;
}

absl::StatusOr<AllSeries> known_series(const db::Store& store, const v1::TrendRequest& request) {
  v1::Series wanted;
  wanted.set_operator_name(request.operator_name());
  ASSAY_ASSIGN_OR_RETURN(AllSeries all, store.find_series(wanted, ""));
  if (!all.empty()) {
    return all;
  }
  v1::ListSeriesRequest list;
  list.set_page_size(1'000);
  ASSAY_ASSIGN_OR_RETURN(const v1::ListSeriesResponse there, store.list_series(list));
  if (there.series().empty()) {
    return absl::NotFoundError("operator_name: there is no series yet; measure something first");
  }
  return none("operator_name",
              request.operator_name(),
              AllSeries(there.series().begin(), there.series().end()),
              [](const v1::Series& series) { return series.operator_name(); });
}

// A device by its uuid, or by a name that it had.
absl::Status keep_device(const db::Store& store, const v1::TrendRequest& request, AllSeries& all) {
  if (request.device().empty()) {
    return absl::OkStatus();
  }
  v1::Series wanted;
  wanted.set_operator_name(request.operator_name());
  ASSAY_ASSIGN_OR_RETURN(const AllSeries of_device, store.find_series(wanted, request.device()));
  std::set<std::int64_t> ids;
  for (const v1::Series& series : of_device) {
    ids.insert(series.series_id());
  }
  AllSeries kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const v1::Series& series) {
    return ids.contains(series.series_id());
  });
  if (kept.empty()) {
    return none("device", request.device(), all, [](const v1::Series& series) {
      return series.device_uuid();
    });
  }
  all = std::move(kept);
  return absl::OkStatus();
}

absl::Status keep_modes(const v1::TrendRequest& request, AllSeries& all) {
  if (request.cache_mode() != v1::CACHE_MODE_UNSPECIFIED) {
    ASSAY_RETURN_IF_ERROR(keep(
        "cache_mode",
        v1::CacheMode_Name(request.cache_mode()),
        [](const v1::Series& s) { return v1::CacheMode_Name(s.cache_mode()); },
        all));
  }
  if (request.launch_mode() != v1::LAUNCH_MODE_UNSPECIFIED) {
    ASSAY_RETURN_IF_ERROR(keep(
        "launch_mode",
        v1::LaunchMode_Name(request.launch_mode()),
        [](const v1::Series& s) { return v1::LaunchMode_Name(s.launch_mode()); },
        all));
  }
  if (request.timing_source() != v1::TIMING_SOURCE_UNSPECIFIED) {
    ASSAY_RETURN_IF_ERROR(keep(
        "timing_source",
        v1::TimingSource_Name(request.timing_source()),
        [](const v1::Series& s) { return v1::TimingSource_Name(s.timing_source()); },
        all));
  }
  return absl::OkStatus();
}

absl::StatusOr<AllSeries> one_a_device(const v1::TrendRequest& request, const AllSeries& all) {
  const bool is_best =
      request.arm().empty() && (request.variant().empty() || request.variant() == kBestVariant);
  std::map<std::string, AllSeries> of_device;
  for (const v1::Series& series : all) {
    of_device[series.device_uuid()].push_back(series);
  }
  AllSeries chosen;
  for (const auto& [uuid, there] : of_device) {
    const AllSeries comparable = with_modes(there);
    if (is_best) {
      chosen.push_back(best_of(comparable));
    } else {
      ASSAY_ASSIGN_OR_RETURN(chosen.emplace_back(), most_measured(comparable));
    }
  }
  return chosen;
}

}  // namespace

absl::StatusOr<AllSeries> choose_series(const db::Store& store,
                                        const v1::TrendRequest& request,
                                        const v1::OperatorInfo* info) {
  if (request.series_id() != 0) {
    if (!request.operator_name().empty() || !request.variant().empty() || !request.arm().empty()) {
      return absl::InvalidArgumentError(
          "series_id: names a series alone; leave out operator_name, variant and arm");
    }
    ASSAY_ASSIGN_OR_RETURN(v1::Series series, store.series(request.series_id()));
    return AllSeries{std::move(series)};
  }
  if (request.operator_name().empty()) {
    return absl::InvalidArgumentError("operator_name: must not be empty without series_id");
  }
  ASSAY_ASSIGN_OR_RETURN(AllSeries all, known_series(store, request));
  ASSAY_RETURN_IF_ERROR(keep(
      "stage",
      request.stage().empty() ? std::string(kWholeCall) : request.stage(),
      [](const v1::Series& series) { return series.stage(); },
      all));
  ASSAY_RETURN_IF_ERROR(keep_device(store, request, all));
  ASSAY_RETURN_IF_ERROR(keep_modes(request, all));
  ASSAY_RETURN_IF_ERROR(keep_workload(request, info, all));
  if (request.variant() != kBestVariant) {
    ASSAY_RETURN_IF_ERROR(keep(
        "variant", request.variant(), [](const v1::Series& s) { return s.variant(); }, all));
  } else if (!request.arm().empty()) {
    return absl::InvalidArgumentError("arm: leave it out, the variant `best` takes any");
  }
  ASSAY_RETURN_IF_ERROR(keep(
      "arm", request.arm(), [](const v1::Series& series) { return series.arm(); }, all));
  return one_a_device(request, all);
}

}  // namespace assay::server
