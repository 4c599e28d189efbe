// Checks of numbers on the command line that say the bound and nothing else.
#pragma once

#include "CLI/CLI.hpp"

#include <string>

namespace assay::client {

inline CLI::Validator at_least(int bound) {
  return {[bound](std::string& text) -> std::string {
            double number = 0;
            return CLI::detail::lexical_cast(text, number) && number >= bound
                       ? ""
                       : "`" + text + "`: expected " + std::to_string(bound) + " or more";
          },
          ""};
}

}  // namespace assay::client
