// Access to the daemon, and the textfile output: keys of the configuration that are no thresholds.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/yaml_tree.h"

namespace linkhealth {

struct TextfileOutput {
  std::string path;      ///< "…/linkhealth.prom"; "": off
  double period_s = 15;  ///< how often it is written
};

struct Outputs {
  std::string control_group;         ///< whose members may act on the Unix socket
  std::string socket_mode = "0666";  ///< of the Unix socket: "0600", "0660" or "0666"
  std::string socket_group;          ///< that owns it; "": the daemon's
  std::string web_config_file;       ///< TLS and passwords of the TCP side
  TextfileOutput textfile;
};

inline constexpr std::array<std::string_view, 5> kOutputKeys = {
    "control_group", "socket_mode", "socket_group", "web_config_file", "textfile"};
/// Keys of alerts that the daemon does not send: load_output() refuses them.
inline constexpr std::array<std::string_view, 2> kRefusedOutputKeys = {"alertmanager", "webhook"};

/// The mode as a number: 0666 for "0666" and "".
unsigned socket_mode(const Outputs& outputs);

/// Reads one of kOutputKeys or refuses one of kRefusedOutputKeys. Errors are "FILE:LINE: what".
Result<void> load_output(const YamlNode::Member& member, std::string_view file_name,
                         Outputs& outputs);
/// These keys as YAML, each with its meaning.
std::string dump_outputs(const Outputs& outputs);

}  // namespace linkhealth
