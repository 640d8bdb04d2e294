// What the monitor can see of this node: the self-test at the daemon's start and `linkhealth
// doctor`. THE table of sources is in doctor_sources.cpp: a new source is one row there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/questions.h"
#include "model/doctor.h"
#include "model/report.h"
#include "probes/host.h"

namespace linkhealth {

/// What the node itself says, read once: the reports of ports do not have it.
struct NodeFacts {
  std::string version;
  std::string kernel;  ///< "6.1.0-18-amd64"; "" not known
  bool of_daemon = true;
  bool copied_tree = false;               ///< a copy of /sys: no kernel behind it
  bool played = false;                    ///< a recording: neither kernel nor rights are its node's
  std::vector<std::string> capabilities;  ///< effective, those that matter
  std::map<std::string, std::string>
      access;                  ///< by probe: why its device can't be opened; "" it can
  std::set<std::string> open;  ///< Sampler::sources(): what is listened to and asked
  std::map<std::string, std::string> firmware;  ///< by verbs device
  std::map<std::string, std::string>
      driver_versions;  ///< by driver; only drivers with a version of their own
};
/// Reads /proc and opens the devices that sources need; nothing is written and nothing waits for
/// the hardware.
NodeFacts gather_node_facts(Host& host, bool of_daemon, bool copied_tree,
                            std::set<std::string> open, const std::string& lldpd_socket);
/// Of a daemon that plays a recording.
NodeFacts played_node_facts();
/// Names of the capabilities that matter in the text of /proc/PID/status.
std::vector<std::string> effective_capabilities(std::string_view proc_status);

/// What it means that a source is seen.
enum class SourceKind : std::uint8_t {
  kRead,    ///< the report has a reading of it
  kHeard,   ///< it is listened to: whatever there is to say would be heard
  kFarEnd,  ///< as kRead; it can be switched off
};

/// One source of readings.
struct SourceRow {
  std::string_view probe;  ///< as in gaps
  std::string_view what;
  bool node;                                ///< of the node, not of each port
  std::optional<EvidenceSource> sight;      ///< what it lets see
  bool (*applies)(const PortReport& port);  ///< null: to every port
  bool (*seen)(const PortReport&
                   port);  ///< of the node: of any port; null: only gaps and the node's facts tell
  std::string_view hint;   ///< what makes it visible; of kAccessHints: to who was refused
  bool in_sys = false;     ///< read from files below /sys: a copy has them too
  SourceKind kind = SourceKind::kRead;
};
std::span<const SourceRow> source_table();
/// What is said only when it is there: names of gaps that are no source of readings.
std::span<const SourceRow> trouble_table();
/// What to do about `reason`, why a source can't be read: a right or a mount helps against a
/// refusal, and not against what a device or a driver answers. `seen`: the rest of the source is
/// read.
std::string hint_for(const SourceRow& row, std::string_view reason, bool seen);

/// Why a port has no reading of its module, and what to do about it: the words of the doctor's row.
std::string why_no_module(const PortReport& port, const Report& report, const NodeFacts& facts);

/// Everything that can be said from the last report and the node's facts. Pure.
DoctorReport examine(const Report& report, const NodeFacts& facts);
/// The lines that the daemon logs at its start: one for each cause that hides something, with what
/// to do.
std::vector<std::string> self_test_lines(const DoctorReport& doctor);

}  // namespace linkhealth
