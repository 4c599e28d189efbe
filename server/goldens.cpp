#include "server/goldens.h"

#include "proto/golden_text.h"
#include "proto/status.h"
#include "server/lookup.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace assay::server {
namespace {

constexpr std::uint32_t kDefaultPageSize = 1'000;
constexpr std::uint32_t kMaxPageSize = 10'000;
constexpr std::string_view kBaselineFamily = "baseline";
// A page token is "files:N", or "epochs:" and a token of the store.
constexpr std::string_view kFilesToken = "files:";
constexpr std::string_view kEpochsToken = "epochs:";

}  // namespace

std::string bits_domain(const v1::OperatorInfo& info,
                        const std::string& variant,
                        const std::string& family,
                        const v1::Device& device) {
  const v1::VariantInfo* found = find_named(info.variants(), variant);
  if (found != nullptr && found->family() == family && !found->bits_domain().empty()) {
    return found->bits_domain();
  }
  if (family == kBaselineFamily) {
    return info.bits_domain();
  }
  if (device.backend() == "cpu") {
    return "cpu";
  }
  std::string architecture = device.compute_capability();
  std::erase(architecture, '.');
  return absl::StrCat("sm_", architecture, "+", device.toolkit_version());
}

std::string case_variant(const v1::OperatorInfo& info) {
  return info.variants().empty() ? "" : info.variants(0).name();
}

Goldens::Goldens(const db::Store& store, std::vector<v1::Golden> files) : store_(store) {
  for (v1::Golden& golden : files) {
    Key key = key_of(golden);
    files_.emplace(std::move(key), std::move(golden));
  }
}

Goldens::Key Goldens::key_of(const v1::Golden& golden) {
  return {
      golden.operator_name(), golden.workload(), golden.tensor(), golden.family(), golden.domain()};
}

absl::StatusOr<std::optional<std::string>> Goldens::find(const v1::Golden& key) const {
  ASSAY_ASSIGN_OR_RETURN(std::optional<std::string> accepted, store_.golden_digest(key));
  if (accepted.has_value()) {
    return accepted;
  }
  const auto found = files_.find(key_of(key));
  if (found == files_.end()) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(found->second.digest());
}

absl::StatusOr<v1::ListGoldensResponse> Goldens::list(const v1::ListGoldensRequest& request) const {
  const std::uint32_t page_size = request.page_size() == 0 ? kDefaultPageSize : request.page_size();
  if (page_size > kMaxPageSize) {
    return absl::InvalidArgumentError("page_size: must be in [0, 10,000]");
  }
  const std::string& token = request.page_token();
  std::size_t first_file = 0;
  v1::ListGoldensResponse response;
  if (token.starts_with(kFilesToken)) {
    if (!absl::SimpleAtoi(token.substr(kFilesToken.size()), &first_file)) {
      return absl::InvalidArgumentError("page_token: is not of this server");
    }
  } else {
    if (!token.empty() && !token.starts_with(kEpochsToken)) {
      return absl::InvalidArgumentError("page_token: is not of this server");
    }
    v1::ListGoldensRequest inner = request;
    inner.set_page_size(page_size);
    inner.set_page_token(token.empty() ? "" : token.substr(kEpochsToken.size()));
    ASSAY_ASSIGN_OR_RETURN(response, store_.goldens(inner));
    if (!response.next_page_token().empty()) {
      response.set_next_page_token(
          absl::StrCat(std::string(kEpochsToken), response.next_page_token()));
      return response;
    }
  }
  if (request.include_replaced()) {
    return response;
  }
  std::size_t place = 0;
  for (const auto& [key, golden] : files_) {
    if (place++ < first_file ||
        (!request.operator_name().empty() && golden.operator_name() != request.operator_name())) {
      continue;
    }
    if (response.goldens_size() >= static_cast<int>(page_size)) {
      response.set_next_page_token(absl::StrCat(std::string(kFilesToken), place - 1));
      break;
    }
    ASSAY_ASSIGN_OR_RETURN(const std::optional<std::string> accepted, store_.golden_digest(golden));
    if (!accepted.has_value()) {
      *response.add_goldens() = golden;
    }
  }
  return response;
}

std::string Goldens::Comparison::golden() const {
  if (num_differing > 0) {
    return "differs";
  }
  return num_reproduced > 0 && num_missing == 0 ? "reproduced" : "none stored";
}

absl::Status Goldens::add(Comparison& comparison,
                          const v1::Golden& key,
                          const std::string& digest) const {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<std::string> golden, find(key));
  if (!golden.has_value()) {
    ++comparison.num_missing;
  } else if (*golden == digest) {
    ++comparison.num_reproduced;
  } else if (comparison.num_differing++ == 0) {
    comparison.first_differing = absl::StrCat(
        "`", key.tensor(), "` of ", key.workload(), ": expected ", *golden, ", found ", digest);
  }
  return absl::OkStatus();
}

absl::StatusOr<Goldens::Comparison> Goldens::compare(const v1::Measurement& measurement,
                                                     v1::Golden key) const {
  Comparison comparison;
  for (const v1::TensorDigest& output : measurement.outputs()) {
    key.set_tensor(output.tensor());
    ASSAY_RETURN_IF_ERROR(add(comparison, key, output.digest()));
  }
  return comparison;
}

absl::StatusOr<Goldens::Comparison> Goldens::compare(const v1::CheckResult& check,
                                                     const v1::OperatorInfo& info,
                                                     const v1::Device& device) const {
  Comparison comparison;
  v1::Golden key;
  key.set_operator_name(info.name());
  key.set_tensor("all");
  for (const v1::CaseDigest& digest : check.digests()) {
    key.set_workload(digest.workload());
    key.set_family(digest.family());
    key.set_domain(bits_domain(info, case_variant(info), digest.family(), device));
    ASSAY_RETURN_IF_ERROR(add(comparison, key, digest.digest()));
  }
  return comparison;
}

absl::StatusOr<std::vector<v1::Golden>> read_golden_files(const std::string& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".tsv") {
      paths.push_back(entry->path());
    }
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  }
  std::ranges::sort(paths);
  std::vector<v1::Golden> goldens;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      return absl::NotFoundError(absl::StrCat(path.string(), ": cannot be read"));
    }
    auto parsed = proto::parse_goldens(text.str());
    if (!parsed.ok()) {
      return proto::annotate(parsed.status(), path.string());
    }
    std::ranges::move(*parsed, std::back_inserter(goldens));
  }
  return goldens;
}

}  // namespace assay::server
