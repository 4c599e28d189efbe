#include "client/source_file.h"

#include "client/source_data.h"
#include "client/strict_json.h"
#include "client/t1_source.h"
#include "proto/status.h"
#include "tuning/content_digest.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"
#include <google/protobuf/util/json_util.h>

#include <utility>

namespace assay::client {
namespace {

// Texts and digests come from files alone.
absl::Status check_own(const v1::SourceSpec& spec) {
  for (int i = 0; i < spec.files_size(); ++i) {
    if (!spec.files(i).text().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "source.files[", i, "].text: is read from the file of its name; leave it out"));
    }
  }
  return absl::OkStatus();
}

// The rules, as if data were there: what is wrong with a tensor is said before its file is read.
absl::Status check_before_data(v1::SourceSpec spec) {
  for (v1::SourceTensor& tensor : *spec.mutable_tensors()) {
    if (!tensor.fill().file().empty()) {
      tensor.mutable_fill()->set_digest(tuning::content_digest(""));
    }
    if (!tensor.reference().file().empty()) {
      v1::SourceReference& reference = *tensor.mutable_reference();
      reference.set_digest(tuning::content_digest(""));
      reference.set_dtype(reference.dtype().empty() ? "f32" : reference.dtype());
    }
  }
  return tuning::validate_source(spec);
}

absl::StatusOr<v1::SourceSpec> parse_own(std::string_view text) {
  v1::SourceSpec spec;
  const auto parsed = google::protobuf::util::JsonStringToMessage(std::string(text), &spec);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("source: ", std::string(parsed.message())));
  }
  ASSAY_RETURN_IF_ERROR(check_own(spec));
  return spec;
}

}  // namespace

absl::StatusOr<SourceBundle> parse_source_file(std::string_view text, const SourceFolder& folder) {
  ASSAY_ASSIGN_OR_RETURN(const nlohmann::json root, parse_strict_json(text));
  SourceBundle bundle;
  if (is_t1(root)) {
    ASSAY_ASSIGN_OR_RETURN(bundle, t1_source(text, root, folder));
  } else {
    ASSAY_ASSIGN_OR_RETURN(bundle.spec, parse_own(text));
    ASSAY_RETURN_IF_ERROR(folder.read_sources(bundle.spec));
  }
  ASSAY_RETURN_IF_ERROR(check_before_data(bundle.spec));
  ASSAY_RETURN_IF_ERROR(read_source_data(bundle, folder));
  ASSAY_RETURN_IF_ERROR(tuning::validate_source(bundle.spec));
  return bundle;
}

absl::StatusOr<SourceBundle> read_source_file(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const SourceFolder folder = SourceFolder::of(path);
  const absl::StatusOr<std::string> text = folder.read(name, kMaxSpecFileBytes);
  if (!text.ok()) {
    return text.status();
  }
  absl::StatusOr<SourceBundle> bundle = parse_source_file(*text, folder);
  return bundle.ok() ? std::move(bundle) : proto::annotate(bundle.status(), path);
}

}  // namespace assay::client
