#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "db/store_write.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/message_differencer.h"

#include <filesystem>
#include <system_error>

namespace assay::db {
namespace {

// Which regression a re-run confirms is each database's own; that it is one travels with it.
constexpr std::int64_t kRegressionElsewhere = -1;

v1::ExperimentSpec without_regression(v1::ExperimentSpec spec) {
  spec.clear_confirms_regression_id();
  return spec;
}

// FNV-1a, as 16 hexadecimal digits: only has to tell two requests of one name apart.
std::string short_digest(const v1::Experiment& experiment) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const std::string bytes = absl::StrCat(
      experiment.submitted_ns(), "/", without_regression(experiment.spec()).SerializeAsString());
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

// 0: none. `is_other` where one of that name is something else.
absl::StatusOr<std::int64_t> find_same(Connection& connection,
                                       const v1::Experiment& experiment,
                                       bool& is_other) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT experiment_id FROM t_experiment WHERE request_id = ?"));
  rows.bind_all(experiment.request_id());
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  if (!has_row) {
    is_other = false;
    return 0;
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment here, find_experiment(connection, rows.integer(0)));
  is_other = here.submitted_ns() != experiment.submitted_ns() ||
             !google::protobuf::util::MessageDifferencer::Equals(
                 without_regression(here.spec()), without_regression(experiment.spec()));
  return is_other ? 0 : here.experiment_id();
}

absl::Status insert_archived(Connection& connection,
                             const v1::Experiment& experiment,
                             v1::ImportedExperiment& imported) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, insert_experiment(connection, experiment));
  imported.set_experiment_id(id);
  if (experiment.has_device()) {
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t device_id,
                           device_id_of(connection, experiment.device()));
    ASSAY_ASSIGN_OR_RETURN(
        Statement update,
        connection.prepare("UPDATE t_experiment SET device_id = ? WHERE experiment_id = ?"));
    update.bind_all(device_id, id);
    ASSAY_RETURN_IF_ERROR(update.run());
  }
  for (int i = 0; i < experiment.configurations_size(); ++i) {
    v1::Configuration configuration = experiment.configurations(i);
    for (v1::Ceiling& ceiling : *configuration.mutable_ceilings()) {
      ceiling.set_experiment_id(id);
    }
    // Floors are numbered by the database that they were measured in.
    for (v1::Verdict& verdict : *configuration.mutable_verdicts()) {
      verdict.set_noise_floor_experiment_id(0);
    }
    const absl::Status status = insert_configuration(connection, id, configuration).status();
    if (!status.ok()) {
      return proto::annotate(status, absl::StrCat("configurations[", i, "]"));
    }
  }
  return set_severity(connection, id);
}

}  // namespace

absl::StatusOr<v1::ImportedExperiment> SqliteStore::add_archived(const v1::Experiment& experiment) {
  v1::ImportedExperiment imported;
  imported.set_source_id(experiment.experiment_id());
  v1::Experiment own = experiment;
  if (own.spec().confirms_regression_id() != 0) {
    own.mutable_spec()->set_confirms_regression_id(kRegressionElsewhere);
  }
  own.set_num_finished(static_cast<std::uint32_t>(own.configurations_size()));
  own.set_num_configurations(std::max(own.num_configurations(), own.num_finished()));
  ASSAY_RETURN_IF_ERROR(writer_.run([&](Connection& connection) -> absl::Status {
    bool is_other = false;
    ASSAY_ASSIGN_OR_RETURN(std::int64_t id, find_same(connection, own, is_other));
    if (is_other) {
      own.set_request_id(absl::StrCat(own.request_id(), "@", short_digest(own)));
      ASSAY_ASSIGN_OR_RETURN(id, find_same(connection, own, is_other));
    }
    if (id != 0) {
      imported.set_experiment_id(id);
      imported.set_was_here(true);
      return absl::OkStatus();
    }
    return insert_archived(connection, own, imported);
  }));
  return imported;
}

absl::Status SqliteStore::back_up(const std::string& path) const {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return absl::FailedPreconditionError("the file of the copy is there already");
  }
  // No deadline: a large file takes its time, and its reader alone waits.
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> source,
                         Connection::open(path_, Connection::Mode::kRead));
  const absl::Status status = source->copy_to(path);
  if (!status.ok()) {
    std::filesystem::remove(path, error);
  }
  return status;
}

}  // namespace assay::db
