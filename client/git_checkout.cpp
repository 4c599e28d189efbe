#include "client/git_checkout.h"

#include "client/bounded_process.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

constexpr std::chrono::seconds kBound{2};
constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxBranchBytes = 200;  // of Context.branch

class Git {
 public:
  explicit Git(std::string folder)
      : folder_(std::move(folder)), end_(std::chrono::steady_clock::now() + kBound) {}

  std::optional<std::string> run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"git",
                                    "--no-pager",
                                    "--no-optional-locks",
                                    "-C",
                                    folder_,
                                    "-c",
                                    "core.fsmonitor=",
                                    "-c",
                                    "core.hooksPath=/dev/null",
                                    "-c",
                                    "protocol.allow=never"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return output_of(all, end_, kMaxBytes);
  }

 private:
  const std::string folder_;
  const std::chrono::steady_clock::time_point end_;
};

std::vector<std::string> lines_of(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

// "committer NAME <MAIL> SECONDS ZONE" of a commit's header; 0 when there is none.
std::int64_t committed_ns_of(const std::string& commit) {
  for (const std::string& line : lines_of(commit)) {
    if (line.empty()) {
      break;
    }
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    std::int64_t seconds = 0;
    constexpr std::int64_t kLatest = 9'000'000'000;
    if (words.size() > 3 && words[0] == "committer" &&
        absl::SimpleAtoi(words[words.size() - 2], &seconds) && seconds > 0 && seconds < kLatest) {
      return seconds * 1'000'000'000;
    }
  }
  return 0;
}

std::int64_t committed_ns(const Git& git, const std::string& commit) {
  const std::optional<std::string> text = git.run({"cat-file", "commit", commit});
  return text ? committed_ns_of(*text) : 0;
}

// A repository's own filters would be run to compare files with the commit.
bool has_own_filters(const Git& git) {
  const auto found = git.run({"config", "--local", "--includes", "--name-only", "--list"});
  if (!found) {
    return true;
  }
  for (const std::string& name : lines_of(*found)) {
    if (name.starts_with("filter.")) {
      return true;
    }
  }
  return false;
}

}  // namespace

v1::Context read_checkout(const std::string& folder) {
  const Git git(folder);
  v1::Context context;
  std::vector<std::string> arguments = {"status",
                                        "--porcelain=v2",
                                        "--branch",
                                        "--untracked-files=no",
                                        "--ignore-submodules=all",
                                        "--no-renames"};
  if (has_own_filters(git)) {
    // Only the lines about the branch: this is the name of no tracked file.
    arguments.insert(arguments.end(), {"--", ":(top,literal).git"});
  }
  const std::optional<std::string> status = git.run(arguments);
  if (!status) {
    return context;
  }
  for (const std::string& line : lines_of(*status)) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    if (line.starts_with("# branch.oid ") && words[2] != "(initial)") {
      context.set_commit(words[2]);
    } else if (line.starts_with("# branch.head ") && words[2] != "(detached)" &&
               words[2].size() <= kMaxBranchBytes) {
      context.set_branch(words[2]);
    } else if (!line.empty() && line[0] != '#') {
      context.set_dirty(true);
    }
  }
  if (!context.commit().empty()) {
    context.set_committed_ns(committed_ns(git, context.commit()));
  }
  return context;
}

v1::Context read_commit(const std::string& folder, const std::string& digits) {
  v1::Context context;
  context.set_commit(digits);
  const Git git(folder);
  const auto whole = git.run({"rev-parse", "--verify", "--quiet", digits + "^{commit}"});
  if (whole && whole->starts_with(digits)) {
    context.set_commit(whole->substr(0, whole->find('\n')));
    context.set_committed_ns(committed_ns(git, context.commit()));
  }
  return context;
}

}  // namespace assay::client
