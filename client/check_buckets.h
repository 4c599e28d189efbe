// What the items of a check used of the tolerance, by how many terms an element sums.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <cstdint>
#include <map>
#include <string>

namespace assay::client {

class CheckBuckets {
 public:
  void add(const std::string& item, const v1::CheckResult& check);

  // One row a bucket: the worst share over all items, and in which. No rows where none has buckets.
  Table table() const;

  // "warning: ..." naming the item that used the most; empty without an alarm.
  std::string warning() const;

 private:
  struct Bucket {
    std::int64_t most_terms = 0;
    std::int64_t num_elements = 0;
    double tolerance_used = 0;
    std::string item;
  };

  std::map<std::int64_t, Bucket> buckets_;  // by least_terms
  std::int64_t num_alarms_ = 0;
  double alarming_ = 0;
  std::string alarming_item_;
};

}  // namespace assay::client
