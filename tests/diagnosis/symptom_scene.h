// One port as a symptom sees it, to be changed by a test.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/symptoms.h"

namespace linkhealth::symptom_scene {

using enum SymptomId;

inline Finding look(SymptomId id, const Features& view) { return observe(id, view); }

/// So much of the line rate in.
inline void carry_share(Interval& interval, double share) {
  interval.line_rate_bps = 8;
  interval.add(Indicator::kRxOctets, share * interval.seconds());
}

struct Scene {
  PortHistory port;
  ExpectedPort expected;
  DiagnosisSettings settings;
  Features view{port, settings};
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

inline void losses(Scene& s, int count, double apart_s) {
  for (int i = 0; i < count; ++i)
    s.port.carrier.losses.push_back({steady_from_seconds(5000 + i * apart_s), 1, false});
}
/// The same module leaves and comes back so many times, the last time 100 s ago.
inline void drop_out(Scene& s, int times, double apart_s, const char* back = "S1") {
  s.port.had_module = true;
  for (int i = times - 1; i >= 0; --i) {
    const SteadyTime t = steady_from_seconds(9900 - i * apart_s);
    s.port.own.drop_outs.removed(t, "S1");
    s.port.own.drop_outs.read(back, t + from_seconds(25));
  }
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
  s.view.light.rx_lanes = 4, s.view.light.rx_low = (1U << low_fibres) - 1;
  s.view.light.rx = LightLossEstimate{2, 0.2, 0};
}
inline void unheard(Scene& s, double far_tx_dbm) {
  s.view.light.rx_dark_all = s.view.light.far_fresh = true;
  s.port.far.tx_lanes = 1;
  s.port.far.tx_dbm[0].add_recent(far_tx_dbm, {});
}
inline void fail(Scene& s, SourceId source, double for_s, const char* why = "EIO") {
  SourceStatus status{SourceState::kFailing, why, steady_from_seconds(10000 - for_s), {}};
  if (!s.port.latest.sources) s.port.latest.sources.emplace();
  (*s.port.latest.sources)[source] = std::move(status);
}

inline void repeated(Repeated& what, double events, double intervals, double span_s) {
  what = {.events = events,
          .intervals = intervals,
          .recent = 1,
          .first = steady_from_seconds(9000),
          .last = steady_from_seconds(9000 + span_s),
          .known = true};
}
inline void losing(Scene& s, double intervals) {
  s.view.signal.intervals_1h = 60;
  repeated(s.view.signal.blocks, 8, intervals, 200);
}
inline void narrow(Scene& s) {
  s.port.latest.pcie = PcieSample{};
  s.port.latest.pcie->width = 8;
  s.port.latest.pcie->max_width = 16;
}

}  // namespace linkhealth::symptom_scene
