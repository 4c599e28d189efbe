#include "db/json.h"

#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

namespace assay::db {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <typename Number>
void append_number(Number value, std::string& out) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  out.append(digits, error == std::errc() ? end : digits);
}

void append_string(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xfU];
    } else {
      out += c;
    }
  }
  out += '"';
}

absl::Status append_message(const Message& message, std::string& out);

absl::Status append_string_checked(const std::string& text, std::string& out) {
  if (!proto::is_utf8(text)) {
    return absl::InvalidArgumentError("is not UTF-8");
  }
  append_string(text, out);
  return absl::OkStatus();
}

absl::Status append_double(double value, std::string& out) {
  if (!std::isfinite(value)) {
    return absl::InvalidArgumentError("must be a finite number");
  }
  append_number(value, out);
  return absl::OkStatus();
}

// One value: the field itself when `index` is negative, else that element.
absl::Status append_value(const Message& message,
                          const FieldDescriptor& field,
                          int index,
                          std::string& out) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor* const f = &field;
  const bool single = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      append_number(
          single ? reflection.GetInt64(message, f) : reflection.GetRepeatedInt64(message, f, index),
          out);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT64:
      append_number(single ? reflection.GetUInt64(message, f)
                           : reflection.GetRepeatedUInt64(message, f, index),
                    out);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32:
      append_number(
          single ? reflection.GetInt32(message, f) : reflection.GetRepeatedInt32(message, f, index),
          out);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT32:
      append_number(single ? reflection.GetUInt32(message, f)
                           : reflection.GetRepeatedUInt32(message, f, index),
                    out);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return append_double(single ? reflection.GetDouble(message, f)
                                  : reflection.GetRepeatedDouble(message, f, index),
                           out);
    case FieldDescriptor::CPPTYPE_BOOL:
      out +=
          (single ? reflection.GetBool(message, f) : reflection.GetRepeatedBool(message, f, index))
              ? "true"
              : "false";
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = single ? reflection.GetEnumValue(message, f)
                                : reflection.GetRepeatedEnumValue(message, f, index);
      const auto* const value = field.enum_type()->FindValueByNumber(number);
      if (value == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(number, " is no value of ", field.enum_type()->name()));
      }
      append_string(value->name(), out);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      return append_string_checked(
          single ? reflection.GetStringReference(message, f, &scratch)
                 : reflection.GetRepeatedStringReference(message, f, index, &scratch),
          out);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return append_message(single ? reflection.GetMessage(message, f)
                                   : reflection.GetRepeatedMessage(message, f, index),
                            out);
    default:
      return absl::InternalError("has a type that is not stored");
  }
}

absl::Status append_field(const Message& message, const FieldDescriptor& field, std::string& out) {
  if (!field.is_repeated()) {
    return within(append_value(message, field, -1, out), field.name());
  }
  const int size = message.GetReflection()->FieldSize(message, &field);
  out += '[';
  for (int i = 0; i < size; ++i) {
    if (i > 0) {
      out += ',';
    }
    if (absl::Status status = append_value(message, field, i, out); !status.ok()) {
      return within(status, absl::StrCat(field.name(), "[", i, "]"));
    }
  }
  out += ']';
  return absl::OkStatus();
}

absl::Status append_message(const Message& message, std::string& out) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  char separator = '{';
  for (const FieldDescriptor* field : fields) {
    out += separator;
    separator = ',';
    append_string(field->name(), out);
    out += ':';
    ASSAY_RETURN_IF_ERROR(append_field(message, *field, out));
  }
  out += separator == '{' ? "{}" : "}";
  return absl::OkStatus();
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                    ? 1
                               : lead >= 0xc2 && lead <= 0xdf ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0 || text.size() - i < length) {
      return false;
    }
    std::uint32_t code_point = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0U) != 0x80U) {
        return false;
      }
      code_point = (code_point << 6U) | (next & 0x3fU);
    }
    const bool overlong =
        (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
    const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
    if (overlong || surrogate || code_point > 0x10ffff) {
      return false;
    }
    i += length;
  }
  return true;
}

absl::Status within(const absl::Status& status, std::string_view name) {
  if (status.ok()) {
    return status;
  }
  const std::string text(status.message());
  const bool has_path =
      status.code() == absl::StatusCode::kInvalidArgument && text.find(": ") != std::string::npos;
  return {status.code(), absl::StrCat(std::string(name), has_path ? "." : ": ", text)};
}

absl::StatusOr<std::string> to_json(const Message& message) {
  std::string out;
  ASSAY_RETURN_IF_ERROR(append_message(message, out));
  return out;
}

absl::StatusOr<std::string> field_to_json(const Message& message, const FieldDescriptor& field) {
  std::string out;
  ASSAY_RETURN_IF_ERROR(append_field(message, field, out));
  return out;
}

absl::Status from_json(const std::string& json, Message& message) {
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  if (!status.ok()) {
    return absl::DataLossError(absl::StrCat(message.GetDescriptor()->name(),
                                            ": stored text is not its JSON: ",
                                            std::string(status.message())));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> texts_to_json(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    absl::StrAppend(&out, out.size() == 1 ? "" : ",");
    ASSAY_RETURN_IF_ERROR(append_string_checked(text, out));
  }
  return out + "]";
}

std::string integers_to_json(const google::protobuf::RepeatedField<std::int64_t>& values) {
  // Room for the longest integers and their commas, cut to what was used.
  constexpr std::size_t kMaxDigits = 21;
  std::string out(static_cast<std::size_t>(values.size()) * kMaxDigits + 2, '[');
  char* at = out.data() + 1;
  for (const std::int64_t value : values) {
    at = std::to_chars(at, out.data() + out.size(), value).ptr;
    *at++ = ',';
  }
  if (!values.empty()) {
    --at;
  }
  *at++ = ']';
  out.resize(static_cast<std::size_t>(at - out.data()));
  return out;
}

absl::Status integers_from_json(std::string_view json,
                                google::protobuf::RepeatedField<std::int64_t>& values) {
  const auto broken = [] { return absl::DataLossError("stored samples are no JSON integers"); };
  values.Clear();
  if (json.size() < 2 || json.front() != '[' || json.back() != ']') {
    return broken();
  }
  const char* at = json.data() + 1;
  const char* const end = json.data() + json.size() - 1;
  while (at < end) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ',')) {
      return broken();
    }
    values.Add(value);
    at = next == end ? end : next + 1;
  }
  return absl::OkStatus();
}

}  // namespace assay::db
