// One function a command; each returns the exit code. Arguments are parsed in cli/arguments.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "cli/client.h"
#include "exporters/text_style.h"

namespace linkhealth::cli {

struct StatusOptions {
  bool problems = false;
  bool wide = false;
  bool json = false;
};
int run_status(const Client& client, const StatusOptions& options, const TextStyle& style);

struct ExplainOptions {
  std::string port;
  bool evidence = false;
  bool physics = false;
  bool json = false;
};
int run_explain(const Client& client, const ExplainOptions& options, const TextStyle& style);

struct HistoryOptions {
  std::string port;
  std::string since = "7d";  ///< 90s, 10m, 2h, 7d
  bool ascii = false;        ///< also where the terminal could do more
  bool json = false;
};
/// Events, repairs, and plots of what was measured.
int run_history(const Client& client, const HistoryOptions& options, TextStyle style);

struct DoctorOptions {
  std::string sysroot;  ///< "" for this node
  bool json = false;
};
/// What the daemon can see. nullopt: no daemon runs.
std::optional<int> run_doctor(const Client& client, const DoctorOptions& options,
                              const TextStyle& style);

struct WatchOptions {
  std::string port;  ///< "": all ports
  bool problems = false;
  bool json = false;         ///< a line of JSON at each refresh
  std::uint64_t frames = 0;  ///< 0: until somebody ends it
  Milliseconds interval{1000};
};
int run_watch(const Client& client, const WatchOptions& options);

struct AckOptions {
  std::string port;
  std::string for_time;  ///< "2h"; "": until the fault closes
  std::string reason, by;
  bool end = false;
  bool json = false;
};
int run_ack(const Client& client, const AckOptions& options);

struct MaintenanceOptions {
  std::string action;  ///< "start" or "end"
  std::string port;    ///< or "all"
  std::string for_time, reason, by;
  bool no_module_reads = false;
  bool json = false;
};
int run_maintenance(const Client& client, const MaintenanceOptions& options);
struct CheckOptions {
  std::string port;  ///< "": all
  bool drain_reason = false, perfdata = false, json = false;
};
/// Nagios' exit codes, which are not those of the other commands.
int run_check(const Client& client, const CheckOptions& options);

int run_module(const Client& client, const std::string& port, bool json, const TextStyle& style);

struct TicketOptions {
  std::string port;
  bool json = false;
};
int run_ticket(const Client& client, const TicketOptions& options);

/// The user who runs the program; under sudo the one who called it.
std::string user_name();

struct RecordOptions {
  std::string file;  ///< "-" for standard output; gzip when it ends in .gz
  std::uint64_t duration_s = 600;
};
int run_record(const Client& client, const RecordOptions& options);
inline constexpr std::uint64_t kDay_s = 86400;
/// "90", "90s", "10m", "2h", "1d" as seconds, at most `longest_s`.
Result<std::uint64_t> parse_duration_s(std::string_view text, std::uint64_t longest_s = kDay_s);

/// "linkhealth: MESSAGE" on standard error.
void complain(const std::string& message);
/// Flushes standard output: `exit_code`, or kDaemonError with a complaint where not all of it could
/// be written.
int after_output(int exit_code);
/// Prints a good answer to standard output; complains about any other. `exit_code` is what a good
/// one gives.
int show(const Result<Answer>& answer, int exit_code = 0);

}  // namespace linkhealth::cli
