#include "kernels/qsa_decode/contract.h"

#include "kernels/qsa_decode/selection.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace assay::kernels::qsa_decode {
namespace {

constexpr std::string_view kFormats[] = {"fp16", "int8", "q4_0", "k8v4"};
constexpr std::string_view kSelections[] = {"window", "blocks", "gaps", "repeats", "mixed"};
constexpr std::string_view kSharings[] = {"independent", "shared", "disjoint"};
constexpr std::string_view kResidencies[] = {"all", "holes", "cells", "chunk", "none"};
constexpr std::string_view kSpreads[] = {"uniform", "borders", "falling", "random"};
constexpr std::string_view kEntries[] = {"batch", "step"};

constexpr AxisInfo kAxes[] = {
    {.name = "kv",
     .help = "format of the K and V cache",
     .default_value = "int8",
     .choices = kFormats},
    {.name = "n_q",
     .help = "queries of one stream in a call",
     .default_value = "1",
     .min = 1,
     .max = 64},
    {.name = "streams",
     .help = "sequences in a call, each with cells of its own",
     .default_value = "1",
     .min = 1,
     .max = 1'024},
    {.name = "width",
     .help = "selected cells of a query",
     .default_value = "2051",
     .min = 0,
     .max = 131'072},
    {.name = "cap",
     .help = "allocated length of a query's selection; a longer width is cut to it",
     .default_value = "32768",
     .min = 1,
     .max = 131'072},
    {.name = "page_size", .help = "cells of a page", .default_value = "4", .min = 1, .max = 256},
    {.name = "select",
     .help = "which cells: a window, ascending blocks of 4, ascending with gaps, any order with "
             "repeats, or one of these drawn for each query",
     .default_value = "window",
     .choices = kSelections},
    {.name = "sharing",
     .help = "selections of a stream's queries: drawn one by one, all the same, or without a "
             "common cell",
     .default_value = "independent",
     .choices = kSharings},
    {.name = "resident",
     .help =
         "pages in the pool: all; all but 1 in 32 and a hole of 64; all but one selected cell's "
         "page in each chunk; all but the second chunk's; none",
     .default_value = "all",
     .choices = kResidencies},
    {.name = "spread",
     .help = "widths over the queries: all `width`; chunk borders up to it in turn; halved from "
             "query to query; drawn up to it",
     .default_value = "uniform",
     .choices = kSpreads},
    {.name = "entry",
     .help = "entry point: batch, or step for a single query without strides",
     .default_value = "batch",
     .choices = kEntries},
};

std::string_view text_of(const Workload& workload, std::string_view axis) {
  const auto found = std::ranges::find(workload.axes, axis, &Setting::first);
  return found == workload.axes.end() ? std::string_view() : std::string_view(found->second);
}

// The value is known to be valid.
std::int32_t number_of(const Workload& workload, std::string_view axis) {
  const std::string_view text = text_of(workload, axis);
  std::int32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

template <class Choice>
Choice choice_of(const Workload& workload,
                 std::string_view axis,
                 std::span<const std::string_view> choices) {
  return static_cast<Choice>(std::ranges::find(choices, text_of(workload, axis)) - choices.begin());
}

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// A table entry that names no page of the pool, or an id that names no page of the table.
template <class Valid>
std::int64_t first_invalid(std::span<const std::int32_t> values, Valid valid) {
  return std::ranges::find_if_not(values, valid) - values.begin();
}

}  // namespace

std::span<const AxisInfo> axes() {
  return kAxes;
}

absl::StatusOr<SelectionPlan> parse_selection(const Workload& workload) {
  const absl::StatusOr<std::vector<Setting>> settings = complete_settings(kAxes, workload.axes);
  if (!settings.ok()) {
    return settings.status();
  }
  const Workload complete = {.axes = *settings, .seed = workload.seed};
  SelectionPlan selection = {
      .streams = number_of(complete, "streams"),
      .queries_per_stream = number_of(complete, "n_q"),
      .width = number_of(complete, "width"),
      .pattern = choice_of<SelectionPlan::Pattern>(complete, "select", kSelections),
      .sharing = choice_of<SelectionPlan::Sharing>(complete, "sharing", kSharings),
      .residency = choice_of<SelectionPlan::Residency>(complete, "resident", kResidencies),
      .spread = choice_of<SelectionPlan::Spread>(complete, "spread", kSpreads),
  };
  Shape& shape = selection.shape;
  shape.kv = choice_of<KvFormat>(complete, "kv", kFormats);
  shape.num_queries = selection.streams * selection.queries_per_stream;
  shape.cap = number_of(complete, "cap");
  shape.num_chunks = (shape.cap + kChunk - 1) / kChunk;
  shape.page_size = number_of(complete, "page_size");
  shape.step_entry = text_of(complete, "entry") == "step";

  if (selection.width > shape.cap && shape.cap % kChunk != 0) {
    return absl::InvalidArgumentError(absl::StrCat("width: ",
                                                   selection.width,
                                                   " is more than cap ",
                                                   shape.cap,
                                                   ", which is not a multiple of ",
                                                   kChunk));
  }
  if (shape.step_entry && shape.num_queries != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry: step takes a single query, n_q * streams is ", shape.num_queries));
  }

  // Each stream, and with disjoint selections each of its queries, has a part of the cells.
  const std::int64_t per_query =
      round_up(std::max(1, std::min(selection.width, shape.cap)), kChunk);
  const bool disjoint = selection.sharing == SelectionPlan::Sharing::kDisjoint;
  const std::int64_t num_parts = disjoint ? shape.num_queries : selection.streams;
  const std::int64_t num_cells =
      round_up(std::max(kLeastCells, num_parts * per_query), shape.page_size);
  if (num_cells > kMostCells) {
    return absl::InvalidArgumentError(absl::StrCat("streams: the selections need ",
                                                   num_cells,
                                                   " cells, at most ",
                                                   kMostCells,
                                                   " are allowed"));
  }
  const std::int64_t num_partials = std::int64_t{shape.num_queries} * shape.num_chunks;
  if (num_partials > kMostPartials) {
    return absl::InvalidArgumentError(absl::StrCat("cap: n_q * streams * cap makes ",
                                                   num_partials,
                                                   " chunks, at most ",
                                                   kMostPartials,
                                                   " are allowed"));
  }
  selection.cells_per_part = num_cells / num_parts / 4 * 4;
  shape.num_logical_pages = static_cast<std::int32_t>(num_cells / shape.page_size);
  shape.num_physical_pages = shape.num_logical_pages;
  return selection;
}

absl::StatusOr<Shape> parse_shape(const Workload& workload) {
  const absl::StatusOr<SelectionPlan> selection = parse_selection(workload);
  if (!selection.ok()) {
    return selection.status();
  }
  return selection->shape;
}

const Shape& shape_of(const Call& call) {
  return static_cast<const QsaProblem*>(call.problem)->shape();
}

TunedLaunch tuned_of(const Call& call, TunedForm form) {
  return static_cast<const QsaProblem*>(call.problem)->tuned(form);
}

Params params_of(const Call& call) {
  const Shape& shape = shape_of(call);
  const auto at = [&](Tensor tensor) { return call.tensors[tensor]; };
  return {
      .q = static_cast<const float*>(at(kQ)),
      .ids = static_cast<const std::int32_t*>(at(kIds)),
      .steps = static_cast<const std::int32_t*>(at(kSteps)),
      .page_table = static_cast<const std::int32_t*>(at(kPageTable)),
      .k = at(kK),
      .k_scales = at(kKScales),
      .v = at(kV),
      .v_scales = at(kVScales),
      .out = static_cast<float*>(at(kOut)),
      .acc = static_cast<float*>(at(kAcc)),
      .m = static_cast<float*>(at(kM)),
      .l = static_cast<float*>(at(kL)),
      .num_queries = shape.num_queries,
      .num_chunks = shape.num_chunks,
      .ids_stride = shape.step_entry ? 0 : shape.cap,
      .steps_stride = shape.step_entry ? 0 : 4,
      .page_size = shape.page_size,
  };
}

absl::Status check_indices(const Shape& shape, const Params& params) {
  const std::span<const std::int32_t> pages(params.page_table,
                                            static_cast<std::size_t>(shape.num_logical_pages));
  const std::int64_t bad_page =
      first_invalid(pages, [&](std::int32_t page) { return page < shape.num_physical_pages; });
  if (bad_page != std::ssize(pages)) {
    return absl::InvalidArgumentError(absl::StrCat("page_table[",
                                                   bad_page,
                                                   "]: ",
                                                   pages[static_cast<std::size_t>(bad_page)],
                                                   " is outside the pool of ",
                                                   shape.num_physical_pages,
                                                   " pages"));
  }
  const std::int64_t num_cells = std::int64_t{shape.num_logical_pages} * shape.page_size;
  for (std::int32_t query = 0; query < shape.num_queries; ++query) {
    const std::int32_t width = params.steps[std::int64_t{query} * params.steps_stride + 3];
    if (width < 0 || (width > shape.cap && shape.cap % kChunk != 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("steps[", query, "].width: ", width, " is outside [0, ", shape.cap, "]"));
    }
    const std::span<const std::int32_t> ids(params.ids + std::int64_t{query} * params.ids_stride,
                                            static_cast<std::size_t>(std::min(width, shape.cap)));
    const std::int64_t bad_id =
        first_invalid(ids, [&](std::int32_t cell) { return cell >= 0 && cell < num_cells; });
    if (bad_id != std::ssize(ids)) {
      return absl::InvalidArgumentError(absl::StrCat("ids[",
                                                     query,
                                                     ", ",
                                                     bad_id,
                                                     "]: ",
                                                     ids[static_cast<std::size_t>(bad_id)],
                                                     " is outside the ",
                                                     num_cells,
                                                     " cells"));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::kernels::qsa_decode
