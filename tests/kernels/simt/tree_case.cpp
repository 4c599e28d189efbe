#include "tests/kernels/simt/tree_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace assay::kernels::tree_attention {
namespace {

constexpr std::uint16_t kNaN = 0xFFFF;
constexpr std::int32_t kSlack = 24;        // cache rows behind the committed ones
constexpr std::int64_t kFirstElement = 8;  // a base that is only just aligned

std::size_t size_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

bool is_same(float a, float b) {
  return bits_of(a) == bits_of(b);
}

}  // namespace

std::vector<std::int32_t> chain(std::int32_t num_rows) {
  std::vector<std::int32_t> parents;
  for (std::int32_t row = 0; row < num_rows; ++row) {
    parents.push_back(row - 1);
  }
  return parents;
}

std::vector<std::int32_t> star(std::int32_t num_rows) {
  std::vector<std::int32_t> parents(size_of(num_rows), 0);
  if (num_rows > 0) {
    parents[0] = -1;
  }
  return parents;
}

std::vector<std::int32_t> binary(std::int32_t num_rows) {
  std::vector<std::int32_t> parents;
  for (std::int32_t row = 0; row < num_rows; ++row) {
    parents.push_back((row + 1) / 2 - 1);
  }
  return parents;
}

TreeCase::TreeCase(CaseSetup setup, simt::Step step) : setup_(std::move(setup)), step_(step) {
  make_rows();
  fill();
  for (std::int32_t row = 0; row < shape_.num_rows; ++row) {
    for (std::int32_t head = 0; head < shape_.num_heads; ++head) {
      wanted_.push_back(attention::model_of(model_row(row, head)));
    }
  }
  poison();
}

void TreeCase::make_rows() {
  shape_.num_streams = static_cast<std::int32_t>(setup_.streams.size());
  shape_.num_heads = setup_.num_heads;
  shape_.num_kv_heads = setup_.num_kv_heads;
  shape_.dim = setup_.dim;
  shape_.scale = 1.0F / std::sqrt(static_cast<float>(setup_.dim));
  const std::int64_t stride = std::int64_t{setup_.num_kv_heads} * setup_.dim;
  std::int64_t next = kFirstElement;
  for (std::int32_t s = 0; s < shape_.num_streams; ++s) {
    const CaseStream& stream = setup_.streams[size_of(s)];
    const auto num_rows = static_cast<std::int32_t>(stream.parents.size());
    stream_table_.insert(stream_table_.end(), {shape_.num_rows, num_rows, stream.committed});
    table_.insert(table_.end(), {next, next + kFirstElement});
    next += (stream.committed + kSlack) * stride + 2 * kFirstElement;
    for (std::int32_t local = 0; local < num_rows; ++local) {
      RowData row = {.stream = s, .path = {}};
      for (std::int32_t at = local; at >= 0; at = stream.parents[size_of(at)]) {
        row.path.insert(row.path.begin(), shape_.num_rows + at);
      }
      row_stream_.push_back(s);
      depths_.push_back(static_cast<std::int32_t>(row.path.size()));
      std::vector<std::int32_t> path = row.path;
      path.resize(kMostDepth, -1);
      paths_.insert(paths_.end(), path.begin(), path.end());
      shape_.num_groups =
          std::max(shape_.num_groups, attention::num_groups_of(stream.committed + depths_.back()));
      rows_.push_back(std::move(row));
    }
    for (std::int32_t pair = 0; pair < num_rows * shape_.group(); pair += attention::kTilePairs) {
      tiles_.insert(tiles_.end(), {s, pair});
      ++shape_.num_tiles;
    }
    shape_.num_rows += num_rows;
    shape_.streams.push_back({num_rows, {0, stream.committed}});
    shape_.most_committed = std::max(shape_.most_committed, stream.committed);
  }
  k_cache_.assign(size_of(next), kNaN);
  v_cache_.assign(size_of(next), kNaN);
}

