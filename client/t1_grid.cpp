#include "client/t1_grid.h"

#include "client/t1_json.h"
#include "proto/status.h"
#include "tuning/token.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>

namespace assay::client {
namespace {

using namespace t1;  // NOLINT(google-build-using-namespace): its words are this file's
using Json = nlohmann::json;

constexpr std::array<const char*, 3> kAxes = {"X", "Y", "Z"};
constexpr std::array<const char*, 3> kDivisors = {"GridDivX", "GridDivY", "GridDivZ"};
constexpr std::array<const char*, 3> kBlockSizes = {"block_size_x", "block_size_y", "block_size_z"};
const std::string kField = "KernelSpecification";

bool has_divisors(const Json& kernel) {
  return std::ranges::any_of(kDivisors,
                             [&](const char* name) { return find(kernel, name) != nullptr; });
}

class SizeReader {
 public:
  SizeReader(const Json& kernel, SourceBundle& bundle) : kernel_(kernel), bundle_(bundle) {
    for (const v1::SourceParameter& parameter : bundle.spec.parameters()) {
      names_.push_back(parameter.name());
    }
  }

  absl::Status read() {
    ASSAY_ASSIGN_OR_RETURN(const Sizes local, read_local());
    v1::SourceStage& stage = *bundle_.spec.mutable_stages(0);
    ASSAY_ASSIGN_OR_RETURN(const Sizes grid,
                           has_divisors(kernel_) || find(kernel_, "GlobalSize") == nullptr
                               ? grid_of_problem()
                               : grid_of_threads(local));
    for (std::size_t i = 0; i < 3; ++i) {
      stage.add_block(local[i]);
      stage.add_grid(grid[i]);
      const bool is_named = std::ranges::find(names_, kBlockSizes[i]) != names_.end();
      const bool is_constant = local[i].find_first_not_of("0123456789") == std::string::npos;
      if (is_kernel_tuner(kernel_) && !is_named && is_constant) {
        bundle_.spec.add_defines(absl::StrCat(kBlockSizes[i], "=", local[i]));
      }
    }
    if (const Json* bytes = find(kernel_, "SharedMemory")) {
      if (!bytes->is_number_integer()) {
        return error(member(kField, "SharedMemory"), "expected a number of bytes");
      }
      stage.set_shared_bytes(bytes->dump());
    }
    return absl::OkStatus();
  }

 private:
  using Sizes = std::array<std::string, 3>;

  absl::StatusOr<Sizes> read_local() const {
    Sizes local = {"1", "1", "1"};
    if (find(kernel_, "LocalSize") != nullptr) {
      return read_object("LocalSize");
    }
    bool is_known = false;
    for (std::size_t i = 0; is_kernel_tuner(kernel_) && i < 3; ++i) {
      if (std::ranges::find(names_, kBlockSizes[i]) != names_.end()) {
        local[i] = kBlockSizes[i];
        is_known = true;
      }
    }
    return is_known ? absl::StatusOr<Sizes>(local)
                    : error(member(kField, "LocalSize"), "missing; threads of a block");
  }

  absl::StatusOr<Sizes> read_object(const char* name) const {
    const std::string field = member(kField, name);
    const Json& json = *find(kernel_, name);
    ASSAY_RETURN_IF_ERROR(only_members(json, field, {"X", "Y", "Z"}));
    Sizes sizes = {"1", "1", "1"};
    for (std::size_t i = 0; i < 3; ++i) {
      if (const Json* size = find(json, kAxes[i])) {
        ASSAY_ASSIGN_OR_RETURN(sizes[i], size_text(*size, member(field, kAxes[i])));
      }
    }
    return sizes;
  }

