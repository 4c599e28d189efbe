// A message as a row: each field is the column of its name. Integers and bools are INTEGER, doubles
// REAL, strings and enums (by name) TEXT; messages and repeated fields are JSON TEXT, an unset
// message NULL. Fields that a table keeps elsewhere are left out by name.
#pragma once

#include "db/statement.h"

#include "absl/status/status.h"
#include "google/protobuf/message.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace assay::db {

class MessageRow {
 public:
  MessageRow(const google::protobuf::Descriptor* descriptor,
             std::initializer_list<std::string_view> left_out);

  int num_columns() const { return static_cast<int>(fields_.size()); }

  // "\"state\", \"message\"", each after `prefix`, as "e.".
  std::string columns(std::string_view prefix = "") const;
  // "INSERT INTO table (own..., fields...) VALUES (?, ...)": parameters of `own` come first.
  std::string insert_sql(std::string_view table, std::initializer_list<std::string_view> own) const;

  // INVALID_ARGUMENT names the field that cannot be stored.
  absl::Status bind(Statement& statement,
                    int first_parameter,
                    const google::protobuf::Message& message) const;
  // Sets the fields of `message`; those left out stay.
  absl::Status read(const Statement& statement,
                    int first_column,
                    google::protobuf::Message& message) const;

 private:
  const google::protobuf::Descriptor* descriptor_;
  std::vector<const google::protobuf::FieldDescriptor*> fields_;
};

}  // namespace assay::db
