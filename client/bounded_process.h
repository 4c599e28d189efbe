// A program that answers soon or not at all.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace assay::client {

// Runs arguments[0], found in PATH, never through a shell, with nothing to read and its errors
// dropped. What it wrote, at most max_bytes of it; nullopt when it cannot be started, fails or has
// not ended at `end`: it is then killed with what it started.
std::optional<std::string> output_of(const std::vector<std::string>& arguments,
                                     std::chrono::steady_clock::time_point end,
                                     std::size_t max_bytes);

}  // namespace assay::client
