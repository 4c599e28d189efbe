// Reading connections: each read sees one state of the database, whatever is written meanwhile, and
// is cut off at its deadline, so that no reader keeps the write-ahead log from shrinking.
#pragma once

#include "db/connection.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace assay::db {

class Readers {
 public:
  Readers(std::string path, std::int64_t deadline_ns)
      : path_(std::move(path)), deadline_ns_(deadline_ns) {}

  // Runs `function(Connection&)`, which returns a Status or StatusOr, in a read transaction.
  template <typename Function>
  auto read(const Function& function) -> decltype(function(std::declval<Connection&>())) {
    absl::StatusOr<std::unique_ptr<Connection>> connection = begin();
    if (!connection.ok()) {
      return connection.status();
    }
    auto result = function(**connection);
    end(*std::move(connection));
    return result;
  }

  const std::string& path() const { return path_; }

 private:
  absl::StatusOr<std::unique_ptr<Connection>> begin();
  void end(std::unique_ptr<Connection> connection);

  const std::string path_;
  const std::int64_t deadline_ns_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace assay::db
