// The kinds of cable and module from which the simulation builds links, with the nominal values of
// one lane, and the drivers with what each of them offers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tests/sim/physics.h"

namespace linkhealth::sim {

enum class Build : std::uint8_t { kOptical, kAoc, kDac, kAcc };

struct Medium {
  std::string_view name;
  Build build;
  std::string_view connector;
  std::uint32_t speed_mbps;
  std::uint32_t lanes;
  Modulation modulation;
  Fec fec;
  double tx_dbm, tx_sigma_db;
  double loss_db, loss_sigma_db;
  double bias_ma, bias_sigma_ma;
  double
      sensitivity_dbm;   ///< power (copper: SNR margin/2) at which the medium's error limit is met
  double temperature_c;  ///< of the NIC's module in a room of 22 C at half load
  bool single_mode;
  bool duplex;  ///< one fibre carries all lanes of a direction as wavelengths
  std::uint32_t lanes_per_laser;
  double retrain_s;  ///< median time from a lost to a working link
};

std::span<const Medium> media();

struct Driver {
  std::string_view name;
  std::string_view device_prefix;
  bool infiniband;     ///< can run InfiniBand
  double fec_lanes;    ///< probability that it has FEC counts by lane
  double fec_bits;     ///< probability that it has corrected bits
  bool down_reason;    ///< fills in the kernel's extended link state
  bool rich_counters;  ///< mlx5's own: discards, PCI stalls, PHY down events, adaptive
                       ///< retransmission
  double flags;        ///< probability that module flags (LOS, LOL) can be read
};

std::span<const Driver> drivers();

}  // namespace linkhealth::sim
