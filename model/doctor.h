// Which sources of this node the monitor can read: the answer of `linkhealth doctor`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "model/snapshot.h"

namespace linkhealth {

enum class Visibility : std::uint8_t {
  kSeen,        ///< it was read, or its events are received
  kPartly,      ///< some of it was read
  kHidden,      ///< it cannot be read: `why` has the reason, `hint` the remedy
  kNotOffered,  ///< the driver or the device does not have it
  kNoWord,      ///< nothing was read and nothing failed: not due yet, or not offered
  kNotUsed,     ///< it does not apply to this port
};
constexpr auto enum_names(Visibility) {
  return std::to_array<std::string_view>(
      {"seen", "partly", "hidden", "not_offered", "no_word", "not_used"});
}

struct SourceSight {
  std::string probe;  ///< name as in gaps
  std::string what;
  Visibility state = Visibility::kNoWord;
  std::string why;   ///< for kPartly, kHidden and kNotOffered; for kNotUsed if it was switched off
  std::string hint;  ///< how to make it readable; "" when nothing can or need be done
  bool operator==(const SourceSight&) const = default;
};

/// How many of the node's applicable and offered sources the monitor can read.
struct SightCount {
  std::size_t unreadable = 0;  ///< not at all, or in part
  std::size_t sources = 0;
};

struct PortSight {
  PortKey port;
  std::string netdev, pci, driver, driver_version, firmware;
  std::string exempt;  ///< why the port is exempt; its sources are then not judged
  std::vector<SourceSight> sources;
  /// Faults that all sources together would distinguish, but the readable ones do not:
  /// "dirty_connector from damaged_fiber, bad_module (needs the far module)".
  std::vector<std::string> not_told_apart;
  std::vector<std::string> not_noticed;  ///< faults that would not be noticed at all
};

struct DoctorReport {
  std::string node, version, kernel;
  bool of_daemon = true;  ///< false: `linkhealth doctor` ran the checks itself, without a daemon
  bool played = false;    ///< a recording is played: kernel and permissions are not known
  /// Effective capabilities that matter here: "CAP_NET_ADMIN".
  std::vector<std::string> capabilities;
  std::vector<SourceSight> node_sources;
  std::vector<PortSight> ports;
  std::size_t hidden = 0;  ///< sources that are unreadable or partly readable, over all ports
};

}  // namespace linkhealth
