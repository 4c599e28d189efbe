#include "db/json.h"
#include "db/message_row.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/message_differencer.h"

#include <algorithm>
#include <tuple>

namespace assay::db {
namespace {

constexpr std::uint32_t kDefaultPage = 1'000;
constexpr std::uint32_t kMaxPage = 10'000;  // of ListGoldensRequest.page_size

auto key_of(const v1::Golden& golden) {
  return std::tie(
      golden.operator_name(), golden.workload(), golden.tensor(), golden.family(), golden.domain());
}

std::string text_of_key(const v1::Golden& golden) {
  return absl::StrCat("(",
                      golden.operator_name(),
                      ", ",
                      golden.workload(),
                      ", ",
                      golden.tensor(),
                      ", ",
                      golden.family(),
                      ", ",
                      golden.domain(),
                      ")");
}

const MessageRow& golden_row() {
  static const MessageRow row(v1::Golden::descriptor(),
                              {"epoch", "reason", "figures", "experiment_id", "accepted_ns"});
  return row;
}

const MessageRow& epoch_row() {
  static const MessageRow row(v1::Golden::descriptor(),
                              {"operator_name",
                               "workload",
                               "tensor",
                               "family",
                               "domain",
                               "digest",
                               "epoch",
                               "replaced_digest"});
  return row;
}

// Sorted by key, each key once; an epoch has one reason, one experiment and one set of figures.
absl::Status tidy(std::vector<v1::Golden>& goldens) {
  if (goldens.empty()) {
    return absl::InvalidArgumentError("goldens: must not be empty");
  }
  v1::Golden first = goldens.front();
  for (const v1::Golden& golden : goldens) {
    if (golden.reason().empty()) {
      return absl::InvalidArgumentError("reason: must not be empty");
    }
    if (golden.digest().empty()) {
      return absl::InvalidArgumentError(absl::StrCat("digest: is empty for ", text_of_key(golden)));
    }
    v1::Golden of_epoch;
    of_epoch.set_reason(golden.reason());
    *of_epoch.mutable_figures() = golden.figures();
    of_epoch.set_experiment_id(golden.experiment_id());
    if (&golden == &goldens.front()) {
      first = of_epoch;
    } else if (!google::protobuf::util::MessageDifferencer::Equals(first, of_epoch)) {
      return absl::InvalidArgumentError(
          "goldens: one epoch has one reason, one experiment and one set of figures");
    }
  }
  std::ranges::sort(goldens, {}, [](const v1::Golden& golden) {
    return std::tuple_cat(key_of(golden), std::tie(golden.digest()));
  });
  const auto same_key = [](const v1::Golden& a, const v1::Golden& b) {
    return key_of(a) == key_of(b);
  };
  const auto clash = std::ranges::adjacent_find(goldens, [&](const auto& a, const auto& b) {
    return same_key(a, b) && a.digest() != b.digest();
  });
  if (clash != goldens.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("goldens: two digests for ", text_of_key(*clash)));
  }
  goldens.erase(std::unique(goldens.begin(), goldens.end(), same_key), goldens.end());
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> current_digest(Connection& connection,
                                                          const v1::Golden& key) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT digest FROM t_golden WHERE operator_name = ? AND workload = ?"
                         " AND tensor = ? AND family = ? AND domain = ?"
                         " ORDER BY epoch DESC LIMIT 1"));
  rows.bind_all(key.operator_name(), key.workload(), key.tensor(), key.family(), key.domain());
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  return has_row ? std::optional<std::string>(rows.text(0)) : std::nullopt;
}

absl::StatusOr<std::int64_t> insert_epoch(Connection& connection, const v1::Golden& golden) {
  static const std::string sql = epoch_row().insert_sql("t_epoch", {});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  ASSAY_RETURN_IF_ERROR(epoch_row().bind(insert, 1, golden));
  ASSAY_RETURN_IF_ERROR(insert.run());
  return connection.last_insert_rowid();
}

