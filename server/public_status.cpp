#include "server/public_status.h"

#include <string>
#include <string_view>

namespace assay::server {
namespace {

// How the store begins what it says of SQLite.
constexpr std::string_view kStoreDetail = " [sqlite ";

}  // namespace

absl::Status public_status(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kInternal || status.code() == absl::StatusCode::kUnknown) {
    return absl::InternalError("an internal error; the daemon's log says which");
  }
  const std::string text(status.message());
  return {status.code(), text.substr(0, text.find(kStoreDetail))};
}

}  // namespace assay::server
