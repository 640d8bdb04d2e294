// Symptoms of the link itself: its state, the driver's reason for a link that is down, its speed.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

/// While the link is up, a log line about the module holds until the module is read again.
static bool holds_while_up(const Features& f, SteadyTime t) {
  constexpr double kRecentS = 3600, kTogetherS = 600;  // judgement
  if (f.port.own.read_at && *f.port.own.read_at > t) return false;
  const SourceStatus* const blind = f.port.blind_to(SourceId::kModule);
  return in_seconds(f.now - t) < kRecentS ||
         (blind != nullptr && std::abs(in_seconds(blind->since - t)) < kTogetherS);
}

/// When the kernel log last reported `what` for this link. While it is down: since the carrier loss
/// or shortly before it, and not refuted by a later line. The log is read from its oldest line,
/// which may be weeks old when the monitor starts.
std::optional<SteadyTime> logged_since_fall(const Features& f, KernelLogClass what) {
  constexpr double kBeforeS = 120;
  for (auto line = f.port.device.kernel_log.rbegin(); line != f.port.device.kernel_log.rend();
       ++line) {
    const auto& [t, text] = *line;
    if (is_kernel_log(text, what)) {
      const bool of_this_fall =
          f.down ? !f.port.carrier.since || in_seconds(t - *f.port.carrier.since) > -kBeforeS
                 : holds_while_up(f, t);
      const bool of_this_boot = !f.port.carrier.reboot_at || t >= *f.port.carrier.reboot_at;
      return of_this_fall && of_this_boot ? std::optional(t) : std::nullopt;
    }
    // That a link is up does not mean that its module can be read.
    if ((f.down && is_kernel_log(text, KernelLogClass::kLinkUp)) ||
        is_kernel_log(text, KernelLogClass::kModulePlugged))
      break;
  }
  return std::nullopt;
}

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Finding admin_down(const Features& f) {
  std::optional<bool> off;
  if (f.link().admin_up) off = !*f.link().admin_up;
  if (is_set_down(f.link(), f.port.latest.id.link_layer)) off = true;
  if (const auto& reason = f.link().down_reason; f.down && reason && reason->state == "BMC request")
    off = true;
  return Checks(kLink).holds("administratively down", off);
}

Finding link_down(const Features& f) {
  std::optional<bool> down;
  if (f.port.carrier.up) down = f.down;
  return Checks(kLink).holds("no carrier", down);
}

// carrier_flaps: the carrier comes and goes: loose seating, dirty fibre, dying module, or a far end
// that restarts. Good links also lose it now and then, hours apart, so the distance between losses
// counts. The numbers are estimates based on docs/physics.md 3d.
// with one benign flap in three days, by chance on 0.2 of 1,000 days.
constexpr double kNearS = 10800;
// separate losses that count at any distance within the window.
constexpr double kChronicLosses = 5;
constexpr double kBurstLosses = 6;  // losses that count even within the span
constexpr double kFlapWindowS = 86400;
// minimum from first to last: a benign flap is one or two losses.
constexpr double kFlapSpanS = 240;
constexpr double kApartS = 20;  // losses closer than this are one
// this long without a loss, and this many mean times between them:.
constexpr double kQuietS = 7200;
constexpr double kQuietRatio = 6;  // the link has proved stable (0.25 % by chance, exp(-6))

struct Losses {
  std::vector<SteadyTime> separate;
  double total = 0;
  double nearest_s = 1e18;  ///< the shortest time that contains flap_losses
};
Losses losses_of(const Features& f) {
  Losses found;
  for (const CarrierLoss& loss : f.port.carrier.losses) {
    if (loss.planned || in_seconds(f.now - loss.t) > kFlapWindowS) continue;
    if (f.repaired_at && loss.at <= *f.repaired_at) continue;
    const bool lasts = f.down && &loss == &f.port.carrier.losses.back();
    if ((lasts ? f.down_s : loss.down_s) > kOutageS) continue;
    found.total += static_cast<double>(loss.count);
    if (!found.separate.empty() && in_seconds(loss.t - found.separate.back()) < kApartS) continue;
    found.separate.push_back(loss.t);
  }
  const auto run = static_cast<std::size_t>(f.settings.flap_losses);
  for (std::size_t i = run; i <= found.separate.size(); ++i)
    found.nearest_s =
        std::min(found.nearest_s, in_seconds(found.separate[i - 1] - found.separate[i - run]));
  return found;
}

