// What the commands share: the common options, the connection, the way an answer is printed.
#pragma once

#include "client/connection.h"
#include "client/console.h"
#include "client/exit_status.h"
#include "client/table.h"

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

#include <functional>
#include <memory>
#include <string>

namespace assay::client {

class Session {
 public:
  explicit Session(const Console& console) : console_(console), address_(console.default_address) {}

  // --address: of the program, and again of each command. The one nearest to the end holds.
  void add_address(CLI::App& app);

  // A command with --address and --format, whose `action` runs after everything is parsed and gives
  // the exit status.
  CLI::App* add_command(CLI::App& parent,
                        const std::string& name,
                        const std::string& help,
                        const std::string& examples,
                        std::function<absl::StatusOr<int>()> action);

  // The same without --address, for what asks no daemon.
  CLI::App* add_local_command(CLI::App& parent,
                              const std::string& name,
                              const std::string& help,
                              const std::string& examples,
                              std::function<absl::StatusOr<int>()> action);

  // The chosen command.
  absl::StatusOr<int> run();

  absl::StatusOr<Connection*> connect();

  Format format() const { return format_; }

  const Console& console() const { return console_; }

  // As text, or the message as JSON.
  absl::Status print(const google::protobuf::Message& message, const std::string& text) const;

  // The same of a list. People read `nothing` where it has no rows, programs its head.
  absl::Status print_list(const google::protobuf::Message& message,
                          const std::string& text,
                          bool has_rows,
                          const std::string& nothing) const;

 private:
  const Console& console_;
  std::string address_;
  std::string format_name_ = "table";
  Format format_ = Format::kTable;
  std::function<absl::StatusOr<int>()> action_;
  std::unique_ptr<Connection> connection_;
};

inline constexpr std::uint32_t kMostRows = 1'000;  // of a page

// "last" is 0, the newest. INVALID_ARGUMENT otherwise unless it is a positive integer.
absl::StatusOr<std::int64_t> parse_id(const std::string& text);

// --limit of what is listed page by page.
CLI::Option* add_limit(CLI::App& command, std::uint32_t& limit);

void add_experiment_commands(CLI::App& app, Session& session);
void add_history_commands(CLI::App& app, Session& session);
void add_catalogue_commands(CLI::App& app, Session& session);
void add_trace_command(CLI::App& app, Session& session);
void add_bits_commands(CLI::App& app, Session& session);
void add_archive_commands(CLI::App& app, Session& session);
void add_recording_commands(CLI::App& app, Session& session);
void add_receipt_command(CLI::App& app, Session& session);
void add_sweep_command(CLI::App& app, Session& session);
void add_tuning_commands(CLI::App& app, Session& session);
void add_list_command(CLI::App& app, Session& session);
void add_query_command(CLI::App& app, Session& session);
void add_trend_command(CLI::App& app, Session& session);
void add_regressions_command(CLI::App& app, Session& session);

}  // namespace assay::client
