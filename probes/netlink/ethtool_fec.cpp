#include "probes/netlink/ethtool_fec.h"

#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace linkhealth {
namespace {

/// Between 25.8 GBd NRZ and the slowest PAM4 lane.
constexpr std::uint32_t kFastestNrzLaneMbps = 30000;
/// ETHTOOL_MAX_LANES in the kernel; more is damage.
constexpr std::size_t kMaxLanes = 64;

std::string reed_solomon_name(const FecLink& link) {
  if (!link.speed_mbps || !link.lanes || *link.lanes == 0) return "RS";
  return *link.speed_mbps / *link.lanes <= kFastestNrzLaneMbps ? "RS528" : "RS544";
}

/// The total, then one value for each lane (fec_stats_recalc). Empty when absent or damaged.
std::vector<std::uint64_t> values_of(const NetlinkAttributes& stats, std::uint16_t type) {
  const ByteView array = stats[type].payload;
  std::vector<std::uint64_t> values(array.size() / sizeof(std::uint64_t));
  if (values.empty() || values.size() > 1 + kMaxLanes || array.size() % sizeof(std::uint64_t) != 0)
    return {};
  std::memcpy(values.data(), array.data(), array.size());
  return values;
}

// The histogram of code words by how many symbols of them were wrong (IEEE 802.3ck-2022,
// 802.3df-2024), newer than Debian 12's headers: linux
// include/uapi/linux/ethtool_netlink_generated.h, net/ethtool/fec.c (fec_put_hist).
constexpr std::uint16_t kStatHistogram = 5;  // ETHTOOL_A_FEC_STAT_HIST, once for each bin
constexpr std::uint16_t kBinLow = 2;         // ETHTOOL_A_FEC_HIST_BIN_LOW; 1 is padding
constexpr std::uint16_t kBinHigh = 3;
constexpr std::uint16_t kBinValue = 4;
constexpr std::uint32_t kMaxSymbols = 1024;  // a code word has 544; more is damage

void read_histogram(Counters& counters, const NetlinkAttributes& stats) {
  for (const NetlinkAttribute& attribute : stats) {
    if (attribute.type != kStatHistogram) continue;
    const NetlinkAttributes bin(attribute.payload);
    const auto low = bin[kBinLow].u32();
    const auto high = bin[kBinHigh].u32();
    std::optional<std::uint64_t> value = bin[kBinValue].u64();
    // nla_put_uint() writes 32 bits where they are enough.
    if (!value) value = bin[kBinValue].u32();
    if (!low || !high || !value || *low > *high || *high > kMaxSymbols) continue;
    counters.set("fec_hist_" + std::to_string(*low) + "to" + std::to_string(*high), *value);
  }
}

void add_values(EthtoolFec& fec, const std::vector<std::uint64_t>& values, std::string_view counter,
                std::optional<std::uint64_t> FecLane::*field) {
  if (values.empty()) return;
  fec.counters.set(counter, values.front());
  const std::size_t lanes = values.size() - 1;
  if (fec.lanes.size() < lanes) fec.lanes.resize(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) fec.lanes[lane].*field = values[lane + 1];
}

}  // namespace

std::string fec_mode_name(std::uint32_t link_mode_bit, const FecLink& link) {
  switch (link_mode_bit) {
    case ETHTOOL_LINK_MODE_FEC_NONE_BIT:
      return "Off";
    case ETHTOOL_LINK_MODE_FEC_RS_BIT:
      return reed_solomon_name(link);
    case ETHTOOL_LINK_MODE_FEC_BASER_BIT:
      return "BaseR";
    case ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
      return "LLRS";
    default:
      return "";
  }
}

Result<EthtoolFec> parse_fec(ByteView message, const FecLink& link) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_FEC_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolFec fec;
  if (const auto active = (*answer)[ETHTOOL_A_FEC_ACTIVE].u32())
    fec.mode = fec_mode_name(*active, link);
  const NetlinkAttributes stats = answer->nested(ETHTOOL_A_FEC_STATS);
  add_values(fec, values_of(stats, ETHTOOL_A_FEC_STAT_CORRECTED), "fec_corrected_blocks",
             &FecLane::corrected_blocks);
  add_values(fec, values_of(stats, ETHTOOL_A_FEC_STAT_UNCORR), "fec_uncorrectable_blocks",
             &FecLane::uncorrectable_blocks);
  add_values(fec, values_of(stats, ETHTOOL_A_FEC_STAT_CORR_BITS), "fec_corrected_bits",
             &FecLane::corrected_bits);
  read_histogram(fec.counters, stats);
  return fec;
}

Result<EthtoolFec> read_fec(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const FecLink& link) {
  return request_ethtool(host,
                         ethtool_request(family, ETHTOOL_MSG_FEC_GET, ETHTOOL_A_FEC_HEADER, ifindex,
                                         ETHTOOL_FLAG_STATS | ETHTOOL_FLAG_COMPACT_BITSETS),
                         [&](ByteView message) { return parse_fec(message, link); });
}

}  // namespace linkhealth
