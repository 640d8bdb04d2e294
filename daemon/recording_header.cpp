#include "daemon/recording_header.h"

#include "base/text.h"
#include "probes/live_host.h"

namespace linkhealth {

namespace {

std::string first_line_of(Host& host, const std::string& path) {
  const auto text = host.read_file(path);
  return text ? std::string(trim(*text)) : "";
}

}  // namespace

RecordingHeader this_nodes_header(const Config& config, const Clock& clock) {
  LiveHost host;
  RecordingHeader header;
  header.node =
      config.node.empty() ? first_line_of(host, "/proc/sys/kernel/hostname") : config.node;
  header.boot_id = first_line_of(host, "/proc/sys/kernel/random/boot_id");
  header.at = clock.wall();
  header.version = LINKHEALTH_VERSION;
  header.expected = with_plan(config);
  return header;
}

}  // namespace linkhealth
