#include "client/t1_generator.h"

#include "client/t1_json.h"
#include "proto/status.h"
#include "proto/text.h"
#include "tuning/source_type.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <utility>

namespace assay::client {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{4} << 20;
constexpr std::int64_t kMaxSteps = 500'000'000;

}  // namespace

absl::StatusOr<std::string> generated_bytes(const std::string& formula_text,
                                            const std::string& field,
                                            const std::string& dtype,
                                            std::int64_t num) {
  ASSAY_ASSIGN_OR_RETURN(const tuning::Expression formula,
                         t1::parse_expression(formula_text, field, {"i"}));
  if (num > kMaxElements) {
    return absl::ResourceExhaustedError(absl::StrCat(field,
                                                     ": ",
                                                     proto::with_commas(num),
                                                     " elements by formula, the limit is ",
                                                     proto::with_commas(kMaxElements)));
  }
  std::string bytes;
  std::int64_t num_steps = 0;
  for (std::int64_t i = 0; i < num; ++i) {
    const std::array<tuning::Value, 1> arguments = {i};
    const absl::StatusOr<tuning::Value> value = formula.evaluate(arguments, &num_steps);
    const auto typed = value.ok() ? tuning::source_type_value(dtype, *value) : value.status();
    if (!typed.ok()) {
      return proto::annotate(typed.status(), absl::StrCat(field, ": i=", i));
    }
    if (num_steps > kMaxSteps) {
      return absl::ResourceExhaustedError(absl::StrCat(field, ": takes too many steps"));
    }
    bytes.append(reinterpret_cast<const char*>(typed->data()), typed->size());
  }
  return bytes;
}

}  // namespace assay::client
