// assayd: the daemon. Opens the database, starts a worker for each device and serves gRPC, and HTTP
// where asked, until SIGTERM or SIGINT, then ends within kEndBound with every child gone and every
// state true.
#include "db/store.h"
#include "profiler/module_file.h"
#include "proto/status.h"
#include "server/address.h"
#include "server/config.h"
#include "server/goldens.h"
#include "server/host.h"
#include "server/http_gateway.h"
#include "server/log.h"
#include "server/scheduler.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kCallGrace{1'000};
constexpr std::chrono::seconds kEndBound{9};

struct Flags {
  std::string database;
  std::vector<std::string> listen;
  std::string config;
  std::string goldens;
  std::string runner;
  std::int64_t max_upload_bytes = kDefaultMaxUploadBytes;
  std::int64_t compile_seconds = 0;       // 0: the runner's own limit
  std::int64_t compile_memory_bytes = 0;  // likewise
  bool allow_unsandboxed_source = false;
  bool no_confirm = false;
  std::string modules;
  std::string http;  // empty: no gateway
  std::vector<std::string> http_hosts;
  std::string dashboards;
};

std::string default_address() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') {
    return absl::StrCat("unix:", runtime, "/assay.sock");
  }
  return absl::StrCat("unix:/tmp/assay-", getuid(), ".sock");
}

std::string program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::int64_t wall_clock_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

// SIGTERM and SIGINT are waited for, so every thread must be started with them blocked.
sigset_t block_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return ends;
}

// The last resort: whatever hangs, the process ends; runners die with it.
void end_in_time() {
  std::thread([] {
    std::this_thread::sleep_for(kEndBound);
    log_line("end", {{"error", "something did not end in time"}});
    _exit(1);
  }).detach();
}

absl::StatusOr<std::vector<v1::Golden>> find_goldens(const std::string& asked) {
  if (!asked.empty()) {
    return read_golden_files(asked);
  }
  const std::string installed = program_folder() + "/../share/assay/goldens";
  std::error_code error;
  if (std::filesystem::is_directory(installed, error)) {
    return read_golden_files(installed);
  }
  return std::vector<v1::Golden>();
}

// The page's folder; empty: there is none.
absl::StatusOr<std::string> find_dashboards(const std::string& asked) {
  const std::string folder =
      asked.empty() ? program_folder() + "/../share/assay/dashboards" : asked;
  std::error_code error;
  if (std::filesystem::is_regular_file(folder + "/index.html", error)) {
    return folder;
  }
  if (!asked.empty()) {
    return absl::NotFoundError(absl::StrCat("--dashboards ", asked, ": has no index.html"));
  }
  return "";
}

// Null: not asked for.
absl::StatusOr<std::unique_ptr<HttpGateway>> listen_http(const Flags& flags,
                                                         Scheduler& scheduler,
                                                         const Goldens& goldens,
                                                         const CallCounts& counts) {
  if (flags.http.empty()) {
    if (!flags.http_hosts.empty() || !flags.dashboards.empty()) {
      return absl::InvalidArgumentError("--http-host and --dashboards need --http HOST:PORT");
    }
    return nullptr;
  }
  GatewayOptions options = {.address = {},
                            .host_names = flags.http_hosts,
                            .version = ASSAY_CODE_VERSION,
                            .start_ns = wall_clock_ns()};
  ASSAY_ASSIGN_OR_RETURN(options.address, parse_http_address(flags.http));
  ASSAY_ASSIGN_OR_RETURN(options.dashboards, find_dashboards(flags.dashboards));
  return HttpGateway::listen(options, scheduler, goldens, counts);
}

// What of the flags is for the runners, which compile.
std::vector<std::string> runner_flags(const Flags& flags) {
  std::vector<std::string> for_runners;
  if (flags.compile_seconds > 0) {
    for_runners = {"--compile-seconds", absl::StrCat(flags.compile_seconds)};
  }
  if (flags.compile_memory_bytes > 0) {
    for_runners.emplace_back("--compile-memory-bytes");
    for_runners.push_back(absl::StrCat(flags.compile_memory_bytes));
  }
  if (flags.allow_unsandboxed_source) {
    for_runners.emplace_back("--allow-unsandboxed-source");
  }
  return for_runners;
}

