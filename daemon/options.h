// The command line of linkhealthd.
#pragma once

#include <optional>
#include <string>

namespace linkhealth {

struct DaemonOptions {
  std::string config_file;  ///< "": the embedded defaults
  std::optional<std::string> listen;
  std::optional<std::string> socket;
  std::optional<std::string> state_dir;
  std::string sysroot;       ///< a copy of a node's /sys instead of the live one
  std::string record_file;   ///< "": no recording
  std::string play_file;     ///< a recording to play instead of this node's ports
  double play_speed = 1;     ///< recording time per second
  int play_control_fd = -1;  ///< pauses and resumes the recording (PlaySource); -1: none
  bool dry_run = false;
  bool check_config = false;
  bool dump_config = false;
  std::optional<std::string> log_level;
};

/// Either the options, or the exit code after --help, --version or a usage error (already printed).
struct ParsedOptions {
  std::optional<DaemonOptions> options;
  int exit_code = 0;
};
ParsedOptions parse_daemon_options(int argc, const char* const* argv);

}  // namespace linkhealth