  // An expression over parameters; ProblemSize stands in it as the numbers it has.
  absl::StatusOr<std::string> size_text(const Json& json, const std::string& field) const {
    if (json.is_number_integer()) {
      return json.dump();
    }
    if (!json.is_string()) {
      return error(field, "expected an expression or an integer");
    }
    const auto text = json.get<std::string>();
    const auto tokens = tuning::tokens_of(text);
    if (!tokens.ok()) {
      return proto::annotate(tokens.status(), field);
    }
    std::string result;
    std::size_t at = 0;
    for (const tuning::Token& token : *tokens) {
      if (token.kind == tuning::TokenKind::kWord && token.text == kProblemSize) {
        const Json* problem = find(kernel_, kProblemSize);
        absl::StrAppend(&result,
                        text.substr(at, token.position - 1 - at),
                        problem == nullptr ? "[]" : problem->dump());
        at = token.position - 1 + token.text.size();
      }
    }
    return result + text.substr(at);
  }

  // Kernel Tuner: the problem's size over the product of the divisors, rounded up.
  absl::StatusOr<Sizes> grid_of_problem() {
    const std::string field = member(kField, kProblemSize);
    const Json* problem = find(kernel_, kProblemSize);
    if (problem == nullptr) {
      return error(field, "missing; GridDiv divides it, and there is no GlobalSize");
    }
    const Json list = problem->is_array() ? *problem : Json::array({*problem});
    if (list.empty() || list.size() > 3) {
      return error(field, "expected one to three sizes");
    }
    if (find(kernel_, "GlobalSize") != nullptr) {
      bundle_.warnings.emplace_back(
          "KernelSpecification.GlobalSize: is not used; ProblemSize and GridDiv say the grid");
    }
    Sizes grid = {"1", "1", "1"};
    for (std::size_t i = 0; i < list.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const std::string size, size_text(list[i], element(field, i)));
      ASSAY_ASSIGN_OR_RETURN(const std::string divisor, divisor_of(i));
      grid[i] = absl::StrCat("-(-(", size, ") // (", divisor, "))");
    }
    return grid;
  }

  // Where none is given, the block's size by its customary name.
  absl::StatusOr<std::string> divisor_of(std::size_t axis) const {
    const std::string field = member(kField, kDivisors[axis]);
    const Json* list = find(kernel_, kDivisors[axis]);
    if (list == nullptr) {
      const bool is_named = std::ranges::find(names_, kBlockSizes[axis]) != names_.end();
      return is_named ? kBlockSizes[axis] : "1";
    }
    ASSAY_RETURN_IF_ERROR(check_list(*list, field));
    std::vector<std::string> factors;
    for (std::size_t i = 0; i < list->size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const std::string factor, size_text((*list)[i], element(field, i)));
      factors.push_back(absl::StrCat("(", factor, ")"));
    }
    return factors.empty() ? "1" : absl::StrJoin(factors, " * ");
  }

  // Blocks as they are; threads divided by those of a block, which must come out even.
  absl::StatusOr<Sizes> grid_of_threads(const Sizes& local) const {
    ASSAY_ASSIGN_OR_RETURN(Sizes grid, read_object("GlobalSize"));
    std::string type = "CUDA";
    if (find(kernel_, "GlobalSizeType") != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(type, text_member(kernel_, kField, "GlobalSizeType"));
    }
    if (type == "OpenCL") {
      for (std::size_t i = 0; i < 3; ++i) {
        grid[i] = absl::StrCat("(", grid[i], ") / (", local[i], ")");
      }
    } else if (type != "CUDA" && type != "Vulkan") {
      return error(member(kField, "GlobalSizeType"),
                   absl::StrCat("`", type, "`: expected CUDA, OpenCL or Vulkan"));
    }
    return grid;
  }

  const Json& kernel_;
  SourceBundle& bundle_;
  std::vector<std::string> names_;
};

}  // namespace

bool is_kernel_tuner(const nlohmann::json& kernel) {
  return has_divisors(kernel) || find(kernel, kProblemSize) != nullptr;
}

absl::Status read_t1_sizes(const nlohmann::json& kernel, SourceBundle& bundle) {
  return SizeReader(kernel, bundle).read();
}

}  // namespace assay::client
