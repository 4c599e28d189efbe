// What two calls have in common: rows of one stream at one position that see the same keys. Their
// bits must be the same.
#pragma once

#include "kernels/operator.h"

#include <cstddef>
#include <vector>

namespace assay::kernels::block_attention {

// Of an output or intermediate of problems that make_problem() made. Of the heads, those that both
// have: the first ones, of as many query heads a key head.
std::vector<RangePair> matched_rows(const Problem& left, const Problem& right, std::size_t tensor);

}  // namespace assay::kernels::block_attention
