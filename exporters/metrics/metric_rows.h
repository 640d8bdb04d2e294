// The metric table, for the tables of metrics_table.cpp and for metric_families.h, which turns
// names into rows.
#pragma once

#include <array>

#include "exporters/metrics/metrics.h"

namespace linkhealth::metric_rows {

using enum MetricType;

inline constexpr std::array kRows = std::to_array<MetricInfo>({
    {"linkhealth_build_info", kGauge, "version", "", "", "Always 1; the version of the monitor."},
    {"linkhealth_last_sample_timestamp_seconds", kGauge, "", "s", "",
     "When the last sample was taken; if old, treat every metric as stale."},
    {"linkhealth_node_info", kGauge, "nodename,pod,row,rack,u", "", "",
     "Always 1; the node's name and configured location."},
    {"process_start_time_seconds", kGauge, "", "s", "",
     "Start time of the daemon, since the epoch."},
    {"linkhealth_port_info", kGauge,
     "device,port,netdev,pci,driver,guid,link_layer,function,nic_firmware,board_id,hca_type,peer_"
     "system,peer_port,"
     "peer_source,pod,row,rack,u,rail",
     "", "", "Port identity, far end (and its source), location. Always 1."},
    {"linkhealth_port_maintenance", kGauge, "device,port", "", "",
     "Always 1; the port is in announced maintenance: no fault opens."},
    {"linkhealth_port_health", kGauge, "device,port,health", "", "",
     "Always 1; the port's health (healthy, at_risk, degraded, down, unknown, exempt). One series "
     "a port."},
    {"linkhealth_fault_active", kGauge, "device,port,fault,end,severity,state", "", "",
     "Confidence (0.01 to 0.99) of a fault that is not closed; no series without a fault."},
    {"linkhealth_fault_opened_timestamp_seconds", kGauge, "device,port,fault,end", "s", "",
     "When a fault that is not closed opened."},
    {"linkhealth_fault_lane", kGauge, "device,port,fault,end", "", "",
     "Lane (from 1) that the evidence of a fault names; no series for a fault of the whole link."},
    {"linkhealth_fault_shared", kGauge, "device,port,fault,end,with", "", "",
     "1 on a port that shares a fault which another one (with) has in linkhealth_fault_active."},
    {"linkhealth_fault_events_total", kCounter, "device,port,fault,event", "", "",
     "Fault events since the daemon started (opened, worsened, acknowledged, proving, closed, "
     "reopened). A series starts at its first event and shows 0 for the first minute: scrape at "
     "least once a minute."},
    {"linkhealth_repairs_total", kCounter, "action,outcome", "", "",
     "Repairs of faults that closed since the daemon started: the last repair held, earlier ones "
     "failed. A series shows 0 for its first minute."},
    {"linkhealth_link_up", kGauge, "device,port", "", "", "1 with carrier, 0 without."},
    {"linkhealth_bandwidth_expected_bytes_per_second", kGauge, "device,port", "byte/s", "",
     "Speed that the configuration or the cabling plan expects of the port; without one, the "
     "highest speed seen on it."},
    {"linkhealth_bandwidth_available_bytes_per_second", kGauge, "device,port", "byte/s", "",
     "Speed of the link in bytes, 0 while it is down."},
    {"linkhealth_link_downs_total", kCounter, "device,port,intent", "", "",
     "Carrier losses since the daemon started: involuntary, or voluntary (operator, reboot, driver "
     "reload, changed setting). Drops reclassified later are compensated at the next drop; the "
     "counter never decreases. No series for ports that are not judged (virtual functions whose "
     "physical one is here)."},
    {"linkhealth_link_last_down_timestamp_seconds", kGauge, "device,port", "s", "",
     "Last involuntary carrier loss, possibly before the daemon started. No series for a link "
     "without one."},
    {"linkhealth_link_down_reason_info", kGauge, "device,port,reason,substate", "", "",
     "Always 1; the kernel's reason for a link that is down, in ethtool's words. Only while it is "
     "down, and where the driver reports one."},
    {"linkhealth_pre_fec_ber", kGauge, "device,port", "", "",
     "Bit error ratio before correction, over the configured window."},
    {"linkhealth_fec_uncorrectable_blocks_total", kCounter, "device,port", "", "",
     "Blocks that FEC could not correct: data was lost."},
    {"linkhealth_rx_power_margin_db", kGauge, "device,port", "dB", "",
     "Received power of the worst lane above the module's low alarm."},
    {"linkhealth_peer_read_timestamp_seconds", kGauge, "device,port", "s", "",
     "When the far end was last read; names from the plan have no time."},
    {"linkhealth_trend_days_left", kGauge, "device,port,what,bound", "", "",
     "Days until a slow change (rx_power, tx_bias, pre_fec_ber, temperature) reaches its limit: "
     "estimate, and low and high of the 99% interval; only for significant changes that reach it "
     "within 90 days."},
    {"linkhealth_module_info", kGauge,
     "device,port,kind,type,connector,vendor,part_number,serial,revision,firmware", "", "",
     "Always 1; the module or cable that is plugged in."},
    {"linkhealth_gap", kGauge, "device,port,probe,reason", "", "",
     "Always 1; a source that failed at its last attempt, and the reason. Empty device and port: "
     "the whole node."},
    {"linkhealth_port_sources", kGauge, "device,port,state", "", "",
     "Sources of the port that apply and are offered, by state: readable, or unreadable (at all or "
     "in part). No series where all are readable. linkhealth doctor lists them."},
    {"linkhealth_stuck_probes", kGauge, "", "", "",
     "Hung reads; 0 when there are none. linkhealth_gap names them (reason: no answer within N "
     "s)."},
    {"linkhealth_probe_duration_seconds", kGauge, "probe", "s", "",
     "Time that a probe took in its last cycle."},
    {"linkhealth_loop_lateness_seconds", kGauge, "", "s", "", "How late the last cycle began."},
    {"linkhealth_store_writes_total", kCounter, "", "", "counters",
     "Transactions that were written to linkhealth.db."},
    {"linkhealth_port_state_info", kGauge, "device,port,state,phys_state", "", "counters",
     "Always 1; the verbs port's state and physical state, in the kernel's words."},
    {"linkhealth_store_up", kGauge, "", "", "", "1: the last write to linkhealth.db succeeded."},
    {"linkhealth_store_write_failures_total", kCounter, "", "", "",
     "Failed transactions; their contents wait for the next one."},
    {"linkhealth_store_dropped_total", kCounter, "what", "", "",
     "Rows of history and events that were dropped because the disk did not accept them in time."},
    {"linkhealth_store_trimmed_events_total", kCounter, "", "", "",
     "Old events that were deleted before their time because linkhealth.db had no more room "
     "(database.max_mb)."},
    {"linkhealth_store_size_bytes", kGauge, "", "bytes", "",
     "Size of the contents of linkhealth.db."},
    {"linkhealth_raw_total", kCounter, "device,port,counter", "", "counters",
     "Every counter that could be read, by the kernel's name and in the kernel's unit, also of "
     "ports that are not judged (virtual functions)."},
    {"linkhealth_raw_level", kGauge, "device,port,counter", "", "counters",
     "Kernel counters that go up and down (percent, things in use), by the kernel's name."},
    {"linkhealth_fec_lane_bit_errors_total", kCounter, "device,port,lane", "", "counters",
     "Bits that FEC corrected on one lane (lane 1 first)."},
    {"linkhealth_fec_lane_corrected_blocks_total", kCounter, "device,port,lane", "", "counters",
     "Blocks that FEC corrected on one lane."},
    {"linkhealth_fec_lane_uncorrectable_blocks_total", kCounter, "device,port,lane", "", "counters",
     "Blocks that FEC could not correct on one lane."},
    {"linkhealth_link_sqi", kGauge, "device,port", "", "counters",
     "Signal quality index of a PHY that has one (BASE-T)."},
    {"linkhealth_link_sqi_max", kGauge, "device,port", "", "counters",
     "Highest value of that signal quality index."},
    {"linkhealth_module_import_timestamp_seconds", kGauge, "device,port", "s", "optics",
     "When another program read this end's module (imported reading); no series where the daemon "
     "reads it."},
    {"linkhealth_module_temperature_celsius", kGauge, "device,port", "Celsius", "optics",
     "Temperature of the module."},
    {"linkhealth_module_supply_volts", kGauge, "device,port", "V", "optics",
     "Supply voltage of the module."},
    {"linkhealth_module_lane_rx_power_watts", kGauge, "device,port,lane", "W", "optics",
     "Received optical power of a lane (lane 1 first; 0 is no light)."},
    {"linkhealth_module_lane_tx_power_watts", kGauge, "device,port,lane", "W", "optics",
     "Transmitted optical power of a lane."},
    {"linkhealth_module_lane_tx_bias_amperes", kGauge, "device,port,lane", "A", "optics",
     "Laser bias current of a lane."},
    {"linkhealth_peer_lane_rx_power_watts", kGauge, "device,port,lane", "W", "optics",
     "Optical power that the far end receives on a lane, as it reports; only where a source reads "
     "it."},
    {"linkhealth_peer_lane_tx_power_watts", kGauge, "device,port,lane", "W", "optics",
     "Optical power that the far end transmits on a lane, as it reports."},
    {"linkhealth_module_flag_changes_total", kCounter, "device,port,lane,flag", "", "optics",
     "How often a latched flag of the module was found set or cleared since the module was put in "
     "or the monitor "
     "started; there is no series for a flag that never changed. Empty lane: the whole module."},
    {"linkhealth_module_flag_last_set_timestamp_seconds", kGauge, "device,port,lane,flag", "s",
     "optics", "When a read last found the flag newly set."},
    {"linkhealth_module_flag_last_cleared_timestamp_seconds", kGauge, "device,port,lane,flag", "s",
     "optics", "When a read last found the flag no longer set."},
    {"linkhealth_module_lane_esnr_db", kGauge, "device,port,lane,side", "dB", "optics",
     "Effective signal-to-noise ratio that the module measures on a lane; side: media or host."},
    {"linkhealth_module_lane_ltp_db", kGauge, "device,port,lane,side", "dB", "optics",
     "PAM4 level transition parameter of a lane; 255.99: that or more, nothing lies between the "
     "levels."},
    {"linkhealth_module_pre_fec_ber", kGauge, "device,port,side,statistic", "", "optics",
     "Bit error ratio before correction as the module measures it; statistic: min, max, avg, "
     "current. min, max and avg are of the module's own interval."},
    {"linkhealth_module_errored_frames", kGauge, "device,port,side,statistic", "", "optics",
     "Frames that the module's FEC could not correct, in one of its sampling intervals (as "
     "RS(544,514) frames); total: "
     "all since an unknown time."},
    {"linkhealth_module_fec_tail_symbols", kGauge, "device,port,side,statistic", "", "optics",
     "Most symbol errors of any code word."},
    {"linkhealth_module_laser_age_ratio", kGauge, "device,port", "", "optics",
     "Share of its laser's life that the module reports as used: 0 new, 1 end of life."},
    {"linkhealth_module_laser_frequency_error_hertz", kGauge, "device,port", "Hz", "optics",
     "Deviation of a tunable laser from its channel."},
    {"linkhealth_module_coherent", kGauge, "device,port,monitor", "", "optics",
     "A monitor of a coherent module (OIF C-CMIS), by its name in recordings, which ends with its "
     "unit: osnr_db, "
     "pdl_db, "
     "chromatic_dispersion_ps_per_nm, …"},
    {"linkhealth_pcie_current_link_transfers_per_second", kGauge, "device,port,end", "transfers/s",
     "optics", "Speed of the card's PCIe link, as each end reports (card, bridge)."},
    {"linkhealth_pcie_max_link_transfers_per_second", kGauge, "device,port,end", "transfers/s",
     "optics", "Highest possible speed; of the card: the lesser of both ends."},
    {"linkhealth_pcie_current_link_width", kGauge, "device,port,end", "", "optics",
     "Lanes of the card's PCIe link."},
    {"linkhealth_pcie_max_link_width", kGauge, "device,port,end", "", "optics",
     "Highest possible number of lanes."},
    {"linkhealth_pcie_errors_total", kCounter, "device,port,severity", "", "optics",
     "Errors from PCIe advanced error reporting (correctable, nonfatal, fatal), since the card was "
     "found."},
    {"linkhealth_nic_temperature_celsius", kGauge, "device,port", "Celsius", "optics",
     "The card's hottest sensor (not the module's)."},
    {"linkhealth_nic_critical_temperature_celsius", kGauge, "device,port", "Celsius", "optics",
     "Limit of that sensor."},
});

}  // namespace linkhealth::metric_rows
