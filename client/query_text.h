// What a query found, chunk by chunk. csv and json are written as they come, tables at the end.
// Integers have all their digits and numbers as many as tell them apart; blobs are hexadecimal.
// NULL is "-" in a table, nothing at all in csv (where an empty text is ""), and null in json.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace assay::client {

class QueryText {
 public:
  QueryText(Format format, std::ostream& out) : format_(format), out_(out) {}

  void add(const v1::QueryChunk& chunk);
  // After the last chunk.
  void finish();

  std::int64_t num_rows() const { return num_rows_; }

  // The limit that cut it; empty: nothing is missing.
  const std::string& truncated() const { return truncated_; }

 private:
  void add_row(const v1::QueryRow& row);

  const Format format_;
  std::ostream& out_;
  std::vector<std::string> columns_;  // as JSON in json
  Table table_;
  std::int64_t num_rows_ = 0;
  std::string truncated_;
};

}  // namespace assay::client
