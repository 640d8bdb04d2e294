// The command line of `linkhealth`: parses it and calls one command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/fleet.h"

namespace linkhealth::cli {

struct OnceOptions {
  std::string sysroot;  ///< "" for the live system
  StatusOptions show;
  TextStyle style;
};

struct ReplayOptions {
  std::string file;                  ///< "-" for standard input
  std::string config;                ///< "" for the defaults
  std::string format;                ///< "text", "json" or "jsonl"
  std::vector<std::string> what_if;  ///< "KEY=VALUE": what these would change
};
struct RulesOptions {
  std::string name;  ///< one fault or symptom; "": all
  bool json = false;
};
struct ModuleOptions {
  std::string port;  ///< "" when a file is given
  std::string file;
  bool json = false;
};

struct VerifyOptions {
  std::string port{};  ///< "" for qualify
  double ber = 1e-15;
  std::uint64_t least_s = 1800;
  bool json = false;
};

struct CablingOptions {
  bool learn = false;
  std::vector<std::string> from;  ///< with learn: saved outputs instead of the daemon
  std::string node;               ///< of an lldpctl output; "": this host
  bool yaml = false;
  bool json = false;
};

/// Commands that need more of the program than the daemon's socket. One that is empty does not
/// exist on the command line.
struct LocalCommands {
  std::function<int(const OnceOptions&)> once;
  std::function<int(const ReplayOptions&, const TextStyle&)> replay;
  std::function<int(const DoctorOptions&, const TextStyle&)> doctor;  ///< where no daemon runs
  std::function<int(const RulesOptions&, const TextStyle&)> rules;
  std::function<int(const FleetOptions&, const TextStyle&)>
      fleet;  ///< of a Prometheus, from anywhere
  std::function<int(const Client&, const CablingOptions&, const TextStyle&)> cabling;
  /// Both of a port and (no port) of all.
  std::function<int(const Client&, const VerifyOptions&, const TextStyle&)> verify;
  std::function<int(const ModuleOptions&, const TextStyle&)>
      module;  ///< of --file; the daemon answers for a port
};

/// The whole program; returns the exit code.
int run(int argc, const char* const* argv, const LocalCommands& local);

}  // namespace linkhealth::cli
