#include "kernels/block_attention/plan.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace assay::kernels::block_attention {
namespace {

enum class LengthKind : std::uint8_t { kEqual, kRamp, kEdges, kMixed, kAlternating };

std::string_view text_of(const Workload& workload, std::string_view axis) {
  return std::ranges::find(workload.axes, axis, &Setting::first)->second;
}

// The value is known to be valid.
std::int64_t number_of(const Workload& workload, std::string_view axis) {
  const std::string_view text = text_of(workload, axis);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int32_t small_number_of(const Workload& workload, std::string_view axis) {
  return static_cast<std::int32_t>(number_of(workload, axis));
}

template <class Choice>
Choice choice_of(const Workload& workload, std::string_view axis) {
  const auto info = std::ranges::find(axes(), axis, &AxisInfo::name);
  const auto found = std::ranges::find(info->choices, text_of(workload, axis));
  return static_cast<Choice>(found - info->choices.begin());
}

std::int32_t context_of(LengthKind kind, std::int32_t context, std::int32_t number) {
  const std::array<std::int32_t, 4> edges = {
      0, std::min(7, context), std::max(0, context - 1), context};
  constexpr std::array<std::int32_t, 8> kMixed = {0, 1, 100, 511, 512, 513, 1'300, 2'600};
  switch (kind) {
    case LengthKind::kEqual:
      break;
    case LengthKind::kRamp:
      return number % (context + 1);
    case LengthKind::kEdges:
      return edges[static_cast<std::size_t>(number) % edges.size()];
    case LengthKind::kMixed:
      return kMixed[static_cast<std::size_t>(number) % kMixed.size()];
    case LengthKind::kAlternating:
      return number % 2 == 0 ? context : 0;
  }
  return context;
}

// Values lie in the opposite order of keys, so that one table entry never serves for the other.
void place_streams(BlockPlan& plan, std::int64_t slack) {
  std::int64_t end = plan.base_offset;
  const auto take = [&](const Stream& stream) {
    const std::int64_t begin = end;
    end += stream.head_stride * plan.shape.num_kv_heads;
    return begin;
  };
  for (Stream& stream : plan.streams) {
    stream.head_stride = (stream.context + slack) * plan.shape.dim;
    stream.k_offset = take(stream);
  }
  plan.num_context_elements = end;
  end = plan.base_offset;
  for (auto stream = plan.streams.rbegin(); stream != plan.streams.rend(); ++stream) {
    stream->v_offset = take(*stream);
  }
}

absl::Status check_sizes(const BlockPlan& plan) {
  if (plan.num_context_elements > kMostContextElements) {
    return absl::InvalidArgumentError(absl::StrCat("context: the streams' keys take ",
                                                   plan.num_context_elements,
                                                   " elements, at most ",
                                                   kMostContextElements,
                                                   " are allowed"));
  }
  const Shape& shape = plan.shape;
  const std::int64_t num_partials =
      std::int64_t{shape.num_groups} * shape.num_rows() * shape.num_heads * shape.dim;
  if (num_partials > kMostPartialElements) {
    return absl::InvalidArgumentError(absl::StrCat("streams: partials of streams * width rows and ",
                                                   shape.num_groups,
                                                   " groups take ",
                                                   num_partials,
                                                   " elements, at most ",
                                                   kMostPartialElements,
                                                   " are allowed"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BlockPlan> parse_plan(const Workload& workload) {
  const absl::StatusOr<std::vector<Setting>> settings = complete_settings(axes(), workload.axes);
  if (!settings.ok()) {
    return settings.status();
  }
  const Workload complete = {.axes = *settings, .seed = workload.seed};
  BlockPlan plan;
  plan.seed = workload.seed;
  plan.data = choice_of<DataKind>(complete, "data");
  plan.unread = choice_of<Filling>(complete, "unread");
  plan.base_offset = number_of(complete, "base_offset");

  Shape& shape = plan.shape;
  const std::int32_t window = small_number_of(complete, "window");
  shape.num_streams = small_number_of(complete, "streams");
  shape.width = small_number_of(complete, "width");
  shape.num_heads = small_number_of(complete, "heads");
  shape.num_kv_heads = small_number_of(complete, "kv_heads");
  shape.dim = small_number_of(complete, "dim");
  shape.window = window < 0 ? INT32_MAX : window;
  shape.is_causal = text_of(complete, "causal") == "yes";
  shape.scale = static_cast<float>(1.0 / std::sqrt(shape.dim));
  if (const absl::Status status = check_shape(shape, {}); !status.ok()) {
    return status;
  }
  if (plan.base_offset % 8 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("base_offset: ", plan.base_offset, " is not a multiple of 8"));
  }

  const auto lengths = choice_of<LengthKind>(complete, "lengths");
  const std::int32_t context = small_number_of(complete, "context");
  const std::int32_t first = small_number_of(complete, "first_stream");
  for (std::int32_t i = 0; i < shape.num_streams; ++i) {
    const std::int32_t number = first + i;
    plan.streams.push_back({.number = number, .context = context_of(lengths, context, number)});
    shape.most_context = std::max(shape.most_context, plan.streams.back().context);
  }
  if (text_of(complete, "order") == "descending") {
    std::ranges::reverse(plan.streams);
  }
  for (const auto& stream : plan.streams) {
    shape.streams.push_back(load_of(shape, stream.context));
  }
  shape.num_groups =
      plan.streams.empty() ? 0 : attention::num_groups_of(shape.most_context + shape.width);
  place_streams(plan, number_of(complete, "slack"));
  if (const absl::Status status = check_sizes(plan); !status.ok()) {
    return status;
  }
  return plan;
}

}  // namespace assay::kernels::block_attention
