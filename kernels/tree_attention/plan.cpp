#include "kernels/tree_attention/plan.h"

#include "kernels/tree_attention/trees.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace assay::kernels::tree_attention {
namespace {

enum class View : std::uint8_t {
  kWhole,
  kAlone,
  kReversed,
  kRotated,
  kPath,
  kNode,
  kSubtree,
  kSerial,
};

// Every axis is there and valid.
std::string_view text_of(const Workload& workload, std::string_view axis) {
  return std::ranges::find(workload.axes, axis, &Setting::first)->second;
}

std::int64_t number_of(const Workload& workload, std::string_view axis) {
  const std::string_view text = text_of(workload, axis);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int32_t count_of(const Workload& workload, std::string_view axis) {
  return static_cast<std::int32_t>(number_of(workload, axis));
}

// Enumerators stand in the order of the axis.
template <class Choice>
Choice choice_of(const Workload& workload, std::string_view axis) {
  const auto choices = std::ranges::find(axes(), axis, &AxisInfo::name)->choices;
  return static_cast<Choice>(std::ranges::find(choices, text_of(workload, axis)) - choices.begin());
}

StreamView whole_stream(const Plan& plan, std::int32_t number) {
  const Stream& stream = plan.whole[static_cast<std::size_t>(number)];
  StreamView view = {.stream = number, .accepted = {}, .rows = {}, .parents = stream.parents};
  view.rows.resize(stream.parents.size());
  std::iota(view.rows.begin(), view.rows.end(), 0);
  return view;
}

// The rows from the root down to `row`, itself included.
std::vector<std::int32_t> path_of(const Stream& stream, std::int32_t row) {
  std::vector<std::int32_t> path;
  for (; row >= 0; row = stream.parents[static_cast<std::size_t>(row)]) {
    path.push_back(row);
  }
  std::ranges::reverse(path);
  return path;
}

StreamView path_view(const Stream& stream, std::int32_t number, std::int32_t row) {
  StreamView view = {.stream = number, .accepted = {}, .rows = path_of(stream, row), .parents = {}};
  view.parents.resize(view.rows.size());
  std::iota(view.parents.begin(), view.parents.end(), -1);
  return view;
}

// The row with its ancestors committed, and its descendants where asked.
StreamView node_view(const Stream& stream,
                     std::int32_t number,
                     std::int32_t row,
                     bool with_descendants) {
  StreamView view = {
      .stream = number, .accepted = path_of(stream, row), .rows = {row}, .parents = {-1}};
  view.accepted.pop_back();
  std::vector<std::int32_t> place(stream.parents.size(), -1);
  place[static_cast<std::size_t>(row)] = 0;
  for (auto other = static_cast<std::size_t>(row) + 1;
       with_descendants && other < stream.parents.size();
       ++other) {
    const std::int32_t parent = stream.parents[other];
    if (parent >= 0 && place[static_cast<std::size_t>(parent)] >= 0) {
      place[other] = static_cast<std::int32_t>(view.rows.size());
      view.rows.push_back(static_cast<std::int32_t>(other));
      view.parents.push_back(place[static_cast<std::size_t>(parent)]);
    }
  }
  return view;
}

// The stream that holds row `pick` of the call, and the row's place in it.
absl::StatusOr<std::pair<std::int32_t, std::int32_t>> find_row(const Plan& plan,
                                                               std::int32_t pick) {
  std::int32_t first = 0;
  for (std::size_t number = 0; number < plan.whole.size(); ++number) {
    const auto num_rows = static_cast<std::int32_t>(plan.whole[number].parents.size());
    if (pick < first + num_rows) {
      return std::pair(static_cast<std::int32_t>(number), pick - first);
    }
    first += num_rows;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("pick: ", pick, " is not a row of the call's ", first, " rows"));
}

// Every row as a stream of its own.
void make_serial_view(Plan& plan) {
  for (std::size_t number = 0; number < plan.whole.size(); ++number) {
    const Stream& stream = plan.whole[number];
    for (std::int32_t row = 0; row < std::ssize(stream.parents); ++row) {
      plan.streams.push_back(node_view(stream, static_cast<std::int32_t>(number), row, false));
    }
  }
}

absl::Status make_view(View view, std::int32_t pick, Plan& plan) {
  const auto num_streams = static_cast<std::int32_t>(plan.whole.size());
  if (view == View::kSerial) {
    make_serial_view(plan);
    return absl::OkStatus();
  }
  if (view == View::kPath || view == View::kNode || view == View::kSubtree) {
    const auto found = find_row(plan, pick);
    if (!found.ok()) {
      return found.status();
    }
    const auto [number, row] = *found;
    const Stream& stream = plan.whole[static_cast<std::size_t>(number)];
    plan.streams.push_back(view == View::kPath
                               ? path_view(stream, number, row)
                               : node_view(stream, number, row, view == View::kSubtree));
    return absl::OkStatus();
  }
  if ((view == View::kAlone || view == View::kRotated) && pick >= num_streams) {
    return absl::InvalidArgumentError(
        absl::StrCat("pick: ", pick, " is not a stream of the call's ", num_streams, " streams"));
  }
  if (view == View::kAlone) {
    plan.streams.push_back(whole_stream(plan, pick));
    return absl::OkStatus();
  }
  for (std::int32_t i = 0; i < num_streams; ++i) {
    const std::int32_t rotated = view == View::kRotated ? (i + pick) % num_streams : i;
    plan.streams.push_back(
        whole_stream(plan, view == View::kReversed ? num_streams - 1 - i : rotated));
  }
  return absl::OkStatus();
}

absl::Status check_trees(const Plan& plan) {
  std::int64_t num_rows = 0;
  for (const Stream& stream : plan.whole) {
    num_rows += std::ssize(stream.parents);
  }
  if (num_rows > kMostRows) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rows: ", num_rows, " rows of all streams, at most ", kMostRows, " are allowed"));
  }
  for (std::size_t number = 0; number < plan.whole.size(); ++number) {
    std::vector<std::int32_t> depths;
    for (const std::int32_t parent : plan.whole[number].parents) {
      depths.push_back(parent < 0 ? 1 : depths[static_cast<std::size_t>(parent)] + 1);
      if (depths.back() > kMostDepth) {
        return absl::InvalidArgumentError(absl::StrCat("rows: row ",
                                                       depths.size() - 1,
                                                       " of stream ",
                                                       number,
                                                       " is ",
                                                       depths.back(),
                                                       " deep, at most ",
                                                       kMostDepth,
                                                       " are allowed"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Plan> parse_plan(const Workload& workload) {
  const absl::StatusOr<std::vector<Setting>> settings = complete_settings(axes(), workload.axes);
  if (!settings.ok()) {
    return settings.status();
  }
  const Workload complete = {.axes = *settings, .seed = workload.seed};
  Plan plan = {.seed = workload.seed,
               .num_heads = count_of(complete, "heads"),
               .num_kv_heads = count_of(complete, "kv_heads"),
               .dim = count_of(complete, "dim"),
               .slack = number_of(complete, "slack"),
               .base_offset = number_of(complete, "base_offset"),
               .plan_keys = number_of(complete, "plan"),
               .data = choice_of<DataKind>(complete, "data"),
               .unread = choice_of<Unread>(complete, "unread"),
               .whole = {},
               .streams = {}};
  const Shape shape = {
      .num_heads = plan.num_heads, .num_kv_heads = plan.num_kv_heads, .dim = plan.dim};
  if (absl::Status status = check_shape(shape, {}); !status.ok()) {
    return status;
  }
  if (plan.base_offset % 8 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "base_offset: ", plan.base_offset, " is not a multiple of 8 elements (16 bytes)"));
  }
  const std::int32_t pick = count_of(complete, "pick");
  plan.whole = make_streams({.num_streams = count_of(complete, "streams"),
                             .rows = count_of(complete, "rows"),
                             .committed = count_of(complete, "committed"),
                             .pick = pick,
                             .lengths = choice_of<LengthKind>(complete, "lengths"),
                             .tree = choice_of<TreeKind>(complete, "tree")},
                            plan.seed);
  if (absl::Status status = check_trees(plan); !status.ok()) {
    return status;
  }
  if (absl::Status status = make_view(choice_of<View>(complete, "view"), pick, plan);
      !status.ok()) {
    return status;
  }
  return plan;
}

}  // namespace assay::kernels::tree_attention
