#include "kernels/tree_attention/cpu_tasks.h"

#include "absl/strings/str_cat.h"

namespace assay::kernels::tree_attention {
namespace {

template <class... Parts>
absl::Status refuse(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status check_streams(const Call& call, const Params& params) {
  const std::int64_t key_elements = std::int64_t{params.num_kv_heads} * shape_of(call).dim;
  std::int32_t next_row = 0;
  for (std::int64_t stream = 0; stream < params.num_streams; ++stream) {
    const std::int32_t* entry = params.stream_table + stream * 3;
    if (entry[0] != next_row || entry[1] < 0 || entry[1] > params.num_rows - next_row) {
      return refuse("stream_table[",
                    stream,
                    "]: rows ",
                    entry[0],
                    " and ",
                    entry[1],
                    " more do not follow row ",
                    next_row,
                    " within ",
                    params.num_rows);
    }
    next_row += entry[1];
    if (entry[2] < 0) {
      return refuse("stream_table[", stream, ", 2]: ", entry[2], " committed keys");
    }
    for (std::int64_t which = 0; which < 2; ++which) {
      const std::int64_t offset = params.cache_table[stream * 2 + which];
      const std::int64_t elements =
          num_elements(call.problem->tensors()[which == 0 ? kKCache : kVCache]);
      if (entry[2] > 0 && offset > elements - entry[2] * key_elements) {
        return refuse("cache_table[",
                      stream,
                      ", ",
                      which,
                      "]: ",
                      entry[2],
                      " keys from element ",
                      offset,
                      " are outside the cache of ",
                      elements);
      }
    }
  }
  return next_row == params.num_rows
             ? absl::OkStatus()
             : refuse("stream_table: ", next_row, " rows of ", params.num_rows);
}

absl::Status check_row(const Params& params, std::int64_t row) {
  const std::int32_t stream = params.row_stream[row];
  if (stream < 0 || stream >= params.num_streams) {
    return refuse("row_stream[", row, "]: stream ", stream, " of ", params.num_streams);
  }
  const std::int32_t* entry = params.stream_table + std::int64_t{stream} * 3;
  if (row < entry[0] || row >= entry[0] + entry[1]) {
    return refuse("row_stream[", row, "]: stream ", stream, " does not have the row");
  }
  const std::int32_t depth = params.depths[row];
  if (depth < 1 || depth > kMostDepth) {
    return refuse("depths[", row, "]: ", depth, " is not in [1, ", kMostDepth, "]");
  }
  for (std::int32_t place = 0; place < depth; ++place) {
    const std::int32_t ancestor = params.paths[row * kMostDepth + place];
    if (ancestor < 0 || ancestor >= params.num_rows) {
      return refuse("paths[", row, ", ", place, "]: row ", ancestor, " of ", params.num_rows);
    }
  }
  const std::int64_t num_keys = std::int64_t{entry[2]} + depth;
  return attention::num_groups_of(num_keys) <= params.num_groups
             ? absl::OkStatus()
             : refuse("depths[", row, "]: ", num_keys, " keys need more groups than planned");
}

}  // namespace

absl::Status check_tables(const Call& call) {
  const Params params = params_of(call);
  absl::Status status = check_shape(
      shape_of(call), {params.cache_table, static_cast<std::size_t>(params.num_streams) * 2});
  if (status.ok()) {
    status = check_streams(call, params);
  }
  for (std::int64_t row = 0; row < params.num_rows && status.ok(); ++row) {
    status = check_row(params, row);
  }
  return status;
}

}  // namespace assay::kernels::tree_attention
