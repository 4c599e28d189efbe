#include "db/blobs.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::db {
namespace {

constexpr std::size_t kBatch = 200;  // experiments a transaction

// Why an experiment stays, and a SELECT of those that do.
struct Reason {
  const char* words;
  const char* ids;
};

constexpr std::array kReasons = {
    Reason{"accepted bits", "SELECT experiment_id FROM t_epoch"},
    Reason{"tunings", "SELECT experiment_id FROM t_tuning"},
    Reason{"noise floors", "SELECT experiment_id FROM t_noise_floor"},
    Reason{"ceilings", "SELECT max(experiment_id) FROM t_ceiling GROUP BY device_uuid"},
    Reason{"open regressions",
           "SELECT experiment_id FROM t_regression"
           " WHERE state IN ('DETECTED', 'CONFIRMED', 'UNCONFIRMABLE') UNION"
           " SELECT previous_experiment_id FROM t_regression"
           " WHERE state IN ('DETECTED', 'CONFIRMED', 'UNCONFIRMABLE')"},
};

absl::Status read_ids(Statement& rows, std::set<std::int64_t>& ids) {
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    ids.insert(rows.integer(0));
  }
}

absl::StatusOr<std::set<std::int64_t>> with_label(Connection& connection,
                                                  const v1::Setting& label) {
  std::set<std::int64_t> ids;
  ASSAY_ASSIGN_OR_RETURN(Statement rows,
                         connection.prepare("SELECT experiment_id FROM t_label"
                                            " WHERE name = ?1 AND (?2 = '' OR value = ?2)"));
  rows.bind_all(label.name(), label.value());
  ASSAY_RETURN_IF_ERROR(read_ids(rows, ids));
  return ids;
}

// What may go, in order; what of that age stays is counted by its reason.
struct Choice {
  std::vector<std::int64_t> ids;
  std::map<std::string, std::int64_t> kept;
};

absl::StatusOr<Choice> choose(Connection& connection, const v1::PruneRequest& request) {
  std::vector<std::pair<std::string, std::set<std::int64_t>>> keepers;
  for (const Reason& reason : kReasons) {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(reason.ids));
    ASSAY_RETURN_IF_ERROR(
        read_ids(rows, keepers.emplace_back(reason.words, std::set<std::int64_t>()).second));
  }
  for (const v1::Setting& label : request.keep_labels()) {
    const std::string words =
        absl::StrCat("label ", label.name(), label.value().empty() ? "" : "=", label.value());
    ASSAY_ASSIGN_OR_RETURN(std::set<std::int64_t> ids, with_label(connection, label));
    keepers.emplace_back(words, std::move(ids));
  }
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT experiment_id FROM t_experiment WHERE finished_ns < ?"
                         " AND state IN ('DONE', 'FAILED', 'CANCELLED', 'INTERRUPTED')"
                         " ORDER BY experiment_id"));
  rows.bind_all(request.finished_before_ns());
  std::set<std::int64_t> old;
  ASSAY_RETURN_IF_ERROR(read_ids(rows, old));
  Choice choice;
  for (const std::int64_t id : old) {
    const auto keeper = std::ranges::find_if(
        keepers, [id](const auto& reason) { return reason.second.contains(id); });
    if (keeper == keepers.end()) {
      choice.ids.push_back(id);
    } else {
      ++choice.kept[keeper->first];
    }
  }
  return choice;
}

// Of the texts that take most of the room.
absl::StatusOr<std::int64_t> count_bytes(Connection& connection,
                                         std::int64_t id,
                                         bool only_samples) {
  static const std::string samples_sql =
      "SELECT coalesce(sum(length(s.samples_ns)), 0) FROM t_configuration c"
      " JOIN t_measurement m USING (configuration_id) JOIN t_samples s USING (measurement_id)"
      " WHERE c.experiment_id = ?";
  static const std::string others_sql =
      "SELECT coalesce(sum(length(m.blocks) + length(m.bits) + length(m.resources)"
      " + coalesce(length(p.traced_blocks) + length(p.activity_stages) + length(p.counters), 0)),"
      " 0) FROM t_configuration c JOIN t_measurement m USING (configuration_id)"
      " LEFT JOIN t_profile p USING (measurement_id) WHERE c.experiment_id = ?";
  std::int64_t sum = 0;
  for (const std::string* sql : {&samples_sql, only_samples ? nullptr : &others_sql}) {
    if (sql == nullptr) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(*sql));
    rows.bind_all(id);
    ASSAY_RETURN_IF_ERROR(rows.step().status());
    sum += rows.integer(0);
  }
  return sum;
}

