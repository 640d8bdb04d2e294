// The baselines of each port that survive a restart, keyed by the port's stable key and the serials
// of both modules. They let a fault that exists from the first sample on be judged against the
// past.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/history/training_history.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The trusted samples of one value, oldest first.
struct KeptReference {
  std::string name;            ///< "rx_dbm.1": lanes from 1; "drift.rx_dbm"
  std::vector<double> values;  ///< of a drift: pairs of a six-hour bin and its median
  bool operator==(const KeptReference&) const = default;
};

struct PortReferences {
  std::string port;        ///< stable key
  std::string serial;      ///< of the module that the baselines belong to; "" if it was never read
  std::string far_serial;  ///< "" unknown
  WallTime seen_at;        ///< when the port was last seen
  std::uint32_t best_speed_mbps = 0, best_lanes = 0;
  std::vector<KeptReference> references;
  std::string label{};  ///< "mlx5_3/1", its last label
  std::string guid{};   ///< of its verbs device; "" for a plain Ethernet port that never had one
  std::optional<WallTime>
      linked_at{};  ///< when it last had a link; nullopt: never, or the port is exempt
  /// When its verbs device was last seen; nullopt: never.
  std::optional<WallTime> verbs_seen_at{};
  std::string peer_source{}, peer_system{}, peer_port{}, peer_guid{};  ///< by MAD or LLDP
  std::optional<WallTime> peer_at{};
  std::optional<WallTime> last_drop_at{};  ///< its last unplanned link down
  std::optional<WorseTraining> worse_training{};
  std::string baseline_fec{};          ///< the FEC mode of its baseline of errors
  std::uint32_t place_speed_mbps = 0;  ///< of all modules and cards that were there
  bool operator==(const PortReferences&) const = default;
};

/// The port's identity, as far as it was saved.
PortId port_id_of(const PortReferences& kept);

struct ReferenceState {
  std::vector<PortReferences> ports;
  bool operator==(const ReferenceState&) const = default;
};

}  // namespace linkhealth
