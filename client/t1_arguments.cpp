#include "client/t1_arguments.h"

#include "client/source_data.h"
#include "client/t1_generator.h"
#include "client/t1_json.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace assay::client {
namespace {

using namespace t1;  // NOLINT(google-build-using-namespace): its words are this file's
using Json = nlohmann::json;

constexpr double kDefaultThreshold = 1e-4;

struct ElementType {
  std::string_view name;
  std::string_view dtype;
  std::int64_t bytes;  // of the type
  std::int64_t num;    // elements of dtype in one
};

constexpr std::array<ElementType, 18> kTypes = {{{"bool", "u8", 1, 1},
                                                 {"int8", "i8", 1, 1},
                                                 {"uint8", "u8", 1, 1},
                                                 {"int32", "i32", 4, 1},
                                                 {"uint32", "i32", 4, 1},
                                                 {"int64", "i64", 8, 1},
                                                 {"uint64", "i64", 8, 1},
                                                 {"half", "f16", 2, 1},
                                                 {"half2", "f16", 4, 2},
                                                 {"half4", "f16", 8, 4},
                                                 {"half8", "f16", 16, 8},
                                                 {"half16", "f16", 32, 16},
                                                 {"float", "f32", 4, 1},
                                                 {"float2", "f32", 8, 2},
                                                 {"float4", "f32", 16, 4},
                                                 {"float8", "f32", 32, 8},
                                                 {"float16", "f32", 64, 16},
                                                 {"double", "f64", 8, 1}}};

absl::StatusOr<double> number_member(const Json& json,
                                     const std::string& field,
                                     std::string_view name,
                                     double by_default) {
  const Json* value = find(json, name);
  if (value == nullptr) {
    return by_default;
  }
  if (!value->is_number()) {
    return error(member(field, name), "expected a number");
  }
  return value->get<double>();
}

// The digits that the file has, as an expression.
absl::StatusOr<std::string> number_text(const Json& json, const std::string& field) {
  const Json* value = find(json, "FillValue");
  if (value == nullptr || !value->is_number()) {
    return error(member(field, "FillValue"), "expected a number");
  }
  return value->dump();
}

class ArgumentReader {
 public:
  ArgumentReader(const Json& kernel, const T1File& file, SourceBundle& bundle)
      : kernel_(kernel), file_(file), bundle_(bundle) {}

