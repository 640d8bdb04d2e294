// Symptoms of the received signal: error rates before and after FEC, lanes, recoveries.
#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnosis/symptoms/families.h"
#include "model/indicators.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

// receive_errors: more errors before FEC than this link's own normal, or than its FEC mode leaves
// room for.
constexpr Knob kErrorKnobs[] = {
    {"own_ratio", 8, 2, 1000, "", "times the link's own reference: +8 C moves a link x1.5-2 only"},
    {"floor_pam4_ber", 1e-6, 1e-12, 1e-3, "",
     "below this a PAM4 link may do as it likes (docs/physics.md 3a)"},
    {"floor_nrz_ber", 1e-8, 1e-15, 1e-3, "", "the same for NRZ"},
    {"limit_share_optical", 20, 1, 1000, "",
     "limit divided by this is too much, whatever the past was"},
    {"limit_share_copper", 4, 1, 1000, "", "copper runs nearer its limit"},
    {"no_fec_symbols_per_h", 20, 1, 1e9, "",
     "without FEC: symbol errors in an hour, in three intervals or more"},
    {"sibling_ratio", 50, 2, 1e6, "",
     "times the worst of two or more links with the same kind of module: it is none of them (good "
     "ones spread 0.6 "
     "decades)"},
    {"sibling_share_optical", 60, 1, 1e6, "", "and above the limit divided by this"},
    {"sibling_share_copper", 10, 1, 1e6, "", "the same for copper"},
    {"together_share", 3, 1, 100, "",
     "the limit's share is so much stricter while another link to the same switch has errors"}};
enum Error : std::size_t {
  kOwnRatio,
  kFloorPam4,
  kFloorNrz,
  kShareOptical,
  kShareCopper,
  kSymbolsPerH,
  kSiblingRatio,
  kSiblingShareOptical,
  kSiblingShareCopper,
  kTogetherShare
};

/// A link without a past of its own is compared with its like, and with the others to the same
/// switch.
std::optional<Finding> errors_among_others(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  const bool copper = v.medium == Medium::kCopper;
  const double least = *s.ber_limit / k[copper ? kSiblingShareCopper : kSiblingShareOptical];
  if (v.group.siblings_ber >= 2 && *s.ber > least &&
      *s.ber >= k[kSiblingRatio] * v.group.siblings_worst_ber)
    return Case(Reader::kFec)
        .above("pre-FEC BER", s.ber, least)
        .at_least("times the worst link with the same kind of module",
                  *s.ber / std::max(v.group.siblings_worst_ber, 1e-15), k[kSiblingRatio])
        .close();
  const double stricter =
      *s.ber_limit / (k[copper ? kShareCopper : kShareOptical] * k[kTogetherShare]);
  if (v.group.leaf_errors > 0 && *s.ber > stricter)
    return Case(Reader::kFec)
        .above("pre-FEC BER, while others to the same switch have errors", s.ber, stricter)
        .close();
  return std::nullopt;
}

Finding receive_errors(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  if (!s.ber_limit) {
    if (!s.symbols_known && s.frames_known && s.intervals_1h >= 3)
      return Case(Reader::kCounters)
          .at_least("intervals with damaged frames", static_cast<double>(s.frame_intervals_1h), 3)
          .at_least("damaged frames in an hour", s.frames_1h, k[kSymbolsPerH])
          .at_least("of the intervals in ten minutes", static_cast<double>(s.frame_intervals_10m),
                    1)
          .close();
    if (!s.symbols_known || s.intervals_1h < 3)
      return not_known("no FEC counters and no symbol errors to read");
    return Case(Reader::kCounters)
        .at_least("intervals with symbol errors", static_cast<double>(s.symbol_intervals_1h), 3)
        .at_least("symbol errors in an hour, the worst interval left out",
                  s.symbols_1h - s.symbols_largest, k[kSymbolsPerH])
        .close();
  }
  if (v.down && !s.ber) return not_known("the link is down");
  if (!s.ber) {
    if (s.uncorrectable_known && s.uncorrectable_intervals_1h >= 3)
      return Case(Reader::kFec)
          .at_least("intervals with uncorrectable blocks",
                    static_cast<double>(s.uncorrectable_intervals_1h), 3)
          .close();
    return not_known("too few readings of corrected bits");
  }
  const double share = k[v.medium == Medium::kCopper ? kShareCopper : kShareOptical];
  const double absolute = *s.ber_limit / share;
  if (s.lane_stands_out)
    return Case(Reader::kFec)
        .lane(s.worst_lane)
        .above("pre-FEC BER of this lane", s.lane_ber[static_cast<std::size_t>(s.worst_lane)],
               s.lane_limit)
        .at_least("signal lost against the median lane", s.worst_lane_penalty_db,
                  s.lane_penalty_limit_db, "dB")
        .close();
  if (*s.ber > absolute) return Case(Reader::kFec).above("pre-FEC BER", s.ber, absolute).close();
  if (s.lane_rose)
    return Case(Reader::kFec)
        .lane(s.worst_lane)
        .above("pre-FEC BER of this lane", s.lane_ber[static_cast<std::size_t>(s.worst_lane)],
               s.lane_own_limit)
        .close();
  if (auto among = errors_among_others(v, k)) return *among;
  const double floor = k[is_pam4(v) ? kFloorPam4 : kFloorNrz];
  if (!s.ber_reference) return Case(Reader::kFec).above("pre-FEC BER", s.ber, absolute).close();
  return Case(Reader::kFec)
      .above("pre-FEC BER", s.ber, std::max(floor, *s.ber_reference * k[kOwnRatio]))
      .close();
}

