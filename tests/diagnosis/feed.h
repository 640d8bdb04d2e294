// Snapshots of one healthy optical port, to be changed by a test: the shortest way to a history.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "model/json/old_gaps.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Feeds a snapshot every `period_s`; a test changes `link`, `counters`, `module` between the
/// ticks.
struct Feed {
  PortKey key = "mlx5_0/1";
  double t = 0;
  double period_s = 10;
  double uptime_s = 100000;
  std::string link_layer = "Ethernet";
  LinkSample link;
  Counters counters;
  ModuleSample module;
  std::vector<PortEvent> events;
  std::vector<Gap> gaps;        ///< reads that fail with each tick
  std::vector<Gap> gaps_ended;  ///< with the next one only
  double bits_per_s = 4000;     ///< corrected: BER 1e-8 at 400G
  std::string driver = "mlx5_core";
  std::vector<FecLane> fec_lanes;  ///< of what the driver gives; their increase goes to one of them
  std::size_t bad_fec_lane = 0;
  bool readable = true, module_readable = true;

  Feed() {
    link.admin_up = true;
    link.carrier = true;
    link.state = "ACTIVE";
    link.phys_state = "LinkUp";
    link.speed_mbps = 400000;
    link.lanes = 4;
    link.fec = "RS544";
    link.carrier_up_count = 1;
    link.carrier_down_count = 0;
    counters.set("fec_corrected_bits", 1000000);
    counters.set("fec_uncorrectable_blocks", 3);
    counters.set("port_rcv_data", 1000000);
    counters.set("port_xmit_data", 1000000);
    module.kind = "optical";
    module.connector = "MPO-12";
    module.serial = "A1";
    module.temperature_c = 50;
    module.lanes.resize(4);
    for (ModuleLane& lane : module.lanes) {
      lane.rx_power_mw = 0.8;
      lane.tx_power_mw = 1.0;
      lane.tx_bias_ma = 70;
    }
  }

  void add(std::string_view name, std::uint64_t by) {
    counters.set(name, counters.get(name).value_or(0) + by);
  }
  void add_bits(std::uint64_t by) {
    add("fec_corrected_bits", by);
    for (std::size_t i = 0; i < fec_lanes.size(); ++i)
      fec_lanes[i].corrected_bits =
          fec_lanes[i].corrected_bits.value_or(0) + (i == bad_fec_lane ? by : by / 100000);
  }
  /// Its link has neither an administrator's flag nor counts of its carrier.
  void be_infiniband() {
    link_layer = "InfiniBand";
    link.admin_up.reset();
    link.carrier_up_count.reset();
    link.carrier_down_count.reset();
  }
  void event(PortEventKind kind, double at, std::string text = "") {
    events.push_back({steady_from_seconds(at), key, kind, std::move(text)});
  }
  void pull(double at) {  ///< the carrier goes
    link.carrier = false;
    link.state = "DOWN";
    link.phys_state = "Polling";
    link.carrier_down_count = *link.carrier_down_count + 1;
    event(PortEventKind::kCarrierDown, at);
  }
  void plug(double at) {
    link.carrier = true;
    link.state = "ACTIVE";
    link.phys_state = "LinkUp";
    link.down_reason.reset();
    link.carrier_up_count = *link.carrier_up_count + 1;
    event(PortEventKind::kCarrierUp, at);
  }
  void receive_mw(double power) {
    for (ModuleLane& lane : module.lanes) lane.rx_power_mw = power;
  }

  Snapshot tick() {
    t += period_s;
    uptime_s += period_s;
    if (link.carrier == true && bits_per_s > 0)
      add_bits(static_cast<std::uint64_t>(bits_per_s * period_s));
    Snapshot snapshot;
    snapshot.taken_at = steady_from_seconds(t);
    snapshot.wall_time = WallTime(Milliseconds(1763640000000)) + from_seconds(t);
    snapshot.uptime_s = uptime_s;
    PortSample port;
    PortId& id = port.id;
    id.device = key.substr(0, key.find('/'));
    id.netdev = "ens1np0";
    id.pci = "0000:1b:00.0";
    id.driver = driver;
    id.link_layer = link_layer;
    id.function = "pf";
    if (readable) {
      port.link = link;
      port.counters = counters;
      port.fec_lanes = fec_lanes;
      if (module_readable) port.module = module;
    }
    snapshot.ports[key] = port;
    snapshot.events = std::move(events);
    events.clear();
    convert(snapshot, gaps, std::exchange(gaps_ended, {}));
    return snapshot;
  }
  /// The sources of a snapshot, by what of it could not be read.
  void convert(Snapshot& snapshot, std::vector<Gap> failed, std::vector<Gap> ended = {}) {
    converter.convert({std::move(failed), std::move(ended)}, snapshot);
  }
  OldGapConverter converter;
};

}  // namespace linkhealth
