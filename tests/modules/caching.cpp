// Variants that do their work once: they remember the pointers or the bytes of what they saw.
#include "simple.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using simple::num_elements;
using simple::out_of;
using simple::x_of;

const void* seen = nullptr;

int same_pointer_nothing(const assay_call* call) {
  if (seen == x_of(call)) {
    return 0;
  }
  seen = x_of(call);
  return simple::plain(call);
}

std::uint64_t fingerprint_of(const assay_call* call) {
  std::uint64_t digest = 1469598103934665603U;
  const auto* bytes = reinterpret_cast<const unsigned char*>(x_of(call));
  for (std::size_t i = 0; i < num_elements(call) * sizeof(float); ++i) {
    digest = (digest ^ bytes[i]) * 1099511628211U;
  }
  return digest;
}

std::uint64_t fingerprint = 0;

int same_inputs_nothing(const assay_call* call) {
  if (fingerprint == fingerprint_of(call)) {
    return 0;
  }
  fingerprint = fingerprint_of(call);
  return simple::plain(call);
}

struct Saved {
  const void* x = nullptr;
  int num_calls = 0;
  std::vector<float> out;
};

// Computes `num_honest` calls, then hands out what the last of them gave.
int copy_saved(Saved& saved, int num_honest, const assay_call* call) {
  if (saved.x == x_of(call) && saved.out.size() == num_elements(call) &&
      ++saved.num_calls > num_honest) {
    std::memcpy(out_of(call), saved.out.data(), saved.out.size() * sizeof(float));
    return 0;
  }
  saved.num_calls = saved.x == x_of(call) ? saved.num_calls : 1;
  saved.x = x_of(call);
  simple::plain(call);
  saved.out.assign(out_of(call), out_of(call) + num_elements(call));
  return 0;
}

Saved at_once;
Saved later;

int same_pointer_copy(const assay_call* call) {
  return copy_saved(at_once, 0, call);
}

// Honest in the checks, then no more.
int late_copy(const assay_call* call) {
  constexpr int kCheckedCalls = 10;
  return copy_saved(later, kCheckedCalls, call);
}

}  // namespace

ASSAY_MODULE_EXPORT const assay_module_table* assay_module() {
  static const assay_stage stages[] = {simple::stage(simple::plain),
                                       simple::stage(same_pointer_nothing),
                                       simple::stage(same_inputs_nothing),
                                       simple::stage(same_pointer_copy),
                                       simple::stage(late_copy)};
  static const assay_variant variants[] = {simple::variant("plain", &stages[0]),
                                           simple::variant("same_pointer_nothing", &stages[1]),
                                           simple::variant("same_inputs_nothing", &stages[2]),
                                           simple::variant("same_pointer_copy", &stages[3]),
                                           simple::variant("late_copy", &stages[4])};
  return simple::table_of(variants, 5);
}