  absl::Status read() {
    const std::string field = "KernelSpecification.Arguments";
    const Json* list = find(kernel_, "Arguments");
    ASSAY_RETURN_IF_ERROR(list == nullptr ? error(field, "expected a list")
                                          : check_list(*list, field));
    for (std::size_t i = 0; i < list->size(); ++i) {
      ASSAY_RETURN_IF_ERROR(read_argument((*list)[i], i, element(field, i)));
    }
    const std::string references = "KernelSpecification.ReferenceArguments";
    if (const Json* found = find(kernel_, "ReferenceArguments")) {
      ASSAY_RETURN_IF_ERROR(check_list(*found, references));
      for (std::size_t i = 0; i < found->size(); ++i) {
        ASSAY_RETURN_IF_ERROR(read_reference((*found)[i], element(references, i)));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status read_argument(const Json& json, std::size_t index, const std::string& field) {
    ASSAY_RETURN_IF_ERROR(only_members(json,
                                       field,
                                       {"Name",
                                        "Type",
                                        "Size",
                                        "TypeSize",
                                        "FillType",
                                        "FillValue",
                                        "DataSource",
                                        "RandomSeed",
                                        "AccessType",
                                        "MemoryType",
                                        "MemType",
                                        "Output"}));
    ASSAY_ASSIGN_OR_RETURN(const std::string memory, text_member(json, field, "MemoryType"));
    if (memory != "Scalar" && memory != "Vector") {
      return error(member(field, "MemoryType"),
                   absl::StrCat("`", memory, "` cannot be run here; expected Scalar or Vector"));
    }
    if (const Json* kind = find(json, "MemType"); kind != nullptr && *kind != "Global") {
      return error(member(field, "MemType"),
                   absl::StrCat(kind->dump(), " cannot be run here; expected \"Global\""));
    }
    ASSAY_ASSIGN_OR_RETURN(const ElementType type, read_type(json, field));
    if (memory == "Scalar") {
      return read_scalar(json, type, field);
    }
    return read_vector(json, type, index, field);
  }

  static absl::StatusOr<ElementType> read_type(const Json& json, const std::string& field) {
    ASSAY_ASSIGN_OR_RETURN(const std::string name, text_member(json, field, "Type"));
    const auto* found = std::ranges::find(kTypes, std::string_view(name), &ElementType::name);
    if (found == kTypes.end()) {
      std::string names;
      for (const ElementType& type : kTypes) {
        absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(type.name));
      }
      return error(member(field, "Type"),
                   absl::StrCat("`", name, "` cannot be run here; expected one of ", names));
    }
    const Json* size = find(json, "TypeSize");
    if (size != nullptr && *size != found->bytes) {
      return error(member(field, "TypeSize"),
                   absl::StrCat(size->dump(), ", but ", name, " has ", found->bytes, " bytes"));
    }
    return *found;
  }

  absl::Status read_scalar(const Json& json, const ElementType& type, const std::string& field) {
    if (type.num != 1) {
      return error(member(field, "Type"),
                   absl::StrCat("a scalar of ", std::string(type.name), " cannot be run here"));
    }
    const Json* fill = find(json, "FillType");
    if (fill != nullptr && *fill != "Constant") {
      return error(member(field, "FillType"), "a scalar is Constant");
    }
    v1::SourceArgument& argument = *stage().add_arguments();
    argument.set_dtype(std::string(type.dtype));
    ASSAY_ASSIGN_OR_RETURN(*argument.mutable_value(), number_text(json, field));
    return absl::OkStatus();
  }

  absl::Status read_vector(const Json& json,
                           const ElementType& type,
                           std::size_t index,
                           const std::string& field) {
    if (type.dtype == "f64") {
      return error(member(field, "Type"), "a vector of double cannot be run here");
    }
    const std::int64_t size = index < file_.sizes.size() ? file_.sizes[index] : 0;
    if (size < 1) {
      return error(member(field, "Size"), "expected a number of elements");
    }
    v1::SourceTensor& tensor = *bundle_.spec.add_tensors();
    const Json* name = find(json, "Name");
    tensor.set_name(name != nullptr && name->is_string() ? name->get<std::string>()
                                                         : absl::StrCat("argument_", index));
    tensor.set_dtype(std::string(type.dtype));
    tensor.add_shape(absl::StrCat(size * type.num));
    stage().add_arguments()->set_tensor(tensor.name());
    ASSAY_ASSIGN_OR_RETURN(const std::string access, text_member(json, field, "AccessType"));
    const std::map<std::string, std::string> roles = {
        {"ReadOnly", "input"}, {"WriteOnly", "output"}, {"ReadWrite", "in_out"}};
    const auto role = roles.find(access);
    if (role == roles.end()) {
      return error(member(field, "AccessType"),
                   absl::StrCat("`", access, "`: expected ReadOnly, WriteOnly or ReadWrite"));
    }
    tensor.set_role(role->second);
    // An output has no beginning: what of it is not written is found by its poison.
    return access == "WriteOnly" ? absl::OkStatus() : read_fill(json, tensor, field);
  }

  absl::Status read_fill(const Json& json, v1::SourceTensor& tensor, const std::string& field) {
    ASSAY_ASSIGN_OR_RETURN(const std::string kind, text_member(json, field, "FillType"));
    v1::SourceFill& fill = *tensor.mutable_fill();
    if (kind == "Constant") {
      ASSAY_ASSIGN_OR_RETURN(const double value, number_member(json, field, "FillValue", 0));
      fill.set_kind("constant");
      fill.set_value(value);
      return absl::OkStatus();
    }
    if (kind == "Random") {
      ASSAY_ASSIGN_OR_RETURN(const double high, number_member(json, field, "FillValue", 1));
      if (high <= 0) {
        return error(member(field, "FillValue"), "random values are in [0, FillValue)");
      }
      if (find(json, "RandomSeed") != nullptr) {
        bundle_.warnings.push_back(absl::StrCat(
            member(field, "RandomSeed"), ": is not used; inputs follow the experiment's --seed"));
      }
      fill.set_kind("uniform");
      fill.set_high(high);
      return absl::OkStatus();
    }
    if (kind == "BinaryRaw") {
      fill.set_kind("file");
      ASSAY_ASSIGN_OR_RETURN(*fill.mutable_file(), text_member(json, field, "DataSource"));
      return absl::OkStatus();
    }
    if (kind == "Generator") {
      fill.set_kind("file");
      ASSAY_ASSIGN_OR_RETURN(*fill.mutable_digest(),
                             generate(json, field, tensor.dtype(), tensor.shape(0)));
      return absl::OkStatus();
    }
    return unknown_fill(field, kind);
  }

  static absl::Status unknown_fill(const std::string& field, const std::string& kind) {
    return error(
        member(field, "FillType"),
        absl::StrCat(
            "`", kind, "` cannot be run here; expected Constant, Random, Generator or BinaryRaw"));
  }

  // The formula's value for every element `i`, kept as data; gives its digest.
  absl::StatusOr<std::string> generate(const Json& json,
                                       const std::string& field,
                                       const std::string& dtype,
                                       const std::string& size) {
    const std::string place = member(field, "DataSource");
    ASSAY_ASSIGN_OR_RETURN(const std::string text, text_member(json, field, "DataSource"));
    ASSAY_ASSIGN_OR_RETURN(std::string bytes,
                           generated_bytes(text, place, dtype, std::stoll(size)));
    return keep_source_data(bundle_, std::move(bytes));
  }

  absl::Status read_reference(const Json& json, const std::string& field) {
    ASSAY_RETURN_IF_ERROR(only_members(json,
                                       field,
                                       {"Name",
                                        "TargetName",
                                        "FillType",
                                        "FillValue",
                                        "DataSource",
                                        "ValidationMethod",
                                        "ValidationThreshold"}));
    ASSAY_ASSIGN_OR_RETURN(const std::string target, text_member(json, field, "TargetName"));
    auto& tensors = *bundle_.spec.mutable_tensors();
    const auto found = std::ranges::find_if(
        tensors, [&](const v1::SourceTensor& tensor) { return tensor.name() == target; });
    if (found == tensors.end() || found->role() == "input") {
      return error(member(field, "TargetName"),
                   absl::StrCat("`", target, "` is no argument that the kernel writes"));
    }
    ASSAY_RETURN_IF_ERROR(read_tolerance(json, *found, field));
    return read_expected(json, *found, field);
  }

  absl::Status read_tolerance(const Json& json,
                              v1::SourceTensor& tensor,
                              const std::string& field) {
    v1::SourceReference& reference = *tensor.mutable_reference();
    ASSAY_ASSIGN_OR_RETURN(const double threshold,
                           number_member(json, field, "ValidationThreshold", kDefaultThreshold));
    const Json* method = find(json, "ValidationMethod");
    if (method == nullptr || *method == "SideBySideComparison") {
      reference.set_absolute(threshold);
    } else if (*method == "SideBySideRelativeComparison") {
      reference.set_relative(threshold);
    } else if (*method == "AbsoluteDifference") {
      // A sum over all elements there; each one's even share of it is at least as strict.
      reference.set_absolute(threshold / std::stod(tensor.shape(0)));
      bundle_.warnings.push_back(
          absl::StrCat(member(field, "ValidationMethod"),
                       ": AbsoluteDifference bounds a sum; here each element is held to its even "
                       "share of the threshold"));
    } else {
      return error(member(field, "ValidationMethod"),
                   absl::StrCat(method->dump(),
                                ": expected AbsoluteDifference, SideBySideComparison or "
                                "SideBySideRelativeComparison"));
    }
    return absl::OkStatus();
  }

  absl::Status read_expected(const Json& json, v1::SourceTensor& tensor, const std::string& field) {
    v1::SourceReference& reference = *tensor.mutable_reference();
    ASSAY_ASSIGN_OR_RETURN(const std::string kind, text_member(json, field, "FillType"));
    if (kind == "BinaryRaw") {
      if (tensor.dtype() != "f32") {
        return error(member(field, "FillType"), "reference data from a file is of float only");
      }
      reference.set_dtype("f32");
      ASSAY_ASSIGN_OR_RETURN(*reference.mutable_file(), text_member(json, field, "DataSource"));
      return absl::OkStatus();
    }
    if (kind != "Generator") {
      return error(
          member(field, "FillType"),
          absl::StrCat("`", kind, "` cannot be run here; expected BinaryRaw or Generator"));
    }
    reference.set_dtype("f64");
    ASSAY_ASSIGN_OR_RETURN(*reference.mutable_digest(),
                           generate(json, field, "f64", tensor.shape(0)));
    return absl::OkStatus();
  }

  v1::SourceStage& stage() { return *bundle_.spec.mutable_stages(0); }

  const Json& kernel_;
  const T1File& file_;
  SourceBundle& bundle_;
};

}  // namespace

absl::Status read_t1_arguments(const nlohmann::json& kernel,
                               const T1File& file,
                               SourceBundle& bundle) {
  return ArgumentReader(kernel, file, bundle).read();
}

}  // namespace assay::client
