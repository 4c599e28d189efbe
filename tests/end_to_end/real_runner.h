// The three programs as people use them: assayd with the real runner, and assay.
#pragma once

#include "tests/end_to_end/daemon_process.h"

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace assay {

class RealRunner : public testing::Test {
 protected:
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {
        "--db", folder_ / "a.db", "--listen", address(), "--runner", ASSAY_RUNNER};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::string address() const { return "unix:" + (folder_ / "a.sock"); }

  struct Result {
    int status = 0;
    std::string text;
  };

  // Runs `assay` with a line of arguments.
  Result assay(const std::string& line) const {
    const std::string command =
        std::string(ASSAY_CLIENT) + " " + line + " --address " + address() + " 2>&1";
    Result result;
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
      ADD_FAILURE() << "popen: " << command;
      return result;
    }
    std::array<char, 4096> chunk;
    std::size_t count = 0;
    while ((count = fread(chunk.data(), 1, chunk.size(), pipe)) > 0) {
      result.text.append(chunk.data(), count);
    }
    result.status = WEXITSTATUS(pclose(pipe));
    return result;
  }

  Folder folder_;
};

}  // namespace assay
