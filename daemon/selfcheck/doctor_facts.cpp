#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include "base/text.h"
#include "daemon/selfcheck/doctor.h"

namespace linkhealth {

namespace {

struct CapabilityName {
  unsigned bit;  // linux/capability.h
  std::string_view name;
};
constexpr std::array<CapabilityName, 4> kCapabilities = {
    {{1, "CAP_DAC_OVERRIDE"}, {12, "CAP_NET_ADMIN"}, {21, "CAP_SYS_ADMIN"}, {34, "CAP_SYSLOG"}}};

std::string first_line(Host& host, const std::string& path) {
  const auto text = host.read_file(path);
  return text ? std::string(trim(text->substr(0, text->find('\n')))) : "";
}

/// Why a device cannot be opened; "" if it can. A Host reads regular files only: it opens a device
/// and then rejects it with EINVAL (ENXIO: a socket), which is all that is needed here.
std::string why_closed(Host& host, const std::string& path) {
  const auto content = host.read_file(path);
  if (content || content.error().errnum == EINVAL || content.error().errnum == ENXIO) return "";
  return path + ": " + std::strerror(content.error().errnum);
}

/// Likewise for the first device of a class ("/sys/class/infiniband_mad", "umad" ->
/// /dev/infiniband/umad0).
std::string why_none_open(Host& host, const std::string& class_dir, std::string_view prefix) {
  const auto names = host.list_dir(class_dir);
  if (!names) return class_dir + ": " + std::strerror(names.error().errnum);
  for (const std::string& name : *names)
    if (name.starts_with(prefix)) return why_closed(host, "/dev/infiniband/" + name);
  return "no /dev/infiniband/" + std::string(prefix) + "*";
}

void add_versions(Host& host, NodeFacts& facts) {
  const auto devices = host.list_dir("/sys/class/infiniband");
  for (const std::string& device : devices ? *devices : std::vector<std::string>())
    if (std::string firmware = first_line(host, "/sys/class/infiniband/" + device + "/fw_ver");
        !firmware.empty())
      facts.firmware[device] = printable(firmware);
  for (const char* driver :
       {"mlx5_core", "mlx4_core", "bnxt_en", "bnxt_re", "ice", "irdma", "ionic", "qede", "efa"})
    if (std::string version = first_line(host, std::string("/sys/module/") + driver + "/version");
        !version.empty())
      facts.driver_versions[driver] = printable(version);
}

}  // namespace

std::vector<std::string> effective_capabilities(std::string_view proc_status) {
  std::vector<std::string> names;
  for (const std::string_view line : split(proc_status, '\n')) {
    if (!line.starts_with("CapEff:")) continue;
    const auto set = parse_hex_or_decimal("0x" + std::string(trim(line.substr(7))));
    for (const CapabilityName& row : kCapabilities)
      if (set && (*set >> row.bit & 1U) != 0) names.emplace_back(row.name);
  }
  return names;
}

NodeFacts gather_node_facts(Host& host, bool of_daemon, bool copied_tree,
                            std::set<std::string> open, const std::string& lldpd_socket) {
  NodeFacts facts;
  facts.version = LINKHEALTH_VERSION;
  facts.of_daemon = of_daemon;
  facts.copied_tree = copied_tree;
  facts.open = std::move(open);
  add_versions(host, facts);
  if (copied_tree) return facts;
  facts.kernel = first_line(host, "/proc/sys/kernel/osrelease");
  if (const auto status = host.read_file("/proc/self/status"))
    facts.capabilities = effective_capabilities(*status);
  facts.access["kernel_log"] = why_closed(host, "/dev/kmsg");
  facts.access["verbs_events"] = why_none_open(host, "/sys/class/infiniband_verbs", "uverbs");
  facts.access["peer_mad"] = why_none_open(host, "/sys/class/infiniband_mad", "umad");
  facts.access["peer_lldp"] = why_closed(host, lldpd_socket);
  return facts;
}

NodeFacts played_node_facts() {
  NodeFacts facts;
  facts.version = LINKHEALTH_VERSION;
  facts.played = true;
  return facts;
}

}  // namespace linkhealth
