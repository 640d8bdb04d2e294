// What the monitor can read on this node: the self-test at the daemon's start and `linkhealth
// doctor`. Derived from the state of the sources (model/source_table.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/doctor.h"
#include "model/report.h"
#include "probes/host.h"

namespace linkhealth {

/// Facts about the node itself, read once: the reports of ports do not include them.
struct NodeFacts {
  std::string version;
  std::string kernel;  ///< "6.1.0-18-amd64"; "" unknown
  bool of_daemon = true;
  bool copied_tree = false;  ///< a copy of /sys: no kernel
  bool played = false;       ///< a recording: kernel and permissions are not those of its node
  std::vector<std::string> capabilities;  ///< effective ones that matter here
  std::map<std::string, std::string>
      access;  ///< by source: why its device cannot be opened; "": it can
  std::set<std::string>
      open;  ///< Sampler::sources(): events that are received, far ends that are read
  std::map<std::string, std::string> firmware;  ///< by verbs device
  std::map<std::string, std::string>
      driver_versions;  ///< by driver; only drivers with their own version
};
/// Reads /proc and opens the devices that sources need; writes nothing and does not wait for the
/// hardware.
NodeFacts gather_node_facts(Host& host, bool of_daemon, bool copied_tree,
                            std::set<std::string> open, const std::string& lldpd_socket);
/// For a daemon that plays a recording.
NodeFacts played_node_facts();
/// Names of the relevant capabilities in the text of /proc/PID/status.
std::vector<std::string> effective_capabilities(std::string_view proc_status);

/// What to do about a source with this status; "": nothing can or need be done. `seen`: the rest of
/// the source is read.
std::string hint_for(SourceId source, const SourceStatus& status, bool seen);

/// Why a port has no reading of its module, and what to do about it.
std::string why_no_module(const PortReport& port, const Report& report, const NodeFacts& facts);

/// Everything that follows from the last report and the node's facts. Pure.
DoctorReport examine(const Report& report, const NodeFacts& facts);
/// The same, as counts only.
SightCount count_sight(const Report& report, const NodeFacts& facts);
/// The sources of each port that is monitored.
std::map<PortKey, SightCount> count_sight_of_ports(const Report& report, const NodeFacts& facts);
/// The lines that the daemon logs at its start: one for each cause that makes sources unreadable,
/// with the remedy.
std::vector<std::string> self_test_lines(const DoctorReport& doctor);

}  // namespace linkhealth
