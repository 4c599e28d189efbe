#include "client/t1_source.h"

#include "client/kernel_signature.h"
#include "client/t1_arguments.h"
#include "client/t1_file.h"
#include "client/t1_grid.h"
#include "client/t1_json.h"
#include "proto/status.h"
#include "tuning/source_scope.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace assay::client {
namespace {

using namespace t1;  // NOLINT(google-build-using-namespace): its words are this file's
using Json = nlohmann::json;
using tuning::TuningValues;
using tuning::Value;

const std::string kField = "KernelSpecification";

std::string value_words(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  const auto* flag = std::get_if<bool>(&value);
  return flag == nullptr ? value_text(value) : *flag ? "true" : "false";
}

class SourceReader {
 public:
  SourceReader(const Json& root, const SourceFolder& folder, T1File file)
      : root_(root), folder_(folder), file_(std::move(file)) {}

  absl::StatusOr<SourceBundle> read() {
    const Json* kernel = find(root_, kField);
    if (kernel == nullptr || !kernel->is_object()) {
      return error(kField, "missing; there is nothing to run");
    }
    kernel_ = kernel;
    ASSAY_RETURN_IF_ERROR(check_members());
    bundle_.warnings = file_.warnings;
    ASSAY_RETURN_IF_ERROR(read_kernel());
    ASSAY_RETURN_IF_ERROR(read_space());
    ASSAY_RETURN_IF_ERROR(read_t1_sizes(*kernel_, bundle_));
    ASSAY_RETURN_IF_ERROR(read_t1_arguments(*kernel_, file_, bundle_));
    ASSAY_RETURN_IF_ERROR(folder_.read_sources(bundle_.spec));
    ASSAY_RETURN_IF_ERROR(check_signature());
    warn_of_macros();
    return std::move(bundle_);
  }

 private:
  absl::Status check_members() const {
    return only_members(
        *kernel_, kField, {"Language",       "CompilerOptions", "BenchmarkName",
                           "KernelName",     "KernelFile",      "Profiling",
                           "SharedMemory",   "SimulationInput", "Device",
                           "GlobalSizeType", "GlobalSize",      "LocalSize",
                           "GridDivX",       "GridDivY",        "GridDivZ",
                           "ProblemSize",    "Stream",          "Misc",
                           "Arguments",      "BenchmarkConfig", "ReferenceArguments"});
  }

  absl::Status read_kernel() {
    v1::SourceSpec& spec = bundle_.spec;
    ASSAY_ASSIGN_OR_RETURN(const std::string language, text_member(*kernel_, kField, "Language"));
    if (language != "CUDA") {
      return error(member(kField, "Language"),
                   absl::StrCat("`", language, "` cannot be compiled here; expected CUDA"));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string file, text_member(*kernel_, kField, "KernelFile"));
    for (const char* ending : {".hip", ".cl", ".comp", ".spv"}) {
      if (file.ends_with(ending)) {
        return error(member(kField, "KernelFile"),
                     absl::StrCat("`", file, "` is no CUDA source, although Language is CUDA"));
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string kernel, text_member(*kernel_, kField, "KernelName"));
    spec.add_files()->set_name(file);
    spec.add_stages()->set_name("kernel");
    spec.mutable_stages(0)->set_kernel(kernel);
    for (const char c : kernel) {
      *spec.mutable_name() += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    if (const Json* options = find(*kernel_, "CompilerOptions")) {
      ASSAY_RETURN_IF_ERROR(check_list(*options, member(kField, "CompilerOptions")));
      for (std::size_t i = 0; i < options->size(); ++i) {
        if (!(*options)[i].is_string()) {
          return error(element(member(kField, "CompilerOptions"), i), "expected a string");
        }
        // An empty one stands for none.
        if (const auto option = (*options)[i].get<std::string>(); !option.empty()) {
          spec.add_options(option);
        }
      }
    }
    if (is_kernel_tuner(*kernel_)) {
      spec.add_defines("kernel_tuner=1");
    }
    return absl::OkStatus();
  }

  absl::Status read_space() {
    const auto& parameters = file_.space.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      v1::SourceParameter& parameter = *bundle_.spec.add_parameters();
      parameter.set_name(parameters[i].name);
      for (const Value& value : parameters[i].values) {
        const std::string words = value_words(value);
        if (value.index() != tuning::source_value(words).index()) {
          return error(absl::StrCat("ConfigurationSpace.TuningParameters[", i, "].Values"),
                       absl::StrCat("the text '", words, "` would be read as a number"));
        }
        parameter.add_values(words);
      }
    }
    for (const tuning::Restriction& restriction : file_.space.restrictions()) {
      bundle_.spec.add_restrictions(restriction.expression.text());
    }
    return set_defaults();
  }

  // The file's own where they are a configuration, else the first one that is.
  absl::Status set_defaults() {
    const Json& parameters = root_["ConfigurationSpace"]["TuningParameters"];
    TuningValues values;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Json* given = find(parameters[i], "Default");
      const std::optional<Value> value = given == nullptr ? std::nullopt : value_of(*given);
      const auto& all = file_.space.parameters()[i].values;
      const auto found = std::ranges::find_if(
          all, [&](const Value& other) { return value && equal(other, *value); });
      values.push_back(found != all.end() ? *found : value ? *value : all.front());
    }
    if (!file_.space.faults_of(values).empty()) {
      const absl::StatusOr<TuningValues> first = file_.space.configuration(0);
      if (!first.ok()) {
        return error("ConfigurationSpace.Conditions",
                     absl::IsOutOfRange(first.status()) ? "no configuration is valid"
                                                        : std::string(first.status().message()));
      }
      values = *first;
      bundle_.warnings.emplace_back("the first valid configuration is the default one here");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      bundle_.spec.mutable_parameters(static_cast<int>(i))
          ->set_default_value(value_words(values[i]));
    }
    return absl::OkStatus();
  }

