// The InfiniBand class files of one port:
// /sys/class/infiniband/DEV/ports/N/{state,phys_state,rate}, counters/* and hw_counters/* (linux:
// drivers/infiniband/core/sysfs.c). The files are found once, at open.
//
// A driver may also have hw_counters for the whole device, in DEV/hw_counters. mlx5 in switch mode
// has its queue, congestion and ICRC counters only there ("essentially the real Q_counters of this
// device", mlx5_ib_alloc_counters in drivers/infiniband/hw/mlx5/counters.c): a port has the same
// names prefixed by "vport_", which stay zero for the port with the cable
// (mlx5_ib_query_q_counters_vport), or none. The device's counters belong to a port only if the
// device has no other port with a cable. For an exempt device (efa's commands) they belong to its
// port, if it has one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/sysfs/inventory.h"
#include "probes/sysfs/sysfs_attributes.h"

namespace linkhealth {

struct IbRate {
  std::uint32_t speed_mbps = 0;
  std::uint32_t lanes = 0;
};

class IbPortReader {
 public:
  /// Finds the port's files. An Error if the port's directory does not exist; missing or unreadable
  /// files are gaps of the reads. REQUIRES: `host` outlives the reader.
  static Result<IbPortReader> open(Host& host, const InventoryPort& port);

  // Each adds its values to `sample`, and one gap to `gaps` when something could not be read.

  /// state, phys_state and rate (probe "link"). Each is a query of the port, up to five firmware
  /// commands on mlx5. Fills state and phys_state. On InfiniBand also carrier, and on Ethernet if
  /// the interface cannot be read: the driver's states are those of the interface (linux:
  /// mlx5_query_port_roce(), bnxt_re_query_port(), irdma_query_port()), which do not distinguish
  /// administratively down from a lost carrier. Speed and lanes are taken from the rate only while
  /// the link is up (during training the file holds a stale or default rate), and on Ethernet only
  /// if the sample has no speed yet, because soft devices and old kernels round it down.
  ReadStatus read_state(PortSample& sample, std::vector<Gap>& gaps);
  /// counters/ (probe "counters"): one firmware command each on mlx5.
  ReadStatus read_port_counters(PortSample& sample, std::vector<Gap>& gaps);
  /// hw_counters/ of the port and of its device (probe "hw_counters"): one firmware command for all
  /// that are read in one burst (within the 10 ms lifespan).
  ReadStatus read_hw_counters(PortSample& sample, std::vector<Gap>& gaps);

 private:
  IbPortReader(Host& host, std::unique_ptr<HostDir> dir, const InventoryPort& port);
  void find_counters();
  void find_hw_counters();
  void find_device_counters();
  /// Tests by reading the state, which every port has. In a copied tree a missing file does not
  /// mean that the port is gone.
  bool is_gone();

  Host* host_;
  std::unique_ptr<HostDir> dir_;
  std::unique_ptr<HostDir> device_dir_;  ///< nullptr: the device has no counters for this port
  InventoryPort port_;
  PortKey key_;
  SysfsAttribute state_, phys_state_, rate_;
  SysfsCounters pma_, hw_, device_;
  bool list_again_ = false;                   ///< a directory of hw_counters could not be listed
  std::string no_counters_, no_hw_counters_;  ///< why a directory is missing or empty
  /// Why the device's counters are not used; "" also if there are none.
  std::string no_device_counters_;
  std::string meaningless_;  ///< the table knows none of the driver's counters
};

/// "4: ACTIVE" -> "ACTIVE"; nullopt for anything else.
std::optional<std::string> parse_state(std::string_view text);

/// Likewise for phys_state, which also has Omni-Path's states: "9: <unknown>" -> "Offline".
std::optional<std::string> parse_phys_state(std::string_view text);

/// "400 Gb/sec (4X NDR)" -> 400000, 4; "2.5 Gb/sec (1X SDR)" -> 2500, 1. nullopt for anything else.
std::optional<IbRate> parse_rate(std::string_view text);

}  // namespace linkhealth
