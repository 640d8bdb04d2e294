#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "exporters/metrics.h"

namespace linkhealth {

namespace {

using enum MetricType;

constexpr std::array kMetrics = std::to_array<MetricInfo>({
    {"linkhealth_build_info", kGauge, "version", "", "", "Always 1; the version of the monitor."},
    {"linkhealth_last_sample_timestamp_seconds", kGauge, "", "s", "",
     "When the last sample was taken; old means that nothing below can be trusted."},
    {"linkhealth_port_info", kGauge, "device,port,netdev,pci,driver,guid,link_layer,function,peer_system,peer_port", "",
     "", "Always 1; who a port is and what is at the far end of its cable."},
    {"linkhealth_place_info", kGauge, "device,port,row,rack,u,pod,rail,peer_rack,peer_u", "", "",
     "Always 1; where the node and the far end stand, by configuration and plan. None where neither says so."},
    {"linkhealth_port_maintenance", kGauge, "device,port", "", "",
     "Always 1; somebody works on the port by announcement: nothing is raised meanwhile."},
    {"linkhealth_nic_info", kGauge, "device,port,firmware,board_id,hca_type", "", "",
     "Always 1; firmware, board and type of the NIC, of RDMA devices whose driver says so."},
    {"linkhealth_port_state_info", kGauge, "device,port,state,phys_state", "", "",
     "Always 1; the verbs port's state and physical state, in the kernel's words."},
    {"linkhealth_port_health", kGauge, "device,port,health", "", "",
     "State set: 1 for the health that the port has (healthy, at_risk, degraded, down, unknown, exempt), 0 for the "
     "others."},
    {"linkhealth_fault_active", kGauge, "device,port,fault,end,severity,state", "", "",
     "Confidence (0 to 1) of a fault that is not closed; there is no series without a fault."},
    {"linkhealth_fault_opened_timestamp_seconds", kGauge, "device,port,fault,end", "s", "",
     "When a fault that is not closed was opened."},
    {"linkhealth_fault_events_total", kCounter, "fault,event", "", "",
     "What happened to faults since the monitor started (opened, worsened, acknowledged, proving, closed, reopened)."},
    {"linkhealth_link_up", kGauge, "device,port", "", "", "1 while the port has a carrier, 0 while it has none."},
    {"linkhealth_link_speed_bytes_per_second", kGauge, "device,port", "byte/s", "",
     "Speed that the link came up with (in bytes: Prometheus knows no bits)."},
    {"linkhealth_bandwidth_expected_bytes_per_second", kGauge, "device,port", "byte/s", "",
     "Speed that configuration or the cabling plan asks of the port."},
    {"linkhealth_bandwidth_available_bytes_per_second", kGauge, "device,port", "byte/s", "",
     "Speed of the link now, 0 while it is down; only where a speed is expected."},
    {"linkhealth_link_downs_total", kCounter, "device,port,intent", "", "",
     "Carrier losses since the monitor started: involuntary, or voluntary (an administrator, a reboot, a driver "
     "reload)."},
    {"linkhealth_pre_fec_ber", kGauge, "device,port", "", "",
     "Bit error ratio before correction, over the configured window."},
    {"linkhealth_fec_uncorrectable_blocks_total", kCounter, "device,port", "", "",
     "Blocks that FEC could not correct: data was lost."},
    {"linkhealth_rx_power_margin_db", kGauge, "device,port", "dB", "",
     "Received power of the worst lane above the module's low alarm."},
    {"linkhealth_module_info", kGauge, "device,port,kind,type,connector,vendor,part_number,serial,revision,firmware",
     "", "", "Always 1; the module or cable that is plugged in."},
    {"linkhealth_gap", kGauge, "device,port,probe,reason", "", "",
     "Always 1; something that could not be read in its last attempt, and why. Empty device and port: the whole node."},
    {"linkhealth_stuck_probes", kGauge, "", "", "",
     "Reads that began and do not come back; 0 when all is well. linkhealth_gap names them (reason: no answer within "
     "N s)."},
    {"linkhealth_probe_duration_seconds", kGauge, "probe", "s", "", "Time that a probe took in its last cycle."},
    {"linkhealth_firmware_reads_total", kCounter, "", "", "",
     "Reads of the classic InfiniBand counter files and requests for hw_counters, all ports: on mlx5 each costs at "
     "least one firmware command. Scrapes add none."},
    {"linkhealth_loop_lateness_seconds", kGauge, "", "s", "", "How late the last cycle began."},
    {"linkhealth_raw_total", kCounter, "device,port,counter", "", "counters",
     "Every counter that could be read, by the kernel's own name and in the kernel's own unit."},
    {"linkhealth_module_temperature_celsius", kGauge, "device,port", "Celsius", "optics", "Temperature of the module."},
    {"linkhealth_module_supply_volts", kGauge, "device,port", "V", "optics", "Supply voltage of the module."},
    {"linkhealth_module_lane_rx_power_watts", kGauge, "device,port,lane", "W", "optics",
     "Received optical power of a lane (lane 1 first; 0 is no light)."},
    {"linkhealth_module_lane_tx_power_watts", kGauge, "device,port,lane", "W", "optics",
     "Sent optical power of a lane."},
    {"linkhealth_module_lane_tx_bias_amperes", kGauge, "device,port,lane", "A", "optics",
     "Laser bias current of a lane."},
    {"linkhealth_module_flag_changes_total", kCounter, "device,port,lane,flag", "", "optics",
     "How often a latched flag of the module was found set or cleared since the module was put in or the monitor "
     "started; there is no series for a flag that never changed. Empty lane: the whole module."},
    {"linkhealth_module_flag_last_set_timestamp_seconds", kGauge, "device,port,lane,flag", "s", "optics",
     "When a read last found the flag newly set."},
    {"linkhealth_module_flag_last_cleared_timestamp_seconds", kGauge, "device,port,lane,flag", "s", "optics",
     "When a read last found the flag no longer set."},
});

std::string label_words(std::string_view labels) {
  if (labels.empty()) return "-";
  std::string words;
  for (const std::string_view label : split(labels, ','))
    words += fmt::format("{}`{}`", words.empty() ? "" : " ", label);
  return words;
}

void append_group(std::string& text, std::string_view group) {
  text += "| metric | type | labels | unit | meaning |\n|---|---|---|---|---|\n";
  for (const MetricInfo& metric : kMetrics)
    if (metric.group == group)
      text += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.name, metric.type == kCounter ? "counter" : "gauge",
                          label_words(metric.labels), metric.unit.empty() ? "-" : metric.unit, metric.help);
}

}  // namespace

