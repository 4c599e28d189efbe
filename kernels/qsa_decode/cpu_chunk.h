// The chunk stage on cpu, over a vector type V of eight floats: scores, softmax and the fold of
// values of 64 selected cells. Every form keeps the bits of the contract. Written without the
// standard library, so that nothing compiled here for one instruction set is shared with another.
#pragma once

#include "kernels/qsa_decode/cpu_scores.h"
#include "kernels/qsa_decode/cpu_softmax.h"
#include "kernels/qsa_decode/cpu_values.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

template <class V>
struct ChunkStage {
  using Scores = ChunkScores<V>;
  using Softmax = ChunkSoftmax<V>;
  using Values = ChunkValues<V>;

  static const float* query_row(const Params& params, const ChunkTask& task) {
    return params.q + (std::int64_t{task.query} * kNumHeads + task.kv_head * kGroup) * kHeadDim;
  }

  template <Mutation kMutation>
  static void find_cells(const Params& params,
                         const ChunkTask& task,
                         std::int32_t chunk,
                         ChunkCells* cells) {
    const std::int32_t width = params.steps[std::int64_t{task.query} * params.steps_stride + 3];
    const std::int32_t left = width - chunk * kChunk;
    cells->live = 0;
    cells->count = left < kChunk ? left : kChunk;
    std::int32_t ids_query = task.query;
    if constexpr (kMutation == Mutation::kReadsNeighbourSelection) {
      ids_query = (task.query + 1) % params.num_queries;
    }
    std::int32_t num_read = cells->count;
    if constexpr (kMutation == Mutation::kDropsLastCell) {
      num_read = cells->count - 1;
    }
    const std::int32_t* ids =
        params.ids + std::int64_t{ids_query} * params.ids_stride + std::int64_t{chunk} * kChunk;
    for (int cell = 0; cell < num_read; ++cell) {
      std::int64_t page = params.page_table[ids[cell] / params.page_size];
      if constexpr (kMutation == Mutation::kAdmitsMaskedCell) {
        page = page < 0 ? 0 : page;
      }
      if (page < 0) {
        continue;
      }
      cells->live |= std::uint64_t{1} << cell;
      cells->rows[cell] =
          (page * kNumKvHeads + task.kv_head) * params.page_size + ids[cell] % params.page_size;
    }
  }

  static std::int64_t partial_index(const Params& params, const ChunkTask& task, int chunk) {
    return ((std::int64_t{task.query} * kNumKvHeads + task.kv_head) * params.num_chunks + chunk) *
           kGroup;
  }

  static void write_empty(const Params& params, const ChunkTask& task, int chunk) {
    const std::int64_t index = partial_index(params, task, chunk);
    for (int head = 0; head < kGroup; ++head) {
      params.m[index + head] = kEmptyMark;
      params.l[index + head] = 0.0F;
    }
  }

  template <KvFormat kFormat, Mutation kMutation>
  static void one_cell(const Params& params, const ChunkTask& task) {
    typename Scores::Queries queries;
    Scores::load_queries(query_row(params, task), &queries);
    for (std::int32_t chunk = task.first; chunk < task.end; ++chunk) {
      ChunkCells cells;
      find_cells<kMutation>(params, task, chunk, &cells);
      if (cells.count <= 0) {
        write_empty(params, task, chunk);
        continue;
      }
      float scores[kGroup * kChunk];
      Scores::template score_one_cell<kFormat, kMutation>(params, queries, cells, scores);
      const std::int64_t index = partial_index(params, task, chunk);
      Softmax::head_major(cells, scores, params.m + index, params.l + index);
      Values::template fold_one_cell<kFormat, kMutation>(
          params, cells, scores, params.acc + index * kHeadDim);
    }
  }

  template <KvFormat kFormat, Mutation kMutation, int kCells, bool kHwExp>
  static void two_cell(const Params& params, const ChunkTask& task) {
    typename Scores::Queries queries;
    Scores::load_queries(query_row(params, task), &queries);
    for (std::int32_t chunk = task.first; chunk < task.end; ++chunk) {
      ChunkCells cells;
      find_cells<kMutation>(params, task, chunk, &cells);
      if (cells.count <= 0) {
        write_empty(params, task, chunk);
        continue;
      }
      float scores[kChunk * kPaddedHeads];
      float m[kPaddedHeads];
      float l[kPaddedHeads];
      Scores::template score_cells<kFormat, kMutation, kCells>(params, queries, &cells, scores);
      Softmax::template cell_major<kHwExp>(cells, scores, m, l);
      const std::int64_t index = partial_index(params, task, chunk);
      for (int head = 0; head < kGroup; ++head) {
        params.m[index + head] = m[head];
        params.l[index + head] = l[head];
      }
      constexpr bool kHeadMajor = kMutation == Mutation::kWeightsHeadMajor;
      Values::template fold_four_cells<kFormat,
                                       kMutation,
                                       kHeadMajor ? kChunk : 1,
                                       kHeadMajor ? 1 : kPaddedHeads>(
          params, cells, scores, params.acc + index * kHeadDim);
    }
  }

  template <KvFormat kFormat>
  static void lane_cell(const Params& params, const ChunkTask& task) {
    for (std::int32_t chunk = task.first; chunk < task.end; ++chunk) {
      ChunkCells cells;
      find_cells<Mutation::kNone>(params, task, chunk, &cells);
      if (cells.count <= 0) {
        write_empty(params, task, chunk);
        continue;
      }
      float scores[kGroup * kChunk];
      Scores::template score_lane_cell<kFormat>(params, query_row(params, task), cells, scores);
      const std::int64_t index = partial_index(params, task, chunk);
      Softmax::head_major(cells, scores, params.m + index, params.l + index);
      Values::template fold_four_cells<kFormat, Mutation::kNone, kChunk, 1>(
          params, cells, scores, params.acc + index * kHeadDim);
    }
  }
};

}  // namespace assay::kernels::qsa_decode
