// ethtool netlink: the forward error correction that is in use, and its counters in total and per
// lane.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/counters.h"
#include "model/snapshot.h"
#include "probes/netlink/ethtool_family.h"

namespace linkhealth {

/// ETHTOOL_MSG_FEC_GET with ETHTOOL_FLAG_STATS (net/ethtool/fec.c).
struct EthtoolFec {
  std::string mode;   ///< in use now, see fec_mode_name(); "" unknown, also while the link is down
  Counters counters;  ///< fec_corrected_blocks, fec_uncorrectable_blocks, fec_corrected_bits;
                      ///< absent: not offered. Where the kernel has it also the histogram:
                      ///< fec_hist_LOWtoHIGH, code words with so many bad symbols
  std::vector<FecLane>
      lanes;  ///< as the kernel numbers them; empty where the driver counts the port as a whole
};

/// A link's speed and width, to name its code.
struct FecLink {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
};

/// "Off", "BaseR", "LLRS" and Reed-Solomon for the kernel's ETHTOOL_LINK_MODE_FEC_*_BIT. The kernel
/// knows only "RS": 25G lanes (NRZ) use RS(528,514) = "RS528", lanes of 50G and more (PAM4)
/// RS(544,514) = "RS544" (IEEE 802.3 clauses 91 and 134); where speed or lanes are not known it
/// stays "RS". "" for bits of newer kernels.
std::string fec_mode_name(std::uint32_t link_mode_bit, const FecLink& link);

Result<EthtoolFec> parse_fec(ByteView message, const FecLink& link);
/// EOPNOTSUPP: the driver has no FEC interface.
Result<EthtoolFec> read_fec(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const FecLink& link);

}  // namespace linkhealth
