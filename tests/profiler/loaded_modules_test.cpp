#include "profiler/loaded_modules.h"

#include "profiler/machine_code.h"
#include "tests/profiler/small_elf.h"

#include <gtest/gtest.h>

#include <thread>

namespace assay::profiler {
namespace {

std::string digest_of(const SmallKernel& kernel) {
  return machine_code_digest(kernel.file(), kernel.name)->to_hex();
}

TEST(LoadedModules, NamesAKernelThatNoModuleHas) {
  LoadedModules modules;
  EXPECT_EQ(modules.machine_code("kernel_a").status(),
            absl::NotFoundError("no loaded module has the kernel `kernel_a`"));
  modules.add(SmallKernel{.name = "kernel_b"}.file());
  EXPECT_TRUE(absl::IsNotFound(modules.machine_code("kernel_a").status()));
}

TEST(LoadedModules, SaysSoWhenAModuleThatMayHaveItCannotBeRead) {
  LoadedModules modules;
  modules.add(std::vector<std::byte>(100));
  modules.add(SmallKernel{.name = "kernel_b"}.file());
  EXPECT_TRUE(absl::IsInvalidArgument(modules.machine_code("kernel_a").status()));
  EXPECT_TRUE(modules.machine_code("kernel_b").ok());
}

TEST(LoadedModules, DoesNotKeepWhatItsThreadLoadsForItself) {
  LoadedModules modules;
  {
    const UnkeptModules unkept;
    modules.add(SmallKernel{}.file());
    std::thread([&] { modules.add(SmallKernel{.name = "kernel_b"}.file()); }).join();
  }
  EXPECT_FALSE(modules.machine_code("kernel_a").ok());
  EXPECT_TRUE(modules.machine_code("kernel_b").ok());
  modules.add(SmallKernel{}.file());
  EXPECT_TRUE(modules.machine_code("kernel_a").ok());
}

TEST(LoadedModules, TakesTheNewestOfAName) {
  const SmallKernel first = {.code = "old."};
  const SmallKernel second = {.code = "new."};
  LoadedModules modules;
  modules.add(first.file());
  modules.add(SmallKernel{.name = "kernel_b"}.file());
  const auto older = modules.machine_code("kernel_a");
  ASSERT_TRUE(older.ok()) << older.status();
  EXPECT_EQ(*older, digest_of(first));
  modules.add(second.file());
  const auto newer = modules.machine_code("kernel_a");
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_EQ(*newer, digest_of(second));
}

TEST(LoadedModules, TakesModulesFromOtherThreadsWhileItIsAsked) {
  const std::vector<std::byte> file = SmallKernel().file();
  LoadedModules modules;
  modules.add(file);
  std::thread loader([&] {
    for (int i = 0; i < 50; ++i) {
      modules.add(file);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(modules.machine_code("kernel_a").ok());
  }
  loader.join();
}

}  // namespace
}  // namespace assay::profiler