// losing_data: errors that FEC could not correct, sustained: each transition has its own burst.
constexpr Knob kLossKnobs[] = {
    {"min_intervals", 3, 1, 100, "", "clean intervals with losses in the last hour"},
    {"span_s", 100, 0, 3600, "s", "between the first and the last"},
    {"min_blocks", 8, 1, 1e6, "",
     "lost in all: a good link loses a few codewords in an hour now and then"},
    {"min_symbols", 20, 1, 1e6, "", "the same without FEC: 1e-12 makes 370 an hour at 100G"},
    {"min_packets", 60, 1, 1e6, "",
     "InfiniBand: packets received damaged, in an hour (docs/physics.md 3d: 1 a minute)"},
    {"packets_span_s", 1200, 0, 3600, "s", "between the first and the last of them"},
    {"min_until_full", 32768, 1, 1e9, "",
     "seen in an hour of a counter that is full since: half of what symbol_error and "
     "port_rcv_errors hold (IBTA "
     "16.1.3.5)"}};
/// What was seen to fill up counts no further: whether it lasts can't be seen any more, and so much
/// need not last.
std::optional<Finding> ran_full(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  if (s.symbols_1h >= k[6] &&
      is_saturated_for(v.port.counters.saturated, {Indicator::kSymbolErrors}))
    return Case(Reader::kCounters)
        .at_least("symbol errors until symbol_error was full", s.symbols_1h, k[6])
        .close();
  if (s.frames_1h >= k[6] && s.card_errors.events == 0 &&
      is_saturated_for(v.port.counters.saturated, {Indicator::kFrameErrors}))
    return Case(Reader::kCounters)
        .at_least("damaged packets until port_rcv_errors was full", s.frames_1h, k[6])
        .close();
  return std::nullopt;
}
/// InfiniBand counts what arrived damaged apart from what a switch had marked: a lasting rate is
/// this link's own, even where the driver shows no other error.
std::optional<Finding> losing_packets(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  if (v.port.latest.id.link_layer != "InfiniBand" || !s.frames_known || s.card_errors.events > 0)
    return std::nullopt;
  Finding found =
      Case(Reader::kCounters)
          .at_least("time between the first and the last damaged packet", s.frame_span_s, k[5], "s")
          .at_least("intervals with damaged packets in ten minutes",
                    static_cast<double>(s.frame_intervals_10m), 3)
          .at_least("damaged packets in an hour, the worst interval left out",
                    s.frames_1h - s.frames_largest, k[4])
          .close();
  return found.present() ? std::optional(found) : std::nullopt;
}
Finding losing_data(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  if (s.intervals_1h < 3) return not_known("too few readings since the link came up");
  if (auto full = ran_full(v, k)) return *full;
  if (auto packets = losing_packets(v, k)) return *packets;
  const bool blocks = s.uncorrectable_intervals_1h >= s.symbol_intervals_1h;
  if (blocks && s.uncorrectable_known)
    return Case(Reader::kFec)
        .at_least("intervals with uncorrectable blocks",
                  static_cast<double>(s.uncorrectable_intervals_1h), k[0])
        .at_least("time between the first and the last", s.uncorrectable_span_s, k[1], "s")
        .at_least("of them in ten minutes", static_cast<double>(s.uncorrectable_intervals_10m), 1)
        .at_least("uncorrectable blocks in an hour", s.uncorrectable_1h, k[2])
        .close();
  const bool packets_full = is_saturated_for(v.port.counters.saturated, {Indicator::kFrameErrors});
  if (!s.symbols_known) {
    if (packets_full || is_saturated_for(v.port.counters.saturated, {Indicator::kSymbolErrors}))
      return not_known(kFullCounter);
    return not_known("no counter of lost symbols or blocks");
  }
  Finding symbols =
      Case(Reader::kCounters)
          .at_least("intervals with symbol errors", static_cast<double>(s.symbol_intervals_1h),
                    k[0])
          .at_least("time between the first and the last", s.symbol_span_s, k[1], "s")
          .at_least("of them in ten minutes", static_cast<double>(s.symbol_intervals_10m), 1)
          .at_least("symbol errors in an hour, the worst interval left out",
                    s.symbols_1h - s.symbols_largest, k[3])
          .close();
  return !symbols.present() && packets_full ? not_known(kFullCounter) : symbols;
}

