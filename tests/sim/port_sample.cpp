// What the probes of a simulated port read: the link, the driver's counters, the module's meters,
// the far end.
#include <algorithm>
#include <cmath>

#include "tests/sim/port.h"

namespace linkhealth::sim {

DownReason PortSim::physical_reason() const {
  if (!now.reason.state.empty()) return now.reason;
  if (!now.module_present) return {"No cable", ""};
  if (!now.admin_up) return {};
  bool dark = false;
  bool weak = false;
  for (std::size_t lane = 0; lane < link.lanes(); ++lane) {
    const double margin = link.margin_db(Way::kIn, lane, temperature_c);
    dark = dark || margin < -15;
    weak = weak || margin < -1;
  }
  if (!now.far_admin_up || !now.far_module_present) return {"Autoneg", "No partner detected"};
  if (dark) return {"Bad signal integrity", "Serdes ALOS"};
  if (weak) return {"Logical mismatch", "PCS did not acquire AM lock"};
  return {"Link training failure", "Remote side is not ready yet"};
}

LinkSample PortSim::sample_link() const {
  LinkSample out;
  const Medium& medium = *setup.medium;
  const bool up = carrier_;
  out.admin_up = now.admin_up;
  out.carrier = up;
  out.state = up ? "ACTIVE" : "DOWN";
  out.mtu_bytes = 4200;
  out.fec = !fec.empty()                ? fec
            : medium.fec == Fec::kRs544 ? "RS544"
            : medium.fec == Fec::kRs528 ? "RS528"
                                        : "Off";
  out.autoneg = false;
  out.carrier_up_count = unused ? 0 : up_count_;
  out.carrier_down_count = unused ? 0 : down_count_;
  if (up) {
    out.phys_state = "LinkUp";
    out.speed_mbps = static_cast<std::uint32_t>(medium.speed_mbps * now.speed_factor);
    out.lanes = medium.lanes;
    return out;
  }
  out.phys_state = "Disabled";
  if (infiniband() && now.admin_up)
    out.phys_state = now.settings_match ? "Polling" : "PortConfigurationTraining";
  if (setup.driver->down_reason && now.admin_up) {
    const DownReason reason = unused ? DownReason{"No cable", ""} : physical_reason();
    if (!reason.state.empty()) out.down_reason = reason;
  }
  return out;
}

namespace {

/// Text at the place of the meters, as decoded by the daemon.
void misread(ModuleSample& out) {
  out.checksums_ok = false;
  out.warnings = {"checksum of A2h is wrong", "A2h is a copy of A0h: its readings are left out"};
  out.thresholds = {};
  out.vdm = {};
  out.temperature_c.reset();
  out.supply_v.reset();
  out.lanes.clear();
}

}  // namespace

ModuleSample PortSim::sample_module() {
  const Medium& medium = *setup.medium;
  ModuleSample out;
  if (!now.module_present || unused) {
    out.present = false;
    return out;
  }
  // If a module's management does not answer, the driver's cache provides its identity, and nothing
  // else.
  if (now.module_managed) out = read_module(link, ddm, Way::kIn, temperature_c, rng);
  if (out.supply_v) *out.supply_v -= now.supply_drop_v;
  switch (medium.build) {
    case Build::kOptical:
      out.kind = "optical";
      break;
    case Build::kAoc:
      out.kind = "aoc";
      break;
    case Build::kDac:
      out.kind = "dac";
      break;
    case Build::kAcc:
      out.kind = "acc";
      break;
  }
  out.type = type.empty() ? std::string(medium.name) : type;
  out.connector =
      medium.connector == "none" ? "No separable connector" : std::string(medium.connector);
  out.vendor = vendor_;
  out.part_number = part_;
  out.serial = serial_;
  out.revision = revision_;
  out.date = date_;
  out.length_m = length_m_;
  if (medium.build == Build::kDac) return out;
  out.firmware = firmware_;
  out.state = now.module_state;
  out.fault_cause = now.fault_cause;
  // A driver disables the module of a port that is administratively down, and sends it nothing.
  out.low_pwr_request_sw = now.held_low || !now.admin_up;
  if (*out.low_pwr_request_sw) out.state = "ModuleLowPwr";
  if (now.bad_pages) misread(out);
  for (ModuleLane& lane : out.lanes) {
    lane.tx_disabled = now.held_dark;
    if (lane.tx_los) lane.tx_los = lane.tx_lol = now.host_silent || !now.admin_up;
  }
  return out;
}

/// The lanes of all ports: no register shows which belong to which port.
ModuleSample PortSim::sample_cage() {
  ModuleSample out = cage.front()->sample_module();
  bool mixed_up = cage.front()->now.bad_pages;
  for (PortSim* other : cage) {
    mixed_up = mixed_up || other->now.bad_pages;
    if (other == cage.front() || !out.present) continue;
    const ModuleSample more = other->sample_module();
    out.lanes.insert(out.lanes.end(), more.lanes.begin(), more.lanes.end());
    auto& snr = out.vdm.media_esnr_db;
    snr.insert(snr.end(), more.vdm.media_esnr_db.begin(), more.vdm.media_esnr_db.end());
    // A driver puts the module into low power if none of its ports is enabled.
    if (out.low_pwr_request_sw)
      out.low_pwr_request_sw = *out.low_pwr_request_sw && more.low_pwr_request_sw == true;
    if (more.state != "ModuleLowPwr") out.state = more.state;
  }
  if (mixed_up) misread(out);  // there is one memory: no port keeps its lanes
  return out;
}

/// A collector reads each switch at intervals; between them it returns its last values.
std::optional<PeerSample> PortSim::told_peer(double t, std::vector<Gap>& gaps) {
  const bool repeats = setup.telemetry_s > 0 && setup.peer_source == "telemetry";
  if (!repeats || !last_peer_ || t - peer_read_at_ >= setup.telemetry_s) {
    std::vector<Gap> failed;
    const auto read = sample_peer(t, failed);
    if (!repeats || (!read && (!last_peer_ || t - peer_read_at_ > 600))) {
      gaps.insert(gaps.end(), failed.begin(), failed.end());
      return read;
    }
    if (read) {
      last_peer_ = read;
      peer_read_at_ = t - read->age_s.value_or(0);
    }
  }
  PeerSample out = *last_peer_;
  out.age_s = std::round(10.0 * (t - peer_read_at_)) / 10.0;
  return out;
}

std::optional<PeerSample> PortSim::sample_peer(double t, std::vector<Gap>& gaps) {
  if (setup.far_level == 0) return std::nullopt;
  const double down_for = carrier_ ? 0 : t - changed_at_;
  if (setup.peer_source == "mad" && !carrier_) {  // no MAD passes a link that is down
    gaps.push_back({setup.id.key(), "peer", "ETIMEDOUT"});
    return std::nullopt;
  }
  if (setup.peer_source == "lldp" && down_for > 120) return std::nullopt;
  if (!now.far_reachable) {
    gaps.push_back({setup.id.key(), "peer", "ETIMEDOUT"});
    return std::nullopt;
  }
  PeerSample out;
  out.source = setup.peer_source;
  const double age = setup.peer_source == "mad" ? rng.uniform(0.3, 3.0) : rng.uniform(0, 30);
  out.age_s = std::round(10.0 * std::min(age, std::max(0.0, t - changed_at_))) / 10.0;
  out.system = setup.leaf;
  out.port = setup.far_port;
  if (infiniband()) out.guid = setup.far_guid;
  if (setup.far_level < 2) return out;
  LinkSample far;
  far.state = carrier_ ? "ACTIVE" : "DOWN";
  far.phys_state = carrier_ ? "LinkUp" : now.far_admin_up ? "Polling" : "Disabled";
  far.admin_up = now.far_admin_up;
  far.speed_mbps = static_cast<std::uint32_t>(setup.medium->speed_mbps * now.speed_factor);
  out.link = far;
  const auto capped = [this](double value, double limit) {
    return static_cast<std::uint64_t>(infiniband() ? std::min(value, limit) : value);
  };
  Counters counters;
  counters.set("symbol_error", capped(far_symbol_errors_, 65535));
  counters.set("link_downed", capped(far_link_downed_, 255));
  counters.set("port_rcv_errors", capped(far_rcv_errors_, 65535));
  if (infiniband()) counters.set("port_rcv_remote_physical_errors", 0);
  out.counters = counters;
  if (setup.far_level < 3) return out;
  ModuleSample module;
  module.present = now.far_module_present;
  if (module.present) {
    const ModuleSample reading = read_module(link, far_ddm, Way::kOut, far_temperature_c, rng);
    module.temperature_c = reading.temperature_c;
    for (const ModuleLane& lane : reading.lanes) {
      ModuleLane shown;
      shown.rx_power_mw = lane.rx_power_mw;
      shown.tx_power_mw = lane.tx_power_mw;
      if (setup.peer_source == "telemetry" && far_ddm.whole_degrees)
        shown.tx_bias_ma = lane.tx_bias_ma;
      module.lanes.push_back(shown);
    }
  }
  out.module = module;
  return out;
}

PcieSample PortSim::sample_pcie() const {
  PcieSample read = pcie;
  read.width = static_cast<std::uint32_t>(std::max(1.0, *pcie.max_width * now.pcie_width_factor));
  read.speed_gtps = *pcie.max_speed_gtps * now.pcie_speed_factor;
  if (now.above_narrow || now.above_gtps > 0) {
    PcieLink& above = read.above.emplace();
    above.bridge = setup.id.pci.substr(0, 5) + "02:01.0";
    above.max_width = pcie.max_width;
    above.width = now.above_narrow ? *pcie.max_width / 4 : *pcie.max_width;
    above.max_speed_gtps = pcie.max_speed_gtps;
    above.speed_gtps = now.above_gtps > 0 ? now.above_gtps : *pcie.max_speed_gtps;
  }
  return read;
}

PortSample PortSim::sample(double t, bool optics, bool peer, bool with_pcie,
                           std::vector<Gap>& gaps) {
  PortSample out;
  out.id = setup.id;
  const auto blind = [this](std::string_view probe) {
    return std::find(now.blind.begin(), now.blind.end(), probe) != now.blind.end();
  };
  const auto gap = [&](const char* probe) {
    gaps.push_back({setup.id.key(), probe, now.blind_reason});
  };
  if (blind("link")) {
    gap("link");
  } else {
    out.link = sample_link();
  }
  if (blind("counters")) {
    gap("counters");
  } else if (!virtual_function) {
    Counters counters;
    for (const auto& [name, value] : tally_.values()) counters.set(name, value);
    if (!now.counters_frozen || !last_counters_) last_counters_ = counters;
    out.counters = last_counters_;
    if (has_lanes_ && !now.counters_frozen) {
      for (const double bits : lane_bits_) {
        FecLane lane;
        lane.corrected_bits = static_cast<std::uint64_t>(bits);
        out.fec_lanes.push_back(lane);
      }
    }
  }
  if (optics && !virtual_function) {
    if (blind("module")) {
      gap("module");
    } else if (setup.empty_fails && (unused || !now.module_present)) {
      gaps.push_back({setup.id.key(), "module", "EIO"});
    } else if (rng.chance(0.012)) {
      gaps.push_back({setup.id.key(), "module", rng.chance(0.3) ? "EBUSY" : "EIO"});
    } else {
      out.module = cage.empty() ? sample_module() : sample_cage();
    }
  }
  if ((peer || setup.telemetry_s > 0) && !virtual_function && !unused)
    out.peer = told_peer(t, gaps);
  if (with_pcie) out.pcie = sample_pcie();
  return out;
}

}  // namespace linkhealth::sim
