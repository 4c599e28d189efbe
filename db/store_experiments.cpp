#include "db/json.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "db/store_write.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/message_differencer.h"

#include <algorithm>
#include <numeric>

namespace assay::db {
namespace {

constexpr std::size_t kMaxRequestIdBytes = 128;

std::string name_of(v1::TaskState state) {
  return v1::TaskState_Name(state);
}

absl::StatusOr<std::int64_t> find_request(Connection& connection, const std::string& request_id) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT experiment_id FROM t_experiment WHERE request_id = ?"));
  rows.bind_all(request_id);
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
  return has_row ? rows.integer(0) : 0;
}

// Of every arm, each once.
std::vector<std::string> variants_of(const v1::ExperimentSpec& spec) {
  std::vector<std::string> variants;
  const auto add = [&variants](const std::string& variant) {
    if (!variant.empty() && std::ranges::find(variants, variant) == variants.end()) {
      variants.push_back(variant);
    }
  };
  add(spec.baseline().variant());
  for (const v1::Arm& candidate : spec.candidates()) {
    add(candidate.variant());
  }
  return variants;
}

bool is_final(v1::TaskState state) {
  return state == v1::DONE || state == v1::FAILED || state == v1::CANCELLED ||
         state == v1::INTERRUPTED;
}

absl::Status wrong_state(const v1::Experiment& experiment, std::string_view wanted) {
  return absl::FailedPreconditionError(absl::StrCat("experiment ",
                                                    experiment.experiment_id(),
                                                    " is ",
                                                    name_of(experiment.state()),
                                                    ", must be ",
                                                    std::string(wanted)));
}

absl::Status check_may_finish(const v1::Experiment& experiment, v1::TaskState state) {
  if (is_final(experiment.state())) {
    return wrong_state(experiment, "QUEUED or RUNNING");
  }
  // How many configurations a sweep has is known when it ends.
  if (state == v1::DONE && experiment.spec().kind() != v1::SWEEP &&
      experiment.num_finished() != experiment.num_configurations()) {
    return absl::FailedPreconditionError(absl::StrCat("experiment ",
                                                      experiment.experiment_id(),
                                                      " has ",
                                                      experiment.num_finished(),
                                                      " of ",
                                                      experiment.num_configurations(),
                                                      " configurations: it is not DONE"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::int64_t> insert_experiment(Connection& connection,
                                               const v1::Experiment& experiment) {
  static const std::string sql = experiment_row().insert_sql(
      "t_experiment",
      {"kind", "operator_name", "device", "label", "\"commit\"", "branch", "variants"});
  const v1::ExperimentSpec& spec = experiment.spec();
  const absl::StatusOr<std::string> variants = texts_to_json(variants_of(spec));
  ASSAY_RETURN_IF_ERROR(within(variants.status(), "spec.variant"));
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(v1::ExperimentKind_Name(spec.kind()),
                  spec.operator_name(),
                  spec.device(),
                  spec.label(),
                  spec.context().commit(),
                  spec.context().branch(),
                  *variants);
  ASSAY_RETURN_IF_ERROR(experiment_row().bind(insert, 8, experiment));
  ASSAY_RETURN_IF_ERROR(insert.run());
  const std::int64_t id = connection.last_insert_rowid();
  ASSAY_ASSIGN_OR_RETURN(
      Statement label,
      connection.prepare("INSERT INTO t_label (experiment_id, name, value) VALUES (?, ?, ?)"));
  for (const v1::Setting& setting : spec.context().labels()) {
    label.bind_all(id, setting.name(), setting.value());
    ASSAY_RETURN_IF_ERROR(label.run());
  }
  return id;
}

absl::StatusOr<std::int64_t> device_id_of(Connection& connection, v1::Device device) {
  device.clear_queue_length();
  device.clear_running_experiment_id();
  const absl::StatusOr<std::string> json = to_json(device);
  ASSAY_RETURN_IF_ERROR(within(json.status(), "device"));
  ASSAY_ASSIGN_OR_RETURN(
      Statement insert,
      connection.prepare("INSERT INTO t_device (device) VALUES (?) ON CONFLICT DO NOTHING"));
  insert.bind_all(*json);
  ASSAY_RETURN_IF_ERROR(insert.run());
  ASSAY_ASSIGN_OR_RETURN(Statement rows,
                         connection.prepare("SELECT device_id FROM t_device WHERE device = ?"));
  rows.bind_all(*json);
  ASSAY_RETURN_IF_ERROR(rows.step().status());
  return rows.integer(0);
}

absl::StatusOr<v1::Experiment> SqliteStore::submit(const v1::SubmitRequest& request,
                                                   std::uint32_t num_configurations,
                                                   std::int64_t now_ns) {
  if (request.request_id().empty() || request.request_id().size() > kMaxRequestIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("request_id: must have 1 to ", kMaxRequestIdBytes, " bytes"));
  }
  v1::Experiment result;
  ASSAY_RETURN_IF_ERROR(writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(std::int64_t id, find_request(connection, request.request_id()));
    const bool is_new = id == 0;
    if (is_new) {
      v1::Experiment experiment;
      experiment.set_request_id(request.request_id());
      *experiment.mutable_spec() = request.spec();
      experiment.set_state(v1::QUEUED);
      experiment.set_submitted_ns(now_ns);
      experiment.set_num_configurations(num_configurations);
      ASSAY_ASSIGN_OR_RETURN(id, insert_experiment(connection, experiment));
    }
    ASSAY_ASSIGN_OR_RETURN(result, find_experiment(connection, id));
    if (!is_new &&
        !google::protobuf::util::MessageDifferencer::Equals(result.spec(), request.spec())) {
      return absl::AlreadyExistsError(absl::StrCat(
          "request_id: `", request.request_id(), "` was used with another spec, experiment ", id));
    }
    return absl::OkStatus();
  }));
  return result;
}

absl::StatusOr<v1::Experiment> SqliteStore::get(const v1::GetRequest& request) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::Experiment> {
    std::int64_t id = request.experiment_id();
    if (id == 0) {
      ASSAY_ASSIGN_OR_RETURN(id, connection.integer("SELECT max(experiment_id) FROM t_experiment"));
    }
    if (id == 0) {
      return absl::NotFoundError("experiment_id: there is no experiment yet");
    }
    ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, find_experiment(connection, id));
    ASSAY_RETURN_IF_ERROR(read_configurations(connection, request, experiment));
    return experiment;
  });
}

