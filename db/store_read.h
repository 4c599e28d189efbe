// Experiments out of rows, shared by the methods that return them.
#pragma once

#include "db/message_row.h"
#include "db/statement.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::db {

// What t_experiment keeps of an Experiment under its own names.
const MessageRow& experiment_row();

// "SELECT ... FROM " for rows of `source`, which has an experiment_id; read by read_experiment.
std::string select_experiments_sql(std::string_view source);

// Without configurations.
absl::StatusOr<v1::Experiment> read_experiment(const Statement& statement);
absl::StatusOr<std::vector<v1::Experiment>> read_experiments(Statement& statement);

// NOT_FOUND names the id. Without configurations.
absl::StatusOr<v1::Experiment> find_experiment(Connection& connection, std::int64_t experiment_id);

// Adds the stored configurations that `request` asks for.
absl::Status read_configurations(Connection& connection,
                                 const v1::GetRequest& request,
                                 v1::Experiment& experiment);

// How t_configuration, t_measurement and their children keep their messages.
const MessageRow& configuration_row();
const MessageRow& measurement_row();
const MessageRow& profile_row();
const MessageRow& digest_row();
const MessageRow& verdict_row();
const MessageRow& stage_verdict_row();
const MessageRow& check_row();
const MessageRow& noise_floor_row();
const MessageRow& ceiling_row();

// Those that an experiment measured, in its order.
absl::Status read_ceilings(Connection& connection,
                           std::int64_t experiment_id,
                           google::protobuf::RepeatedPtrField<v1::Ceiling>& ceilings);
absl::Status insert_ceilings(Connection& connection, const v1::Configuration& configuration);

}  // namespace assay::db
