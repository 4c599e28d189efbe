// A killed writer, a full disk and many threads at once.
#include "db/store.h"
#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

#include <atomic>
#include <csignal>
#include <fstream>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay::db {
namespace {

using google::protobuf::util::MessageDifferencer;
using FaultsTest = StoreTest;

constexpr std::uint32_t kMany = 100'000;

v1::GetRequest get_request(std::int64_t id) {
  v1::GetRequest get;
  get.set_experiment_id(id);
  get.set_include_samples(true);
  return get;
}

// Writes configurations for ever and tells each commit by one byte.
[[noreturn]] void write_until_killed(const std::string& path, int told) {
  StoreOptions options;
  options.path = path;
  const auto store = Store::open(options);
  if (!store.ok() || !(*store)->submit(request("killed"), kMany, 1).ok() ||
      !(*store)->start(1, {}, 2).ok()) {
    ::_exit(1);
  }
  for (std::uint32_t number = 1;; ++number) {
    if (!(*store)->add_configuration(1, full_configuration(number)).ok() ||
        ::write(told, "c", 1) != 1) {
      ::_exit(2);
    }
  }
}

TEST_F(FaultsTest, IsSoundAfterItsWriterWasKilled) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    write_until_killed(path(), told[1]);
  }
  ::close(told[1]);
  constexpr int kCommitsBeforeTheKill = 20;
  int num_told = 0;
  char byte = 0;
  while (num_told < kCommitsBeforeTheKill && ::read(told[0], &byte, 1) == 1) {
    ++num_told;
  }
  ::kill(child, SIGKILL);
  while (::read(told[0], &byte, 1) == 1) {
    ++num_told;
  }
  ::close(told[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended with " << status;

  const auto store = open();
  ASSERT_TRUE(store != nullptr);
  EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(query("SELECT count(*) FROM pragma_foreign_key_check"), "0");
  const auto experiment = store->get(get_request(1));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  // Everything that was told, at most the one in work beyond it, and each of them whole.
  EXPECT_GE(experiment->configurations_size(), num_told);
  EXPECT_LE(experiment->configurations_size(), num_told + 1);
  EXPECT_EQ(experiment->num_finished(), static_cast<unsigned>(experiment->configurations_size()));
  for (const v1::Configuration& configuration : experiment->configurations()) {
    EXPECT_TRUE(MessageDifferencer::Equals(configuration,
                                           full_configuration(configuration.configuration())));
  }
  EXPECT_EQ(*store->interrupt_running(3), 1);
}

// Adds configurations until one is refused; returns how many went in.
std::uint32_t fill_up(Store& store, std::int64_t id, absl::Status& refusal) {
  for (std::uint32_t number = 1; number < kMany; ++number) {
    refusal = store.add_configuration(id, full_configuration(number));
    if (!refusal.ok()) {
      return number - 1;
    }
  }
  return kMany;
}

void expect_recovery(Store& store,
                     std::int64_t id,
                     std::uint32_t num_stored,
                     const absl::Status& refusal) {
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted) << refusal;
  EXPECT_GT(num_stored, 0U);
  const auto experiment = store.get(get_request(id));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ(experiment->num_finished(), num_stored);
  ASSERT_EQ(experiment->configurations_size(), static_cast<int>(num_stored));
  EXPECT_TRUE(MessageDifferencer::Equals(experiment->configurations(0), full_configuration(1)));
}

TEST_F(FaultsTest, KeepsWhatItHasWhenItsFileMayNotGrowAndGoesOnLater) {
  const auto store = open();
  const std::int64_t id = running(*store, kMany);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 600'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  absl::Status refusal;
  const std::uint32_t num_stored = fill_up(*store, id, refusal);
  expect_recovery(*store, id, num_stored, refusal);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(store->add_configuration(id, full_configuration(num_stored + 1)).ok());
  EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
}

TEST_F(FaultsTest, KeepsWhatItHasWhenTheDiskIsFullAndGoesOnWhenThereIsSpace) {
  if (::mount("tmpfs", directory_.c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  {
    const auto store = open();
    const std::int64_t id = running(*store, kMany);
    // What is written here is what the disk lacks.
    {
      std::ofstream ballast(path("ballast"), std::ios::binary);
      ballast << std::string(3'000'000, 'b');
    }
    absl::Status refusal;
    const std::uint32_t num_stored = fill_up(*store, id, refusal);
    expect_recovery(*store, id, num_stored, refusal);
    std::filesystem::remove(path("ballast"));
    EXPECT_TRUE(store->add_configuration(id, full_configuration(num_stored + 1)).ok());
    EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
  }
  EXPECT_EQ(::umount(directory_.c_str()), 0);
}

TEST_F(FaultsTest, CountsExactlyUnderWritersAndReadersAtOnce) {
  constexpr int kThreads = 4;
  constexpr std::uint32_t kConfigurations = 12;
  const auto store = open();
  std::atomic<int> num_writing{kThreads};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kThreads; ++writer) {
    threads.emplace_back([&, writer] {
      const std::string name = "writer " + std::to_string(writer);
      const auto experiment = store->submit(request(name), kConfigurations, 1);
      ASSERT_TRUE(experiment.ok()) << experiment.status();
      const std::int64_t id = experiment->experiment_id();
      EXPECT_TRUE(store->start(id, {}, 2).ok());
      for (std::uint32_t number = 1; number <= kConfigurations; ++number) {
        const absl::Status status = store->add_configuration(id, full_configuration(number));
        EXPECT_TRUE(status.ok()) << status;
      }
      EXPECT_TRUE(store->finish(id, v1::DONE, "", 3).ok());
      --num_writing;
    });
  }
  for (int reader = 0; reader < kThreads; ++reader) {
    threads.emplace_back([&] {
      while (num_writing > 0) {
        const auto page = store->list({});
        ASSERT_TRUE(page.ok()) << page.status();
        for (const v1::Experiment& summary : page->experiments()) {
          const auto experiment = store->get(get_request(summary.experiment_id()));
          ASSERT_TRUE(experiment.ok()) << experiment.status();
          // One state: the count and the rows belong together.
          EXPECT_EQ(experiment->num_finished(),
                    static_cast<unsigned>(experiment->configurations_size()));
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(query("SELECT count(*) FROM experiments WHERE state = 'DONE'"), "4");
  EXPECT_EQ(query("SELECT count(*) FROM t_configuration"), "48");
  EXPECT_EQ(query("SELECT count(*) FROM measurements"), "96");
}

}  // namespace
}  // namespace assay::db
