// Variants that take their process down, or never come back.
#include "simple.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace {

int crash(const assay_call* /*call*/) {
  return std::raise(SIGSEGV);
}

int hang(const assay_call* /*call*/) {
  while (true) {
    pause();
  }
}

int give_up(const assay_call* call) {
  std::snprintf(call->error->text, call->error->num_bytes, "no such luck");
  return 7;
}

}  // namespace

ASSAY_MODULE_EXPORT const assay_module_table* assay_module() {
  static const assay_stage stages[] = {simple::stage(simple::plain),
                                       simple::stage(crash),
                                       simple::stage(hang),
                                       simple::stage(give_up)};
  static const assay_variant variants[] = {simple::variant("plain", &stages[0]),
                                           simple::variant("crash", &stages[1]),
                                           simple::variant("hang", &stages[2]),
                                           simple::variant("give_up", &stages[3])};
  return simple::table_of(variants, 4);
}
