#include "profiler/arm_check.h"

#include "profiler/drift.h"
#include "profiler/failure_class.h"
#include "profiler/outside_reads.h"
#include "profiler/poison.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <set>

namespace assay::profiler {
namespace {

// The last shows what is read from elements that nobody writes, even when it is multiplied by 0.
constexpr std::array<std::byte, kRepeatRuns> kPoisons = {
    kFirstPoison, kSecondPoison, kScratchPoison};

void fail(v1::BitsReport& bits, v1::BitsCheck check, std::string detail) {
  bits.set_failed(check);
  bits.set_detail(std::move(detail));
}

// Of a launcher that gave up: where it does not say, by what kind of error it is.
v1::FailureClass class_of(const absl::Status& finished) {
  const v1::FailureClass known = failure_of(finished);
  if (known != v1::FAILURE_CLASS_UNSPECIFIED) {
    return known;
  }
  return absl::IsResourceExhausted(finished) ? v1::RESOURCES : v1::LAUNCH;
}

// The code and the message, as ToString() does without what else a status carries.
std::string text_of(const absl::Status& finished) {
  return absl::Status(finished.code(), finished.message()).ToString();
}

// Where it did not, that is what failed.
bool has_finished(const absl::Status& finished, v1::BitsReport& bits) {
  if (!finished.ok()) {
    fail(bits, v1::BITS_FINISHED, text_of(finished));
    bits.set_failure(class_of(finished));
  }
  return finished.ok();
}

bool has_failed(const v1::BitsReport& bits) {
  return bits.failed() != v1::BITS_CHECK_UNSPECIFIED;
}

void add_outputs(std::span<const ComparedTensor> compared,
                 const CheckedOutputs& checked,
                 v1::Measurement& measurement) {
  for (std::size_t place = 0; place < compared.size(); ++place) {
    if (checked.left[place]) {
      continue;
    }
    const TensorLayout& layout = compared[place].layout;
    v1::TensorDigest& output = *measurement.add_outputs();
    output.set_tensor(layout.name);
    output.set_digest(checked.digests[place].to_hex());
    output.set_dtype(layout.dtype);
    output.mutable_shape()->Add(layout.shape.begin(), layout.shape.end());
    output.set_num_nontrivial(count_nontrivial(layout, checked.outputs.bytes[place].data()));
  }
}

}  // namespace

absl::Status ArmChecker::run(const ArmPlan& arm,
                             std::byte poison,
                             kernels::Trace* trace,
                             absl::Status& finished,
                             HostOutputs& outputs) {
  return checked_call(device_, workspace_, problem_, arm, poison, trace, finished, outputs);
}

absl::Status ArmChecker::check(const ArmPlan& arm,
                               const CheckedOutputs* baseline,
                               v1::Measurement& measurement,
                               CheckedOutputs& checked) {
  v1::BitsReport& bits = *measurement.mutable_bits();
  checked.family = arm.family;
  checked.left.clear();
  for (const ComparedTensor& tensor : workspace_.compared()) {
    checked.left.push_back(is_left(arm, tensor));
  }
  kernels::Trace trace;
  std::array<HostOutputs, kRepeatRuns> runs;
  for (std::uint32_t index = 0; index < kRepeatRuns; ++index) {
    absl::Status finished;
    ASSAY_RETURN_IF_ERROR(
        run(arm, kPoisons[index], index == 0 ? &trace : nullptr, finished, runs[index]));
    if (!has_finished(finished, bits)) {
      return absl::OkStatus();
    }
  }
  measurement.mutable_traced()->Add(trace.kernels.begin(), trace.kernels.end());

  std::set<std::vector<Digest>> distinct;
  std::uint32_t first_other = 0;
  for (std::uint32_t index = 0; index < kRepeatRuns; ++index) {
    std::vector<Digest> digests = digests_of(workspace_.compared(), arm, runs[index]);
    if (index == 0) {
      checked.digests = digests;
    } else if (first_other == 0 && digests != checked.digests) {
      first_other = index;
    }
    distinct.insert(std::move(digests));
  }
  bits.set_num_runs(kRepeatRuns);
  bits.set_num_digests(static_cast<std::uint32_t>(distinct.size()));

  const bool is_written = was_all_written(arm, runs[0], runs[1], bits);
  checked.outputs = std::move(runs[0]);
  add_outputs(workspace_.compared(), checked, measurement);
  ASSAY_RETURN_IF_ERROR(check_other_memory(bits));
  if (!is_written || has_failed(bits)) {
    return absl::OkStatus();
  }
  if (distinct.size() > 1) {
    return explain_digests(arm, kPoisons.at(first_other), checked, runs[first_other], bits);
  }
  if (baseline != nullptr) {
    compare(*baseline, checked, bits);
  }
  judge_tolerance(checked.outputs, bits);
  return absl::OkStatus();
}

bool ArmChecker::was_all_written(const ArmPlan& arm,
                                 const HostOutputs& first,
                                 const HostOutputs& second,
                                 v1::BitsReport& bits) const {
  for (std::size_t place = 0; place < workspace_.compared().size(); ++place) {
    if (is_left(arm, workspace_.compared()[place])) {
      continue;
    }
    const TensorLayout& layout = workspace_.compared()[place].layout;
    const std::byte* in_first = first.bytes[place].data();
    const std::byte* in_second = second.bytes[place].data();
    const auto unwritten = find_unwritten(layout, in_first, in_second);
    if (!unwritten.has_value()) {
      continue;
    }
    // Where written elements change too, some may hold a byte of the poison by chance.
    const auto drift = find_drift(layout, in_first, in_second);
    if (drift.has_value() && drift->num_differing() == unwritten->num_unwritten) {
      fail(bits, v1::BITS_WRITTEN, describe(*unwritten));
      return false;
    }
  }
  return true;
}

void ArmChecker::set_drift(const CheckedOutputs& checked,
                           const HostOutputs& other,
                           v1::BitsReport& bits) const {
  const std::span<const ComparedTensor> compared = workspace_.compared();
  for (std::size_t place = 0; place < std::min(compared.size(), other.bytes.size()); ++place) {
    if (checked.left[place]) {
      continue;
    }
    const auto drift = find_drift(
        compared[place].layout, checked.outputs.bytes[place].data(), other.bytes[place].data());
    if (drift.has_value()) {
      *bits.mutable_drift() = *drift;
      return;
    }
  }
}

absl::Status ArmChecker::explain_digests(const ArmPlan& arm,
                                         std::byte poison,
                                         const CheckedOutputs& checked,
                                         const HostOutputs& other,
                                         v1::BitsReport& bits) {
  const auto is_same = [&](const HostOutputs& outputs) {
    return digests_of(workspace_.compared(), arm, outputs) == checked.digests;
  };
  // The first poison again: bits that come back follow memory.
  absl::Status finished;
  HostOutputs again;
  ASSAY_RETURN_IF_ERROR(run(arm, kPoisons[0], nullptr, finished, again));
  if (!has_finished(finished, bits)) {
    return absl::OkStatus();
  }
  if (!is_same(again)) {
    set_drift(checked, other, bits);
    fail(bits,
         v1::BITS_REPEATABLE,
         absl::StrCat(
             bits.num_digests(), " digests in ", kRepeatRuns, " runs; ", describe(bits.drift())));
    return absl::OkStatus();
  }
  // The other poison between the first guard bands: bits that stay follow the bands.
  ASSAY_RETURN_IF_ERROR(workspace_.poison(0, poison));
  ASSAY_RETURN_IF_ERROR(
      call_and_read(device_, workspace_, problem_, arm, nullptr, finished, again));
  if (!has_finished(finished, bits)) {
    return absl::OkStatus();
  }
  if (is_same(again)) {
    return name_outside_reads(arm, poison, checked, other, bits);
  }
  if (poison == kSecondPoison && !was_all_written(arm, checked.outputs, again, bits)) {
    return absl::OkStatus();
  }
  set_drift(checked, again, bits);
  fail(bits,
       v1::BITS_WRITTEN,
       absl::StrCat("reads unwritten scratch: with another poison ", describe(bits.drift())));
  return absl::OkStatus();
}

absl::Status ArmChecker::name_outside_reads(const ArmPlan& arm,
                                            std::byte poison,
                                            const CheckedOutputs& checked,
                                            const HostOutputs& other,
                                            v1::BitsReport& bits) {
  ASSAY_ASSIGN_OR_RETURN(
      const OutsideReads found,
      find_outside_reads(device_, workspace_, problem_, arm, checked.digests, poison));
  set_drift(checked, found.reads.empty() ? other : found.outputs, bits);
  fail(bits,
       v1::BITS_WRITTEN,
       absl::StrCat(found.reads.empty() ? "reads outside of its tensors" : describe(found.reads),
                    ": with other bytes there ",
                    bits.has_drift() ? describe(bits.drift()) : "it gives up"));
  return absl::OkStatus();
}

absl::Status ArmChecker::check_other_memory(v1::BitsReport& bits) {
  ASSAY_ASSIGN_OR_RETURN(const std::string overrun, workspace_.find_overrun());
  ASSAY_ASSIGN_OR_RETURN(const std::string changed, workspace_.find_changed_input(0));
  if (overrun.empty() && changed.empty()) {
    return absl::OkStatus();
  }
  // Kept buffers are no longer what they are kept as.
  workspace_.forget();
  const std::string detail = overrun.empty() ? absl::StrCat("input `", changed, "` was changed")
                                             : absl::StrCat("written ", overrun);
  if (has_failed(bits)) {
    bits.set_detail(absl::StrCat(bits.detail(), "; ", detail));
  } else {
    fail(bits, overrun.empty() ? v1::BITS_INPUTS : v1::BITS_WRITTEN, detail);
  }
  return absl::OkStatus();
}

void ArmChecker::compare(const CheckedOutputs& baseline,
                         const CheckedOutputs& checked,
                         v1::BitsReport& bits) const {
  const std::span<const ComparedTensor> compared = workspace_.compared();
  for (std::size_t place = 0; place < compared.size(); ++place) {
    if (baseline.left[place] || checked.left[place]) {
      continue;
    }
    const auto drift = find_drift(compared[place].layout,
                                  baseline.outputs.bytes[place].data(),
                                  checked.outputs.bytes[place].data());
    if (drift.has_value()) {
      *bits.mutable_drift() = *drift;
      fail(bits, v1::BITS_EQUAL, describe(*drift));
      return;
    }
  }
  if (checked.family != baseline.family) {
    fail(bits,
         v1::BITS_EQUAL,
         absl::StrCat("family ", checked.family, " is not measured against ", baseline.family));
  }
}

void ArmChecker::judge_tolerance(const HostOutputs& outputs, v1::BitsReport& bits) {
  const std::span<const ComparedTensor> compared = workspace_.compared();
  ToleranceBuckets buckets;
  for (std::size_t place = 0; place < compared.size(); ++place) {
    const TensorLayout& layout = compared[place].layout;
    if (!compared[place].is_output) {
      continue;
    }
    const auto reference = references_.find_or_make(
        absl::StrCat(key_, "/", layout.name), problem_, compared[place].tensor);
    const auto wanted = static_cast<std::size_t>(num_elements(layout));
    if (reference->values.size() != wanted || reference->tolerances.size() != wanted) {
      continue;
    }
    const ToleranceUse use =
        tolerance_use(layout, outputs.bytes[place].data(), *reference, buckets);
    if (!bits.tolerance_known() || use.share > bits.tolerance_used()) {
      bits.set_tolerance_used(use.share);
      bits.set_tolerance_place(place_of(layout.name, coordinates(layout, use.element)));
    }
    bits.set_tolerance_known(true);
  }
  buckets.write(*bits.mutable_tolerance_buckets());
  bits.set_tolerance_alarm(bits.tolerance_used() > tolerance_alarm_);
  if (bits.tolerance_known() && !(bits.tolerance_used() <= 1.0) && !has_failed(bits)) {
    fail(bits,
         v1::BITS_TOLERANCE,
         absl::StrCat(
             bits.tolerance_place(), " is at ", bits.tolerance_used(), " of its tolerance"));
  }
}

}  // namespace assay::profiler
