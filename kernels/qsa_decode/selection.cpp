#include "kernels/qsa_decode/selection.h"

#include "kernels/inputs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string_view>

namespace assay::kernels::qsa_decode {
namespace {

using Pattern = SelectionPlan::Pattern;
using Residency = SelectionPlan::Residency;
using Sharing = SelectionPlan::Sharing;
using Spread = SelectionPlan::Spread;

constexpr std::int32_t kHoleCell = 8'192;
constexpr std::int32_t kHolePages = 64;
constexpr std::int32_t kOneInHoles = 32;
constexpr std::int64_t kBlockCells = 4;

// Borders of chunks and of batches of 16 chunks.
constexpr std::array<std::int32_t, 12> kBorders = {
    63, 1'024, 65, 16'385, 1, 2'051, 64, 1'025, 32'768, 1'023, 4'096, 16'383};

std::uint64_t key_of(std::uint64_t seed, std::string_view name, std::int64_t number) {
  return random_word(make_key(seed, name), static_cast<std::uint64_t>(number));
}

std::vector<std::int32_t> make_widths(const SelectionPlan& plan, std::uint64_t seed) {
  std::vector<std::int32_t> widths(static_cast<std::size_t>(plan.shape.num_queries), plan.width);
  const std::uint64_t key = make_key(seed, "widths");
  for (std::size_t query = 0; query < widths.size(); ++query) {
    switch (plan.spread) {
      case Spread::kUniform:
        break;
      case Spread::kBorders:
        widths[query] = std::min(plan.width, kBorders[query % kBorders.size()]);
        break;
      case Spread::kFalling:
        widths[query] = plan.width >> std::min<std::size_t>(query, 31);
        break;
      case Spread::kRandom:
        widths[query] = static_cast<std::int32_t>(
            random_below(key, query, static_cast<std::uint64_t>(plan.width) + 1));
        break;
    }
  }
  return widths;
}

// A run of cells [begin, begin + size) of which some are chosen.
struct Part {
  std::int64_t begin = 0;
  std::int64_t size = 0;
};

void fill_window(const SelectionPlan& plan,
                 std::uint64_t key,
                 Part part,
                 std::span<std::int32_t> ids) {
  const std::int64_t room = part.size - std::ssize(ids);
  std::int64_t start = random_below(key, 0, static_cast<std::uint64_t>(room) + 1);
  // Half of the windows begin where the hole does, so that whole chunks are masked.
  const bool onto_hole = plan.residency == Residency::kHoles && random_below(key, 1, 2) == 1;
  if (onto_hole && part.begin == 0) {
    start = std::min<std::int64_t>(kHoleCell, room);
  }
  std::iota(ids.begin(), ids.end(), static_cast<std::int32_t>(part.begin + start));
}

// Ascending and unique: each unit of cells is taken with the chance that keeps all choices equal.
void fill_ascending(std::uint64_t key, Part part, std::int64_t unit, std::span<std::int32_t> ids) {
  std::int64_t needed = (std::ssize(ids) + unit - 1) / unit;
  std::int64_t left = part.size / unit;
  std::size_t place = 0;
  for (std::int64_t number = 0; needed > 0; ++number, --left) {
    const auto draw =
        random_below(key, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(left));
    if (draw >= needed) {
      continue;
    }
    --needed;
    for (std::int64_t cell = 0; cell < unit && place < ids.size(); ++cell, ++place) {
      ids[place] = static_cast<std::int32_t>(part.begin + number * unit + cell);
    }
  }
}

void fill_repeats(std::uint64_t key, Part part, std::span<std::int32_t> ids) {
  for (std::size_t place = 0; place < ids.size(); ++place) {
    const std::uint32_t cell = random_below(key, place, static_cast<std::uint64_t>(part.size));
    ids[place] = static_cast<std::int32_t>(part.begin + cell);
  }
}

void fill_ids(const SelectionPlan& plan,
              std::uint64_t key,
              Part part,
              std::span<std::int32_t> ids) {
  Pattern pattern = plan.pattern;
  if (pattern == Pattern::kMixed) {
    constexpr Pattern kDrawn[] = {Pattern::kWindow, Pattern::kGaps, Pattern::kRepeats};
    pattern = kDrawn[random_below(key, ~std::uint64_t{0}, 3)];
  }
  switch (pattern) {
    case Pattern::kWindow:
    case Pattern::kMixed:
      return fill_window(plan, key, part, ids);
    case Pattern::kBlocks:
      return fill_ascending(key, part, kBlockCells, ids);
    case Pattern::kGaps:
      return fill_ascending(key, part, 1, ids);
    case Pattern::kRepeats:
      return fill_repeats(key, part, ids);
  }
}

void select_cells(const SelectionPlan& plan, std::uint64_t seed, Selection* selection) {
  const auto cap = static_cast<std::size_t>(plan.shape.cap);
  selection->ids.assign(static_cast<std::size_t>(plan.shape.num_queries) * cap, 0);
  for (std::int32_t query = 0; query < plan.shape.num_queries; ++query) {
    const std::int32_t stream = query / plan.queries_per_stream;
    const std::int64_t part = plan.sharing == Sharing::kDisjoint ? query : stream;
    const std::int64_t draw = plan.sharing == Sharing::kShared ? stream : query;
    const std::size_t count =
        std::min(cap, static_cast<std::size_t>(selection->widths[static_cast<std::size_t>(query)]));
    // A shared selection is drawn at full width and each query takes its beginning.
    std::vector<std::int32_t> drawn(plan.sharing == Sharing::kShared
                                        ? std::min(cap, static_cast<std::size_t>(plan.width))
                                        : count);
    fill_ids(plan,
             key_of(seed, "ids", draw),
             {.begin = part * plan.cells_per_part, .size = plan.cells_per_part},
             drawn);
    std::copy_n(drawn.begin(),
                count,
                selection->ids.begin() + static_cast<std::ptrdiff_t>(query) * plan.shape.cap);
  }
}

void permute_pages(std::uint64_t seed, std::vector<std::int32_t>* pages) {
  std::iota(pages->begin(), pages->end(), 0);
  const std::uint64_t key = make_key(seed, "pages");
  for (std::size_t place = pages->size(); place > 1; --place) {
    std::swap((*pages)[place - 1], (*pages)[random_below(key, place, place)]);
  }
}

void make_holes(const SelectionPlan& plan, std::uint64_t seed, Selection* selection) {
  std::vector<bool>& is_resident = selection->is_resident;
  const std::uint64_t key = make_key(seed, "holes");
  for (std::size_t page = 0; page < is_resident.size(); ++page) {
    is_resident[page] = random_below(key, page, kOneInHoles) != 0;
  }
  const auto first = static_cast<std::size_t>(kHoleCell / plan.shape.page_size);
  for (std::size_t page = first; page < std::min(first + kHolePages, is_resident.size()); ++page) {
    is_resident[page] = false;
  }
}

// Masks the pages of entries [begin, end) of the first query, where it has them.
void mask_entries(const SelectionPlan& plan,
                  std::int32_t begin,
                  std::int32_t end,
                  Selection* selection) {
  end = std::min({end, selection->widths[0], plan.shape.cap});
  for (std::int32_t entry = begin; entry < end; ++entry) {
    const std::int32_t cell = selection->ids[static_cast<std::size_t>(entry)];
    selection->is_resident[static_cast<std::size_t>(cell / plan.shape.page_size)] = false;
  }
}

void choose_residents(const SelectionPlan& plan, std::uint64_t seed, Selection* selection) {
  const auto num_pages = static_cast<std::size_t>(plan.shape.num_logical_pages);
  selection->is_resident.assign(num_pages, plan.residency != Residency::kNone);
  switch (plan.residency) {
    case Residency::kAll:
    case Residency::kNone:
      break;
    case Residency::kHoles:
      make_holes(plan, seed, selection);
      break;
    case Residency::kOneOfEachChunk:
      // The place moves on from chunk to chunk and takes every one of the 64.
      for (std::int32_t chunk = 0; chunk < plan.shape.num_chunks; ++chunk) {
        const std::int32_t entry = chunk * kChunk + chunk % kChunk;
        mask_entries(plan, entry, entry + 1, selection);
      }
      break;
    case Residency::kSecondChunk:
      mask_entries(plan, kChunk, 2 * kChunk, selection);
      break;
  }
}

}  // namespace

Selection make_selection(const SelectionPlan& plan, std::uint64_t seed) {
  Selection selection;
  selection.widths = make_widths(plan, seed);
  select_cells(plan, seed, &selection);
  selection.physical_page.resize(static_cast<std::size_t>(plan.shape.num_logical_pages));
  permute_pages(seed, &selection.physical_page);
  choose_residents(plan, seed, &selection);
  return selection;
}

}  // namespace assay::kernels::qsa_decode