Finding flaps(const Features& f) {
  const double least = f.settings.flap_losses;
  const Losses seen = losses_of(f);
  const auto separate = static_cast<double>(seen.separate.size());
  const bool any = !seen.separate.empty();
  const double span_s = any ? in_seconds(seen.separate.back() - seen.separate.front()) : 0;
  const double quiet_s = any ? in_seconds(f.now - seen.separate.back()) : 0;
  if (separate >= least &&
      quiet_s > std::max(kQuietS, kQuietRatio * span_s / std::max(separate - 1, 1.0)))
    return Checks(kEvents).below("seconds since the last carrier loss", quiet_s, kQuietS, "s");
  if (seen.total >= kBurstLosses && (separate < least || span_s < kFlapSpanS))
    return Checks(kEvents).at_least("unplanned carrier losses", seen.total, kBurstLosses);
  Checks found(kEvents);
  found.at_least("unplanned carrier losses", separate, least)
      .at_least("time from first to last", span_s, kFlapSpanS, "s");
  if (separate >= least && separate < kChronicLosses)
    found.below("shortest time with that many", seen.nearest_s, kNearS, "s");
  return found;
}

Finding speed_reduced(const Features& f) {
  constexpr double kSettledS = 30;  // a link may come up slower and train again
  if (f.port.carrier.since && in_seconds(f.now - *f.port.carrier.since) < kSettledS)
    return unknown_yet("the link came up too recently");
  const auto& link = f.link();
  double wanted_lanes = f.port.carrier.best_lanes;
  if (f.expected != nullptr)
    wanted_lanes = std::max<double>(wanted_lanes, f.expected->lanes.value_or(0));
  if (link.lanes && wanted_lanes > *link.lanes)
    return Checks(kLink).below("lanes in use", *link.lanes, wanted_lanes);
  if (link.lanes && f.group.siblings_lanes > *link.lanes)
    return Checks(kLink).below("lanes in use, relative to the other ports of this card model",
                               *link.lanes, f.group.siblings_lanes);
  std::optional<double> speed;
  if (link.speed_mbps && *link.speed_mbps > 0) speed = *link.speed_mbps;
  const WantedSpeed wanted = wanted_speed(f);
  return Checks(kLink).below(wanted.by_module ? "speed, relative to the module's rating" : "speed",
                             speed, wanted.mbps, "Mb/s");
}

/// A symptom derived from the driver's reason for a link that is down.
template <typename Match>
Finding reason(const Features& f, std::string_view what, Match match) {
  if (!f.down) return not_applicable("the link is up");
  if (!f.link().down_reason) return unknown("the driver reports no reason");
  return Checks(kDownReason).holds(what, match(*f.link().down_reason));
}

Finding no_partner(const Features& f) {
  const auto& link = f.link();
  if (!link.down_reason && f.port.latest.id.link_layer == "InfiniBand" && !link.phys_state.empty())
    return Checks(kLink).holds("polling for a link partner", link.phys_state == "Polling");
  return reason(f, "no signal from a link partner", [](const DownReason& r) {
    return (r.state == "Autoneg" && r.substate == "No partner detected") ||
           contains(r.substate, "Serdes ALOS");
  });
}
Finding negotiation_fails(const Features& f) {
  if (f.down && logged_since_fall(f, KernelLogClass::kMisconfigured))
    return Checks(kEvents).holds("the kernel log reports that settings and medium do not match",
                                 true);
  return reason(f, "autonegotiation failed", [](const DownReason& r) {
    return r.state == "OTP speed violation" ||  // a speed beyond the card's own limit was requested
           (r.state == "Autoneg" && !r.substate.empty() && r.substate != "No partner detected");
  });
}
Finding training_fails(const Features& f) {
  return reason(f, "link training failed", [](const DownReason& r) {
    return r.state == "Link training failure" && !contains(r.substate, "Remote side");
  });
}
// FEC that never locks is more often due to different settings at the two ends than to a bad signal
// (docs/physics.md 5a).
Finding no_fec_lock(const Features& f) {
  return reason(f, "no lock on the FEC codewords", [](const DownReason& r) {
    return r.state == "Logical mismatch" && contains(r.substate, "FEC");
  });
}
Finding no_pcs_lock(const Features& f) {
  return reason(f, "no lock on the signal (blocks or lanes)", [](const DownReason& r) {
    return r.state == "Logical mismatch" && !contains(r.substate, "FEC");
  });
}
Finding bad_signal(const Features& f) {
  return reason(f, "bad signal integrity", [](const DownReason& r) {
    // A lost reference clock is the card's own: device_fatal.
    return r.state == "Bad signal integrity" && !contains(r.substate, "ALOS") &&
           !contains(r.substate, "reference clock");
  });
}
Finding remote_fault(const Features& f) {
  return reason(f, "the far end reports a fault", [](const DownReason& r) {
    return contains(r.substate, "Remote side") || contains(r.substate, "Remote fault");
  });
}
Finding no_cable_reported(const Features& f) {
  return reason(f, "no cable", [](const DownReason& r) { return r.state == "No cable"; });
}