absl::Status serve(const Flags& flags) {
  const sigset_t ends = block_signals();
  umask(077);
  std::vector<Address> addresses;
  for (const std::string& text : flags.listen) {
    ASSAY_ASSIGN_OR_RETURN(Address address, parse_address(text));
    addresses.push_back(std::move(address));
  }
  SchedulerOptions options = {.config = {},
                              .runner = flags.runner,
                              .now_ns = wall_clock_ns,
                              .max_upload_bytes = flags.max_upload_bytes,
                              .confirms = !flags.no_confirm};
  ASSAY_ASSIGN_OR_RETURN(options.config,
                         flags.config.empty() ? parse_config("{}") : read_config(flags.config));
  if (!flags.modules.empty()) {
    options.config.set_modules(flags.modules);
  }
  if (!options.config.modules().empty()) {
    ASSAY_ASSIGN_OR_RETURN(options.modules, profiler::list_module_files(options.config.modules()));
  }
  options.runner_flags = runner_flags(flags);
  if (options.runner.empty()) {
    ASSAY_ASSIGN_OR_RETURN(options.runner, find_runner(program_folder()));
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Golden> files, find_goldens(flags.goldens));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<db::Store> store,
                         db::Store::open({.path = flags.database}));
  const Goldens goldens(*store, std::move(files));
  Scheduler scheduler(*store, goldens, options);
  CallCounts counts;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host,
                         Host::listen(addresses, scheduler, goldens, counts));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<HttpGateway> gateway,
                         listen_http(flags, scheduler, goldens, counts));
  ASSAY_RETURN_IF_ERROR(scheduler.start());
  std::cout << "assayd listening on " << absl::StrJoin(host->addresses(), ", ")
            << (gateway == nullptr ? "" : absl::StrCat(", http://", gateway->address()))
            << std::endl;

  int signal = 0;
  sigwait(&ends, &signal);
  log_line("end", {{"signal", strsignal(signal)}});
  end_in_time();
  scheduler.stop();
  if (gateway != nullptr) {
    gateway->shut_down(kCallGrace);
  }
  if (const absl::Status ended = host->shut_down(kCallGrace); !ended.ok()) {
    // Every runner is gone and every state is stored; only that is still there.
    log_line("end", {{"left", std::string(ended.message())}});
    _exit(0);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace assay::server

int main(int argc, char** argv) {
  assay::server::Flags flags;
  CLI::App app("assayd: runs kernel experiments on devices, judges and keeps them");
  app.add_option("--db", flags.database, "database file, created when missing")->required();
  app.add_option("--listen",
                 flags.listen,
                 "unix:PATH or a loopback HOST:PORT; may be given several times\n"
                 "[$XDG_RUNTIME_DIR/assay.sock, else /tmp/assay-UID.sock]");
  app.add_option("--http",
                 flags.http,
                 "a loopback HOST:PORT for the web page, its API and metrics; port 0: any");
  app.add_option(
      "--http-host",
      flags.http_hosts,
      "another NAME or NAME:PORT by which browsers reach it; may be given several times");
  app.add_option("--dashboards", flags.dashboards, "folder of the built web page");
  app.add_option("--config", flags.config, "devices and their launch prefixes, as JSON");
  app.add_option("--goldens", flags.goldens, "folder of golden files (*.tsv)");
  app.add_option("--modules", flags.modules, "folder of modules (*.so), see docs/modules.md");
  app.add_option("--runner", flags.runner, "the runner program");
  app.add_option("--compile-seconds",
                 flags.compile_seconds,
                 "what compiling one source may take; left out: 60 s of processor, 120 s in all")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{3'600}));
  app.add_option("--compile-memory-bytes",
                 flags.compile_memory_bytes,
                 "the compiler's address space; left out: 4 GiB")
      ->check(CLI::Range(std::int64_t{1} << 28, std::int64_t{1} << 40));
  app.add_flag("--allow-unsandboxed-source",
               flags.allow_unsandboxed_source,
               "compile source also where the kernel has no Landlock: it then reads what we may");
  app.add_flag("--no-confirm",
               flags.no_confirm,
               "run nothing on a device that nobody asked for: regressions stay detected");
  app.add_option("--max-upload-bytes",
                 flags.max_upload_bytes,
                 "the largest file that a client may keep here")
      ->check(CLI::Range(std::int64_t{1}, assay::server::kMostUploadBytes))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (flags.listen.empty()) {
    flags.listen.push_back(assay::server::default_address());
  }
  const absl::Status served = assay::server::serve(flags);
  if (!served.ok()) {
    std::cerr << "assayd: " << std::string(served.message()) << '\n';
    return 1;
  }
  return 0;
}
