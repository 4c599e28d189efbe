#include "client/trace_calls.h"

#include "client/saturated.h"
#include "client/trace_json.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>

namespace assay::client {
namespace {

// Calls of one traced block and their stages, each grown by every span that is found in it.
class Calls {
 public:
  Calls(const v1::TracedBlock& block, std::int64_t origin_ns, std::vector<Slice>& slices)
      : block_(block),
        began_ns_(saturated_difference(block.started_ns(), origin_ns)),
        slices_(slices) {}

  void add(const v1::KernelSpan& span) {
    const std::int64_t start_ns = saturated_sum(began_ns_, span.start_ns());
    // A span that ends before it begins is a fault of the record and shown without length.
    const std::int64_t end_ns = std::max(start_ns, saturated_sum(began_ns_, span.end_ns()));
    std::size_t parent = call_of(span, start_ns, end_ns);
    if (!span.stage().empty()) {
      parent = stage_of(span, parent, start_ns, end_ns);
    }
    if (span.kernel().empty()) {
      return;
    }
    JsonMembers members;
    if (span.graph_node_id() != 0) {
      members.add("graph_node_id", absl::StrCat(span.graph_node_id()));
    }
    slices_.push_back({.name = span.kernel(),
                       .start_ns = start_ns,
                       .end_ns = end_ns,
                       .parent = parent,
                       .arguments = members.text()});
  }

 private:
  std::size_t call_of(const v1::KernelSpan& span, std::int64_t start_ns, std::int64_t end_ns) {
    const auto [found, is_new] = calls_.try_emplace(span.call(), slices_.size());
    if (!is_new) {
      return grow(found->second, start_ns, end_ns);
    }
    JsonMembers members;
    members.add_integer("round", block_.round())
        .add_integer("leg", block_.leg())
        .add_flag("is_replay", block_.is_replay());
    slices_.push_back(
        {.name = absl::StrCat(block_.is_replay() ? "replayed call " : "call ", span.call()),
         .start_ns = start_ns,
         .end_ns = end_ns,
         .parent = Slice::kNoParent,
         .arguments = members.text()});
    return found->second;
  }

  std::size_t stage_of(const v1::KernelSpan& span,
                       std::size_t call,
                       std::int64_t start_ns,
                       std::int64_t end_ns) {
    const auto [found, is_new] =
        stages_.try_emplace(std::pair(span.call(), span.stage()), slices_.size());
    if (!is_new) {
      return grow(found->second, start_ns, end_ns);
    }
    slices_.push_back({.name = span.stage(),
                       .start_ns = start_ns,
                       .end_ns = end_ns,
                       .parent = call,
                       .arguments = ""});
    return found->second;
  }

  std::size_t grow(std::size_t slice, std::int64_t start_ns, std::int64_t end_ns) {
    slices_[slice].start_ns = std::min(slices_[slice].start_ns, start_ns);
    slices_[slice].end_ns = std::max(slices_[slice].end_ns, end_ns);
    return slice;
  }

  const v1::TracedBlock& block_;
  std::int64_t began_ns_;
  std::vector<Slice>& slices_;
  std::map<std::uint32_t, std::size_t> calls_;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> stages_;
};

}  // namespace

std::vector<Slice> call_slices(const v1::Measurement& measurement, std::int64_t origin_ns) {
  std::vector<Slice> slices;
  for (const v1::TracedBlock& block : measurement.traced_blocks()) {
    Calls calls(block, origin_ns, slices);
    for (const v1::KernelSpan& span : block.spans()) {
      calls.add(span);
    }
  }
  return slices;
}

}  // namespace assay::client
