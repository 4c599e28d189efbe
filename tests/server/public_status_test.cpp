#include "server/public_status.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

TEST(PublicStatus, HidesTheTextOfWhatIsWrongInside) {
  for (const absl::Status& status :
       {absl::InternalError("SELECT secret"), absl::UnknownError("/secret/path")}) {
    EXPECT_EQ(public_status(status),
              absl::InternalError("an internal error; the daemon's log says which"));
  }
}

TEST(PublicStatus, CutsOffWhatTheStoreSaysOfSqlite) {
  EXPECT_EQ(
      public_status(absl::ResourceExhaustedError(
          "no space left for the database (database or disk is full) [sqlite 13 in INSERT")),
      absl::ResourceExhaustedError("no space left for the database (database or disk is full)"));
}

TEST(PublicStatus, LeavesTheRestAsItIs) {
  const absl::Status named = absl::NotFoundError("spec.device: no device `x`");
  EXPECT_EQ(public_status(named), named);
  EXPECT_TRUE(public_status(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace assay::server
