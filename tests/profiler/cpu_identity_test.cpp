#include "profiler/cpu_identity.h"

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace assay::profiler {
namespace {

class CpuIdentity : public testing::Test {
 protected:
  // The name that a machine with this id has.
  std::string name_of(const std::string& id) {
    std::ofstream(folder_ / "machine-id") << id;
    return machine_name(folder_ / "machine-id");
  }

  Folder folder_;
};

TEST_F(CpuIdentity, IsTheSameForAMachineAndAnotherForEveryOther) {
  EXPECT_EQ(cpu_uuid(name_of("5f0c\n"), "x"), cpu_uuid(name_of("5f0c\n"), "x"));
  EXPECT_NE(cpu_uuid(name_of("5f0c\n"), "x"), cpu_uuid(name_of("5f0d\n"), "x"));
  EXPECT_NE(cpu_uuid(name_of("5f0c\n"), "x"), cpu_uuid(name_of("5f0c\n"), "y"));
}

TEST_F(CpuIdentity, FallsBackToTheHostWhereThereIsNoMachineId) {
  const std::string host = machine_name(folder_ / "not there");
  EXPECT_TRUE(host.starts_with("host ")) << host;
  EXPECT_EQ(name_of(""), host);
  EXPECT_EQ(name_of("uninitialized\n"), host);
}

TEST_F(CpuIdentity, LetsNobodyReadTheMachineFromIt) {
  const std::string uuid = cpu_uuid(name_of("5f0c5f0c"), "model");
  EXPECT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid.find("5f0c5f0c"), std::string::npos);
}

}  // namespace
}  // namespace assay::profiler