// one_lane_errors: one lane has most of the errors. All lanes together point at what they share.
constexpr Knob kLaneKnobs[] = {{"ratio", 8, 2, 1000, "", "times the median lane"}};
Finding one_lane_errors(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  if (s.worst_lane < 0) return not_known("the driver gives no errors per lane");
  const double floor = (is_pam4(v) ? 1e-6 : 1e-8);
  return Case(Reader::kFec)
      .lane(s.worst_lane)
      .above("pre-FEC BER", s.lane_ber[static_cast<std::size_t>(s.worst_lane)], floor)
      .at_least("times the median lane", s.worst_lane_ratio, k[0])
      .close();
}

// error_bursts: data are lost, though the average error rate is far below where that happens by
// chance: the cliff is half a decibel wide (docs/physics.md 7c). Electronics and connectors that
// move do so; steady dirt does not.
constexpr Knob kBurstKnobs[] = {
    {"margin", 8, 2, 1000, "", "times below the limit that the usual error rate is"},
    {"min_blocks", 8, 1, 1e6, "", "lost in an hour"}};
Finding error_bursts(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  if (!s.ber || !s.ber_limit || !s.uncorrectable_known)
    return not_known("no error rate before FEC");
  return Case(Reader::kFec)
      .at_least("intervals with uncorrectable blocks",
                static_cast<double>(s.uncorrectable_intervals_1h), 3)
      .at_least("of them in ten minutes", static_cast<double>(s.uncorrectable_intervals_10m), 1)
      .at_least("uncorrectable blocks in an hour", s.uncorrectable_1h, k[1])
      .below("pre-FEC BER", s.ber, *s.ber_limit / k[0])
      .close();
}

// errors_before_fall: what the last minutes looked like: a ramp of errors, or a clean cut.
Finding errors_before_fall(const PortView& v, KnobValues k) {
  if (!v.down) return not_known("the link is up");
  if (v.port.before_loss.uncorrectable > 50)
    return Case(Reader::kFec)
        .above("uncorrectable blocks before the fall", v.port.before_loss.uncorrectable, 50)
        .close();
  if (!v.port.before_loss.ber) return not_known("no readings from before the fall");
  const double limit = v.signal.ber_limit.value_or(1e-12);
  double threshold = limit / 12;
  if (v.signal.ber_reference)
    threshold =
        std::min(threshold, std::max(is_pam4(v) ? 1e-6 : 1e-8, *v.signal.ber_reference * k[0]));
  return Case(Reader::kFec)
      .above("pre-FEC BER before the fall", v.port.before_loss.ber, threshold)
      .close();
}
constexpr Knob kRampKnobs[] = {{"own_ratio", 8, 2, 1000, "", "times the link's own reference"}};

// link_recoveries: one interval alone may be one wrong reading.
constexpr Knob kRecoveryKnobs[] = {
    {"per_h", 3, 1, 1000, "", "recoveries in an hour (docs/physics.md 3d)"},
    {"intervals", 2, 1, 1000, "", "with them"}};
Finding link_recoveries(const PortView& v, KnobValues k) {
  const Repeated& recoveries = v.signal.recoveries;
  if (!recoveries.known)
    return not_counted(v, Indicator::kLinkRecoveries,
                       "no counter of link recoveries or of the link's integrity");
  return Case(Reader::kCounters)
      .at_least("link recoveries or integrity errors in an hour", recoveries.events, k[0])
      .at_least("intervals with them", static_cast<double>(recoveries.intervals), k[1])
      .close();
}

