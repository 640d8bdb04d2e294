// Symptoms of the light: what is sent, what arrives, at both ends.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr std::string_view kNoPowers = "the module gives no powers";
constexpr std::string_view kNoFarPowers = "the peer gives no module data";

bool optical(const PortView& v) { return v.medium != Medium::kCopper; }

Finding no_light(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.light.rx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  return Case(Reader::kModule).holds("no light on any lane", v.light.rx_dark_all).close();
}
Finding some_lanes_dark(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.light.rx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  return Case(Reader::kModule)
      .lane(v.light.worst_rx_lane)
      .holds("no light on some lanes", v.light.rx_dark_some)
      .close();
}
constexpr Knob kThereKnobs[] = {
    {"there_dbm", -9, -20, 0, "dBm", "less light than this is not enough for any receiver here (docs/physics.md 7a)"},
    {"lost_db", 1.5, 0.3, 10, "dB", "lost against its own past: then it is not as before"},
    {"sibling_db", 3.2, 1, 10, "dB", "the same against the other lanes, where there is no past"}};
Finding light_there(const PortView& v, KnobValues k) {
  if (!v.down) return not_known("the link is up");
  if (v.light.rx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  const bool past = !v.light.rx || v.light.rx->sigma_db <= 0.4;
  return Case(Reader::kModule)
      .lane(v.light.worst_rx_lane)
      .at_least("received power", v.light.worst_rx_dbm, k[0], "dBm")
      .below(past ? "light lost against its own past" : "light lost against the other lanes",
             v.light.rx ? v.light.rx->db : 0, past ? k[1] : std::max(k[2], 3 * v.light.rx->sigma_db), "dB")
      .close();
}

constexpr Knob kLowKnobs[] = {
    {"drop_db", 1.2, 0.3, 10, "dB", "below its own reference: read noise 0.07, remating 0.3"},
    {"sibling_db", 3.2, 1, 10, "dB",
     "below the other lanes, where there is no past: of eight good ones the lowest is 1.5 (7a)"}};
Finding low(const std::optional<Drop>& drop, Reader reader, std::string_view what, std::string_view unknown,
            KnobValues k) {
  if (!drop) return not_known(unknown);
  const double limit = drop->sigma_db > 0.4 ? std::max(k[1], 3 * drop->sigma_db) : k[0];
  return Case(reader).lane(drop->lane).at_least(what, drop->db, limit, "dB").close();
}
Finding light_low(const PortView& v, KnobValues k) {
  if (!v.light.rx_fresh && v.down) return not_known(kNoPowers);
  return low(v.light.rx, Reader::kModule, "received power lost", kNoPowers, k);
}
Finding tx_low(const PortView& v, KnobValues k) {
  return low(v.light.tx, Reader::kModule, "sent power lost", kNoPowers, k);
}
Finding far_tx_low(const PortView& v, KnobValues k) {
  return low(v.light.far_tx, Reader::kPeer, "power sent by the far end lost", kNoFarPowers, k);
}
Finding far_rx_low(const PortView& v, KnobValues k) {
  return low(v.light.far_rx, Reader::kPeer, "power received by the far end lost", kNoFarPowers, k);
}

Finding lane_reads_dark(const PortView& v, KnobValues) {
  if (!v.up || v.light.rx_lanes == 0) return not_known(v.up ? kNoPowers : "the link is down");
  if (!v.light.rx_fresh) return not_known(kNoPowers);
  return Case(Reader::kModule)
      .lane(v.light.worst_rx_lane)
      .below("received power while the link carries", v.light.worst_rx_dbm, -20, "dBm")
      .close();
}

Finding tx_fault(const PortView& v, KnobValues) {
  const auto& module = v.port.latest.module;
  if (!module || !optical(v)) return not_known(kNoPowers);
  if (v.link().admin_up == false) return not_known("the port is set down");
  if (!v.light.rx_fresh) return not_known("the module was not read since the link changed");
  std::optional<bool> fault;
  int lane = -1;
  for (std::size_t i = 0; i < module->lanes.size(); ++i)
    if (module->lanes[i].tx_fault) {
      // The flag is latched: light as ever means that it is an old one.
      const auto drop = i < kMaxLanes ? v.port.own.tx_dbm[i].drop() : std::nullopt;
      const bool now = *module->lanes[i].tx_fault && (!drop || *drop > 0.7);
      fault = fault.value_or(false) || now;
      if (now) lane = static_cast<int>(i);
    }
  return Case(Reader::kModule).lane(lane).holds("the module reports a laser fault", fault).close();
}

constexpr Knob kBiasKnobs[] = {{"ratio", 1.2, 1.05, 3, "", "times its early median, the other lanes' move taken off"}};
Finding bias_high(const PortView& v, KnobValues k) {
  if (!v.light.bias_ratio) return not_known("the module gives no bias");
  return Case(Reader::kModule)
      .lane(v.light.bias_lane)
      .at_least("laser bias against its past", v.light.bias_ratio, k[0])
      .close();
}

Finding tx_off(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.port.own.tx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  double least = 99;
  int lane = -1;
  for (std::size_t i = 0; i < v.port.own.tx_lanes; ++i)
    if (v.port.own.tx_dbm[i].recent_count > 0 && v.port.own.tx_dbm[i].recent[0] < least) {
      least = v.port.own.tx_dbm[i].recent[0];
      lane = static_cast<int>(i);
    }
  return Case(Reader::kModule).lane(lane).below("sent power", least, -20, "dBm").close();
}

Finding far_tx_off(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (!v.light.far_fresh || v.port.far.tx_lanes == 0) return not_known(kNoFarPowers);
  double least = 99;
  int lane = -1;
  for (std::size_t i = 0; i < v.port.far.tx_lanes; ++i)
    if (v.port.far.tx_dbm[i].recent_count > 0 && v.port.far.tx_dbm[i].recent[0] < least) {
      least = v.port.far.tx_dbm[i].recent[0];
      lane = static_cast<int>(i);
    }
  return Case(Reader::kPeer).lane(lane).below("power sent by the far end", least, -20, "dBm").close();
}
Finding far_rx_dark(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (!v.light.far_fresh || v.port.far.rx_lanes == 0) return not_known(kNoFarPowers);
  return Case(Reader::kPeer).holds("no light at the far end", v.light.far_rx_dark_all).close();
}

Finding no_lock_with_light(const PortView& v, KnobValues) {
  const auto& module = v.port.latest.module;
  if (!module || !v.light.rx_fresh) return not_known(kNoPowers);
  std::optional<bool> lol;
  int lane = -1;
  for (std::size_t i = 0; i < module->lanes.size(); ++i) {
    if (!module->lanes[i].rx_lol) continue;
    const bool lit = module->lanes[i].rx_power_mw && to_dbm(*module->lanes[i].rx_power_mw) > -12;
    const bool this_lane = *module->lanes[i].rx_lol && lit;
    lol = lol.value_or(false) || this_lane;
    if (this_lane) lane = static_cast<int>(i);
  }
  return Case(Reader::kModule).lane(lane).holds("light but no clock lock", lol).close();
}

constexpr Symptom kRows[] = {
    {kNoLight, "no_light", "no light arrives", {}, &no_light, "read the received power (ethtool -m)"},
    {kSomeLanesDark,
     "some_lanes_dark",
     "no light on some lanes",
     {},
     &some_lanes_dark,
     "read the received power (ethtool -m)"},
    {kLightThere, "light_there", "light arrives as before, though the link is down", kThereKnobs, &light_there,
     "read the received power (ethtool -m)"},
    {kLightLow, "rx_power_low", "less light arrives than before", kLowKnobs, &light_low,
     "read the received power (ethtool -m)"},
    {kLaneReadsDark, "rx_lane_reads_dark", "a lane reads no light but carries data", {}, &lane_reads_dark, ""},
    {kTxLow, "tx_power_low", "this end sends less light than before", kLowKnobs, &tx_low,
     "read the sent power (ethtool -m)"},
    {kTxFault, "tx_fault", "the module reports a laser fault", {}, &tx_fault, "read the module's flags (ethtool -m)"},
    {kBiasHigh, "bias_high", "a laser needs more current than before", kBiasKnobs, &bias_high,
     "read the bias (ethtool -m)"},
    {kTxOff, "tx_off", "this end sends no light", {}, &tx_off, "read the sent power (ethtool -m)"},
    {kFarTxLow, "far_tx_low", "the far end sends less light than before", kLowKnobs, &far_tx_low,
     "read the transmit power of {peer}"},
    {kFarTxOff, "far_tx_off", "the far end sends no light", {}, &far_tx_off, "read the transmit power of {peer}"},
    {kFarRxLow, "far_rx_low", "less light arrives at the far end than before", kLowKnobs, &far_rx_low,
     "read the received power of {peer}"},
    {kFarRxDark,
     "far_rx_dark",
     "no light arrives at the far end",
     {},
     &far_rx_dark,
     "read the received power of {peer}"},
    {kNoLockWithLight, "no_lock_with_light", "light, but the receiver can't lock", {}, &no_lock_with_light, ""},
};

}  // namespace

constinit const std::span<const Symptom> kLightFamily = kRows;

}  // namespace linkhealth::symptoms
