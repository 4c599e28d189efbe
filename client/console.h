// What the program sees of the world outside, so that a test can be that world.
#pragma once

#include "client/interrupt.h"

#include <iostream>
#include <string>

namespace assay::client {

struct Console {
  std::istream& in = std::cin;
  std::ostream& out = std::cout;
  std::ostream& err = std::cerr;
  bool err_is_terminal = false;
  std::string default_address;
  std::string version;
  std::string checkout_folder = {};    // where the code that is measured may lie; empty: nowhere
  Interrupter* interrupter = nullptr;  // none: Ctrl-C ends the program
};

}  // namespace assay::client
