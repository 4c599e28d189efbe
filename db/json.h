// Messages as the JSON text that a column keeps: proto field names, enums by name, fields at their
// default left out, and integers as JSON integers of any width, so that SQL computes with them.
// INVALID_ARGUMENT names the field, by path, that is no finite number or no UTF-8.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::db {

// Text that every reader of the database can decode: no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

absl::StatusOr<std::string> to_json(const google::protobuf::Message& message);

// The value of one field: an object, or an array when it is repeated.
absl::StatusOr<std::string> field_to_json(const google::protobuf::Message& message,
                                          const google::protobuf::FieldDescriptor& field);

// "name.path: why" from the "path: why" of a field inside it.
absl::Status within(const absl::Status& status, std::string_view name);

// Replaces `message`. Text that this database did not write is DATA_LOSS.
absl::Status from_json(const std::string& json, google::protobuf::Message& message);

// ["a","b"].
absl::StatusOr<std::string> texts_to_json(const std::vector<std::string>& texts);

// "[1,2,3]" and back, for the one kind of array that is long.
std::string integers_to_json(const google::protobuf::RepeatedField<std::int64_t>& values);
absl::Status integers_from_json(std::string_view json,
                                google::protobuf::RepeatedField<std::int64_t>& values);

}  // namespace assay::db