std::span<const MetricInfo> metric_table() { return kMetrics; }

std::string metrics_reference() {
  std::string text =
      "# Metrics\n\n"
      "Made from the metric table in `exporters/metrics_table.cpp`; a test compares this page with it\n"
      "(`LINKHEALTH_ACCEPT=1` rewrites the page).\n\n"
      "A value that is not known has no series: absent is not zero. `device` and `port` are the names of the verbs "
      "device\n"
      "and its port number, or the network interface and 1 for a plain Ethernet port. Names may change at a reboot; "
      "join on\n"
      "`instance, device, port`, and take what lasts (`pci`, `guid`, the far end) from `linkhealth_port_info`.\n"
      "Counters begin again when the monitor starts, as `rate()` and `increase()` expect.\n\n"
      "## Always\n\n";
  append_group(text, "");
  text +=
      "\n## Raw counters: `/metrics?collect[]=counters`\n\n"
      "One series for each counter of each port: hundreds a port on some hardware.\n\n";
  append_group(text, "counters");
  text += "\n## Optics, lane by lane: `/metrics?collect[]=optics`\n\n";
  append_group(text, "optics");
  text += "\nBoth groups: `/metrics?collect[]=counters&collect[]=optics`. The default set is always included.\n";
  return text;
}

}  // namespace linkhealth
