#include "server/context.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace assay::server {
namespace {

constexpr std::size_t kLeastCommitDigits = 7;
constexpr std::size_t kMaxCommitDigits = 64;
constexpr int kMaxLabels = 32;
constexpr std::size_t kMaxNameBytes = 200;  // of a branch, a label's name, a label's value
constexpr std::size_t kMaxNoteBytes = 4'000;

absl::Status refuse(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("spec.context.", std::string(field), ": ", std::string(why)));
}

absl::Status check_text(std::string_view field, std::string_view text, std::size_t limit) {
  if (text.size() > limit) {
    return refuse(field, absl::StrCat("has ", text.size(), " bytes, the limit is ", limit));
  }
  return text.find('\0') == std::string_view::npos ? absl::OkStatus()
                                                   : refuse(field, "has a NUL character");
}

bool is_commit(const std::string& text) {
  return text.size() >= kLeastCommitDigits && text.size() <= kMaxCommitDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

absl::Status check_labels(const v1::Context& context) {
  if (context.labels_size() > kMaxLabels) {
    return refuse("labels", absl::StrCat("has ", context.labels_size(), ", the limit is 32"));
  }
  std::set<std::string> names;
  for (int i = 0; i < context.labels_size(); ++i) {
    const v1::Setting& label = context.labels(i);
    const std::string field = absl::StrCat("labels[", i, "]");
    if (label.name().empty() || label.name().find('=') != std::string::npos) {
      return refuse(field + ".name", "must be 1 to 200 bytes without =");
    }
    ASSAY_RETURN_IF_ERROR(check_text(field + ".name", label.name(), kMaxNameBytes));
    ASSAY_RETURN_IF_ERROR(check_text(field + ".value", label.value(), kMaxNameBytes));
    if (!names.insert(label.name()).second) {
      return refuse(field + ".name", absl::StrCat("`", label.name(), "` is there already"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_context(const v1::Context& context) {
  if (!context.commit().empty() && !is_commit(context.commit())) {
    return refuse("commit", "must be 7 to 64 hexadecimal digits in small letters");
  }
  if (context.committed_ns() < 0) {
    return refuse("committed_ns", "must not be negative");
  }
  ASSAY_RETURN_IF_ERROR(check_text("branch", context.branch(), kMaxNameBytes));
  ASSAY_RETURN_IF_ERROR(check_text("note", context.note(), kMaxNoteBytes));
  return check_labels(context);
}

}  // namespace assay::server