/// Whether the log line is about the present module. A new module is noticed after some minutes at
/// most.
bool logged_of_module(const Features& f, KernelLogClass what) {
  constexpr double kNoticedS = 300;
  const auto t = logged_since_fall(f, what);
  return t && (!f.port.carrier.module_event_at ||
               in_seconds(*f.port.carrier.module_event_at - *t) <= kNoticedS);
}

Finding unsupported_reported(const Features& f) {
  // bnxt also logs "Unqualified" for modules with which the link works.
  if (f.down && logged_of_module(f, KernelLogClass::kModuleRefused))
    return Checks(kEvents).holds("the kernel log refuses the module", true);
  return reason(f, "unsupported cable", [](const DownReason& r) {
    return r.substate == "Unsupported cable" || contains(r.substate, "not formally supported");
  });
}

Finding module_fault_reported(const Features& f) {
  constexpr double kBusErrorsPerH = 3;  // each in a separate reading
  constexpr double kSpanS = 600;        // first to last: plugging in a module takes less
  if (const Repeated& bus = f.signal.module_bus_errors;
      bus.intervals >= kBusErrorsPerH && bus.span_s() >= kSpanS)
    return Checks(kCounters).at_least("module bus stuck or shorted, times in 1 h", bus.events,
                                      kBusErrorsPerH);
  // bnxt_ethtool.c bnxt_get_module_status()
  if (const SourceStatus* module = f.port.blind_to(SourceId::kModule);
      f.down && module != nullptr && contains(module->reason, "disabled due to current fault"))
    return Checks(kModule).holds("the card switched the module off because of its current", true);
  if (logged_of_module(f, KernelLogClass::kModuleError))
    return Checks(kEvents).holds("the kernel log reports a module error", true);
  if (f.group.module_at_fault)
    return Checks(kNodePorts).holds("a module error, on another port of this module", true);
  return reason(f, "the driver blames the module", [](const DownReason& r) {
    return r.state == "EEPROM issue" || r.state == "Module" || r.state == "Calibration failure" ||
           (r.state == "Cable issue" && r.substate != "Unsupported cable");
  });
}

// power_refused: the card gives the cage less power than the module requests; the module is not
// broken.
Finding power_refused(const Features& f) {
  if (f.down && logged_of_module(f, KernelLogClass::kModulePower))
    return Checks(kEvents).holds("the kernel log reports that the module exceeds the power budget",
                                 true);
  return reason(f, "power budget exceeded",
                [](const DownReason& r) { return r.state == "Power budget exceeded"; });
}

Finding overheat_reported(const Features& f) {
  constexpr double kEventsPerH = 2;  // each in a separate reading
  if (const Repeated& heat = f.signal.module_heat; heat.intervals >= kEventsPerH)
    return Checks(kCounters).at_least("module too hot according to the card, times in 1 h",
                                      heat.events, kEventsPerH);
  for (const auto& [t, text] : f.port.device.kernel_log)
    if (is_kernel_log(text, KernelLogClass::kModuleHot) && in_seconds(f.now - t) < 3600)
      return Checks(kEvents).holds("the kernel log reports a high temperature", true);
  return reason(f, "overheated", [](const DownReason& r) { return r.state == "Overheat"; });
}

// settings_touched: an administrator changed the port, and the link has not come back since.
Finding settings_touched(const Features& f) {
  constexpr double kBeforeFallS = 180;  // judgement
  if (!f.port.carrier.admin_event_at && !f.port.carrier.was_up)
    return unknown("the link was never seen up");
  if (!f.port.carrier.since || !f.port.carrier.admin_event_at)
    return Checks(kEvents).holds("settings changed", false);
  const double since = in_seconds(*f.port.carrier.admin_event_at - *f.port.carrier.since);
  return since < 0
             ? Checks(kEvents).below("operator's change before the link loss", -since, kBeforeFallS,
                                     "s")
             : Checks(kEvents).below("operator's change after the link loss", since, 3600, "s");
}