absl::Status SqliteStore::start(std::int64_t experiment_id,
                                const v1::Device& device,
                                std::int64_t now_ns) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment,
                           find_experiment(connection, experiment_id));
    if (experiment.state() != v1::QUEUED) {
      return wrong_state(experiment, "QUEUED");
    }
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t device_id, device_id_of(connection, device));
    ASSAY_ASSIGN_OR_RETURN(
        Statement update,
        connection.prepare("UPDATE t_experiment SET state = 'RUNNING', device_id = ?1,"
                           " started_ns = ?2 WHERE experiment_id = ?3"));
    update.bind_all(device_id, now_ns, experiment.experiment_id());
    return update.run();
  });
}

absl::Status SqliteStore::finish(std::int64_t experiment_id,
                                 v1::TaskState state,
                                 const std::string& message,
                                 std::int64_t now_ns) {
  if (!is_final(state)) {
    return absl::InvalidArgumentError(
        absl::StrCat("state: ", name_of(state), " is not a final state"));
  }
  v1::Experiment text;
  text.set_message(message);
  ASSAY_RETURN_IF_ERROR(to_json(text).status());
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment,
                           find_experiment(connection, experiment_id));
    ASSAY_RETURN_IF_ERROR(check_may_finish(experiment, state));
    ASSAY_ASSIGN_OR_RETURN(
        Statement update,
        connection.prepare("UPDATE t_experiment SET state = ?1, message = ?2, finished_ns = ?3,"
                           " num_configurations = iif(?1 = 'DONE', num_finished,"
                           " num_configurations) WHERE experiment_id = ?4"));
    update.bind_all(name_of(state), message, now_ns, experiment.experiment_id());
    return update.run();
  });
}

absl::Status SqliteStore::resume(std::int64_t experiment_id) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment,
                           find_experiment(connection, experiment_id));
    if (experiment.spec().kind() != v1::SWEEP) {
      return absl::FailedPreconditionError(absl::StrCat(
          "experiment_id: experiment ", experiment_id, " is no SWEEP; submit it again"));
    }
    if (!is_final(experiment.state()) || experiment.state() == v1::DONE) {
      return wrong_state(experiment, "INTERRUPTED, CANCELLED or FAILED");
    }
    ASSAY_ASSIGN_OR_RETURN(
        Statement update,
        connection.prepare("UPDATE t_experiment SET state = 'QUEUED', message = '',"
                           " finished_ns = 0 WHERE experiment_id = ?"));
    update.bind_all(experiment_id);
    return update.run();
  });
}

absl::StatusOr<int> SqliteStore::interrupt_running(std::int64_t now_ns) {
  std::int64_t num_interrupted = 0;
  const absl::Status status = writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(
        Statement update,
        connection.prepare("UPDATE t_experiment SET state = 'INTERRUPTED', finished_ns = ?,"
                           " message = 'the daemon ended while it ran'"
                           " WHERE state = 'RUNNING'"));
    update.bind_all(now_ns);
    ASSAY_RETURN_IF_ERROR(update.run());
    num_interrupted = connection.num_changes();
    return absl::OkStatus();
  });
  ASSAY_RETURN_IF_ERROR(status);
  return static_cast<int>(num_interrupted);
}

absl::StatusOr<std::vector<v1::Experiment>> SqliteStore::queued() const {
  static const std::string sql = absl::StrCat(
      select_experiments_sql("(SELECT experiment_id FROM t_experiment WHERE state = 'QUEUED')"),
      " ORDER BY experiment_id");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::Experiment>> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    return read_experiments(rows);
  });
}

absl::StatusOr<std::int64_t> SqliteStore::typical_configuration_ns(
    const v1::ExperimentSpec& spec) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::int64_t> {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        connection.prepare("SELECT c.elapsed_ns FROM t_experiment e INDEXED BY t_experiment_page"
                           " JOIN t_configuration c USING (experiment_id)"
                           " WHERE e.kind = ? AND e.operator_name = ? AND e.device = ?"
                           " AND c.outcome = 'FINISHED'"
                           " ORDER BY e.experiment_id DESC LIMIT 101"));
    rows.bind_all(v1::ExperimentKind_Name(spec.kind()), spec.operator_name(), spec.device());
    std::vector<std::int64_t> times;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      times.push_back(rows.integer(0));
    }
    if (times.empty()) {
      return 0;
    }
    // Items of a check differ by their nature: only their mean tells how long all of them take.
    if (spec.kind() == v1::CHECK) {
      const std::int64_t sum = std::accumulate(times.begin(), times.end(), std::int64_t{0});
      return sum / static_cast<std::int64_t>(times.size());
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
  });
}

}  // namespace assay::db
