#include "profiler/ceiling.h"

#include <string>

namespace assay::profiler {

v1::Ceiling make_ceiling(std::string_view name,
                         double value,
                         std::string_view unit,
                         std::string_view help) {
  v1::Ceiling ceiling;
  ceiling.set_name(std::string(name));
  ceiling.set_value(value);
  ceiling.set_unit(std::string(unit));
  ceiling.set_help(std::string(help));
  return ceiling;
}

}  // namespace assay::profiler