// fec_differs: different FEC modes at the two ends never lock; a change at this end is visible.
// Drivers also return "Off" while they do not know (linux: mlx5e_get_fecparam()).
Finding fec_differs(const Features& f) {
  const std::string &now = f.link().fec, &before = f.port.carrier.last_fec;
  if (!fec_is_on(now)) return unknown("the driver reports no FEC mode while the link is down");
  if (fec_is_on(before)) return Checks(kLink).holds("FEC mode changed", now != before);
  if (!f.group.siblings_fec.empty())
    return Checks(kNodePorts)
        .holds("FEC mode differs from links with the same kind of module",
               now != f.group.siblings_fec);
  return unknown("no earlier FEC mode and no comparable link");
}

constexpr std::string_view kPatterns =
    "linux: drivers/net/ethernet/mellanox/mlx5/core/events.c, bnxt_en and ice messages";
constexpr std::string_view kReadReason = "read the down reason (ethtool PORT, mlxlink)";
constexpr std::string_view kReadLog = "read the kernel log";

constexpr Symptom kRows[] = {
    {kAdminDown, "admin_down", "the port is administratively down", kAny, &admin_down, kLink,
     "linux: IFF_UP", "ip link show"},
    {kLinkDown, "link_down", "no carrier", kAny, &link_down, kLink,
     "linux: IFF_LOWER_UP; IBTA PortPhysicalState", "ip link show"},
    {kFlaps, "carrier_flaps", "the link is flapping", kAny, &flaps, kLink,
     "linux: net/core/net-sysfs.c (carrier counts); UFM PDR plugin; judgement (counts)", ""},
    {kSpeedReduced, "speed_reduced", "speed or lane count below the expected value", kUp,
     &speed_reduced, kLink, "linux: ethtool link modes; IBTA PortInfo; the plan", "ethtool PORT"},
    {kNoPartner, "no_partner", "the far end does not respond", kDown, &no_partner, kDownReason,
     kExtState, kReadReason},
    {kNegotiationFails, "negotiation_fails", "the two ends do not agree on speed or FEC", kDown,
     &negotiation_fails, kDownReason, kExtState, kReadReason},
    {kTrainingFails, "training_fails", "link training does not finish", kDown, &training_fails,
     kDownReason, kExtState, kReadReason},
    {kNoFecLock, "no_fec_lock", "signal present but FEC does not lock", kDown, &no_fec_lock,
     kDownReason, kExtState, kReadReason},
    {kNoPcsLock, "no_pcs_lock", "signal present but the lanes do not align", kDown, &no_pcs_lock,
     kDownReason, kExtState, kReadReason},
    {kBadSignal, "bad_signal_integrity", "the signal quality is too low", kDown, &bad_signal,
     kDownReason, kExtState, kReadReason},
    {kRemoteFault, "remote_fault", "the far end reports a fault in what it receives", kDown,
     &remote_fault, kDownReason, kExtState, kReadReason},
    {kNoCableReported, "no_cable_reported", "the driver sees no cable", kDown, &no_cable_reported,
     kDownReason, kExtState, kReadReason},
    {kUnsupportedReported, "unsupported_reported", "the driver rejects the module", kDown,
     &unsupported_reported, kDownReason, kPatterns, kReadLog},
    {kModuleFaultReported, "module_fault_reported", "the driver reports a module error", kAny,
     &module_fault_reported, kDownReason | kModule, kPatterns, kReadLog},
    {kPowerRefused, "power_refused", "the module needs more power than the cage supplies", kAny,
     &power_refused, kDownReason, kPatterns, kReadLog},
    {kOverheatReported, "overheat_reported", "the driver reports an overheated module", kAny,
     &overheat_reported, kDownReason, kPatterns, kReadLog},
    {kSettingsTouched, "settings_touched", "down since an operator's change", kDown,
     &settings_touched, kLink, "judgement (time after an operator's change)", ""},
    {kFecDiffers, "fec_differs", "FEC mode differs from before or from comparable links", kDown,
     &fec_differs, kLink, "IEEE 802.3 Clauses 91 and 134: both ends need one mode",
     "read the FEC mode (ethtool --show-fec)"},
};

}  // namespace

constinit const std::span<const Symptom> kLinkFamily = kRows;

}  // namespace linkhealth::symptoms
