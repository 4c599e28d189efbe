#include "profiler/outside_reads.h"

#include "profiler/checked_call.h"
#include "profiler/poison.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <utility>

namespace assay::profiler {
namespace {

class Search {
 public:
  Search(Device& device,
         Workspace& workspace,
         const kernels::Problem& problem,
         const ArmPlan& arm,
         const std::vector<Digest>& expected,
         std::byte other)
      : device_(device),
        workspace_(workspace),
        problem_(problem),
        arm_(arm),
        expected_(expected),
        other_(other) {}

  absl::StatusOr<OutsideReads> run();

 private:
  absl::Status look_at(std::size_t tensor, Side side);
  absl::StatusOr<OutsideRead> measure(std::size_t tensor, Side side);
  // Whether outputs follow what lies farther than `near_bytes` from the tensor.
  absl::StatusOr<bool> follows(std::size_t tensor,
                               Side side,
                               std::int64_t near_bytes,
                               std::byte poison,
                               HostOutputs& outputs);

  Device& device_;
  Workspace& workspace_;
  const kernels::Problem& problem_;
  const ArmPlan& arm_;
  const std::vector<Digest>& expected_;
  std::byte other_;
  OutsideReads found_;
};

absl::StatusOr<bool> Search::follows(std::size_t tensor,
                                     Side side,
                                     std::int64_t near_bytes,
                                     std::byte poison,
                                     HostOutputs& outputs) {
  ASSAY_RETURN_IF_ERROR(workspace_.poison(0, kFirstPoison));
  ASSAY_RETURN_IF_ERROR(workspace_.split_band(tensor, side, near_bytes, kFirstPoison, poison));
  absl::Status finished;
  ASSAY_RETURN_IF_ERROR(
      call_and_read(device_, workspace_, problem_, arm_, nullptr, finished, outputs));
  return !finished.ok() || digests_of(workspace_.compared(), arm_, outputs) != expected_;
}

absl::StatusOr<OutsideRead> Search::measure(std::size_t tensor, Side side) {
  const kernels::TensorSpec& spec = problem_.tensors()[tensor];
  const std::int64_t size = kernels::size_bytes(spec.dtype);
  const std::int64_t most = band_bytes(kernels::num_bytes(spec)) / size;
  HostOutputs outputs;
  // A NaN is not lost among large numbers, but a maximum may not see it.
  ASSAY_ASSIGN_OR_RETURN(const bool shows_nan, follows(tensor, side, 0, kScratchPoison, outputs));
  const std::byte poison = shows_nan ? kScratchPoison : other_;
  // Something is read beyond `least` elements, nothing beyond `enough`.
  std::int64_t least = 0;
  std::int64_t enough = most;
  while (enough - least > 1) {
    const std::int64_t middle = least + (enough - least) / 2;
    ASSAY_ASSIGN_OR_RETURN(const bool is_farther,
                           follows(tensor, side, middle * size, poison, outputs));
    (is_farther ? least : enough) = middle;
  }
  return OutsideRead{
      .tensor = spec.name, .side = side, .num_elements = enough, .is_whole_band = enough == most};
}

absl::Status Search::look_at(std::size_t tensor, Side side) {
  HostOutputs outputs;
  ASSAY_ASSIGN_OR_RETURN(const bool is_read, follows(tensor, side, 0, other_, outputs));
  if (is_read) {
    if (found_.reads.empty()) {
      found_.outputs = std::move(outputs);
    }
    ASSAY_ASSIGN_OR_RETURN(OutsideRead read, measure(tensor, side));
    found_.reads.push_back(std::move(read));
  }
  return workspace_.split_band(tensor, side, 0, kFirstPoison, kFirstPoison);
}

absl::StatusOr<OutsideReads> Search::run() {
  ASSAY_RETURN_IF_ERROR(workspace_.guard(kFirstPoison));
  for (std::size_t tensor = 0; tensor < problem_.tensors().size(); ++tensor) {
    for (const Side side : {Side::kPastEnd, Side::kBeforeStart}) {
      ASSAY_RETURN_IF_ERROR(look_at(tensor, side));
    }
  }
  return std::move(found_);
}

}  // namespace

absl::StatusOr<OutsideReads> find_outside_reads(Device& device,
                                                Workspace& workspace,
                                                const kernels::Problem& problem,
                                                const ArmPlan& arm,
                                                const std::vector<Digest>& expected,
                                                std::byte other) {
  return Search(device, workspace, problem, arm, expected, other).run();
}

std::string describe(std::span<const OutsideRead> reads) {
  return absl::StrCat("reads ",
                      absl::StrJoin(reads, " and ", [](std::string* text, const OutsideRead& read) {
                        absl::StrAppend(text,
                                        read.is_whole_band ? "at least " : "",
                                        with_commas(read.num_elements),
                                        read.num_elements == 1 ? " element " : " elements ",
                                        std::string(text_of(read.side)),
                                        " of `",
                                        read.tensor,
                                        "`");
                      }));
}

}  // namespace assay::profiler