  // The launch would read what is not there.
  absl::Status check_signature() const {
    const v1::SourceStage& stage = bundle_.spec.stages(0);
    const auto parameters = kernel_signature(bundle_.spec.files(0).text(), stage.kernel());
    if (!parameters) {
      return absl::OkStatus();
    }
    const std::string field = member(kField, "Arguments");
    if (static_cast<int>(parameters->size()) != stage.arguments_size()) {
      return error(field,
                   absl::StrCat(stage.arguments_size(),
                                " of them, but `",
                                stage.kernel(),
                                "` takes ",
                                parameters->size()));
    }
    for (int i = 0; i < stage.arguments_size(); ++i) {
      const v1::SourceArgument& argument = stage.arguments(i);
      const KernelParameter& taken = (*parameters)[static_cast<std::size_t>(i)];
      const bool is_tensor = !argument.tensor().empty();
      const std::string given = is_tensor ? dtype_of(argument.tensor()) : argument.dtype();
      // A pointer to another type may read the same elements as its own (float4); one of a known
      // type may not.
      const bool is_known = !taken.dtype.empty();
      if ((is_known || is_tensor) && (is_tensor != taken.is_pointer)) {
        return error(element(field, static_cast<std::size_t>(i)),
                     absl::StrCat(is_tensor ? "is a vector" : "is a scalar",
                                  ", but `",
                                  stage.kernel(),
                                  "` takes a ",
                                  taken.is_pointer ? "pointer" : "value"));
      }
      if (is_known && taken.dtype != given) {
        return error(element(field, static_cast<std::size_t>(i)) + ".Type",
                     absl::StrCat("is ",
                                  given,
                                  " here, but `",
                                  stage.kernel(),
                                  "` takes ",
                                  taken.dtype,
                                  taken.is_pointer ? " elements" : ""));
      }
    }
    return absl::OkStatus();
  }

  std::string dtype_of(const std::string& tensor) const {
    for (const v1::SourceTensor& known : bundle_.spec.tensors()) {
      if (known.name() == tensor) {
        return known.dtype();
      }
    }
    return "";
  }

  void warn_of_macros() {
    for (const char* name : {"grid_size_x", "grid_size_y", "grid_size_z"}) {
      if (is_kernel_tuner(*kernel_) &&
          bundle_.spec.files(0).text().find(name) != std::string::npos) {
        bundle_.warnings.push_back(
            absl::StrCat("the source names ", name, ", which is no macro here"));
      }
    }
  }

  const Json& root_;
  const SourceFolder& folder_;
  const T1File file_;
  const Json* kernel_ = nullptr;
  SourceBundle bundle_;
};

}  // namespace

bool is_t1(const nlohmann::json& root) {
  return root.is_object() && root.contains("ConfigurationSpace");
}

absl::StatusOr<SourceBundle> t1_source(std::string_view text,
                                       const nlohmann::json& root,
                                       const SourceFolder& folder) {
  ASSAY_ASSIGN_OR_RETURN(T1File file, parse_t1(text));
  return SourceReader(root, folder, std::move(file)).read();
}

}  // namespace assay::client