// far_errors: the far receiver, which sees what we send, counts errors, sustained.
constexpr Knob kFarKnobs[] = {
    {"reads", 3, 1, 100, "", "readings with new errors in the last hour"},
    {"share", 0.5, 0.05, 1, "", "of the readings"},
    {"errors", 20, 1, 1e9, "", "errors in an hour, the worst reading left out"},
    {"no_fec_ber", 5e-13, 0, 1e-6, "",
     "and without FEC so many that they make up this error ratio: 1e-12 is allowed"}};
Finding far_errors(const PortView& v, KnobValues k) {
  const SignalStats& s = v.signal;
  // A counter at its end can't rise. With losses on the way as well it is telling.
  if (v.port.peer.errors_saturated && s.far_error_reads == 0 && v.traffic.retries_share > 0.5)
    return Case(Reader::kPeer).holds("the far error counter is full", true).close();
  // One that is full says nothing of now; another that still rises does.
  const bool stuck = v.port.peer.errors_saturated && s.far_error_reads == 0;
  if (s.far_reads < 2 || stuck) return not_known("the far end's counters are not known");
  const double watched_s = std::min(3600.0, in_seconds(v.now - v.port.first_seen));
  const double allowed = s.ber_limit ? 0 : k[3] * v.port.line_rate_bps() * watched_s;
  return Case(Reader::kPeer)
      .at_least("readings with new errors at the far receiver",
                static_cast<double>(s.far_error_reads), k[0])
      .at_least("share of the readings",
                static_cast<double>(s.far_error_reads) / static_cast<double>(s.far_reads), k[1])
      .at_least("errors at the far receiver in an hour, the worst reading left out",
                s.far_errors_1h - s.far_errors_largest, std::max(k[2], allowed))
      .close();
}

constexpr Knob kSnrKnobs[] = {
    {"pam4_db", 16.5, 8, 25, "dB", "eSNR at which PAM4 is near its limit (CMIS VDM)"}};
Finding snr_low(const PortView& v, KnobValues k) {
  const auto& module = v.port.latest.module;
  if (!module || v.down) return not_known("the module gives no signal-to-noise ratio");
  // DP-16QAM lives on far less than PAM4 does: 800G-ZR modules that are well say 15.5 dB.
  if (!module->coherent.empty())
    return not_known("a coherent module's limits are not those of PAM4");
  if (lanes_may_be_others(v)) return not_known(kSharedModule);
  const auto& snr = module->vdm.media_esnr_db;
  auto worst = snr.end();
  const auto is_used = [&](std::size_t lane) {
    return lane >= module->lanes.size() || module->lanes[lane] != ModuleLane{};
  };
  for (auto lane = snr.begin(); lane != snr.end(); ++lane)  // 0 is CMIS's word for "none"
    if (*lane > 0 && is_used(static_cast<std::size_t>(lane - snr.begin())) &&
        (worst == snr.end() || *lane < *worst))
      worst = lane;
  if (worst == snr.end()) return not_known("the module gives no signal-to-noise ratio");
  return Case(Reader::kModule)
      .lane(static_cast<int>(worst - snr.begin()))
      .below("eSNR", *worst, k[0], "dB")
      .close();
}

constexpr Symptom kRows[] = {
    {kReceiveErrors, "receive_errors", "more errors before FEC than normal", kErrorKnobs,
     &receive_errors, "read the FEC counters (ethtool -I --show-fec)"},
    {kLosingData, "losing_data", "errors that FEC can't correct", kLossKnobs, &losing_data,
     "read the FEC counters (ethtool -I --show-fec)"},
    {kOneLaneErrors, "one_lane_errors", "one lane has most of the errors", kLaneKnobs,
     &one_lane_errors, "read the errors of each lane (mlxlink -c)"},
    {kErrorBursts, "error_bursts", "data are lost in bursts, in between the link is fine",
     kBurstKnobs, &error_bursts, "read the FEC counters (ethtool -I --show-fec)"},
    {kErrorsBeforeFall, "errors_before_fall", "errors rose before the link fell", kRampKnobs,
     &errors_before_fall, ""},
    {kLinkRecoveries, "link_recoveries", "the link retrains by itself", kRecoveryKnobs,
     &link_recoveries, ""},
    {kFarErrors, "far_errors", "the far receiver has errors", kFarKnobs, &far_errors,
     "read the error counters of the far port"},
    {kSnrLow, "snr_low", "the module sees a noisy signal", kSnrKnobs, &snr_low, ""},
};

}  // namespace

constinit const std::span<const Symptom> kSignalFamily = kRows;

}  // namespace linkhealth::symptoms
