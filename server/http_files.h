// The files of the dashboard, from one folder. Nothing outside it can be named: every part of a
// path is opened in the folder before it, links are not followed, and names that begin with a dot
// are not there.
#pragma once

#include "server/http_answer.h"

#include <string>

namespace assay::server {

class HttpFiles {
 public:
  // Empty: there is no page, and every path says how to build it.
  explicit HttpFiles(std::string folder) : folder_(std::move(folder)) {}

  // `path` is decoded. One whose last part has no dot is a place within the page and gets
  // index.html; other files go by their name. 404: not there, or of a type that a page has not.
  // `known` is what the browser has, of If-None-Match: 304 when it is the same.
  HttpAnswer answer(const std::string& path, const std::string& known) const;

 private:
  std::string folder_;
};

}  // namespace assay::server