absl::Status insert_goldens(Connection& connection,
                            std::int64_t epoch,
                            const v1::AcceptBitsResponse& response) {
  static const std::string sql = golden_row().insert_sql("t_golden", {"epoch"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  for (const v1::Golden& golden : response.goldens()) {
    insert.bind_all(epoch);
    ASSAY_RETURN_IF_ERROR(golden_row().bind(insert, 2, golden));
    ASSAY_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> id_of_token(const std::string& token) {
  std::int64_t id = 0;
  if (!token.empty() && (token[0] != 'g' || !absl::SimpleAtoi(token.substr(1), &id) || id <= 0)) {
    return absl::InvalidArgumentError("page_token: is not one that ListGoldens returned");
  }
  return id;
}

// Epochs in the order of their acceptance, or the current digests in the order of their keys.
std::string list_sql(bool include_replaced) {
  const std::string select =
      absl::StrCat("SELECT golden_id, epoch, ",
                   golden_row().columns(),
                   ", ",
                   epoch_row().columns(),
                   " FROM goldens WHERE (?1 = '' OR operator_name = ?1) AND ");
  const std::string key = "(operator_name, workload, tensor, family, domain)";
  return include_replaced
             ? absl::StrCat(select, "golden_id > ?2 ORDER BY golden_id LIMIT ?3")
             : absl::StrCat(select,
                            "is_current AND (?2 = 0 OR ",
                            key,
                            " > (SELECT operator_name, workload, tensor, family, domain"
                            " FROM t_golden WHERE golden_id = ?2))"
                            " ORDER BY operator_name, workload, tensor, family, domain LIMIT ?3");
}

absl::StatusOr<v1::ListGoldensResponse> read_page(Statement& rows, std::uint32_t size) {
  v1::ListGoldensResponse response;
  std::int64_t last_id = 0;
  for (std::uint32_t i = 0; i <= size; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return response;
    }
    // The row beyond the page only tells that there is a next one.
    if (i == size) {
      response.set_next_page_token(absl::StrCat("g", last_id));
      break;
    }
    last_id = rows.integer(0);
    v1::Golden& golden = *response.add_goldens();
    golden.set_epoch(rows.integer(1));
    ASSAY_RETURN_IF_ERROR(golden_row().read(rows, 2, golden));
    ASSAY_RETURN_IF_ERROR(epoch_row().read(rows, 2 + golden_row().num_columns(), golden));
  }
  return response;
}

}  // namespace

absl::StatusOr<v1::AcceptBitsResponse> SqliteStore::accept_bits(std::vector<v1::Golden> goldens,
                                                                std::int64_t now_ns) {
  ASSAY_RETURN_IF_ERROR(tidy(goldens));
  v1::AcceptBitsResponse response;
  ASSAY_RETURN_IF_ERROR(writer_.run([&](Connection& connection) -> absl::Status {
    for (v1::Golden& golden : goldens) {
      ASSAY_ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                             current_digest(connection, golden));
      if (stored == golden.digest()) {
        response.set_num_unchanged(response.num_unchanged() + 1);
        continue;
      }
      golden.set_accepted_ns(now_ns);
      // What a golden file says is known to the caller alone.
      golden.set_replaced_digest(stored.value_or(golden.replaced_digest()));
      *response.add_goldens() = golden;
    }
    if (response.goldens().empty()) {
      return absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t epoch, insert_epoch(connection, response.goldens(0)));
    for (v1::Golden& golden : *response.mutable_goldens()) {
      golden.set_epoch(epoch);
    }
    response.set_epoch(epoch);
    return insert_goldens(connection, epoch, response);
  }));
  return response;
}

absl::StatusOr<v1::ListGoldensResponse> SqliteStore::goldens(
    const v1::ListGoldensRequest& request) const {
  if (request.page_size() > kMaxPage) {
    return absl::InvalidArgumentError("page_size: must be at most 10,000");
  }
  const std::uint32_t size = request.page_size() == 0 ? kDefaultPage : request.page_size();
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t after, id_of_token(request.page_token()));
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::ListGoldensResponse> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows,
                           connection.prepare(list_sql(request.include_replaced())));
    rows.bind_all(request.operator_name(), after, size + 1);
    return read_page(rows, size);
  });
}

absl::StatusOr<std::optional<std::string>> SqliteStore::golden_digest(const v1::Golden& key) const {
  return readers_.read([&](Connection& connection) { return current_digest(connection, key); });
}

}  // namespace assay::db