// Gives whether it was there. Bits that were accepted since it was chosen keep it.
absl::StatusOr<bool> remove(Connection& connection, std::int64_t id, bool only_samples) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement removal,
      connection.prepare(
          only_samples ? "DELETE FROM t_samples WHERE measurement_id IN (SELECT m.measurement_id"
                         " FROM t_configuration c JOIN t_measurement m USING (configuration_id)"
                         " WHERE c.experiment_id = ?)"
                       : "DELETE FROM t_experiment WHERE experiment_id = ?"
                         " AND experiment_id NOT IN (SELECT experiment_id FROM t_epoch)"));
  removal.bind_all(id);
  ASSAY_RETURN_IF_ERROR(removal.run());
  return only_samples || connection.num_changes() > 0;
}

// Gives the bytes of the uploads that go with the experiments `gone`.
absl::StatusOr<std::int64_t> remove_uploads(Connection& connection,
                                            const v1::PruneRequest& request,
                                            const std::vector<std::int64_t>& gone) {
  // What a dry run leaves in place is as good as gone.
  std::set<std::int64_t> but;
  if (request.dry_run()) {
    but.insert(gone.begin(), gone.end());
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<StoredBlob> unused,
                         unused_blobs(connection, request.finished_before_ns(), but));
  std::int64_t num_bytes = 0;
  for (const StoredBlob& blob : unused) {
    num_bytes += blob.num_bytes;
    if (!request.dry_run()) {
      ASSAY_ASSIGN_OR_RETURN(Statement removal,
                             connection.prepare("DELETE FROM t_blob WHERE digest = ?"));
      removal.bind_all(blob.digest);
      ASSAY_RETURN_IF_ERROR(removal.run());
    }
  }
  return num_bytes;
}

}  // namespace

absl::StatusOr<v1::PruneResponse> SqliteStore::prune(const v1::PruneRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const Choice choice, readers_.read([&](Connection& connection) {
    return choose(connection, request);
  }));
  v1::PruneResponse response;
  for (const auto& [words, num] : choice.kept) {
    v1::CountBy& kept = *response.add_kept();
    kept.set_label(words);
    kept.set_num(num);
  }
  for (std::size_t begin = 0; begin < choice.ids.size(); begin += kBatch) {
    const std::size_t end = std::min(begin + kBatch, choice.ids.size());
    std::uint32_t num_experiments = 0;
    std::int64_t num_bytes = 0;
    const auto walk = [&](Connection& connection) -> absl::Status {
      for (std::size_t i = begin; i < end; ++i) {
        ASSAY_ASSIGN_OR_RETURN(const std::int64_t bytes,
                               count_bytes(connection, choice.ids[i], request.only_samples()));
        bool goes = bytes > 0 || !request.only_samples();
        if (goes && !request.dry_run()) {
          ASSAY_ASSIGN_OR_RETURN(goes, remove(connection, choice.ids[i], request.only_samples()));
        }
        num_bytes += goes ? bytes : 0;
        num_experiments += goes ? 1 : 0;
      }
      return absl::OkStatus();
    };
    ASSAY_RETURN_IF_ERROR(request.dry_run() ? readers_.read(walk) : writer_.run(walk));
    response.set_num_bytes(response.num_bytes() + num_bytes);
    response.set_num_experiments(response.num_experiments() + num_experiments);
  }
  if (!request.only_samples()) {
    std::int64_t num_bytes = 0;
    const auto walk = [&](Connection& connection) -> absl::Status {
      ASSAY_ASSIGN_OR_RETURN(num_bytes, remove_uploads(connection, request, choice.ids));
      return absl::OkStatus();
    };
    ASSAY_RETURN_IF_ERROR(request.dry_run() ? readers_.read(walk) : writer_.run(walk));
    response.set_num_bytes(response.num_bytes() + num_bytes);
  }
  return response;
}

}  // namespace assay::db
