// Where the verdicts go besides the page and the journal, and who may come in: the keys of the
// configuration for that. All are off until they are set.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/yaml_tree.h"

namespace linkhealth {

/// What a request to another system carries and trusts.
struct SinkAccess {
  std::string
      token_file;  ///< its first line is sent as "Authorization: Bearer …"; read for each attempt
  std::string ca_file;  ///< certificates that the other side's is held against; "": the system's
};

struct AlertmanagerOutput {
  std::vector<std::string> urls;  ///< "http://alertmanager:9093"; each gets everything. Empty: off
  double resend_s = 60;  ///< an alert that stands is sent again; the Alertmanager resolves it after
                         ///< four times that
  SinkAccess access;
};

struct WebhookOutput {
  std::string url;            ///< "": off
  std::string template_file;  ///< "": the event as docs/schema/event.json has it
  SinkAccess access;
};

struct TextfileOutput {
  std::string path;      ///< "…/linkhealth.prom"; "": off
  double period_s = 15;  ///< how often it is written
};

struct Outputs {
  std::string control_group;         ///< whose members may act on the Unix socket
  std::string socket_mode = "0666";  ///< of the Unix socket: "0600", "0660" or "0666"
  std::string socket_group;          ///< that owns it; "": the daemon's
  std::string web_config_file;       ///< TLS and passwords of the TCP side
  AlertmanagerOutput alertmanager;
  WebhookOutput webhook;
  TextfileOutput textfile;
};

inline constexpr std::array<std::string_view, 7> kOutputKeys = {
    "control_group", "socket_mode", "socket_group", "web_config_file",
    "alertmanager",  "webhook",     "textfile"};

/// The mode as a number: 0666 for "0666" and "".
unsigned socket_mode(const Outputs& outputs);

/// Reads one of kOutputKeys. Errors are "FILE:LINE: what".
Result<void> load_output(const YamlNode::Member& member, std::string_view file_name,
                         Outputs& outputs);
/// These keys as YAML, each with its meaning.
std::string dump_outputs(const Outputs& outputs);

}  // namespace linkhealth
