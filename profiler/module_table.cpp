#include "profiler/module_table.h"

#include "kernels/operator.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>
#include <string>

namespace assay::profiler {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxTextBytes = 200;

absl::Status refuse(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

std::string row_path(const std::string& path, std::size_t place) {
  return absl::StrCat(path, "[", place, "]");
}

absl::Status check_not_null(bool is_there, const std::string& path) {
  return is_there ? absl::OkStatus() : refuse(path, "must not be null");
}

// Of text that is not null and ends somewhere near.
absl::Status check_text(const char* text, const std::string& path) {
  if (text == nullptr) {
    return absl::OkStatus();
  }
  const std::string_view known(text, strnlen(text, kMaxTextBytes + 1));
  const bool is_printable = std::ranges::all_of(known, [](char c) { return c >= ' ' && c <= '~'; });
  return is_printable && known.size() <= kMaxTextBytes
             ? absl::OkStatus()
             : refuse(path, "must be printable ASCII of at most 200 bytes");
}

// `also` may stand between letters and digits, beside '_'.
absl::Status check_name(const char* name,
                        const std::string& path,
                        std::string_view also,
                        std::set<std::string>& seen) {
  ASSAY_RETURN_IF_ERROR(check_not_null(name != nullptr, path));
  const std::string known(name, strnlen(name, kMaxNameBytes + 1));
  const bool is_plain = std::ranges::all_of(known, [also](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
  if (!is_plain || known.empty() || known.size() > kMaxNameBytes) {
    return refuse(path,
                  absl::StrCat("must be 1 to 64 letters, digits or '_", std::string(also), "'"));
  }
  return seen.insert(known).second ? absl::OkStatus()
                                   : refuse(path, absl::StrCat("`", known, "` is used twice"));
}

// A struct that grows keeps the size that it had in ABI 1.
template <class Row>
constexpr std::size_t kLeastSize = sizeof(Row);

// The rows, which lie as far apart as the module's struct is long.
template <class Row>
absl::StatusOr<std::vector<Row>> read_rows(const Row* first,
                                           std::size_t num_rows,
                                           const std::string& path) {
  std::vector<Row> rows;
  if (num_rows == 0) {
    return rows;
  }
  ASSAY_RETURN_IF_ERROR(check_not_null(first != nullptr, path));
  if (num_rows > kMostModuleRows) {
    return refuse(path, absl::StrCat("has ", num_rows, " rows, at most are ", kMostModuleRows));
  }
  const std::size_t size = first->size;
  if (size < kLeastSize<Row> || size > sizeof(Row)) {
    return refuse(
        absl::StrCat(path, "[0].size"),
        absl::StrCat("is ", size, ", this assay knows ", kLeastSize<Row>, " to ", sizeof(Row)));
  }
  for (std::size_t place = 0; place < num_rows; ++place) {
    Row row = {};  // what an older module lacks is null
    std::memcpy(&row, reinterpret_cast<const char*>(first) + place * size, size);
    if (row.size != size) {
      return refuse(absl::StrCat(row_path(path, place), ".size"), "is not that of the first row");
    }
    rows.push_back(row);
  }
  return rows;
}

absl::StatusOr<std::vector<assay_axis>> read_axes(const assay_axis* first,
                                                  std::size_t num_axes,
                                                  std::size_t most,
                                                  const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<assay_axis> axes, read_rows(first, num_axes, path));
  if (axes.size() > most) {
    return refuse(path, absl::StrCat("has ", axes.size(), " rows, at most are ", most));
  }
  std::set<std::string> names;
  for (std::size_t place = 0; place < axes.size(); ++place) {
    assay_axis& axis = axes[place];
    const std::string at = row_path(path, place);
    ASSAY_RETURN_IF_ERROR(check_name(axis.name, at + ".name", "", names));
    ASSAY_RETURN_IF_ERROR(check_text(axis.help, at + ".help"));
    if (axis.choices != nullptr) {
      if (axis.num_choices == 0 || axis.num_choices > kMostModuleRows) {
        return refuse(at + ".num_choices", absl::StrCat("must be in [1, ", kMostModuleRows, "]"));
      }
      std::set<std::string> choices;
      for (std::size_t choice = 0; choice < axis.num_choices; ++choice) {
        ASSAY_RETURN_IF_ERROR(
            check_name(axis.choices[choice], row_path(at + ".choices", choice), ".-", choices));
      }
      axis.min = 0;
      axis.max = static_cast<std::int64_t>(axis.num_choices) - 1;
    }
    if (axis.default_value < axis.min || axis.default_value > axis.max) {
      return refuse(at + ".default_value",
                    absl::StrCat("must be in [", axis.min, ", ", axis.max, "]"));
    }
  }
  return axes;
}

absl::StatusOr<std::vector<assay_tensor>> read_tensors(const assay_operator& op,
                                                       const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<assay_tensor> tensors,
                         read_rows(op.tensors, op.num_tensors, path));
  std::set<std::string> names;
  bool has_output = false;
  for (std::size_t place = 0; place < tensors.size(); ++place) {
    const assay_tensor& tensor = tensors[place];
    const std::string at = row_path(path, place);
    ASSAY_RETURN_IF_ERROR(check_name(tensor.name, at + ".name", "", names));
    if (tensor.dtype < ASSAY_F32 || tensor.dtype > ASSAY_I64) {
      return refuse(at + ".dtype", absl::StrCat(tensor.dtype, " is none"));
    }
    if (tensor.role < ASSAY_INPUT || tensor.role > ASSAY_SCRATCH) {
      return refuse(at + ".role", absl::StrCat(tensor.role, " is none"));
    }
    ASSAY_RETURN_IF_ERROR(check_not_null(tensor.shape != nullptr, at + ".shape"));
    if (tensor.role == ASSAY_INPUT) {
      if (tensor.fill < ASSAY_FILL_CALLBACK || tensor.fill > ASSAY_FILL_UNIFORM) {
        return refuse(at + ".fill", absl::StrCat(tensor.fill, " is none"));
      }
      ASSAY_RETURN_IF_ERROR(check_not_null(
          tensor.fill != ASSAY_FILL_CALLBACK || tensor.fill_bytes != nullptr, at + ".fill_bytes"));
    }
    has_output |= tensor.role == ASSAY_OUTPUT;
  }
  return has_output ? absl::StatusOr<std::vector<assay_tensor>>(std::move(tensors))
                    : refuse(path, "must have an output");
}

absl::StatusOr<std::vector<ModuleVariant>> read_variants(const assay_variant* first,
                                                         std::size_t num_variants,
                                                         bool is_cuda,
                                                         const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<assay_variant> rows,
                         read_rows(first, num_variants, path));
  std::vector<ModuleVariant> variants;
  std::set<std::string> names;
  std::set<std::string> families;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const std::string at = row_path(path, place);
    ModuleVariant& variant = variants.emplace_back();
    variant.row = rows[place];
    ASSAY_RETURN_IF_ERROR(check_name(variant.row.name, at + ".name", "", names));
    ASSAY_RETURN_IF_ERROR(check_text(variant.row.idea, at + ".idea"));
    if (variant.row.family != nullptr) {
      families.clear();
      ASSAY_RETURN_IF_ERROR(check_name(variant.row.family, at + ".family", "", families));
    }
    ASSAY_ASSIGN_OR_RETURN(variant.parameters,
                           read_axes(variant.row.parameters,
                                     variant.row.num_parameters,
                                     kernels::kMostParameters,
                                     at + ".parameters"));
    ASSAY_ASSIGN_OR_RETURN(variant.stages,
                           read_rows(variant.row.stages, variant.row.num_stages, at + ".stages"));
    if (variant.stages.empty()) {
      return refuse(at + ".stages", "must have a row");
    }
    std::set<std::string> stages = {"total", "span"};
    for (std::size_t stage = 0; stage < variant.stages.size(); ++stage) {
      const assay_stage& row = variant.stages[stage];
      const std::string of_stage = row_path(at + ".stages", stage);
      ASSAY_RETURN_IF_ERROR(check_name(row.name, of_stage + ".name", "", stages));
      ASSAY_RETURN_IF_ERROR(
          check_not_null(is_cuda ? row.launch_cuda != nullptr : row.launch_cpu != nullptr,
                         of_stage + (is_cuda ? ".launch_cuda" : ".launch_cpu")));
    }
  }
  return variants;
}

