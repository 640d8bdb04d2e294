// Symptoms of the link itself: its state, its reasons for being down, its speed.
#include <algorithm>
#include <vector>

#include "diagnosis/symptoms/families.h"
#include "diagnosis/symptoms/log_words.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Finding admin_down(const PortView& v, KnobValues) {
  std::optional<bool> off;
  if (v.link().admin_up) off = !*v.link().admin_up;
  if (is_set_down(v.link(), v.port.latest.id.link_layer)) off = true;
  if (const auto& reason = v.link().down_reason; v.down && reason && reason->state == "BMC request")
    off = true;
  return Case(Reader::kLink).holds("set down by an administrator", off).close();
}

Finding link_down(const PortView& v, KnobValues) {
  std::optional<bool> down;
  if (v.port.carrier.up) down = v.down;
  return Case(Reader::kLink).holds("no carrier", down).close();
}

// carrier_flaps: the carrier comes and goes: loose seating, dirty fibre, dying module, or a far end
// that restarts. Good links lose it now and then, too, hours apart: what tells is how near the
// losses are to each other.
constexpr Knob kFlapKnobs[] = {
    {"min_losses", 3, 2, 1000, "",
     "separate involuntary carrier losses near each other (docs/physics.md 3d)"},
    {"near_s", 10800, 60, 86400, "s",
     "so near: at one good flap in three days, chance does it in 0.2 of 1,000 days"},
    {"chronic_losses", 5, 2, 1000, "",
     "separate losses that count at any distance inside the window"},
    {"burst_losses", 6, 3, 1000, "", "losses that count even when they come within the span"},
    {"window_s", 86400, 60, 604800, "s", "how far to look back"},
    {"span_s", 240, 0, 86400, "s",
     "the least time between the first and the last: a benign flap is one or two"},
    {"apart_s", 20, 0, 600, "s", "losses nearer than this are one"},
    {"outage_s", 120, 10, 3600, "s",
     "a longer loss is an outage with a cause of its own, no loose contact"},
    {"quiet_s", 7200, 600, 86400, "s", "so long without a loss, and"},
    {"quiet_ratio", 6, 2, 100, "",
     "so many of the mean times between them: the link has proved that it stays"}};
enum Flap : std::size_t {
  kMinLosses,
  kNear,
  kChronic,
  kBurst,
  kWindow,
  kSpan,
  kApart,
  kOutage,
  kQuiet,
  kQuietRatio
};

struct Losses {
  std::vector<SteadyTime> separate;
  double total = 0;
  double nearest_s = 1e18;  ///< the least time in which min_losses came
};
Losses losses_of(const PortView& v, KnobValues k) {
  Losses found;
  for (const CarrierLoss& loss : v.port.carrier.losses) {
    if (loss.planned || in_seconds(v.now - loss.t) > k[kWindow]) continue;
    const bool lasts = v.down && &loss == &v.port.carrier.losses.back();
    if ((lasts ? v.down_s : loss.down_s) > k[kOutage]) continue;
    found.total += static_cast<double>(loss.count);
    if (!found.separate.empty() && in_seconds(loss.t - found.separate.back()) < k[kApart]) continue;
    found.separate.push_back(loss.t);
  }
  const auto run = static_cast<std::size_t>(k[kMinLosses]);
  for (std::size_t i = run; i <= found.separate.size(); ++i)
    found.nearest_s =
        std::min(found.nearest_s, in_seconds(found.separate[i - 1] - found.separate[i - run]));
  return found;
}

Finding flaps(const PortView& v, KnobValues k) {
  if (v.port.carrier.losses.empty())
    return Case(Reader::kEvents).at_least("involuntary carrier losses", 0.0, k[kMinLosses]).close();
  const Losses seen = losses_of(v, k);
  const auto separate = static_cast<double>(seen.separate.size());
  const double span_s =
      seen.separate.empty() ? 0 : in_seconds(seen.separate.back() - seen.separate.front());
  // By chance alone a link that still flaps is so quiet in 0.25 % of the cases (exp(-6)).
  const double quiet_s = seen.separate.empty() ? 0 : in_seconds(v.now - seen.separate.back());
  if (separate >= k[kMinLosses] &&
      quiet_s > std::max(k[kQuiet], k[kQuietRatio] * span_s / std::max(separate - 1, 1.0)))
    return Case(Reader::kEvents)
        .below("seconds since the last loss", quiet_s, k[kQuiet], "s")
        .close();
  if (seen.total >= k[kBurst] && (separate < k[kMinLosses] || span_s < k[kSpan]))
    return Case(Reader::kEvents)
        .at_least("involuntary carrier losses", seen.total, k[kBurst])
        .close();
  Case found(Reader::kEvents);
  found.at_least("involuntary carrier losses", separate, k[kMinLosses])
      .at_least("time between the first and the last", span_s, k[kSpan], "s");
  if (separate >= k[kMinLosses] && separate < k[kChronic])
    found.below("the least time in which so many came", seen.nearest_s, k[kNear], "s");
  return found.close();
}

