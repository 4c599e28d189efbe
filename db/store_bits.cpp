#include "db/message_row.h"
#include "db/series_rows.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <limits>

namespace assay::db {
namespace {

constexpr std::uint32_t kDefaultPage = 100;
constexpr std::uint32_t kMaxPage = 1'000;  // of BitHistoryRequest.page_size
constexpr std::size_t kLeastDigits = 4;    // of BitHistoryRequest.digest

// Left out: what t_golden and t_epoch keep.
const MessageRow& bits_row() {
  static const MessageRow row(v1::BitsEntry::descriptor(), {"epoch", "is_golden", "reason"});
  return row;
}

struct Place {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t bits_id = std::numeric_limits<std::int64_t>::max();
};

absl::StatusOr<Place> place_of_token(const std::string& token) {
  Place place;
  if (token.empty()) {
    return place;
  }
  const std::size_t dot = token.find('.');
  if (token[0] != 'b' || dot == std::string::npos ||
      !absl::SimpleAtoi(token.substr(1, dot - 1), &place.first_ns) ||
      !absl::SimpleAtoi(token.substr(dot + 1), &place.bits_id)) {
    return absl::InvalidArgumentError("page_token: is not one that BitHistory returned");
  }
  return place;
}

absl::Status check_request(const v1::BitHistoryRequest& request) {
  if (request.page_size() > kMaxPage) {
    return absl::InvalidArgumentError("page_size: must be at most 1,000");
  }
  const std::string& digest = request.digest();
  if (!digest.empty() && (digest.size() < kLeastDigits ||
                          digest.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    return absl::InvalidArgumentError(
        "digest: must be its first digits, at least 4, as 0 to 9 and a to f");
  }
  return absl::OkStatus();
}

// The text after every text that begins with `prefix`; empty prefix: after everything that is
// stored.
std::string end_of(const std::string& prefix) {
  return absl::StrCat(prefix, "\x7f");
}

// Only the filters that are set, so that their index is taken; `b` walks from the newest down. The
// newest epoch that accepted the digest counts, and it is golden as long as no later epoch of the
// key has another.
std::string history_sql(const v1::BitHistoryRequest& request) {
  return absl::StrCat(
      "SELECT b.bits_id, coalesce(g.epoch, 0), coalesce(p.reason, ''),"
      " coalesce(NOT EXISTS (SELECT 1 FROM t_golden n WHERE n.operator_name = g.operator_name"
      " AND n.workload = g.workload AND n.tensor = g.tensor AND n.family = g.family"
      " AND n.domain = g.domain AND n.epoch > g.epoch), 0), ",
      bits_row().columns("b."),
      " FROM t_bits b LEFT JOIN t_golden g ON g.golden_id ="
      " (SELECT max(a.golden_id) FROM t_golden a WHERE a.operator_name = b.operator_name"
      " AND a.workload = b.workload AND a.tensor = b.tensor AND a.family = b.family"
      " AND a.digest = b.digest)"
      " LEFT JOIN t_epoch p ON p.epoch = g.epoch"
      " WHERE (b.first_ns, b.bits_id) < (?1, ?2)",
      request.operator_name().empty() ? "" : " AND b.operator_name = ?3",
      request.workload().empty() ? "" : " AND b.workload >= ?4 AND b.workload < ?5",
      request.tensor().empty() ? "" : " AND b.tensor = ?6",
      request.device().empty() ? "" : " AND (" + is_device_sql("b.device_uuid", "?7") + ")",
      request.digest().empty() ? "" : " AND b.digest >= ?8 AND b.digest < ?9",
      " ORDER BY b.first_ns DESC, b.bits_id DESC LIMIT ?10");
}

}  // namespace

absl::StatusOr<v1::BitHistoryResponse> SqliteStore::bit_history(
    const v1::BitHistoryRequest& request) const {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  ASSAY_ASSIGN_OR_RETURN(const Place before, place_of_token(request.page_token()));
  const std::uint32_t size = request.page_size() == 0 ? kDefaultPage : request.page_size();
  const std::string sql = history_sql(request);
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::BitHistoryResponse> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(before.first_ns,
                  before.bits_id,
                  request.operator_name(),
                  request.workload(),
                  end_of(request.workload()),
                  request.tensor(),
                  request.device(),
                  request.digest(),
                  end_of(request.digest()),
                  size + 1);
    v1::BitHistoryResponse response;
    std::int64_t last_id = 0;
    for (std::uint32_t i = 0; i <= size; ++i) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      // The row beyond the page only tells that there is a next one.
      if (i == size) {
        const v1::BitsEntry& last = response.entries(response.entries_size() - 1);
        response.set_next_page_token(absl::StrCat("b", last.first_ns(), ".", last_id));
        break;
      }
      v1::BitsEntry& entry = *response.add_entries();
      last_id = rows.integer(0);
      entry.set_epoch(rows.integer(1));
      entry.set_reason(std::string(rows.text(2)));
      entry.set_is_golden(rows.integer(3) != 0);
      ASSAY_RETURN_IF_ERROR(bits_row().read(rows, 4, entry));
    }
    return response;
  });
}

}  // namespace assay::db
