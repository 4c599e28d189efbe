#include "profiler/kernel_name.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace assay::profiler {
namespace {

struct Free {
  void operator()(char* text) const noexcept {
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): __cxa_demangle allocates so
  }
};

}  // namespace

std::string whole_kernel_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, Free> whole(abi::__cxa_demangle(mangled, nullptr, nullptr, &status));
  return status != 0 || whole == nullptr ? mangled : whole.get();
}

std::string short_kernel_name(const char* mangled) {
  const std::string whole = whole_kernel_name(mangled);
  if (whole == mangled) {
    return mangled;
  }
  // "void a::(anonymous namespace)::f<int, b::c>(unsigned int*)": what stands at depth 0 between
  // the last "::" or space and the first bracket after it.
  const std::string_view text = whole;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("(anonymous namespace)")) {
      i += std::string_view("(anonymous namespace)").size() - 1;
    } else if (text[i] == '<' || text[i] == '(') {
      if (depth == 0 && text[i] == '(') {
        const std::size_t end = text.find('<', begin);
        return std::string(text.substr(begin, std::min(end, i) - begin));
      }
      ++depth;
    } else if (text[i] == '>' || text[i] == ')') {
      --depth;
    } else if (depth == 0 && (text[i] == ' ' || text[i] == ':')) {
      begin = i + 1;
    }
  }
  return std::string(text.substr(begin));
}

}  // namespace assay::profiler
