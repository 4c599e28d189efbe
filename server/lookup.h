// Items of a table by their name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace assay::server {

// Null when there is none of that name.
template <class Items>
auto find_named(Items& items, const std::string& name) -> decltype(&*items.begin()) {
  const auto found =
      std::ranges::find_if(items, [&](const auto& item) { return item.name() == name; });
  return found == items.end() ? nullptr : &*found;
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(items.size()));
  for (const auto& item : items) {
    names.push_back(item.name());
  }
  return names;
}

// Sorted and quoted: "one of `a`, `b`".
std::string one_of(std::vector<std::string> names);

}  // namespace assay::server
