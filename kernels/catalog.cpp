#include "kernels/block_attention/operator.h"
#include "kernels/calibration/operator.h"
#include "kernels/operator.h"
#include "kernels/qsa_decode/operator.h"
#include "kernels/tree_attention/operator.h"

#include <algorithm>
#include <array>

namespace assay::kernels {

std::span<const Operator* const> catalogue() {
  static const std::array<const Operator*, 4> operators = {
      &block_attention::block_attention(),
      &calibration::calibration(),
      &qsa_decode::qsa_decode(),
      &tree_attention::tree_attention(),
  };
  return operators;
}

const Operator* find_operator(std::string_view name) {
  const std::span<const Operator* const> operators = catalogue();
  const auto found = std::ranges::find(operators, name, &Operator::name);
  return found == operators.end() ? nullptr : *found;
}

}  // namespace assay::kernels
