#include "profiler/admission.h"

#include "profiler/tensor.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::profiler {
namespace {

constexpr std::size_t kSteadyBlocks = 4;
constexpr double kSteadyShare = 0.02;  // from the slowest clock to the fastest

}  // namespace

void Admission::add(const v1::Block& block) {
  last_.push_back(block);
  if (last_.size() > kSteadyBlocks) {
    last_.pop_front();
  }
}

bool Admission::is_stable() const {
  if (last_.empty()) {
    return false;
  }
  if (last_.back().sm_clock_mhz() == 0) {
    return true;
  }
  if (last_.size() < kSteadyBlocks || std::ranges::any_of(last_, &v1::Block::disqualified)) {
    return false;
  }
  const auto [slowest, fastest] = std::ranges::minmax(last_, {}, &v1::Block::sm_clock_mhz);
  return static_cast<double>(fastest.sm_clock_mhz()) <=
         (1 + kSteadyShare) * static_cast<double>(slowest.sm_clock_mhz());
}

v1::Admission Admission::account(std::int64_t waited_ns) const {
  v1::Admission admission;
  admission.set_waited_ns(waited_ns);
  admission.set_stable(is_stable());
  if (last_.empty() || last_.back().sm_clock_mhz() == 0) {
    admission.set_detail("the device tells no clock");
    return admission;
  }
  admission.set_sm_clock_mhz(last_.back().sm_clock_mhz());
  admission.set_wanted_sm_clock_mhz(last_.back().wanted_sm_clock_mhz());
  if (admission.stable()) {
    admission.set_detail("the clock was steady");
    return admission;
  }
  const auto held =
      std::ranges::find_if(last_, [](const v1::Block& block) { return block.disqualified(); });
  const auto [slowest, fastest] = std::ranges::minmax(last_, {}, &v1::Block::sm_clock_mhz);
  admission.set_detail(held != last_.end()
                           ? absl::StrCat("still held back by ", held->disqualified_because())
                           : absl::StrCat("the clock still moved between ",
                                          with_commas(std::int64_t{slowest.sm_clock_mhz()}),
                                          " and ",
                                          with_commas(std::int64_t{fastest.sm_clock_mhz()}),
                                          " MHz"));
  return admission;
}

}  // namespace assay::profiler