absl::Status check_workloads(const ModuleOperator& op, const std::string& path) {
  std::set<std::string> names;
  for (std::size_t place = 0; place < op.workloads.size(); ++place) {
    const assay_named_workload& workload = op.workloads[place];
    const std::string at = row_path(path, place);
    ASSAY_RETURN_IF_ERROR(check_name(workload.name, at + ".name", "-.", names));
    ASSAY_RETURN_IF_ERROR(check_text(workload.help, at + ".help"));
    ASSAY_RETURN_IF_ERROR(
        check_not_null(workload.values != nullptr || op.axes.empty(), at + ".values"));
    for (std::size_t axis = 0; axis < op.axes.size(); ++axis) {
      const std::int64_t value = workload.values[axis];
      if (value < op.axes[axis].min || value > op.axes[axis].max) {
        return refuse(
            row_path(at + ".values", axis),
            absl::StrCat("must be in [", op.axes[axis].min, ", ", op.axes[axis].max, "]"));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ModuleOperator> read_operator(const assay_operator& row, const std::string& at) {
  ModuleOperator op;
  op.row = row;
  ASSAY_RETURN_IF_ERROR(check_text(row.summary, at + ".summary"));
  ASSAY_ASSIGN_OR_RETURN(op.axes, read_axes(row.axes, row.num_axes, kMostModuleRows, at + ".axes"));
  ASSAY_ASSIGN_OR_RETURN(op.tensors, read_tensors(row, at + ".tensors"));
  ASSAY_ASSIGN_OR_RETURN(
      op.cpu_variants,
      read_variants(row.cpu_variants, row.num_cpu_variants, false, at + ".cpu_variants"));
  ASSAY_ASSIGN_OR_RETURN(
      op.cuda_variants,
      read_variants(row.cuda_variants, row.num_cuda_variants, true, at + ".cuda_variants"));
  ASSAY_ASSIGN_OR_RETURN(op.workloads,
                         read_rows(row.workloads, row.num_workloads, at + ".workloads"));
  ASSAY_RETURN_IF_ERROR(check_workloads(op, at + ".workloads"));
  return op;
}

}  // namespace

absl::StatusOr<std::vector<ModuleOperator>> read_module_table(const assay_module_table* table) {
  ASSAY_RETURN_IF_ERROR(check_not_null(table != nullptr, "assay_module()"));
  if (table->size < sizeof(assay_module_table) || table->abi_version != ASSAY_MODULE_ABI) {
    return absl::FailedPreconditionError(absl::StrCat("made for ABI ",
                                                      table->abi_version,
                                                      " of kernels/module.h, this is ",
                                                      ASSAY_MODULE_ABI,
                                                      "; build it again"));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<assay_operator> rows,
                         read_rows(table->operators, table->num_operators, "operators"));
  if (rows.empty() || rows.size() > kMostModuleOperators) {
    return refuse("num_operators", absl::StrCat("must be in [1, ", kMostModuleOperators, "]"));
  }
  std::vector<ModuleOperator> operators;
  std::set<std::string> names;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const std::string at = row_path("operators", place);
    ASSAY_RETURN_IF_ERROR(check_name(rows[place].name, at + ".name", "", names));
    ASSAY_ASSIGN_OR_RETURN(ModuleOperator op, read_operator(rows[place], at));
    operators.push_back(std::move(op));
  }
  return operators;
}

}  // namespace assay::profiler
