#include "tests/support/report_builder.h"

#include <limits>

namespace linkhealth::test {

namespace {

constexpr std::chrono::seconds kExampleUptime(1'036'800);

ModuleSample good_module() {
  ModuleSample module;
  module.kind = "optical";
  module.type = "400G-DR4";
  module.connector = "MPO-12";
  module.vendor = "Example Optics";
  module.part_number = "EX-400-DR4";
  module.serial = "A1B2C3";
  module.revision = "A2";
  module.firmware = "1.7";
  module.length_m = 30;
  module.state = "ModuleReady";
  module.temperature_c = 51.25;
  module.supply_v = 3.29;
  module.lanes.resize(4);
  double rx_power_mw = 0.75;
  for (ModuleLane& lane : module.lanes) {
    lane.rx_power_mw = rx_power_mw;
    lane.tx_power_mw = 1.12;
    lane.tx_bias_ma = 72.0;
    lane.rx_los = false;
    rx_power_mw += 0.03;
  }
  module.thresholds.rx_power_mw = {0.1023, 0.2291, 2.5119, 3.1623};
  return module;
}

PortReport port_with_id(const std::string& device, const std::string& netdev,
                        const std::string& pci) {
  PortReport port;
  port.port = device + "/1";
  port.latest.id =
      PortId{device,     1,           netdev,
             pci,        "mlx5_core", "b83f:d203:0012:345" + device.substr(device.size() - 1),
             "Ethernet", "pf",        true,
             ""};
  return port;
}

FaultReport dirty_connector() {
  FaultReport fault;
  fault.id = "gpu-0417:0000:9a:00.0/1:dirty_connector:1763640312";
  fault.fault = "dirty_connector";
  fault.end = End::kPath;
  fault.severity = Severity::kWarning;
  fault.confidence = 0.83;
  fault.opened_at = example_now() - std::chrono::minutes(187);
  fault.last_seen_at = example_now();
  fault.summary =
      "lane 2 receives -9.1 dBm, 6.0 dB below its baseline; far Tx power is at its baseline";
  fault.lanes = {2};
  fault.evidence = {
      {"rx_power_low", -9.1, "<", -6.4, "dBm", "lane 2", "module's own threshold", "", true},
      {"lane_spread", 6.0, ">", 3.0, "dB", "", "module", "", true},
      {"pre_fec_ber_high", 3.4e-5, ">", 2.4e-5, "", "lane 2", "FEC counters", "", true},
      {"sudden_onset", std::nullopt, "", std::nullopt, "", "", "events",
       "began as a step at 08:53:11Z, 40 s after a carrier loss", true},
      {"far_tx_low", 0.4, ">=", -2.9, "dBm", "lane 2", "leaf-12 (peer)", "", false}};
  fault.missing = {{"far_rx_low", "the far end provides no Rx power",
                    "on leaf-12: show interface Ethernet20/1 transceiver", "damaged fibre (11%)"}};
  fault.ruled_out = {{"module_hot", 51, "<", 70, "C", "", "module", "module temperature", false,
                      "overheated module"}};
  fault.differential = {{"dirty_connector", End::kPath, 0.83},
                        {"damaged_fiber", End::kPath, 0.11},
                        {"failing_transmitter", End::kFar, 0.04},
                        {"bad_module", End::kLocal, 0.02}};
  fault.shares = EvidenceShares{
      "damaged_fiber",
      End::kPath,
      {{"far_rx_low", 2.94}, {"light and errors combined", -1.2}, {"retries", 0.02}}};
  fault.repair = {"clean both ends of the fibre of lane 2 and both module ports (MPO-12 APC)",
                  "replace the jumper", "replace the far module", "replace this module"};
  fault.verify = "Rx power of lane 2 above -4.0 dBm and no uncorrectable block for 30 minutes";
  fault.to_be_sure = "clean one fibre: its Rx power should rise by 1 dB or more";
  return fault;
}

}  // namespace

WallTime example_now() { return WallTime(std::chrono::seconds(1'795'176'000)); }
SteadyTime example_t() { return SteadyTime(kExampleUptime); }

PortReport healthy_port(const std::string& device, const std::string& netdev,
                        const std::string& pci) {
  PortReport port = port_with_id(device, netdev, pci);
  port.health = Health::kHealthy;
  port.peer = "leaf-12 Ethernet17/1";
  LinkSample link;
  link.admin_up = link.carrier = true;
  link.state = "ACTIVE";
  link.phys_state = "LinkUp";
  link.speed_mbps = 400000;
  link.lanes = 4;
  link.fec = "RS544";
  port.latest.link = link;
  port.latest.counters.emplace();
  port.latest.counters->set("port_rcv_data", 123456789012);
  port.latest.counters->set("symbol_error", 0);
  port.latest.counters->set("fec_uncorrectable_blocks", 0);
  port.latest.module = good_module();
  port.latest.peer.emplace();
  port.latest.peer->source = "lldp";
  port.latest.peer->system = "leaf-12";
  port.latest.peer->port = "Ethernet17/1";
  port.figures.pre_fec_ber = 2.1e-8;
  port.figures.ber_window_s = 720;
  port.figures.pre_fec_ber_normal = 1.9e-8;
  port.figures.worst_rx_power_dbm = -1.2;
  port.figures.worst_rx_lane = 1;
  port.figures.rx_power_margin_db = 8.7;
  port.figures.carrier_since = example_t() - std::chrono::hours(290);
  port.expected.speed_mbps = 400000;
  port.symptoms = {{"rx_power_low", "absent", ""}, {"carrier_flaps", "absent", ""}};
  return port;
}

PortReport dirty_port() {
  PortReport port = healthy_port("mlx5_3", "ens4np0", "0000:9a:00.0");
  port.health = Health::kDegraded;
  port.peer = "leaf-12 Ethernet20/1";
  port.latest.peer->port = "Ethernet20/1";
  port.latest.peer->module.emplace();
  port.latest.peer->module->lanes.resize(4);
  for (ModuleLane& lane : port.latest.peer->module->lanes) lane.tx_power_mw = 1.0965;
  port.latest.module->lanes[1].rx_power_mw = 0.123;
  port.latest.counters->set("fec_uncorrectable_blocks", 7);
  port.figures.pre_fec_ber = 3.4e-5;
  port.figures.worst_rx_power_dbm = -9.1;
  port.figures.worst_rx_lane = 2;
  port.figures.rx_power_margin_db = 0.8;
  port.figures.rx_power_lost_db = 6.0;
  port.figures.rx_power_lost_lane = 2;
  port.figures.involuntary_downs_24h = port.figures.involuntary_downs_total =
      port.figures.involuntary_downs_told = 2;
  port.figures.voluntary_downs_total = 1;
  port.faults = {dirty_connector()};
  port.symptoms = {{"rx_power_low", "present", ""},
                   {"carrier_flaps", "absent", ""},
                   {"far_rx_low", "unknown", "the far end provides no Rx power"}};
  return port;
}

PortReport down_port() {
  PortReport port = healthy_port("mlx5_7", "ens8np0", "0000:db:00.0");
  port.health = Health::kDown;
  port.peer = "leaf-14 Ethernet17/1";
  port.latest.peer->system = "leaf-14";
  port.latest.link->carrier = false;
  port.latest.link->speed_mbps.reset();
  port.latest.link->down_reason = DownReason{"No cable", ""};
  for (ModuleLane& lane : port.latest.module->lanes) lane.rx_power_mw = 0;
  port.figures = {};
  port.figures.worst_rx_power_dbm = -std::numeric_limits<double>::infinity();
  port.figures.worst_rx_lane = 1;
  port.figures.involuntary_downs_24h = port.figures.involuntary_downs_total =
      port.figures.involuntary_downs_told = 1;
  port.figures.carrier_since = example_t() - std::chrono::minutes(190);
  FaultReport fault;
  fault.fault = "far_port_down";
  fault.end = End::kFar;
  fault.severity = Severity::kCritical;
  fault.confidence = 0.91;
  fault.opened_at = example_now() - std::chrono::minutes(190);
  fault.last_seen_at = example_now();
  fault.summary = "no light on any lane, and all links to leaf-14 went down within 2 s";
  fault.repair = {"ask the network team: do not touch the cable"};
  fault.differential = {{"far_port_down", End::kFar, 0.91}, {"unplugged", End::kPath, 0.09}};
  port.faults = {fault};
  return port;
}

PortReport exempt_port() {
  PortReport port = port_with_id("mlx5_8", "ens9np0", "0000:dc:00.0");
  port.health = Health::kExempt;
  port.exempt = "not cabled by plan";
  port.latest.link.emplace();
  port.latest.link->carrier = false;
  return port;
}

PortReport measured_port() {
  PortReport port = healthy_port("mlx5_9", "eth9", "");
  ModuleSample& module = *port.latest.module;
  module.vdm.media_esnr_db = {21.5, 0, 20.25};  // 0: this lane has none
  module.vdm.host_ltp_db = {33};
  module.vdm.media_pre_fec_ber = {1e-9, 3e-7, 2e-8, 1.5e-8, std::nullopt};
  module.vdm.host_errored_frames.current = 0;
  module.vdm.media_fec_tail_symbols.max = 7;
  module.vdm.laser_age_percent = 25;
  module.vdm.laser_frequency_error_mhz = -150;
  module.coherent.osnr_db = 28.5;
  module.coherent.carrier_frequency_offset_mhz = -40;
  port.latest.link->sqi = 6;
  port.latest.link->sqi_max = 7;
  port.latest.fec_lanes = {{1000, std::nullopt, std::nullopt}, {std::nullopt, 12, 3}};
  PcieSample& pcie = port.latest.pcie.emplace();
  pcie.speed_gtps = 16;
  pcie.max_speed_gtps = 32;
  pcie.width = 8;
  pcie.max_width = 16;
  pcie.bridge_width = 8;
  pcie.aer_correctable = 4;
  pcie.aer_fatal = 0;
  pcie.nic_temperature_c = 61.5;
  pcie.nic_critical_temperature_c = 105;
  return port;
}

PortReport blind_port() {
  PortReport port = port_with_id("mlx5_9", "", "0000:dd:00.0");
  port.health = Health::kUnknown;
  port.gaps = {{port.port, "counters", "EINVAL from the device"}, {port.port, "module", "EBUSY"}};
  return port;
}

Report example_report() {
  Report report;
  report.node = "gpu-0417";
  report.at = example_now() - Milliseconds(400);
  report.t = example_t();
  report.ports = {healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0"), dirty_port(), down_port(),
                  exempt_port(), blind_port()};
  report.gaps = {{"", "kernel_log", "no permission to read /dev/kmsg"}};
  report.timings = {{"counters", 0.00125}, {"link", 0.0005}};
  return report;
}

FaultEvent example_event(FaultEventKind kind) {
  return {example_t(), example_now(), kind, "mlx5_3/1", dirty_connector()};
}

}  // namespace linkhealth::test