void TreeCase::fill() {
  std::mt19937_64 random(setup_.seed);
  std::normal_distribution<float> normal;
  const auto draw = [&] { return attention::to_bf16(normal(random)); };
  const std::int64_t stride = std::int64_t{setup_.num_kv_heads} * setup_.dim;
  q_.resize(size_of(std::int64_t{shape_.num_rows} * shape_.num_heads * shape_.dim));
  k_rows_.resize(size_of(shape_.num_rows * stride));
  v_rows_.resize(k_rows_.size());
  for (std::vector<std::uint16_t>* values : {&q_, &k_rows_, &v_rows_}) {
    std::ranges::generate(*values, draw);
  }
  for (std::int32_t s = 0; s < shape_.num_streams; ++s) {
    const std::int64_t count = setup_.streams[size_of(s)].committed * stride;
    std::generate_n(k_cache_.begin() + table_[size_of(2 * s)], count, draw);
    std::generate_n(v_cache_.begin() + table_[size_of(2 * s + 1)], count, draw);
  }
}

attention::ModelRow TreeCase::model_row(std::int32_t row, std::int32_t head) const {
  const RowData& data = rows_[size_of(row)];
  const std::int32_t committed = setup_.streams[size_of(data.stream)].committed;
  const std::int32_t key_head = head / shape_.group();
  const std::int64_t stride = std::int64_t{setup_.num_kv_heads} * setup_.dim;
  const auto row_of = [=, this](const std::vector<std::uint16_t>& cache,
                                const std::vector<std::uint16_t>& rows,
                                std::int64_t offset,
                                int position) {
    if (position < committed) {
      return cache.data() + offset + position * stride + key_head * shape_.dim;
    }
    const std::int64_t place = rows_[size_of(row)].path[size_of(position - committed)];
    return rows.data() + place * stride + key_head * shape_.dim;
  };
  return {
      .query = q_.data() + (std::int64_t{row} * shape_.num_heads + head) * shape_.dim,
      .key =
          [=, this](int position) {
            return row_of(k_cache_, k_rows_, table_[size_of(2 * data.stream)], position);
          },
      .value =
          [=, this](int position) {
            return row_of(v_cache_, v_rows_, table_[size_of(2 * data.stream + 1)], position);
          },
      .range = {0, committed + depths_[size_of(row)]},
      .dim = shape_.dim,
      .scale = shape_.scale,
      .step = step_,
  };
}

void TreeCase::poison() {
  const std::int64_t states = std::int64_t{shape_.num_rows} * shape_.num_heads;
  const std::int64_t groups = shape_.num_groups + setup_.extra_groups;
  const float nan = float_of(0xFFFFFFFFU);
  out_.assign(size_of(states * shape_.dim), kNaN);
  result_.assign(size_of(states * shape_.dim), nan);
  const auto assign =
      [&](std::int64_t count, std::vector<float>& m, std::vector<float>& l, std::vector<float>& o) {
        m.assign(size_of(count * states), nan);
        l.assign(size_of(count * states), nan);
        o.assign(size_of(count * states * shape_.dim), nan);
      };
  assign(groups, partial_m_, partial_l_, partial_o_);
  assign(attention::num_runs_of(groups), run_m_, run_l_, run_o_);
  assign(groups * attention::kSlices, slice_m_, slice_l_, slice_o_);
}

Params TreeCase::params() {
  return {
      .q = q_.data(),
      .k_rows = k_rows_.data(),
      .v_rows = v_rows_.data(),
      .k_cache = k_cache_.data(),
      .v_cache = v_cache_.data(),
      .cache_table = table_.data(),
      .stream_table = stream_table_.data(),
      .row_stream = row_stream_.data(),
      .paths = paths_.data(),
      .depths = depths_.data(),
      .tiles = tiles_.data(),
      .out = out_.data(),
      .result = result_.data(),
      .partial_m = partial_m_.data(),
      .partial_l = partial_l_.data(),
      .partial_o = partial_o_.data(),
      .run_m = run_m_.data(),
      .run_l = run_l_.data(),
      .run_o = run_o_.data(),
      .slice_m = slice_m_.data(),
      .slice_l = slice_l_.data(),
      .slice_o = slice_o_.data(),
      .num_streams = shape_.num_streams,
      .num_rows = shape_.num_rows,
      .num_heads = shape_.num_heads,
      .num_kv_heads = shape_.num_kv_heads,
      .num_groups = shape_.num_groups + setup_.extra_groups,
      .num_tiles = shape_.num_tiles,
      .scale = shape_.scale,
  };
}

