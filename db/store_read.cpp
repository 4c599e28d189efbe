#include "db/store_read.h"

#include "db/json.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

namespace assay::db {
namespace {

absl::Status read_check(Connection& connection,
                        std::int64_t configuration_id,
                        v1::Configuration& configuration) {
  static const std::string sql =
      absl::StrCat("SELECT ", check_row().columns(), " FROM t_check WHERE configuration_id = ?");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(configuration_id);
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  return has_row ? check_row().read(rows, 0, *configuration.mutable_check()) : absl::OkStatus();
}

absl::Status read_verdicts(Connection& connection,
                           std::int64_t configuration_id,
                           v1::Configuration& configuration) {
  static const std::string verdict_sql =
      absl::StrCat("SELECT ",
                   verdict_row().columns(),
                   " FROM t_verdict WHERE configuration_id = ? ORDER BY position");
  static const std::string stage_sql = absl::StrCat(
      "SELECT verdict_position, ",
      stage_verdict_row().columns(),
      " FROM t_stage_verdict WHERE configuration_id = ? ORDER BY verdict_position, position");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(verdict_sql));
  rows.bind_all(configuration_id);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      break;
    }
    ASSAY_RETURN_IF_ERROR(verdict_row().read(rows, 0, *configuration.add_verdicts()));
  }
  ASSAY_ASSIGN_OR_RETURN(Statement stages, connection.prepare(stage_sql));
  stages.bind_all(configuration_id);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, stages.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    v1::Verdict& verdict = *configuration.mutable_verdicts(static_cast<int>(stages.integer(0)) - 1);
    ASSAY_RETURN_IF_ERROR(stage_verdict_row().read(stages, 1, *verdict.add_stages()));
  }
}

absl::Status read_samples(Connection& connection,
                          std::int64_t measurement_id,
                          bool include_samples,
                          v1::Measurement& measurement) {
  // Without samples their text is not even fetched.
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare(include_samples ? "SELECT pass, stage, samples_ns FROM t_samples "
                                           "WHERE measurement_id = ? ORDER BY pass, position"
                                         : "SELECT pass, stage, '[]' FROM t_samples "
                                           "WHERE measurement_id = ? ORDER BY pass, position"));
  rows.bind_all(measurement_id);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    v1::StageSamples& stage =
        rows.text(0) == "stages" ? *measurement.add_stages() : *measurement.add_event_stages();
    stage.set_stage(std::string(rows.text(1)));
    ASSAY_RETURN_IF_ERROR(integers_from_json(rows.text(2), *stage.mutable_samples_ns()));
  }
}

absl::Status read_digests(Connection& connection,
                          std::int64_t measurement_id,
                          v1::Measurement& measurement) {
  static const std::string sql =
      absl::StrCat("SELECT side, ",
                   digest_row().columns(),
                   " FROM t_digest WHERE measurement_id = ? ORDER BY side, position");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(measurement_id);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    v1::TensorDigest& digest =
        rows.text(0) == "outputs" ? *measurement.add_outputs() : *measurement.add_inputs();
    ASSAY_RETURN_IF_ERROR(digest_row().read(rows, 1, digest));
  }
}

absl::Status read_profile(Connection& connection,
                          std::int64_t measurement_id,
                          bool include_samples,
                          v1::Measurement& measurement) {
  static const std::string sql =
      absl::StrCat("SELECT ", profile_row().columns(), " FROM t_profile WHERE measurement_id = ?");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(measurement_id);
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  if (has_row) {
    ASSAY_RETURN_IF_ERROR(profile_row().read(rows, 0, measurement));
  }
  if (!include_samples) {
    measurement.clear_traced_blocks();
    for (v1::StageSamples& stage : *measurement.mutable_activity_stages()) {
      stage.clear_samples_ns();
    }
  }
  return absl::OkStatus();
}

absl::Status read_measurements(Connection& connection,
                               std::int64_t configuration_id,
                               bool include_samples,
                               v1::Configuration& configuration) {
  static const std::string sql = absl::StrCat("SELECT measurement_id, role, ",
                                              measurement_row().columns(),
                                              " FROM t_measurement WHERE configuration_id = ?");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(configuration_id);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    const std::int64_t measurement_id = rows.integer(0);
    v1::Measurement& measurement = rows.text(1) == "baseline" ? *configuration.mutable_baseline()
                                                              : *configuration.mutable_candidate();
    ASSAY_RETURN_IF_ERROR(measurement_row().read(rows, 2, measurement));
    ASSAY_RETURN_IF_ERROR(read_samples(connection, measurement_id, include_samples, measurement));
    ASSAY_RETURN_IF_ERROR(read_profile(connection, measurement_id, include_samples, measurement));
    ASSAY_RETURN_IF_ERROR(read_digests(connection, measurement_id, measurement));
  }
}

}  // namespace

// Left out: what the daemon knows, what is computed, and what has tables of its own.
const MessageRow& experiment_row() {
  static const MessageRow row(v1::Experiment::descriptor(),
                              {"experiment_id",
                               "queue_position",
                               "estimate_ns",
                               "progress",
                               "device",
                               "configurations",
                               "worst_verdict"});
  return row;
}

