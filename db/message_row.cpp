#include "db/message_row.h"

#include "db/json.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace assay::db {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool is_json(const FieldDescriptor& field) {
  return field.is_repeated() || field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

absl::Status bind_field(Statement& statement,
                        int parameter,
                        const Message& message,
                        const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  if (is_json(*field)) {
    if (!field->is_repeated() && !reflection.HasField(message, field)) {
      statement.bind_null(parameter);
      return absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string json, field_to_json(message, *field));
    statement.bind(parameter, json);
    return absl::OkStatus();
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      statement.bind(parameter, reflection.GetInt64(message, field));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT64:
      // SQLite has no unsigned type: the same 64 bits.
      statement.bind(parameter, static_cast<std::int64_t>(reflection.GetUInt64(message, field)));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32:
      statement.bind(parameter, std::int64_t{reflection.GetInt32(message, field)});
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT32:
      statement.bind(parameter, std::int64_t{reflection.GetUInt32(message, field)});
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      statement.bind(parameter, std::int64_t{reflection.GetBool(message, field) ? 1 : 0});
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double value = reflection.GetDouble(message, field);
      if (!std::isfinite(value)) {
        return absl::InvalidArgumentError(absl::StrCat(field->name(), ": must be a finite number"));
      }
      statement.bind(parameter, value);
      return absl::OkStatus();
    }
    default: {
      // Strings and enums share the checks of their JSON form.
      ASSAY_RETURN_IF_ERROR(field_to_json(message, *field).status());
      statement.bind(parameter,
                     std::string_view(field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM
                                          ? reflection.GetEnum(message, field)->name()
                                          : reflection.GetString(message, field)));
      return absl::OkStatus();
    }
  }
}

absl::Status read_field(const Statement& statement,
                        int column,
                        Message& message,
                        const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      reflection.SetInt64(&message, field, statement.integer(column));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT64:
      reflection.SetUInt64(&message, field, static_cast<std::uint64_t>(statement.integer(column)));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32:
      reflection.SetInt32(&message, field, static_cast<std::int32_t>(statement.integer(column)));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT32:
      reflection.SetUInt32(&message, field, static_cast<std::uint32_t>(statement.integer(column)));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(&message, field, statement.integer(column) != 0);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_DOUBLE:
      reflection.SetDouble(&message, field, statement.real(column));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_ENUM: {
      const std::string name(statement.text(column));
      const auto* const value = field->enum_type()->FindValueByName(name);
      if (value == nullptr) {
        return absl::DataLossError(
            absl::StrCat(field->name(), ": stored text `", name, "` is no value of its type"));
      }
      reflection.SetEnum(&message, field, value);
      return absl::OkStatus();
    }
    default:
      reflection.SetString(&message, field, std::string(statement.text(column)));
      return absl::OkStatus();
  }
}

}  // namespace

MessageRow::MessageRow(const google::protobuf::Descriptor* descriptor,
                       std::initializer_list<std::string_view> left_out)
    : descriptor_(descriptor) {
  for (int i = 0; i < descriptor->field_count(); ++i) {
    if (std::ranges::find(left_out, descriptor->field(i)->name()) == left_out.end()) {
      fields_.push_back(descriptor->field(i));
    }
  }
}

std::string MessageRow::columns(std::string_view prefix) const {
  std::string text;
  for (const FieldDescriptor* field : fields_) {
    absl::StrAppend(
        &text, text.empty() ? "" : ", ", std::string(prefix), "\"", field->name(), "\"");
  }
  return text;
}

std::string MessageRow::insert_sql(std::string_view table,
                                   std::initializer_list<std::string_view> own) const {
  std::string names;
  std::string values = "?";
  for (const std::string_view name : own) {
    absl::StrAppend(&names, std::string(name), ", ");
    values += ", ?";
  }
  for (int i = 1; i < num_columns(); ++i) {
    values += ", ?";
  }
  return absl::StrCat(
      "INSERT INTO ", std::string(table), " (", names, columns(), ") VALUES (", values, ")");
}

absl::Status MessageRow::bind(Statement& statement,
                              int first_parameter,
                              const Message& message) const {
  int parameter = first_parameter;
  for (const FieldDescriptor* field : fields_) {
    ASSAY_RETURN_IF_ERROR(bind_field(statement, parameter, message, field));
    ++parameter;
  }
  return absl::OkStatus();
}

absl::Status MessageRow::read(const Statement& statement,
                              int first_column,
                              Message& message) const {
  // The JSON columns of a row are parsed together: the parser's cost is by call.
  std::string json;
  int column = first_column;
  for (const FieldDescriptor* field : fields_) {
    if (!is_json(*field)) {
      ASSAY_RETURN_IF_ERROR(read_field(statement, column, message, field));
    } else if (const std::string text(statement.text(column));
               !statement.is_null(column) && text != "[]") {
      absl::StrAppend(&json, json.empty() ? "{" : ",", "\"", field->name(), "\":", text);
    }
    ++column;
  }
  if (json.empty()) {
    return absl::OkStatus();
  }
  const std::unique_ptr<Message> nested(message.New());
  ASSAY_RETURN_IF_ERROR(from_json(json + "}", *nested));
  message.MergeFrom(*nested);
  return absl::OkStatus();
}

}  // namespace assay::db
