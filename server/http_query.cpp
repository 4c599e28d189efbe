#include "server/http_query.h"

#include "proto/assay.pb.h"
#include "proto/status.h"
#include "server/field_errors.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace assay::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string names_of_fields(const Descriptor& descriptor) {
  if (descriptor.field_count() == 0) {
    return "there is none";
  }
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(descriptor.field_count()));
  for (int i = 0; i < descriptor.field_count(); ++i) {
    names.push_back(descriptor.field(i)->name());
  }
  return absl::StrCat("it is one of ", absl::StrJoin(names, ", "));
}

// One field of one message, and the text for it.
struct Target {
  Message& message;
  const FieldDescriptor& field;
  const std::string& name;  // as the query has it
  const std::string& text;

  const Reflection& reflection() const { return *message.GetReflection(); }

  template <class Value>
  void put(void (Reflection::*set)(Message*, const FieldDescriptor*, Value) const,
           void (Reflection::*add)(Message*, const FieldDescriptor*, Value) const,
           Value value) const {
    (reflection().*(field.is_repeated() ? add : set))(&message, &field, value);
  }
};

template <class Integer>
absl::Status put_integer(const Target& target,
                         void (Reflection::*set)(Message*, const FieldDescriptor*, Integer) const,
                         void (Reflection::*add)(Message*, const FieldDescriptor*, Integer) const) {
  Integer value = 0;
  if (!absl::SimpleAtoi(target.text, &value)) {
    return refuse(target.name,
                  absl::StrCat("`",
                               target.text,
                               "` is no integer of ",
                               8 * sizeof(Integer),
                               std::is_signed_v<Integer> ? " bits" : " bits without a sign"));
  }
  target.put(set, add, value);
  return absl::OkStatus();
}

absl::Status put_real(const Target& target) {
  double value = 0;
  if (!absl::SimpleAtod(target.text, &value) || !std::isfinite(value)) {
    return refuse(target.name, absl::StrCat("`", target.text, "` is no finite number"));
  }
  if (target.field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT) {
    target.put<float>(&Reflection::SetFloat, &Reflection::AddFloat, static_cast<float>(value));
  } else {
    target.put<double>(&Reflection::SetDouble, &Reflection::AddDouble, value);
  }
  return absl::OkStatus();
}

absl::Status put_bool(const Target& target) {
  if (target.text != "true" && target.text != "false") {
    return refuse(target.name, absl::StrCat("`", target.text, "` is neither true nor false"));
  }
  target.put<bool>(&Reflection::SetBool, &Reflection::AddBool, target.text == "true");
  return absl::OkStatus();
}

absl::Status put_enum(const Target& target) {
  const auto& type = *target.field.enum_type();
  const EnumValueDescriptor* value = type.FindValueByName(target.text);
  if (value == nullptr) {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(type.value_count()));
    for (int i = 0; i < type.value_count(); ++i) {
      names.push_back(type.value(i)->name());
    }
    return refuse(target.name,
                  absl::StrCat("`", target.text, "` is not one of ", absl::StrJoin(names, ", ")));
  }
  target.put<const EnumValueDescriptor*>(&Reflection::SetEnum, &Reflection::AddEnum, value);
  return absl::OkStatus();
}

absl::Status put_string(const Target& target) {
  if (target.field.type() == FieldDescriptor::TYPE_BYTES) {
    return refuse(target.name, "bytes cannot be given in a query");
  }
  if (target.field.is_repeated()) {
    target.reflection().AddString(&target.message, &target.field, target.text);
  } else {
    target.reflection().SetString(&target.message, &target.field, target.text);
  }
  return absl::OkStatus();
}

absl::Status put_message(const Target& target) {
  const Descriptor& type = *target.field.message_type();
  if (type.full_name() != v1::Setting::descriptor()->full_name()) {
    return refuse(
        target.name,
        target.field.is_repeated()
            ? "a list of messages cannot be given in a query"
            : absl::StrCat(
                  "name a field of it, `", target.name, ".FIELD`; ", names_of_fields(type)));
  }
  const std::size_t equals = target.text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return refuse(target.name, absl::StrCat("`", target.text, "` is not NAME=VALUE"));
  }
  v1::Setting setting;
  setting.set_name(target.text.substr(0, equals));
  setting.set_value(target.text.substr(equals + 1));
  Message& added = target.field.is_repeated()
                       ? *target.reflection().AddMessage(&target.message, &target.field)
                       : *target.reflection().MutableMessage(&target.message, &target.field);
  added.CopyFrom(setting);
  return absl::OkStatus();
}

absl::Status put(const Target& target) {
  switch (target.field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put_integer<std::int32_t>(target, &Reflection::SetInt32, &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return put_integer<std::int64_t>(target, &Reflection::SetInt64, &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return put_integer<std::uint32_t>(target, &Reflection::SetUInt32, &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return put_integer<std::uint64_t>(target, &Reflection::SetUInt64, &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put_real(target);
    case FieldDescriptor::CPPTYPE_BOOL:
      return put_bool(target);
    case FieldDescriptor::CPPTYPE_ENUM:
      return put_enum(target);
    case FieldDescriptor::CPPTYPE_STRING:
      return put_string(target);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return put_message(target);
  }
  return refuse(target.name, "cannot be given in a query");
}

// Follows the dots of `rest`, the part of `name` that is still to be found.
absl::Status put_at(Message& message,
                    const std::string& rest,
                    const std::string& name,
                    const std::string& text) {
  const std::size_t dot = rest.find('.');
  const Descriptor& descriptor = *message.GetDescriptor();
  const FieldDescriptor* field = descriptor.FindFieldByName(rest.substr(0, dot));
  if (field == nullptr) {
    return refuse(name, absl::StrCat("no such field; ", names_of_fields(descriptor)));
  }
  if (dot == std::string::npos) {
    return put({.message = message, .field = *field, .name = name, .text = text});
  }
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()) {
    return refuse(name, absl::StrCat("`", field->name(), "` has no fields to name"));
  }
  return put_at(
      *message.GetReflection()->MutableMessage(&message, field), rest.substr(dot + 1), name, text);
}

// Whether the last part of `name` is a list; false where there is no such field.
bool is_list(const Descriptor& descriptor, const std::string& name) {
  const std::size_t dot = name.find('.');
  const FieldDescriptor* field = descriptor.FindFieldByName(name.substr(0, dot));
  if (field == nullptr || dot == std::string::npos) {
    return field != nullptr && field->is_repeated();
  }
  return field->message_type() != nullptr && is_list(*field->message_type(), name.substr(dot + 1));
}

}  // namespace

absl::Status fill_request(const Query& query, Message& request) {
  std::set<std::string> seen;
  for (const auto& [name, text] : query) {
    ASSAY_RETURN_IF_ERROR(put_at(request, name, name, text));
    if (!seen.insert(name).second && !is_list(*request.GetDescriptor(), name)) {
      return refuse(name, "comes twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::server
