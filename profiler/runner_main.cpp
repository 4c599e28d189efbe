// assay-runner: holds one device and serves a daemon on its standard input and output.
#include "kernels/operator.h"
#include "profiler/compile_worker.h"
#include "profiler/frames.h"
#include "profiler/module_library.h"
#include "profiler/plant.h"
#include "profiler/runner.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::int64_t kMostCompileSeconds = 3'600;
constexpr std::int64_t kLeastCompileBytes = std::int64_t{1} << 28;
constexpr std::int64_t kDefaultPrivateCache_bytes = std::int64_t{2} << 20;
constexpr std::string_view kUsage =
    R"(usage: assay-runner --device cpu|cuda:N (--nonce HEX32 | --describe) [options]

Serves assayd on standard input and output until the end of input; see proto/runner.proto.

  --device cpu|cuda:N   the device to hold
  --module FILE         offer the operators of that module alone (see docs/modules.md)
  --nonce HEX32         the daemon's 32 hexadecimal digits, repeated in the hello
  --describe            print device and operators as JSON for people, and end
  --cpu-l2-bytes N      private cache that a cold cpu run pushes out (default 2097152)
  --allow-unsandboxed-source
                        compile source also where this host has no sandbox for the compiler
  --compile-seconds N   what compiling one source may take (default: 60 of processor, 120 in all)
  --compile-memory-bytes N
                        the compiler's address space (default 4294967296)
  --plant KIND[:SEED]   misbehave at one open: spin, crash, garbage, print or exit (for tests)
)";

struct Options {
  std::string device;
  std::string nonce;
  std::string module;
  bool describe = false;
  std::int64_t private_cache_bytes = kDefaultPrivateCache_bytes;
  bool allow_unsandboxed = false;
  CompileLimits compile_limits;
  Plant plant;
};

absl::StatusOr<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  std::int64_t seconds = 0;
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const std::string name = arguments[place];
    if (name == "--describe") {
      options.describe = true;
      continue;
    }
    if (name == "--allow-unsandboxed-source") {
      options.allow_unsandboxed = true;
      continue;
    }
    if (place + 1 == arguments.size()) {
      return absl::InvalidArgumentError(absl::StrCat("`", name, "`: unknown or without a value"));
    }
    const std::string value = arguments[++place];
    if (name == "--device") {
      options.device = value;
    } else if (name == "--nonce" && is_nonce(value)) {
      options.nonce = value;
    } else if (name == "--module" && !value.empty()) {
      options.module = value;
    } else if (name == "--cpu-l2-bytes" && absl::SimpleAtoi(value, &options.private_cache_bytes) &&
               options.private_cache_bytes > 0 &&
               options.private_cache_bytes <= std::int64_t{1} << 30) {
      continue;
    } else if (name == "--compile-seconds" && absl::SimpleAtoi(value, &seconds) && seconds > 0 &&
               seconds <= kMostCompileSeconds) {
      options.compile_limits.wall = std::chrono::seconds(seconds);
      options.compile_limits.processor = std::chrono::seconds(seconds);
    } else if (name == "--compile-memory-bytes" &&
               absl::SimpleAtoi(value, &options.compile_limits.memory_bytes) &&
               options.compile_limits.memory_bytes >= kLeastCompileBytes) {
      continue;
    } else if (name == "--plant") {
      auto plant = parse_plant(value);
      if (!plant.ok()) {
        return plant.status();
      }
      options.plant = *plant;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("`", name, " ", value, "` is not valid"));
    }
  }
  if (options.device.empty() || options.describe == !options.nonce.empty()) {
    return absl::InvalidArgumentError("--device and one of --nonce and --describe are needed");
  }
  return options;
}

absl::StatusOr<std::unique_ptr<Device>> make_device(const Options& options) {
  if (options.device == "cpu") {
    return make_cpu_device(options.private_cache_bytes);
  }
  int ordinal = 0;
  const std::string_view device = options.device;
  if (!device.starts_with("cuda:") || !absl::SimpleAtoi(std::string(device.substr(5)), &ordinal) ||
      ordinal < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device: `", options.device, "` is not cpu or cuda:N"));
  }
  return make_cuda_device(ordinal);
}

// A hello that says why there is no device, so that the reason reaches `assay devices`.
int say_unavailable(const Options& options, const absl::Status& reason, int out_fd) {
  v1::RunnerReply reply;
  v1::RunnerHello& hello = *reply.mutable_hello();
  hello.set_protocol_version(kProtocolVersion);
  hello.set_pid(static_cast<std::uint32_t>(getpid()));
  hello.mutable_device()->set_backend(options.device == "cpu" ? "cpu" : "cuda");
  hello.mutable_device()->set_reason(std::string(reason.message()));
  const Deadline deadline = deadline_after(std::chrono::seconds(10));
  absl::Status status = write_magic(out_fd, options.nonce, deadline);
  if (status.ok()) {
    status = write_frame(out_fd, reply, deadline);
  }
  std::cerr << "assay-runner: " << reason.message() << "\n";
  return 1;
}

int print_description(Device& device,
                      std::span<const kernels::Operator* const> catalogue,
                      bool allow_unsandboxed) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  const auto status = google::protobuf::util::MessageToJsonString(
      hello_of(device, catalogue, allow_unsandboxed), &json, options);
  std::cout << json;
  return status.ok() ? 0 : 1;
}

int run(std::span<char* const> arguments) {
  const auto options = parse_options(arguments);
  if (!options.ok()) {
    std::cerr << "assay-runner: " << options.status().message() << "\n\n" << kUsage;
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);

  // The daemon's descriptors are ours alone: what kernels and libraries print goes to stderr.
  int in_fd = -1;
  int out_fd = -1;
  if (!options->describe) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    in_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in_fd < 0 || out_fd < 0 || null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
      std::cerr << "assay-runner: cannot take over standard input and output\n";
      return 1;
    }
    close(null_fd);
  }
  auto device = make_device(*options);
  if (!device.ok()) {
    if (options->describe || absl::IsInvalidArgument(device.status())) {
      std::cerr << "assay-runner: " << device.status().message() << "\n";
      return absl::IsInvalidArgument(device.status()) ? 2 : 1;
    }
    return say_unavailable(*options, device.status(), out_fd);
  }
  // After the device, which has its profiler by now: a module may want the same.
  std::unique_ptr<ModuleLibrary> module;
  if (!options->module.empty()) {
    auto loaded = ModuleLibrary::load(options->module);
    if (!loaded.ok()) {
      if (options->describe) {
        std::cerr << "assay-runner: --module: " << loaded.status().message() << "\n";
        return 1;
      }
      return say_unavailable(*options, loaded.status(), out_fd);
    }
    module = *std::move(loaded);
  }
  const auto catalogue = module == nullptr ? kernels::catalogue() : module->operators();
  if (options->describe) {
    return print_description(**device, catalogue, options->allow_unsandboxed);
  }
  Runner runner(
      **device,
      catalogue,
      options->plant,
      {.limits = options->compile_limits, .allow_unsandboxed = options->allow_unsandboxed});
  if (const absl::Status status = runner.serve(in_fd, out_fd, options->nonce); !status.ok()) {
    std::cerr << "assay-runner: " << status.message() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace assay::profiler

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == assay::profiler::kCompileMode) {
    return assay::profiler::run_compile_worker(STDIN_FILENO, STDOUT_FILENO);
  }
  return assay::profiler::run({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)});
}
