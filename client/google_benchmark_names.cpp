#include "client/google_benchmark_names.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

// What that library itself adds to a name in this form.
constexpr std::array<std::string_view, 5> kOwnParts = {
    "iterations", "min_time", "min_warmup_time", "repeats", "threads"};

struct Name {
  std::string base;
  std::vector<std::string> parameters;
  std::vector<std::string> values;
};

// No parameters: the name has none, one twice, or a part that is none.
Name split(const std::string& name, const std::set<std::string>& written) {
  Name result;
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  result.base = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t colon = parts[i].find(':');
    const std::string parameter = parts[i].substr(0, colon);
    bool is_own = colon == std::string::npos || parameter.empty();
    for (const std::string_view own : kOwnParts) {
      is_own = is_own || (own == parameter && !written.contains(parameter));
    }
    if (is_own) {
      return {};
    }
    if (std::ranges::find(result.parameters, parameter) != result.parameters.end()) {
      return {};
    }
    result.parameters.push_back(parameter);
    result.values.push_back(parts[i].substr(colon + 1));
  }
  return result;
}

}  // namespace

std::string google_benchmark_name(const v1::Recording& recording, const v1::RecordedRow& row) {
  std::string name = row.name().empty() ? recording.name() : row.name();
  if (name.empty()) {
    name = "benchmark";
  }
  for (int i = 0; i < recording.parameters_size(); ++i) {
    if (!row.values(i).empty()) {
      absl::StrAppend(&name, "/", recording.parameters(i), ":", row.values(i));
    }
  }
  return name;
}

void split_google_benchmark_names(RecordedFile& file, const std::set<std::string>& written) {
  std::vector<Name> names;
  std::vector<std::string> parameters;
  for (const v1::RecordedRow& row : file.rows) {
    const Name& name = names.emplace_back(split(row.name(), written));
    const Name& first = names.front();
    if (name.parameters.empty() ||
        (name.parameters != first.parameters && name.base != first.base)) {
      return;
    }
    for (const std::string& parameter : name.parameters) {
      if (std::ranges::find(parameters, parameter) == parameters.end()) {
        parameters.push_back(parameter);
      }
    }
  }
  file.recording.mutable_parameters()->Add(parameters.begin(), parameters.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    file.rows[i].set_name(names[i].base);
    for (const std::string& parameter : parameters) {
      const auto place = std::ranges::find(names[i].parameters, parameter);
      file.rows[i].add_values(
          place == names[i].parameters.end()
              ? ""
              : names[i].values[static_cast<std::size_t>(place - names[i].parameters.begin())]);
    }
  }
}

}  // namespace assay::client
