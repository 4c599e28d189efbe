// The tensors of one workload: their shapes, the bytes of the inputs, what is live, the reference.
#pragma once

#include "kernels/tree_attention/contract.h"

#include "absl/status/status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace assay::kernels::tree_attention {

absl::Status validate(const Workload& workload);

// A row's identity in the whole problem, which every view keeps.
struct RowId {
  std::int32_t stream = 0;
  std::int32_t row = 0;

  bool operator==(const RowId&) const = default;
};

// A problem that knows which rows of the whole one it makes.
class ViewProblem : public TreeProblem {
 public:
  // Of each row of the call.
  virtual std::span<const RowId> row_ids() const = 0;
  // How many keys each row sees.
  virtual std::span<const std::int32_t> row_keys() const = 0;
};

// Where an output's or intermediate's elements of the rows that both problems make lie. Both are
// make_problem()'s, of equal heads and dim.
std::vector<RangePair> matched_rows(const Problem& left, const Problem& right, std::size_t tensor);

// Requires validate() to be OK.
std::unique_ptr<Problem> make_problem(const Workload& workload);

}  // namespace assay::kernels::tree_attention
