// What people read where a list has no rows: what fills it, or that its filters leave nothing.
#pragma once

#include "absl/strings/str_cat.h"

#include <string>

namespace assay::client {

// Of a request without filters "no THING yet: HOW"; a page is no filter.
template <typename Request>
std::string nothing_text(Request request, const std::string& thing, const std::string& how) {
  request.clear_page_size();
  request.clear_page_token();
  return request.ByteSizeLong() > 0 ? absl::StrCat("no ", thing, " matches\n")
                                    : absl::StrCat("no ", thing, " yet: ", how, "\n");
}

}  // namespace assay::client