std::string TreeCase::difference(bool leaves_committed, bool has_result) const {
  const std::int64_t states = std::int64_t{shape_.num_rows} * shape_.num_heads;
  for (std::int64_t state = 0; state < states; ++state) {
    const attention::ModelResult& wanted = wanted_[size_of(state)];
    const std::string where = "row " + std::to_string(state / shape_.num_heads) + " head " +
                              std::to_string(state % shape_.num_heads);
    const RowData& row = rows_[size_of(state / shape_.num_heads)];
    const std::int32_t committed = setup_.streams[size_of(row.stream)].committed;
    for (std::size_t g = 0; g < wanted.groups.size(); ++g) {
      const bool is_left =
          leaves_committed && static_cast<std::int32_t>(g + 1) * attention::kGroupKeys <= committed;
      if (is_left) {
        continue;
      }
      const std::int64_t place = static_cast<std::int64_t>(g) * states + state;
      const std::string text = where + " group " + std::to_string(g);
      if (!is_same(wanted.groups[g]->m, partial_m_[size_of(place)])) {
        return text + " m";
      }
      if (!is_same(wanted.groups[g]->l, partial_l_[size_of(place)])) {
        return text + " l";
      }
      for (std::int32_t d = 0; d < shape_.dim; ++d) {
        if (!is_same(wanted.groups[g]->o[size_of(d)],
                     partial_o_[size_of(place * shape_.dim + d)])) {
          return text + " o " + std::to_string(d);
        }
      }
    }
    for (std::int32_t d = 0; d < shape_.dim; ++d) {
      const std::size_t place = size_of(state * shape_.dim + d);
      const float value = attention::finish(wanted.total.o[size_of(d)], wanted.total.l);
      if (has_result && !is_same(value, result_[place])) {
        return where + " result " + std::to_string(d);
      }
      if (attention::to_bf16(value) != out_[place]) {
        return where + " out " + std::to_string(d);
      }
    }
  }
  return "";
}

std::string TreeCase::slice_difference(bool has_all) const {
  const std::int64_t states = std::int64_t{shape_.num_rows} * shape_.num_heads;
  for (std::int64_t state = 0; state < states; ++state) {
    const auto row = static_cast<std::int32_t>(state / shape_.num_heads);
    const auto head = static_cast<std::int32_t>(state % shape_.num_heads);
    const RowData& data = rows_[size_of(row)];
    const std::int32_t committed = setup_.streams[size_of(data.stream)].committed;
    const attention::ModelRow model = model_row(row, head);
    const std::int32_t first = has_all ? 0 : committed / attention::kGroupKeys * attention::kSlices;
    for (std::int32_t slice = first; slice * attention::kSliceKeys < model.range.end; ++slice) {
      const attention::ModelState wanted = *model.slice(slice);
      const std::size_t place = size_of(slice * states + state);
      const std::string text = "row " + std::to_string(row) + " head " + std::to_string(head) +
                               " slice " + std::to_string(slice);
      if (!is_same(wanted.m, slice_m_[place]) || !is_same(wanted.l, slice_l_[place])) {
        return text + " sums";
      }
      for (std::size_t d = 0; d < wanted.o.size(); ++d) {
        if (!is_same(wanted.o[d], slice_o_[place * wanted.o.size() + d])) {
          return text + " o " + std::to_string(d);
        }
      }
    }
  }
  return "";
}

}  // namespace assay::kernels::tree_attention
