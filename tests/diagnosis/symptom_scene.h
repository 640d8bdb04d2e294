// One port as a symptom sees it, to be changed by a test.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/symptoms.h"

namespace linkhealth::symptom_scene {

using enum SymptomId;

inline std::vector<double> defaults(const Symptom& row) {
  std::vector<double> values;
  for (const Knob& knob : row.knobs) values.push_back(knob.value);
  return values;
}

inline Finding look(SymptomId id, const PortView& view) {
  const Symptom& row = symptom(id);
  return row.observe(view, defaults(row));
}

/// So much of the line rate in.
inline void carry_share(Interval& interval, double share) {
  interval.line_rate_bps = 8;
  interval.increases[static_cast<std::size_t>(Indicator::kRxOctets)] = share * interval.seconds();
}

struct Scene {
  PortHistory port;
  ExpectedPort expected;
  PortView view{port};
  explicit Scene(bool up = true) {
    view.now = steady_from_seconds(10000);
    view.medium = Medium::kOptical;
    view.up = up;
    view.down = !up;
    view.down_s = up ? 0 : 300;
    view.expected = &expected;
    port.carrier.up = up;
    port.carrier.since = steady_from_seconds(up ? 100 : 9700);
    port.latest.link = LinkSample{};
    port.latest.link->fec = "RS544";
    port.latest.id.link_layer = "Ethernet";
    view.light.rx_fresh = true;
  }
};

inline void reason(Scene& s, const char* state, const char* sub) {
  s.port.latest.link->down_reason = DownReason{state, sub};
}
inline const auto kNoReason = [](Scene&) {};
inline const auto kOtherReason = [](Scene& s) { reason(s, "No cable", ""); };

inline void losses(Scene& s, int count, double apart_s) {
  for (int i = 0; i < count; ++i)
    s.port.carrier.losses.push_back({steady_from_seconds(5000 + i * apart_s), 1, false});
}
inline void lanes(Scene& s) {
  s.port.latest.module = ModuleSample{};
  s.port.latest.module->lanes.resize(2);
  s.view.light.rx_lanes = 2;
  s.port.own.tx_lanes = 2;
}
inline void ribbon(Scene& s, std::size_t low_fibres) {
  s.port.latest.module = ModuleSample{};
  s.port.latest.module->connector = "MPO-12";
  s.view.light.rx_lanes = 4, s.view.light.rx_low_lanes = low_fibres;
  s.view.light.rx = Drop{2, 0.2, 0};
}
inline void unheard(Scene& s, double far_tx_dbm) {
  s.view.light.rx_dark_all = s.view.light.far_fresh = true;
  s.port.far.tx_lanes = 1;
  s.port.far.tx_dbm[0].add_recent(far_tx_dbm);
}
inline void fail(Scene& s, const char* probe, double for_s, const char* why = "EIO") {
  s.port.blind[probe] = {steady_from_seconds(10000 - for_s), steady_from_seconds(10000), 20, why};
}

inline void losing(Scene& s, std::size_t intervals) {
  s.view.signal.intervals_1h = 60;
  s.view.signal.uncorrectable_intervals_1h = intervals;
  s.view.signal.uncorrectable_intervals_10m = 1;
  s.view.signal.uncorrectable_span_s = 200, s.view.signal.uncorrectable_1h = 8;
  s.view.signal.uncorrectable_known = true;
}
inline void repeated(Repeated& what, double events, std::size_t intervals, double span_s) {
  what = {.events = events,
          .intervals = intervals,
          .first = steady_from_seconds(9000),
          .last = steady_from_seconds(9000 + span_s),
          .known = true};
}
inline void narrow(Scene& s) {
  s.port.latest.pcie = PcieSample{};
  s.port.latest.pcie->width = 8;
  s.port.latest.pcie->max_width = 16;
}

}  // namespace linkhealth::symptom_scene