Finding speed_reduced(const PortView& v, KnobValues) {
  if (v.down) return not_known("the link is down");
  const auto& link = v.link();
  double wanted_lanes = v.port.carrier.best_lanes;
  if (v.expected != nullptr)
    wanted_lanes = std::max<double>(wanted_lanes, v.expected->lanes.value_or(0));
  if (link.lanes && wanted_lanes > *link.lanes)
    return Case(Reader::kLink).below("lanes in use", *link.lanes, wanted_lanes).close();
  std::optional<double> speed;
  if (link.speed_mbps && *link.speed_mbps > 0) speed = *link.speed_mbps;
  const WantedSpeed wanted = wanted_speed(v);
  return Case(Reader::kLink)
      .below(wanted.by_module ? StaticText("speed, of what the module is made for")
                              : StaticText("speed"),
             speed, wanted.mbps, "Mb/s")
      .close();
}

Finding no_partner(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  const auto& link = v.link();
  if (link.down_reason) {
    const auto& r = *link.down_reason;
    const bool none = (r.state == "Autoneg" && r.substate == "No partner detected") ||
                      contains(r.substate, "Serdes ALOS");
    return Case(Reader::kLink).holds("no signal of a partner", none).close();
  }
  if (v.port.latest.id.link_layer == "InfiniBand" && !link.phys_state.empty())
    return Case(Reader::kLink).holds("polling for a partner", link.phys_state == "Polling").close();
  return not_known("the driver gives no reason");
}

/// A symptom of the reason that the driver gives for a link that is down.
template <typename Match>
Finding reason(const PortView& v, StaticText what, Match match) {
  if (!v.down) return not_known("the link is up");
  if (!v.link().down_reason) return not_known("the driver gives no reason");
  return Case(Reader::kLink).holds(what, match(*v.link().down_reason)).close();
}

Finding negotiation_fails(const PortView& v, KnobValues) {
  if (said_in_log(v, KernelLogClass::kMisconfigured))
    return Case(Reader::kEvents)
        .holds("the kernel log says that settings and medium do not fit", true)
        .close();
  return reason(v, "autonegotiation failed", [](const DownReason& r) {
    return r.state == "OTP speed violation" ||  // the card's own limit: a speed that it must not
                                                // run at was asked for
           (r.state == "Autoneg" && !r.substate.empty() && r.substate != "No partner detected");
  });
}
Finding training_fails(const PortView& v, KnobValues) {
  return reason(v, "link training failed", [](const DownReason& r) {
    return r.state == "Link training failure" && !contains(r.substate, "Remote side");
  });
}
// FEC that never locks is set differently at the two ends more often than it is a bad signal
// (docs/physics.md 5a).
Finding no_fec_lock(const PortView& v, KnobValues) {
  return reason(v, "no lock on the FEC codewords", [](const DownReason& r) {
    return r.state == "Logical mismatch" && contains(r.substate, "FEC");
  });
}
Finding no_pcs_lock(const PortView& v, KnobValues) {
  return reason(v, "no lock on the signal (blocks or lanes)", [](const DownReason& r) {
    return r.state == "Logical mismatch" && !contains(r.substate, "FEC");
  });
}
Finding bad_signal(const PortView& v, KnobValues) {
  return reason(v, "bad signal integrity", [](const DownReason& r) {
    // A lost reference clock is the card's own: device_fatal.
    return r.state == "Bad signal integrity" && !contains(r.substate, "ALOS") &&
           !contains(r.substate, "reference clock");
  });
}
Finding remote_fault(const PortView& v, KnobValues) {
  return reason(v, "the far end reports a fault", [](const DownReason& r) {
    return contains(r.substate, "Remote side") || contains(r.substate, "Remote fault");
  });
}
Finding no_cable_reported(const PortView& v, KnobValues) {
  return reason(v, "no cable", [](const DownReason& r) { return r.state == "No cable"; });
}

/// The log says it of the module that is there now. That one was put in is noticed some minutes
/// later at most.
bool said_of_module(const PortView& v, KernelLogClass what) {
  constexpr double kNoticedS = 300;
  const auto t = said_in_log(v, what);
  return t && (!v.port.carrier.module_event_at ||
               in_seconds(*v.port.carrier.module_event_at - *t) <= kNoticedS);
}

Finding unsupported_reported(const PortView& v, KnobValues) {
  // bnxt says "Unqualified" of modules with which the link works, too.
  if (said_of_module(v, KernelLogClass::kModuleRefused))
    return Case(Reader::kEvents).holds("the kernel log refuses the module", true).close();
  return reason(v, "unsupported cable", [](const DownReason& r) {
    return r.substate == "Unsupported cable" || contains(r.substate, "not formally supported");
  });
}

constexpr Knob kBusKnobs[] = {
    {"events", 3, 1, 1000, "", "of the module's bus in an hour, each in a reading of its own"},
    {"span_s", 600, 0, 3600, "s", "between the first and the last: somebody plugs for less"}};
