#include "db/json.h"
#include "db/series_rows.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "db/store_write.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

namespace assay::db {
namespace {

// Of the configurations of experiment ?1; 7: there are none. The newest verdict of each counts; a
// failed check is a rejection.
constexpr char kWorstSql[] =
    "SELECT coalesce(min(coalesce("
    "(SELECT CASE k.passed WHEN 0 THEN 1 ELSE 7 END FROM t_check k"
    " WHERE k.configuration_id = c.configuration_id),"
    "(SELECT v.severity FROM t_verdict v"
    " WHERE v.configuration_id = c.configuration_id ORDER BY v.position DESC LIMIT 1), 7)), 7)"
    " FROM t_configuration c WHERE c.experiment_id = ?1";

absl::Status insert_stages(Connection& connection,
                           std::int64_t measurement_id,
                           std::string_view pass,
                           const google::protobuf::RepeatedPtrField<v1::StageSamples>& stages) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement insert,
      connection.prepare("INSERT INTO t_samples (measurement_id, pass, position, stage, samples_ns)"
                         " VALUES (?, ?, ?, ?, ?)"));
  for (int i = 0; i < stages.size(); ++i) {
    // The name alone is checked: integers need no check.
    v1::StageSamples name;
    name.set_stage(stages[i].stage());
    ASSAY_RETURN_IF_ERROR(
        within(to_json(name).status(), absl::StrCat(std::string(pass), "[", i, "]")));
    insert.bind_all(
        measurement_id, pass, i + 1, stages[i].stage(), integers_to_json(stages[i].samples_ns()));
    ASSAY_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

absl::Status insert_digests(Connection& connection,
                            std::int64_t measurement_id,
                            std::string_view side,
                            const google::protobuf::RepeatedPtrField<v1::TensorDigest>& digests) {
  static const std::string sql =
      digest_row().insert_sql("t_digest", {"measurement_id", "side", "position"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  for (int i = 0; i < digests.size(); ++i) {
    insert.bind_all(measurement_id, side, i + 1);
    ASSAY_RETURN_IF_ERROR(within(digest_row().bind(insert, 4, digests[i]),
                                 absl::StrCat(std::string(side), "[", i, "]")));
    ASSAY_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

absl::Status insert_profile(Connection& connection,
                            std::int64_t measurement_id,
                            const v1::Measurement& measurement) {
  static const std::string sql = profile_row().insert_sql("t_profile", {"measurement_id"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(measurement_id);
  ASSAY_RETURN_IF_ERROR(profile_row().bind(insert, 2, measurement));
  return insert.run();
}

absl::Status insert_measurement(Connection& connection,
                                std::int64_t configuration_id,
                                std::string_view role,
                                const v1::Measurement& measurement) {
  static const std::string sql = measurement_row().insert_sql(
      "t_measurement", {"configuration_id", "role", "variant", "arm_text"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(
      configuration_id, role, measurement.arm().variant(), proto::text_of(measurement.arm()));
  ASSAY_RETURN_IF_ERROR(measurement_row().bind(insert, 5, measurement));
  ASSAY_RETURN_IF_ERROR(insert.run());
  const std::int64_t id = connection.last_insert_rowid();
  ASSAY_RETURN_IF_ERROR(insert_profile(connection, id, measurement));
  ASSAY_RETURN_IF_ERROR(insert_stages(connection, id, "stages", measurement.stages()));
  ASSAY_RETURN_IF_ERROR(insert_stages(connection, id, "event_stages", measurement.event_stages()));
  ASSAY_RETURN_IF_ERROR(insert_digests(connection, id, "outputs", measurement.outputs()));
  return insert_digests(connection, id, "inputs", measurement.inputs());
}

absl::Status insert_verdict(Connection& connection,
                            std::int64_t configuration_id,
                            int position,
                            const v1::Verdict& verdict) {
  static const std::string verdict_sql =
      verdict_row().insert_sql("t_verdict", {"configuration_id", "position"});
  static const std::string stage_sql = stage_verdict_row().insert_sql(
      "t_stage_verdict", {"configuration_id", "verdict_position", "position"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(verdict_sql));
  insert.bind_all(configuration_id, position);
  ASSAY_RETURN_IF_ERROR(verdict_row().bind(insert, 3, verdict));
  ASSAY_RETURN_IF_ERROR(insert.run());
  ASSAY_ASSIGN_OR_RETURN(Statement insert_stage, connection.prepare(stage_sql));
  for (int i = 0; i < verdict.stages_size(); ++i) {
    insert_stage.bind_all(configuration_id, position, i + 1);
    ASSAY_RETURN_IF_ERROR(within(stage_verdict_row().bind(insert_stage, 4, verdict.stages(i)),
                                 absl::StrCat("stages[", i, "]")));
    ASSAY_RETURN_IF_ERROR(insert_stage.run());
  }
  return absl::OkStatus();
}

absl::Status insert_check(Connection& connection,
                          std::int64_t configuration_id,
                          const v1::CheckResult& check) {
  static const std::string sql = check_row().insert_sql("t_check", {"configuration_id"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(configuration_id);
  ASSAY_RETURN_IF_ERROR(check_row().bind(insert, 2, check));
  return insert.run();
}

absl::StatusOr<std::int64_t> insert_row(Connection& connection,
                                        std::int64_t experiment_id,
                                        const v1::Configuration& configuration) {
  static const std::string sql =
      configuration_row().insert_sql("t_configuration", {"experiment_id", "workload_text"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(
      experiment_id,
      configuration.has_workload() ? proto::text_of(configuration.workload()) : std::string());
  ASSAY_RETURN_IF_ERROR(configuration_row().bind(insert, 3, configuration));
  ASSAY_RETURN_IF_ERROR(insert.run());
  return connection.last_insert_rowid();
}

// Cheaper than reading the experiment: this runs once a configuration.
absl::Status check_may_add(Connection& connection,
                           std::int64_t experiment_id,
                           std::uint32_t configuration) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT e.state, e.num_configurations, c.configuration IS NOT NULL"
                         " FROM t_experiment e LEFT JOIN t_configuration c"
                         " ON c.experiment_id = e.experiment_id AND c.configuration = ?2"
                         " WHERE e.experiment_id = ?1"));
  rows.bind_all(experiment_id, configuration);
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  if (!has_row) {
    return absl::NotFoundError(absl::StrCat("experiment_id: no experiment ", experiment_id));
  }
  if (const std::string state(rows.text(0)); state != "RUNNING") {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment ", experiment_id, " is ", state, ", must be RUNNING"));
  }
  if (configuration == 0 || configuration > rows.integer(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("configuration: must be in [1, ", rows.integer(1), "]"));
  }
  if (rows.integer(2) != 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("configuration: experiment ", experiment_id, " already has ", configuration));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> add_next(Connection& connection,
                                      std::int64_t experiment_id,
                                      const v1::Configuration& configuration) {
  ASSAY_RETURN_IF_ERROR(check_may_add(connection, experiment_id, configuration.configuration()));
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id,
                         insert_configuration(connection, experiment_id, configuration));
  static const std::string sql = absl::StrCat(
      "UPDATE t_experiment SET num_finished = num_finished + 1,"
      " severity = min(severity, (",
      kWorstSql,
      " AND c.configuration = ?2)) WHERE experiment_id = ?1");
  ASSAY_ASSIGN_OR_RETURN(Statement update, connection.prepare(sql));
  update.bind_all(experiment_id, configuration.configuration());
  ASSAY_RETURN_IF_ERROR(update.run());
  return id;
}

}  // namespace

absl::Status set_severity(Connection& connection, std::int64_t experiment_id) {
  static const std::string sql =
      absl::StrCat("UPDATE t_experiment SET severity = (", kWorstSql, ") WHERE experiment_id = ?1");
  ASSAY_ASSIGN_OR_RETURN(Statement update, connection.prepare(sql));
  update.bind_all(experiment_id);
  return update.run();
}

absl::StatusOr<std::int64_t> insert_configuration(Connection& connection,
                                                  std::int64_t experiment_id,
                                                  const v1::Configuration& configuration) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id,
                         insert_row(connection, experiment_id, configuration));
  if (configuration.has_baseline()) {
    ASSAY_RETURN_IF_ERROR(within(
        insert_measurement(connection, id, "baseline", configuration.baseline()), "baseline"));
  }
  if (configuration.has_candidate()) {
    ASSAY_RETURN_IF_ERROR(within(
        insert_measurement(connection, id, "candidate", configuration.candidate()), "candidate"));
  }
  for (int i = 0; i < configuration.verdicts_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(within(insert_verdict(connection, id, i + 1, configuration.verdicts(i)),
                                 absl::StrCat("verdicts[", i, "]")));
  }
  ASSAY_RETURN_IF_ERROR(insert_ceilings(connection, configuration));
  if (configuration.has_check()) {
    ASSAY_RETURN_IF_ERROR(within(insert_check(connection, id, configuration.check()), "check"));
  }
  return id;
}

absl::Status SqliteStore::add_configuration(std::int64_t experiment_id,
                                            const v1::Configuration& configuration) {
  return writer_.run([&](Connection& connection) {
    return add_next(connection, experiment_id, configuration).status();
  });
}

absl::Status SqliteStore::add_measured(std::int64_t experiment_id,
                                       const v1::Configuration& configuration,
                                       const std::vector<SeriesEntry>& points) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t id,
                           add_next(connection, experiment_id, configuration));
    return insert_history(
        connection, {.experiment_id = experiment_id, .configuration_id = id}, points);
  });
}

absl::Status SqliteStore::add_verdict(std::int64_t experiment_id,
                                      std::uint32_t configuration,
                                      const v1::Verdict& verdict) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        connection.prepare("SELECT c.configuration_id, coalesce(max(v.position), 0) + 1"
                           " FROM t_configuration c LEFT JOIN t_verdict v USING (configuration_id)"
                           " WHERE c.experiment_id = ? AND c.configuration = ?"
                           " GROUP BY c.configuration_id"));
    rows.bind_all(experiment_id, configuration);
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::NotFoundError(absl::StrCat(
          "configuration: experiment ", experiment_id, " has no configuration ", configuration));
    }
    ASSAY_RETURN_IF_ERROR(
        insert_verdict(connection, rows.integer(0), static_cast<int>(rows.integer(1)), verdict));
    // The newest may be better than the one before it.
    return set_severity(connection, experiment_id);
  });
}

}  // namespace assay::db
