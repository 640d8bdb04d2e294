// The names of drivers' own statistics (`ethtool -S`), as their sources write them: a row that is
// misspelt would look like a driver that has no such counter. Written from the sources, not from
// the table: linux drivers/net/ethernet/{mellanox/mlx5/core/en_stats.c,
// broadcom/bnxt/bnxt_ethtool.c, intel/ice/ice_ethtool.c, pensando/ionic/ionic_stats.c}.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "model/counters.h"

namespace linkhealth {
namespace {

// pport_phy_layer, _statistical, _err_lanes and _recovery, pport_802_3 and _2863, per_prio traffic
// and pause, mlx5e_pme, pcie_perf of 32 and 64 bits and the stall counters.
const std::vector<std::string> kMlx5Statistics{
    "link_down_events_phy", "rx_pcs_symbol_err_phy", "rx_corrected_bits_phy", "rx_bits_phy",
    "rx_err_lane_#4_phy", "total_success_recovery_phy",
    // eth_ext and rfc_2819, rfc_2863
    "rx_buffer_passed_thres_phy", "rx_undersize_pkts_phy", "rx_fragments_phy", "rx_jabbers_phy",
    "rx_discards_phy", "tx_discards_phy", "tx_errors_phy",
    // ieee_802_3
    "rx_crc_errors_phy", "rx_in_range_len_errors_phy", "rx_out_of_range_len_phy",
    "rx_oversize_pkts_phy", "rx_symbol_err_phy",
    // of each priority, and of all
    "rx_prio#8_discards", "rx_prio#8_buf_discard", "rx_prio#8_cong_discard", "rx_prio#8_pause",
    "tx_prio#8_pause", "rx_global_pause", "rx_global_pause_duration", "rx_global_pause_transition",
    "tx_global_pause", "tx_global_pause_duration", "tx_pause_storm_error_events",
    // the module's events
    "module_unplug", "module_bus_stuck", "module_high_temp", "module_bad_shorted",
    // PCIe
    "rx_pci_signal_integrity", "tx_pci_signal_integrity", "outbound_pci_stalled_rd",
    "outbound_pci_stalled_wr", "outbound_pci_stalled_rd_events", "outbound_pci_stalled_wr_events",
    "outbound_pci_buffer_overflow"};

const std::vector<std::string> kBnxtStatistics{
    // rx_port_stats
    "rx_fcs_err_frames", "rx_pause_frames", "rx_pfc_frames", "rx_align_err_frames",
    "rx_ovrsz_frames", "rx_jbr_frames", "rx_mtu_err_frames", "rx_pfc_ena_frames_pri#8",
    "rx_undrsz_frames", "rx_runt_frames", "rx_stat_discard", "rx_stat_err",
    // tx_port_stats
    "tx_pause_frames", "tx_pfc_frames", "tx_fcs_err_frames", "tx_pfc_ena_frames_pri#8",
    "tx_fifo_underruns", "tx_stat_discard", "tx_stat_error",
    // rx_port_stats_ext
    "link_down_events", "continuous_pause_events", "continuous_roce_pause_events", "rx_bits",
    "rx_buffer_passed_threshold", "rx_pcs_symbol_err", "rx_corrected_bits",
    "rx_discard_packets_cos#8", "rx_fec_corrected_blocks", "rx_fec_uncorrectable_blocks"};

// ICE_PF_STAT and the pause of each priority
const std::vector<std::string> kIceStatistics{
    "link_xoff_rx.nic",      "link_xoff_tx.nic",        "tx_dropped_link_down.nic",
    "rx_undersize.nic",      "rx_fragments.nic",        "rx_oversize.nic",
    "rx_jabber.nic",         "rx_length_errors.nic",    "rx_dropped.nic",
    "rx_crc_errors.nic",     "illegal_bytes.nic",       "mac_local_faults.nic",
    "mac_remote_faults.nic", "rx_priority_#8_xoff.nic", "tx_priority_#8_xoff.nic"};

// IONIC_LIF_STAT_DESC and IONIC_PORT_STAT_DESC
const std::vector<std::string> kIonicStatistics{
    "hw_tx_dropped",        "hw_rx_dropped",        "hw_rx_over_errors",     "hw_rx_missed_errors",
    "hw_tx_aborted_errors", "frames_rx_bad_fcs",    "frames_rx_bad_all",     "frames_rx_pause",
    "frames_rx_bad_length", "frames_rx_undersized", "frames_rx_oversized",   "frames_rx_fragments",
    "frames_rx_jabber",     "frames_rx_pripause",   "frames_rx_stomped_crc", "frames_rx_too_long",
    "frames_rx_dropped",    "frames_tx_bad",        "frames_tx_pause",       "frames_tx_pripause",
    "frames_tx_truncated"};

/// "a#4b" is a0b to a3b.
std::vector<std::string> each_of(const std::string& name) {
  const auto mark = name.find('#');
  if (mark == std::string::npos) return {name};
  std::vector<std::string> all;
  for (char i = '0'; i < name[mark + 1]; ++i)
    all.push_back(name.substr(0, mark) + i + name.substr(mark + 2));
  return all;
}

TEST(DriverCounters, AreKnownByTheNamesThatDriversWrite) {
  std::set<std::string_view> written;
  for (const auto& driver : {kMlx5Statistics, kBnxtStatistics, kIceStatistics, kIonicStatistics})
    for (const std::string& names : driver)
      for (const std::string& name : each_of(names)) {
        const auto id = find_counter(name);
        ASSERT_TRUE(id) << name;
        EXPECT_EQ(known_counters()[*id].source, CounterSource::kEthtoolDriver) << name;
        EXPECT_TRUE(written.insert(known_counters()[*id].name).second)
            << name << " stands in two drivers' lists";
      }
  for (const CounterInfo& row : known_counters())
    if (row.source == CounterSource::kEthtoolDriver) {
      EXPECT_TRUE(written.contains(row.name)) << row.name << ": no driver writes it so";
    }
}

}  // namespace
}  // namespace linkhealth
