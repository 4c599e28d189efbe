// The parameters of a kernel as its source spells them, as far as that can be told without a
// compiler: what a specification says of its arguments is compared with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

struct KernelParameter {
  bool is_pointer = false;
  std::string dtype;  // as of tensors and scalars; empty: a type of its own
};

// Nothing where `kernel` is not defined exactly once, in the open (no preprocessor inside of its
// parentheses), as a __global__ function.
std::optional<std::vector<KernelParameter>> kernel_signature(std::string_view source,
                                                             std::string_view kernel);

}  // namespace assay::client