Finding module_fault_reported(const PortView& v, KnobValues k) {
  if (const Repeated& bus = v.signal.module_bus_errors;
      static_cast<double>(bus.intervals) >= k[0] && bus.span_s() >= k[1])
    return Case(Reader::kCounters)
        .at_least("times in an hour that the module's bus was stuck or shorted", bus.events, k[0])
        .close();
  // bnxt_ethtool.c bnxt_get_module_status()
  if (const Blindness* module = v.port.blind_to("module");
      v.down && module != nullptr && contains(module->reason, "disabled due to current fault"))
    return Case(Reader::kModule)
        .holds("the card has switched the module off: it takes too much current", true)
        .close();
  if (said_of_module(v, KernelLogClass::kModuleError))
    return Case(Reader::kEvents).holds("the kernel log reports a module error", true).close();
  return reason(v, "the module is at fault", [](const DownReason& r) {
    return r.state == "EEPROM issue" || r.state == "Power budget exceeded" || r.state == "Module" ||
           r.state == "Calibration failure" ||
           (r.state == "Cable issue" && r.substate != "Unsupported cable");
  });
}

constexpr Knob kHeatKnobs[] = {
    {"events", 2, 1, 1000, "", "that the card counts in an hour, each in a reading of its own"}};
Finding overheat_reported(const PortView& v, KnobValues k) {
  if (const Repeated& heat = v.signal.module_heat; static_cast<double>(heat.intervals) >= k[0])
    return Case(Reader::kCounters)
        .at_least("times in an hour that the card found the module too hot", heat.events, k[0])
        .close();
  for (const auto& [t, text] : v.port.device.kernel_log)
    if (is_kernel_log(text, KernelLogClass::kModuleHot) && in_seconds(v.now - t) < 3600)
      return Case(Reader::kEvents).holds("the kernel log reports a high temperature", true).close();
  return reason(v, "overheated", [](const DownReason& r) { return r.state == "Overheat"; });
}

// settings_touched: an administrator changed the port, and since then the link has not come back.
constexpr Knob kSettingsKnobs[] = {
    {"window_s", 180, 10, 3600, "s", "between the change and the fall"}};
Finding settings_touched(const PortView& v, KnobValues k) {
  if (!v.down) return not_known("the link is up");
  if (!v.port.carrier.admin_event_at && !v.port.carrier.was_up)
    return not_known("the link was never seen up");
  if (!v.port.carrier.since || !v.port.carrier.admin_event_at)
    return Case(Reader::kEvents).holds("settings changed", false).close();
  const double since = in_seconds(*v.port.carrier.admin_event_at - *v.port.carrier.since);
  return Case(Reader::kEvents)
      .at_least("administrator's change after the fall", since, -k[0], "s")
      .below("administrator's change after the fall", since, 3600, "s")
      .close();
}

constexpr Symptom kRows[] = {
    {kAdminDown, "admin_down", "the port is set down", {}, &admin_down, "ip link show"},
    {kLinkDown, "link_down", "no carrier", {}, &link_down, "ip link show"},
    {kFlaps, "carrier_flaps", "the carrier comes and goes", kFlapKnobs, &flaps, ""},
    {kSpeedReduced,
     "speed_reduced",
     "slower or narrower than it was or should be",
     {},
     &speed_reduced,
     "ethtool PORT"},
    {kNoPartner,
     "no_partner",
     "nobody answers at the far end",
     {},
     &no_partner,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kNegotiationFails,
     "negotiation_fails",
     "the two ends don't agree on speed or FEC",
     {},
     &negotiation_fails,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kTrainingFails,
     "training_fails",
     "link training does not finish",
     {},
     &training_fails,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kNoFecLock,
     "no_fec_lock",
     "there is a signal, but FEC does not lock",
     {},
     &no_fec_lock,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kNoPcsLock,
     "no_pcs_lock",
     "there is a signal, but the lanes don't align",
     {},
     &no_pcs_lock,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kBadSignal,
     "bad_signal_integrity",
     "the signal is too bad",
     {},
     &bad_signal,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kRemoteFault,
     "remote_fault",
     "the far end does not see us well",
     {},
     &remote_fault,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kNoCableReported,
     "no_cable_reported",
     "the driver sees no cable",
     {},
     &no_cable_reported,
     "read the down reason (ethtool PORT, mlxlink)"},
    {kUnsupportedReported,
     "unsupported_reported",
     "the driver refuses the module",
     {},
     &unsupported_reported,
     "read the kernel log"},
    {kModuleFaultReported, "module_fault_reported", "the driver reports a module error", kBusKnobs,
     &module_fault_reported, "read the kernel log"},
    {kOverheatReported, "overheat_reported", "the driver reports a hot module", kHeatKnobs,
     &overheat_reported, "read the kernel log"},
    {kSettingsTouched, "settings_touched", "down since an administrator's change", kSettingsKnobs,
     &settings_touched, ""},
};

}  // namespace

constinit const std::span<const Symptom> kLinkFamily = kRows;

}  // namespace linkhealth::symptoms
