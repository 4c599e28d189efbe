// The assay program: the environment, the terminal and Ctrl-C are read here and nowhere else.
#include "client/commands.h"

#include "google/protobuf/stubs/logging.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

std::string default_address() {
  if (const char* address = std::getenv("ASSAY_ADDRESS"); address != nullptr && *address != '\0') {
    return address;
  }
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder != nullptr && *folder != '\0') {
    return "unix:" + std::string(folder) + "/assay.sock";
  }
  return "unix:/tmp/assay-" + std::to_string(getuid()) + ".sock";
}

// Ctrl-C ends the call that waits; with none it ends the program, as it would by itself.
void watch_interrupts(assay::client::Interrupter& interrupter) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, &interrupter] {
    int signal = 0;
    while (sigwait(&signals, &signal) == 0) {
      if (!interrupter.fire()) {
        _exit(1);
      }
    }
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  // Lives as long as the thread that waits for the signal.
  static assay::client::Interrupter interrupter;
  watch_interrupts(interrupter);
  // A closed pipe is an error of a write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  // What it complains of is an error that is told in our words.
  google::protobuf::SetLogHandler(nullptr);
  const assay::client::Console console{.err_is_terminal = isatty(STDERR_FILENO) == 1,
                                       .default_address = default_address(),
                                       .version = ASSAY_CODE_VERSION,
                                       .checkout_folder = ".",
                                       .interrupter = &interrupter};
  return assay::client::run(std::vector<std::string>(argv + 1, argv + argc), console);
}
