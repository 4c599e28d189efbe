// One stage of a source's call, for a device to bind: which kernel of which code, how it is
// launched and with what.
#pragma once

#include "tuning/source_sizes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::profiler {

// Machine code on a device, unloaded with its last holder.
class LoadedSource {
 public:
  LoadedSource() = default;
  LoadedSource(const LoadedSource&) = delete;
  LoadedSource& operator=(const LoadedSource&) = delete;
  virtual ~LoadedSource() = default;
};

// Before the launch, within a call: bytes of one of its tensors go to another.
struct TensorCopy {
  std::size_t from = 0;  // places in Call::tensors
  std::size_t to = 0;
  std::int64_t num_bytes = 0;
};

struct SourceLaunch {
  std::string stage;
  std::shared_ptr<LoadedSource> code;
  std::string symbol;        // mangled
  std::string kernel;        // as people read it
  std::string machine_code;  // digest of the kernel's instructions; empty: unknown
  tuning::StageSizes sizes;
  std::vector<int> tensors;  // of each argument its place in Call::tensors; -1: a scalar
  std::vector<TensorCopy> copies;
};

}  // namespace assay::profiler