const MessageRow& configuration_row() {
  static const MessageRow row(v1::Configuration::descriptor(),
                              {"baseline", "candidate", "verdicts", "check", "ceilings"});
  return row;
}

const MessageRow& measurement_row() {
  static const MessageRow row(v1::Measurement::descriptor(),
                              {"stages",
                               "event_stages",
                               "outputs",
                               "inputs",
                               "min_flops",
                               "admission",
                               "activity_stages",
                               "traced_blocks",
                               "counters",
                               "counters_missing"});
  return row;
}

const MessageRow& profile_row() {
  static const MessageRow row(v1::Measurement::descriptor(),
                              {"arm",
                               "family",
                               "code_digest",
                               "timing_source",
                               "launch_mode",
                               "cache_mode",
                               "num_input_sets",
                               "blocks",
                               "stages",
                               "outputs",
                               "inputs",
                               "bits",
                               "resources",
                               "min_bytes",
                               "floor_ns",
                               "num_invalid_records",
                               "num_dropped_records",
                               "warm_up",
                               "event_stages",
                               "traced"});
  return row;
}

const MessageRow& ceiling_row() {
  static const MessageRow row(v1::Ceiling::descriptor(), {});
  return row;
}

const MessageRow& digest_row() {
  static const MessageRow row(v1::TensorDigest::descriptor(), {});
  return row;
}

const MessageRow& verdict_row() {
  static const MessageRow row(v1::Verdict::descriptor(), {"stages"});
  return row;
}

const MessageRow& stage_verdict_row() {
  static const MessageRow row(v1::StageVerdict::descriptor(), {});
  return row;
}

const MessageRow& noise_floor_row() {
  static const MessageRow row(v1::NoiseFloor::descriptor(), {});
  return row;
}

const MessageRow& check_row() {
  static const MessageRow row(v1::CheckResult::descriptor(), {});
  return row;
}

std::string select_experiments_sql(std::string_view source) {
  return absl::StrCat("SELECT e.experiment_id, v.worst_verdict, d.device, ",
                      experiment_row().columns("e."),
                      " FROM ",
                      std::string(source),
                      " p JOIN t_experiment e USING (experiment_id)"
                      " LEFT JOIN t_device d ON d.device_id = e.device_id"
                      " JOIN experiments v USING (experiment_id)");
}

absl::StatusOr<v1::Experiment> read_experiment(const Statement& statement) {
  v1::Experiment experiment;
  ASSAY_RETURN_IF_ERROR(experiment_row().read(statement, 3, experiment));
  experiment.set_experiment_id(statement.integer(0));
  v1::VerdictKind worst = v1::VERDICT_KIND_UNSPECIFIED;
  v1::VerdictKind_Parse(std::string(statement.text(1)), &worst);
  experiment.set_worst_verdict(worst);
  if (!statement.is_null(2)) {
    ASSAY_RETURN_IF_ERROR(from_json(std::string(statement.text(2)), *experiment.mutable_device()));
  }
  return experiment;
}

absl::StatusOr<std::vector<v1::Experiment>> read_experiments(Statement& statement) {
  std::vector<v1::Experiment> experiments;
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, statement.step());
    if (!has_row) {
      return experiments;
    }
    ASSAY_ASSIGN_OR_RETURN(experiments.emplace_back(), read_experiment(statement));
  }
}

absl::StatusOr<v1::Experiment> find_experiment(Connection& connection, std::int64_t experiment_id) {
  static const std::string sql = select_experiments_sql("(SELECT ?1 AS experiment_id)");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(experiment_id);
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  if (!has_row) {
    return absl::NotFoundError(absl::StrCat("experiment_id: no experiment ", experiment_id));
  }
  return read_experiment(rows);
}

absl::Status read_configurations(Connection& connection,
                                 const v1::GetRequest& request,
                                 v1::Experiment& experiment) {
  static const std::string sql =
      absl::StrCat("SELECT configuration_id, ",
                   configuration_row().columns(),
                   " FROM t_configuration WHERE experiment_id = ?1"
                   " AND (?2 = 0 OR configuration = ?2) ORDER BY configuration");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(experiment.experiment_id(), request.configuration());
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      break;
    }
    v1::Configuration& configuration = *experiment.add_configurations();
    const std::int64_t id = rows.integer(0);
    ASSAY_RETURN_IF_ERROR(configuration_row().read(rows, 1, configuration));
    ASSAY_RETURN_IF_ERROR(
        read_measurements(connection, id, request.include_samples(), configuration));
    ASSAY_RETURN_IF_ERROR(read_verdicts(connection, id, configuration));
    ASSAY_RETURN_IF_ERROR(read_check(connection, id, configuration));
    if (experiment.spec().kind() == v1::BENCH) {
      ASSAY_RETURN_IF_ERROR(
          read_ceilings(connection, experiment.experiment_id(), *configuration.mutable_ceilings()));
    }
  }
  if (request.configuration() != 0 && experiment.configurations().empty()) {
    return absl::NotFoundError(absl::StrCat("configuration: experiment ",
                                            experiment.experiment_id(),
                                            " has no finished configuration ",
                                            request.configuration()));
  }
  return absl::OkStatus();
}

}  // namespace assay::db
