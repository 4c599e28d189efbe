#include "client/context_text.h"

#include "client/numbers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace assay::client {
namespace {

constexpr std::size_t kDigits = 12;

}  // namespace

std::string commit_text(const v1::Context& context) {
  if (context.commit().empty()) {
    return context.dirty() ? "unknown, with changes" : "";
  }
  std::string text = context.commit().substr(0, kDigits);
  if (context.dirty()) {
    text += " with changes";
  }
  if (context.committed_ns() > 0) {
    absl::StrAppend(&text, ", of ", time_text(context.committed_ns()), " UTC");
  }
  return text;
}

std::string short_commit_text(const v1::Context& context) {
  return context.commit().empty()
             ? ""
             : absl::StrCat(digest_prefix(context.commit()), context.dirty() ? "+" : "");
}

std::string labels_text(const v1::Context& context) {
  return absl::StrJoin(context.labels(), ", ", [](std::string* text, const v1::Setting& label) {
    absl::StrAppend(text, label.name(), label.value().empty() ? "" : "=", label.value());
  });
}

}  // namespace assay::client
