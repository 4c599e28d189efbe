#include "profiler/machine_code.h"

#include "tests/profiler/small_elf.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

std::string digest_of(const SmallKernel& kernel) {
  const auto digest = machine_code_digest(kernel.file(), kernel.name);
  EXPECT_TRUE(digest.ok()) << digest.status();
  return digest.ok() ? digest->to_hex() : std::string();
}

TEST(MachineCode, NamesAKernelThatTheModuleHasNot) {
  const std::vector<std::byte> file = SmallKernel().file();
  EXPECT_EQ(machine_code_digest(file, "nowhere").status(),
            absl::NotFoundError("no machine code of the kernel `nowhere`"));
  EXPECT_TRUE(absl::IsNotFound(machine_code_digest(file, "kernel").status()));
  EXPECT_TRUE(absl::IsNotFound(machine_code_digest(file, "").status()));
}

TEST(MachineCode, RefusesAFileThatIsCutOffAnywhere) {
  const std::vector<std::byte> file = SmallKernel().file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    // A block of its own, so that a read beyond its end is one beyond an allocation.
    const std::vector<std::byte> cut(file.begin(),
                                     file.begin() + static_cast<std::ptrdiff_t>(size));
    const auto digest = machine_code_digest(cut, "kernel_a");
    ASSERT_EQ(digest.status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

TEST(MachineCode, SurvivesAnyByte) {
  const std::vector<std::byte> file = SmallKernel().file();
  for (std::size_t place = 0; place < file.size(); ++place) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> changed = file;
      changed[place] = static_cast<std::byte>(value);
      const auto digest = machine_code_digest(changed, "kernel_a");
      ASSERT_TRUE(digest.ok() || absl::IsInvalidArgument(digest.status()) ||
                  absl::IsNotFound(digest.status()))
          << place;
    }
  }
}

TEST(MachineCode, FollowsTheCodeAndNotItsName) {
  const std::string digest = digest_of({});
  EXPECT_EQ(digest_of({.name = "kernel_b"}), digest);
  EXPECT_EQ(digest_of({.name = "a_longer_name"}), digest);
  EXPECT_EQ(digest_of({.parameters = "00000000"}), digest);
}

TEST(MachineCode, TellsWhateverIsRunApart) {
  const std::string digest = digest_of({});
  EXPECT_NE(digest_of({.code = "0123456789abcdeF"}), digest);
  EXPECT_NE(digest_of({.constants = "2223"}), digest);
  EXPECT_NE(digest_of({.callee = "helped"}), digest);
  EXPECT_NE(digest_of({.addend = 16}), digest);
  EXPECT_NE(digest_of({.has_addends = false}), digest);
  // The same bytes, divided otherwise.
  EXPECT_NE(digest_of({.code = "0123456789abcdef2", .constants = "222"}), digest);
}

}  // namespace
}  // namespace assay::profiler
