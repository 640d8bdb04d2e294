// One function per command; each returns the exit code or throws CommandError (cli/exit_codes.h).
// cli/arguments.cpp parses the options.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/client.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

/// What every command receives.
struct Context {
  const Client& client;
  TextStyle style;
  const Clock& clock;
};

struct StatusOptions {
  bool problems = false;
  bool wide = false;
  bool json = false;
  bool once = false;      ///< read this node without the daemon
  std::string sysroot{};  ///< with `once`: a copy of a node's /sys; "": this node
};
int run_status(const Context& context, const StatusOptions& options);

struct ExplainOptions {
  std::string port{};
  bool evidence = false;
  bool physics = false;
  bool json = false;
};
int run_explain(const Context& context, const ExplainOptions& options);

struct HistoryOptions {
  std::string port;
  std::uint64_t since_s = 604'800;  // a week
  bool ascii = false;
  bool json = false;
};
int run_history(const Context& context, const HistoryOptions& options);

struct WatchOptions {
  std::string port;  ///< "": all ports
  bool problems = false;
  bool json = false;
  std::uint64_t frames = 0;  ///< 0: until a signal
};
int run_watch(const Context& context, const WatchOptions& options);

struct DemoOptions {};
int run_demo(const Context& context, const DemoOptions& options);

struct DoctorOptions {
  std::string sysroot;  ///< "": this node
  bool json = false;
};
int run_doctor(const Context& context, const DoctorOptions& options);

struct RecordOptions {
  std::string file;  ///< "-" for standard output; gzip when it ends in .gz
  std::uint64_t duration_s = 600;
};
int run_record(const Context& context, const RecordOptions& options);

struct ReplayCommandOptions {
  std::string file;                  ///< "-" for standard input
  std::string config;                ///< "" for the defaults
  std::string format = "text";       ///< "text", "json" or "jsonl"
  std::vector<std::string> what_if;  ///< "KEY=VALUE"
};
int run_replay(const Context& context, const ReplayCommandOptions& options);

struct RulesOptions {
  std::string name;  ///< one fault or symptom; "": all
  bool json = false;
};
int run_rules(const Context& context, const RulesOptions& options);

struct ModuleOptions {
  std::string port;  ///< "" when a file is given
  std::string file;
  bool json = false;
};
int run_module(const Context& context, const ModuleOptions& options);

struct ActionOptions {
  std::string port;              ///< "all" for maintenance of all ports
  std::uint64_t duration_s = 0;  ///< 0: not given
  std::string reason, by;
  bool json = false;
};
struct AckOptions : ActionOptions {
  bool end = false;
};
int run_ack(const Context& context, const AckOptions& options);

struct MaintenanceOptions : ActionOptions {
  std::string action;  ///< "start" or "end"
  bool no_module_reads = false;
};
int run_maintenance(const Context& context, const MaintenanceOptions& options);

struct CheckOptions {
  std::string port;  ///< "": all
  bool drain_reason = false, perfdata = false, json = false;
};
/// Returns the exit codes of Nagios, which differ from those of the other commands.
int run_check(const Context& context, const CheckOptions& options);

struct TicketOptions {
  std::string port;
  bool json = false;
};
int run_ticket(const Context& context, const TicketOptions& options);

struct CablingOptions {
  bool json = false;
};
int run_cabling(const Context& context, const CablingOptions& options);

struct VerifyOptions {
  std::string port{};  ///< "" for qualify
  double ber = 1e-15;
  std::uint64_t least_s = 1800;
  bool json = false;
};
/// `verify` and, without a port, `qualify`.
int run_verify(const Context& context, const VerifyOptions& options);

/// The user who typed the command: with sudo, the user of sudo.
std::string user_name();

inline constexpr std::uint64_t kDay_s = 86400;
/// "90", "90s", "10m", "2h", "1d" as seconds, at most `longest_s`.
Result<std::uint64_t> parse_duration_s(std::string_view text, std::uint64_t longest_s = kDay_s);

/// Prints "linkhealth: MESSAGE" to standard error.
void complain(const std::string& message);
/// Prints a text, with a line end, and returns `exit_code`.
int print(std::string_view text, int exit_code = kOk);
/// Runs a command; prints the message of a CommandError and returns its exit code.
int run_command(const std::function<int()>& command);
/// Flushes standard output; returns `exit_code`, or kDaemonError when not all could be written.
int after_output(int exit_code);

}  // namespace linkhealth::cli
