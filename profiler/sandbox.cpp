#include "profiler/sandbox.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

// Landlock as the kernel knows it: headers on some hosts are older than their kernel.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;
constexpr std::uint64_t kReadFile = std::uint64_t{1} << 2;
constexpr std::uint64_t kReadFolder = std::uint64_t{1} << 3;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }

  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status system_error(const char* call) {
  return absl::FailedPreconditionError(absl::StrCat(
      "no sandbox: ", call, ": ", std::string(absl::ErrnoToStatus(errno, "").message())));
}

long landlock_version() {
  return syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
}

// Every right that a kernel of that version can take away.
Ruleset everything_of(long version) {
  constexpr std::array<int, 6> kFileRights = {0, 13, 14, 15, 15, 16};
  Ruleset rules;
  const auto place = static_cast<std::size_t>(std::min<long>(version, kFileRights.size() - 1));
  rules.files = (std::uint64_t{1} << kFileRights[place]) - 1;
  rules.network = version >= 4 ? 3 : 0;  // bind and connect
  rules.scoped = version >= 6 ? 3 : 0;   // abstract sockets and signals
  return rules;
}

absl::Status limit(__rlimit_resource_t what, const char* name, rlim_t soft, rlim_t hard) {
  const rlimit value = {.rlim_cur = soft, .rlim_max = hard};
  return setrlimit(what, &value) == 0 ? absl::OkStatus()
                                      : absl::ErrnoToStatus(errno, absl::StrCat("limit of ", name));
}

}  // namespace

absl::Status sandbox_supported() {
  return landlock_version() >= 1
             ? absl::OkStatus()
             : absl::FailedPreconditionError("no sandbox: this kernel has no Landlock");
}

absl::Status lock_in(std::span<const std::string> folders) {
  ASSAY_RETURN_IF_ERROR(sandbox_supported());
  const Ruleset rules = everything_of(landlock_version());
  const Descriptor ruleset(static_cast<int>(syscall(kCreateRuleset, &rules, sizeof rules, 0U)));
  if (ruleset.get() < 0) {
    return system_error("landlock_create_ruleset");
  }
  for (const std::string& folder : folders) {
    const Descriptor opened(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (opened.get() < 0) {
      return system_error("open of a folder");
    }
    const PathRule rule = {.allowed = kReadFile | kReadFolder, .folder = opened.get()};
    if (syscall(kAddRule, ruleset.get(), kPathBeneath, &rule, 0U) != 0) {
      return system_error("landlock_add_rule");
    }
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return system_error("no_new_privs");
  }
  if (syscall(kRestrictSelf, ruleset.get(), 0U) != 0) {
    return system_error("landlock_restrict_self");
  }
  return absl::OkStatus();
}

absl::Status limit_resources(std::int64_t memory_bytes) {
  constexpr rlim_t kDescriptors = 16;
  const auto memory = static_cast<rlim_t>(memory_bytes);
  ASSAY_RETURN_IF_ERROR(limit(RLIMIT_AS, "address space", memory, memory));
  ASSAY_RETURN_IF_ERROR(limit(RLIMIT_FSIZE, "file size", 0, 0));
  ASSAY_RETURN_IF_ERROR(limit(RLIMIT_CORE, "core size", 0, 0));
  ASSAY_RETURN_IF_ERROR(limit(RLIMIT_NOFILE, "descriptors", kDescriptors, kDescriptors));
  return limit(RLIMIT_NPROC, "processes", 0, 0);
}

absl::Status limit_processor_time(std::chrono::seconds more) {
  rusage used = {};
  if (getrusage(RUSAGE_SELF, &used) != 0) {
    return absl::ErrnoToStatus(errno, "getrusage");
  }
  const auto so_far = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1;
  return limit(
      RLIMIT_CPU, "processor time", static_cast<rlim_t>(so_far + more.count()), RLIM_INFINITY);
}

}  // namespace assay::profiler
