#include "server/call_counts.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

TEST(CallCounts, KeepsMethodsAndCodesApart) {
  CallCounts counts;
  counts.add("List", "OK");
  counts.add("List", "OK");
  counts.add("List", "NOT_FOUND");
  counts.add("Get", "OK");
  EXPECT_EQ(
      counts.counts(),
      (CallCounts::Counts{{{"Get", "OK"}, 1}, {{"List", "NOT_FOUND"}, 1}, {{"List", "OK"}, 2}}));
}

}  // namespace
}  // namespace assay::server
