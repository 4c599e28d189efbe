#include "client/t1_file.h"

#include "client/strict_json.h"
#include "client/t1_json.h"
#include "proto/status.h"
#include "tuning/token.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace assay::client {
namespace {

using namespace t1;  // NOLINT(google-build-using-namespace): its words are this file's
using Json = nlohmann::json;
using tuning::Expression;
using tuning::is_expression_name;
using tuning::List;
using tuning::Restriction;
using tuning::SearchSpace;
using tuning::TuningParameter;
using tuning::TuningValues;
using tuning::Value;

constexpr std::array<const char*, 5> kTypes = {"bool", "float", "int", "string", "uint"};

bool is_of_type(const Value& value, std::string_view type) {
  if (type == "string") {
    return std::holds_alternative<std::string>(value);
  }
  if (type == "bool") {
    const std::optional<std::int64_t> flag = integer_of(value);
    return flag && (*flag == 0 || *flag == 1);
  }
  if (type == "float") {
    return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr && (type == "int" || *integer >= 0);
}

// Equal values would count one configuration twice.
absl::Status check_values(const std::vector<Value>& values,
                          const std::string& field,
                          const std::string& type) {
  std::set<std::string> seen;
  for (const Value& value : values) {
    if (!is_of_type(value, type)) {
      return error(field, absl::StrCat("the value ", value_text(value), " is not of type ", type));
    }
    if (!seen.insert(equality_key(value)).second) {
      return error(field, absl::StrCat("the value ", value_text(value), " stands twice"));
    }
  }
  return absl::OkStatus();
}

// ConfigurationSpace, and what of KernelSpecification depends on it.
class Reader {
 public:
  explicit Reader(const Json& root) : root_(root) {}

  absl::StatusOr<T1File> read() {
    const Json* space = root_.is_object() ? find(root_, "ConfigurationSpace") : nullptr;
    if (space == nullptr) {
      return error("ConfigurationSpace", "missing; expected a T1 file");
    }
    ASSAY_RETURN_IF_ERROR(
        only_members(*space, "ConfigurationSpace", {"TuningParameters", "Conditions"}));
    ASSAY_RETURN_IF_ERROR(read_list(*space, "TuningParameters", &Reader::read_parameter));
    if (parameters_.empty()) {
      return error("ConfigurationSpace.TuningParameters", "expected at least one parameter");
    }
    if (find(*space, "Conditions") != nullptr) {
      ASSAY_RETURN_IF_ERROR(read_list(*space, "Conditions", &Reader::read_condition));
    }
    if (const Json* kernel = find(root_, "KernelSpecification")) {
      ASSAY_RETURN_IF_ERROR(check_kernel(*kernel, "KernelSpecification"));
    }
    absl::StatusOr<SearchSpace> made =
        SearchSpace::make(std::move(parameters_), std::move(restrictions_));
    if (!made.ok()) {
      return proto::annotate(made.status(), "ConfigurationSpace.TuningParameters");
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> warnings, default_warnings(*made));
    return T1File{*std::move(made), std::move(warnings), std::move(sizes_)};
  }

 private:
  using ReadElement = absl::Status (Reader::*)(const Json&, const std::string&);

  absl::Status read_list(const Json& space, std::string_view name, ReadElement read_element) {
    const std::string field = member("ConfigurationSpace", name);
    const Json* list = find(space, name);
    ASSAY_RETURN_IF_ERROR(list == nullptr ? error(field, "expected a list")
                                          : check_list(*list, field));
    for (std::size_t i = 0; i < list->size(); ++i) {
      ASSAY_RETURN_IF_ERROR((this->*read_element)((*list)[i], element(field, i)));
    }
    return absl::OkStatus();
  }

  absl::Status read_parameter(const Json& json, const std::string& field) {
    ASSAY_RETURN_IF_ERROR(only_members(json, field, {"Name", "Type", "Values", "Default"}));
    TuningParameter parameter;
    ASSAY_ASSIGN_OR_RETURN(parameter.name, text_member(json, field, "Name"));
    if (!is_expression_name(parameter.name)) {
      return error(member(field, "Name"),
                   absl::StrCat("`", parameter.name, "` cannot be a name in expressions"));
    }
    if (std::ranges::find(names_, parameter.name) != names_.end()) {
      return error(member(field, "Name"), absl::StrCat("`", parameter.name, "` stands twice"));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string type, text_member(json, field, "Type"));
    if (std::ranges::find(kTypes, type) == kTypes.end()) {
      return error(member(field, "Type"),
                   absl::StrCat("`", type, "`: expected one of ", absl::StrJoin(kTypes, ", ")));
    }
    ASSAY_ASSIGN_OR_RETURN(parameter.values, read_values(json, field, type));
    const Json* value = find(json, "Default");
    defaults_.push_back(value == nullptr ? Json() : *value);
    names_.push_back(parameter.name);
    parameters_.push_back(std::move(parameter));
    return absl::OkStatus();
  }

  static absl::StatusOr<std::vector<Value>> read_values(const Json& json,
                                                        const std::string& field,
                                                        const std::string& type) {
    const std::string values_field = member(field, "Values");
    ASSAY_ASSIGN_OR_RETURN(const std::string text, text_member(json, field, "Values"));
    ASSAY_ASSIGN_OR_RETURN(const Value value, evaluate(text, values_field, {}, {}));
    const std::vector<Value>* items = items_of(value);
    if (items == nullptr || items->empty()) {
      return error(values_field, "expected a list of at least one value, such as [1, 2, 4]");
    }
    ASSAY_RETURN_IF_ERROR(check_values(*items, values_field, type));
    return *items;
  }

  absl::Status read_condition(const Json& json, const std::string& field) {
    ASSAY_RETURN_IF_ERROR(only_members(json, field, {"Expression", "Parameters"}));
    if (const Json* listed = find(json, "Parameters")) {
      ASSAY_RETURN_IF_ERROR(check_listed(*listed, member(field, "Parameters")));
    }
    Restriction restriction;
    restriction.field = member(field, "Expression");
    ASSAY_ASSIGN_OR_RETURN(const std::string text, text_member(json, field, "Expression"));
    ASSAY_ASSIGN_OR_RETURN(restriction.expression,
                           parse_expression(text, restriction.field, names_));
    restrictions_.push_back(std::move(restriction));
    return absl::OkStatus();
  }

  absl::Status check_listed(const Json& listed, const std::string& field) const {
    ASSAY_RETURN_IF_ERROR(check_list(listed, field));
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const bool is_known = listed[i].is_string() &&
                            std::ranges::find(names_, listed[i].get<std::string>()) != names_.end();
      if (!is_known) {
        return error(element(field, i),
                     absl::StrCat(listed[i].dump(), " is not a tuning parameter"));
      }
    }
    return absl::OkStatus();
  }

  // Names that do not exist and sizes without a value are known before anything runs.
  absl::Status check_kernel(const Json& kernel, const std::string& field) {
    if (!kernel.is_object()) {
      return error(field, "expected an object");
    }
    names_.emplace_back(kProblemSize);
    for (const char* name : {"LocalSize", "GlobalSize"}) {
      if (const Json* sizes = find(kernel, name); sizes != nullptr && sizes->is_object()) {
        for (const auto& [axis, size] : sizes->items()) {
          ASSAY_RETURN_IF_ERROR(check_text(size, member(member(field, name), axis)));
        }
      }
    }
    for (const char* name : {"GridDivX", "GridDivY", "GridDivZ"}) {
      if (const Json* divisors = find(kernel, name); divisors != nullptr && divisors->is_array()) {
        for (std::size_t i = 0; i < divisors->size(); ++i) {
          ASSAY_RETURN_IF_ERROR(check_text((*divisors)[i], element(member(field, name), i)));
        }
      }
    }
    return check_buffer_sizes(kernel, field);
  }

  absl::Status check_text(const Json& json, const std::string& field) const {
    return json.is_string() ? parse_expression(json.get<std::string>(), field, names_).status()
                            : absl::OkStatus();
  }

  // A parameter in the size of a buffer is the list of its values, so that max() of it is meant.
  absl::Status check_buffer_sizes(const Json& kernel, const std::string& field) {
    const Json* buffers = find(kernel, "Arguments");
    if (buffers == nullptr || !buffers->is_array()) {
      return absl::OkStatus();
    }
    ASSAY_RETURN_IF_ERROR(check_list(*buffers, member(field, "Arguments")));
    std::vector<Value> arguments;
    for (const TuningParameter& parameter : parameters_) {
      arguments.emplace_back(std::make_shared<const List>(List{parameter.values}));
    }
    arguments.push_back(problem_size(kernel));
    for (std::size_t i = 0; i < buffers->size(); ++i) {
      const Json* size = (*buffers)[i].is_object() ? find((*buffers)[i], "Size") : nullptr;
      sizes_.push_back(size != nullptr && size->is_number_integer() ? size->get<std::int64_t>()
                                                                    : 0);
      if (size == nullptr || !size->is_string()) {
        continue;
      }
      const std::string size_field = member(element(member(field, "Arguments"), i), "Size");
      ASSAY_ASSIGN_OR_RETURN(const Value value,
                             evaluate(size->get<std::string>(), size_field, names_, arguments));
      if (!std::holds_alternative<std::int64_t>(value) || *integer_of(value) < 1) {
        return error(size_field,
                     absl::StrCat("expected a number of elements, not ", value_text(value)));
      }
      sizes_.back() = *integer_of(value);
    }
    return absl::OkStatus();
  }

  // A number or a list of them, as the file has it; an empty list where it has neither.
  static Value problem_size(const Json& kernel) {
    const Json* size = find(kernel, kProblemSize);
    if (size == nullptr) {
      return std::make_shared<const List>();
    }
    if (const std::optional<Value> value = value_of(*size)) {
      return *value;
    }
    List list;
    for (const Json& item : *size) {
      if (std::optional<Value> value = value_of(item)) {
        list.values.push_back(*std::move(value));
      }
    }
    return std::make_shared<const List>(std::move(list));
  }

  // What is wrong with the configuration of all defaults; nothing where one has no default.
  absl::StatusOr<std::vector<std::string>> default_warnings(const SearchSpace& space) const {
    TuningValues values;
    for (const Json& json : defaults_) {
      std::optional<Value> value = value_of(json);
      if (!value) {
        return std::vector<std::string>();
      }
      values.push_back(*std::move(value));
    }
    const std::vector<std::string> faults = space.faults_of(values);
    if (faults.empty()) {
      return std::vector<std::string>();
    }
    return std::vector<std::string>{
        absl::StrCat("default configuration is invalid: ", absl::StrJoin(faults, "; "))};
  }

  const Json& root_;
  std::vector<std::string> names_;
  std::vector<TuningParameter> parameters_;
  std::vector<Json> defaults_;
  std::vector<Restriction> restrictions_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace

absl::StatusOr<T1File> parse_t1(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const Json root, parse_strict_json(text));
  return Reader(root).read();
}

}  // namespace assay::client
