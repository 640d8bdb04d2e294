// Symptoms of the received signal: error rates before and after FEC, lanes, recoveries.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"
#include "model/indicators.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

// receive_errors: more errors before FEC than this link's baseline, or than its FEC mode allows.
// "Share": more than the FEC mode's limit divided by this is too much. Copper runs closer to its
// limit.
struct ErrorShares {
  double alone;     ///< whatever the baseline is
  double siblings;  ///< and far above the links with the same kind of module
};
constexpr ErrorShares kOpticalShares{20, 60}, kCopperShares{4, 10};
// Factor to the worst of two or more links with the same kind of module: good ones vary by 0.6
// decades.
constexpr double kSiblingRatio = 50;
// Factor by which the share is stricter while another link to the same switch has errors.
constexpr double kTogetherShare = 3;
constexpr double kSymbolsPerH = 20;  // without FEC, in at least three intervals

/// Below this, any ratio is harmless (docs/physics.md 3a).
double harmless_ber(const Features& f) { return is_pam4(f) ? 1e-6 : 1e-8; }

/// A link without a baseline is compared with similar ones, and with others to the same switch.
std::optional<Finding> errors_among_others(const Features& f, const ErrorShares& shares) {
  const SignalStats& s = f.signal;
  const double least = error_limit(s) / shares.siblings;
  if (f.group.siblings_ber >= 2 && *s.ber > least &&
      *s.ber >= kSiblingRatio * f.group.siblings_worst_ber)
    return Checks(kFec)
        .above("pre-FEC BER", s.ber, least)
        .at_least("relative to the worst link with the same kind of module",
                  *s.ber / std::max(f.group.siblings_worst_ber, 1e-15), kSiblingRatio);
  const double stricter = error_limit(s) / (shares.alone * kTogetherShare);
  if (f.group.leaf_errors > 0 && *s.ber > stricter)
    return Checks(kFec).above("pre-FEC BER while other links to the same switch have errors", s.ber,
                              stricter);
  return std::nullopt;
}

Finding errors_without_fec(const SignalStats& s) {
  if (!s.symbols.known && s.frames.known && s.intervals_1h >= 3)
    return Checks(kCounters)
        .at_least("intervals with damaged frames", s.frames.intervals, 3)
        .at_least("damaged frames in 1 h", s.frames.events, kSymbolsPerH)
        .at_least("share of intervals in 10 min", s.frames.recent, 1);
  if (!s.symbols.known || s.intervals_1h < 3)
    return unknown("no FEC counters and no symbol errors to read");
  return Checks(kCounters)
      .at_least("intervals with symbol errors", s.symbols.intervals, 3)
      .at_least("symbol errors in 1 h without the worst interval",
                s.symbols.events - s.symbols.largest, kSymbolsPerH);
}

Finding observe_receive_errors(const Features& f) {
  const SignalStats& s = f.signal;
  if (!s.ber_limit) return errors_without_fec(s);
  if (f.down && !s.ber) return unknown("the link is down");
  if (!s.ber) {
    if (s.blocks.known && s.blocks.intervals >= 3)
      return Checks(kFec).at_least("intervals with uncorrectable blocks", s.blocks.intervals, 3);
    return unknown("too few readings of corrected bits");
  }
  const ErrorShares& shares = f.medium == Medium::kCopper ? kCopperShares : kOpticalShares;
  const double absolute = error_limit(s) / shares.alone;
  if (s.lane_stands_out)
    return Checks(kFec)
        .lane(s.worst_lane)
        .above("pre-FEC BER of this lane", s.worst_lane_ber(), s.lane_limit)
        .at_least("signal loss relative to the median lane", s.worst_lane_penalty_db,
                  kLanePenaltyDb, "dB");
  if (*s.ber > absolute) return Checks(kFec).above("pre-FEC BER", s.ber, absolute);
  if (s.lane_rose)
    return Checks(kFec)
        .lane(s.worst_lane)
        .above("pre-FEC BER of this lane", s.worst_lane_ber(), s.lane_own_limit);
  if (auto among = errors_among_others(f, shares)) return *among;
  const double limit = s.ber_baseline
                           ? std::max(harmless_ber(f), *s.ber_baseline * f.settings.error_ratio)
                           : absolute;
  return Checks(kFec).above("pre-FEC BER", s.ber, limit);
}

// losing_data: errors that FEC could not correct, sustained: each transition has its own burst.
constexpr double kLossIntervals = 3;  // clean intervals with losses in the last hour
constexpr double kLossSpanS = 100;    // between the first and the last
constexpr double kLossBlocks = 8;     // a good link occasionally loses a few codewords in an hour
constexpr double kLossSymbols = 20;   // without FEC: 1e-12 gives 370 per hour at 100G
constexpr double kLossPackets = 60;   // InfiniBand, per hour (docs/physics.md 3d: 1 per minute)
constexpr double kPacketsSpanS = 1200;
// Errors within one hour in a counter that has since saturated: half the range of symbol_error and
// port_rcv_errors (IBTA 16.1.3.5).
constexpr double kUntilFull = 32768;

/// A saturated counter no longer counts. Whether the errors persist is unknown, but this many need
/// not persist.
std::optional<Finding> ran_full(const Features& f) {
  const SignalStats& s = f.signal;
  if (s.symbols.events >= kUntilFull &&
      is_saturated_for(f.port.counters.saturated, {Indicator::kSymbolErrors}))
    return Checks(kCounters).at_least("symbol errors until the counter symbol_error saturated",
                                      s.symbols.events, kUntilFull);
  if (s.frames.events >= kUntilFull && s.card_errors.events == 0 &&
      is_saturated_for(f.port.counters.saturated, {Indicator::kFrameErrors}))
    return Checks(kCounters).at_least("damaged packets until the counter port_rcv_errors saturated",
                                      s.frames.events, kUntilFull);
  return std::nullopt;
}
/// InfiniBand counts packets that arrived damaged separately from those that a switch had marked: a
/// sustained rate is this link's own, even if the driver reports no other error.
std::optional<Finding> losing_packets(const Features& f) {
  const SignalStats& s = f.signal;
  if (f.port.latest.id.link_layer != "InfiniBand" || !s.frames.known || s.card_errors.events > 0)
    return std::nullopt;
  Finding found =
      Checks(kCounters)
          .at_least("time from first to last damaged packet", s.frames.span_s(), kPacketsSpanS, "s")
          .at_least("intervals with damaged packets in 10 min", s.frames.recent, 3)
          .at_least("damaged packets in 1 h without the worst interval",
                    s.frames.events - s.frames.largest, kLossPackets);
  return found.present() ? std::optional(found) : std::nullopt;
}
Finding losing_data(const Features& f) {
  const SignalStats& s = f.signal;
  if (s.intervals_1h < 3) return unknown("too few readings since the link came up");
  if (auto full = ran_full(f)) return *full;
  if (auto packets = losing_packets(f)) return *packets;
  if (s.blocks.known && s.blocks.intervals >= s.symbols.intervals)
    return Checks(kFec)
        .at_least("intervals with uncorrectable blocks", s.blocks.intervals, kLossIntervals)
        .at_least("time from first to last", s.blocks.span_s(), kLossSpanS, "s")
        .at_least("of these in 10 min", s.blocks.recent, 1)
        .at_least("uncorrectable blocks in 1 h", s.blocks.events, kLossBlocks);
  const bool packets_full = is_saturated_for(f.port.counters.saturated, {Indicator::kFrameErrors});
  if (!s.symbols.known)
    return unknown(packets_full ||
                           is_saturated_for(f.port.counters.saturated, {Indicator::kSymbolErrors})
                       ? kFullCounter
                       : "no counter of lost symbols or blocks");
  Finding symbols =
      Checks(kCounters)
          .at_least("intervals with symbol errors", s.symbols.intervals, kLossIntervals)
          .at_least("time from first to last", s.symbols.span_s(), kLossSpanS, "s")
          .at_least("of these in 10 min", s.symbols.recent, 1)
          .at_least("symbol errors in 1 h without the worst interval",
                    s.symbols.events - s.symbols.largest, kLossSymbols);
  return !symbols.present() && packets_full ? unknown(kFullCounter) : symbols;
}

// one_lane_errors: one lane has most of the errors. Errors on all lanes point to what the lanes
// share.
Finding one_lane_errors(const Features& f) {
  constexpr double kRatio = 8;  // judgement
  const SignalStats& s = f.signal;
  if (s.worst_lane < 0) return unknown("the driver reports no errors per lane");
  return Checks(kFec)
      .lane(s.worst_lane)
      .above("pre-FEC BER", s.worst_lane_ber(), harmless_ber(f))
      .at_least("relative to the median lane", s.worst_lane_ratio, kRatio);
}

// error_bursts: data is lost, although the average error rate is far below where that happens by
// chance: the cliff is half a decibel wide (docs/physics.md 7c). Caused by electronics and moving
// connectors, not by constant dirt.
Finding error_bursts(const Features& f) {
  constexpr double kMargin = 8;  // factor between the limit and the usual error rate
  const SignalStats& s = f.signal;
  if (!s.ber || !s.ber_limit || !s.blocks.known) return unknown("no pre-FEC BER");
  return Checks(kFec)
      .at_least("intervals with uncorrectable blocks", s.blocks.intervals, kLossIntervals)
      .at_least("of these in 10 min", s.blocks.recent, 1)
      .at_least("uncorrectable blocks in 1 h", s.blocks.events, kLossBlocks)
      .below("pre-FEC BER", s.ber, *s.ber_limit / kMargin);
}

// errors_before_fall: the last minutes before a carrier loss: a ramp of errors, or a clean cut.
Finding errors_before_fall(const Features& f) {
  constexpr double kOwnRatio = 8;       // multiple of the link's own baseline
  constexpr double kLimitShare = 12;    // share of the FEC mode's limit
  constexpr double kBlocksBefore = 50;  // a transition's own burst is smaller
  constexpr double kAllLostS = 0.5;     // a carrier that is cut disappears within about 0.1 s
  if (f.port.before_loss.all_lost_s > kAllLostS)
    return Checks(kFec).above("seconds without a correct codeword before the link loss",
                              f.port.before_loss.all_lost_s, kAllLostS, "s");
  if (f.port.before_loss.uncorrectable > kBlocksBefore)
    return Checks(kFec).above("uncorrectable blocks before the link loss",
                              f.port.before_loss.uncorrectable, kBlocksBefore);
  if (!f.port.before_loss.ber) return unknown("no readings from before the link loss");
  double threshold = f.signal.ber_limit.value_or(1e-12) / kLimitShare;
  if (f.signal.ber_baseline)
    threshold = std::min(threshold, std::max(harmless_ber(f), *f.signal.ber_baseline * kOwnRatio));
  return Checks(kFec).above("pre-FEC BER before the link loss", f.port.before_loss.ber, threshold);
}

// link_recoveries: a single interval may be a wrong reading.
Finding link_recoveries(const Features& f) {
  constexpr double kPerH = 3;  // docs/physics.md 3d
  const Repeated& recoveries = f.signal.recoveries;
  if (!recoveries.known)
    return not_counted(f, Indicator::kLinkRecoveries,
                       "no counter of link recoveries or integrity errors");
  return Checks(kCounters)
      .at_least("link recoveries or integrity errors in 1 h", recoveries.events, kPerH)
      .at_least("intervals with such events", recoveries.intervals, 2);
}

// far_errors: the far receiver, which receives what we send, counts errors, sustained.
Finding far_errors(const Features& f) {
  constexpr double kErrorsPerH = 20;
  constexpr double kNoFecBer = 5e-13;  // without FEC 1e-12 is allowed
  const SignalStats& s = f.signal;
  // it can no longer rise.
  const bool stuck = f.port.peer.errors_saturated && s.far_error_reads == 0;
  if (stuck && f.traffic.retries_share > 0.5)  // counts only together with losses on the path
    return Checks(kFarCounters).holds("the far error counter is saturated", true);
  if (s.far_reads < 2 || stuck) return unknown("the far end's counters are unknown");
  const double watched_s = std::min(3600.0, in_seconds(f.now - f.port.first_seen));
  const double allowed = s.ber_limit ? 0 : kNoFecBer * f.port.line_rate_bps() * watched_s;
  const auto reads = s.far_error_reads;
  return Checks(kFarCounters)
      .at_least("readings with new errors at the far receiver", reads, kSustainedReads)
      .at_least("share of the readings", s.far_error_share(), kSustainedShare)
      .at_least("errors at the far receiver in 1 h without the worst reading",
                s.far_errors_1h - s.far_errors_largest, std::max(kErrorsPerH, allowed));
}

Finding snr_low(const Features& f) {
  constexpr double kPam4Db = 16.5;  // near PAM4's limit (CMIS VDM)
  const auto& module = f.port.latest.module;
  if (!module) return unknown("the module reports no signal-to-noise ratio");
  // DP-16QAM needs far less than PAM4: good 800G-ZR modules report 15.5 dB.
  if (!module->coherent.empty())
    return not_applicable("PAM4 limits do not apply to a coherent module");
  if (lanes_may_be_others(f)) return not_applicable(kSharedModule);
  const auto& snr = module->vdm.media_esnr_db;
  auto worst = snr.end();
  const auto is_used = [&](std::size_t lane) {
    return lane >= module->lanes.size() || module->lanes[lane] != ModuleLane{};
  };
  for (auto lane = snr.begin(); lane != snr.end(); ++lane)  // 0 means "none" in CMIS
    if (*lane > 0 && is_used(static_cast<std::size_t>(lane - snr.begin())) &&
        (worst == snr.end() || *lane < *worst))
      worst = lane;
  if (worst == snr.end()) return unknown("the module reports no signal-to-noise ratio");
  return Checks(kModule)
      .lane(static_cast<int>(worst - snr.begin()))
      .below("eSNR", *worst, kPam4Db, "dB");
}

// came_back_worse: since a carrier loss the errors are at least ten times those before it, with
// unchanged light: the receiver adapted badly when the link trained. Dirt would have reduced the
// light; mating the fibre again changes the light of its lanes (docs/physics.md 7d).
constexpr double kWorse = 10;          // sonic-net/sonic-mgmt PR 26555: a decade or more
constexpr double kWorseQuietly = 30;   // if still too low to harm a link
constexpr double kLeastWorse = 1e-10;  // less is a handful of bits per interval at 100 Gb/s

/// The received light since the training.
Finding light_as_before(const Features& f, const WorseTraining& worse) {
  constexpr double kNoiseDb = 0.3, kPartOfIt = 0.5;  // share of the loss that the errors would need
  constexpr double kRematedS = 60, kRematedDb = 0.2;
  if (f.port.own.rx_lanes == 0)
    return f.medium == Medium::kOptical || f.medium == Medium::kUnknown
               ? unknown("Rx power is unknown")
               : Finding(Checks(kFec));
  std::optional<double> lost_db, changed_db;
  for (std::size_t lane = 0; lane < f.port.own.rx_lanes; ++lane)
    if (const auto db = f.port.own.rx_dbm[lane].below_baseline(f.port.carrier.since)) {
      lost_db = std::max(lost_db.value_or(*db), *db);
      changed_db = std::max(changed_db.value_or(0), std::abs(*db));
    }
  if (!lost_db) return unknown_yet("Rx power was not read since the link came back");
  const double needed_db = implied_loss_db(worse.ber_before, worse.ber_after, is_pam4(f));
  Checks found(kModule);
  found.below("Rx power lost since the link loss", lost_db,
              std::max(kNoiseDb, kPartOfIt * needed_db), "dB");
  if (worse.down_s >= kRematedS)
    found.below("change of Rx power over a long link loss", changed_db, kRematedDb, "dB");
  return found;
}

Finding came_back_worse(const Features& f) {
  const SignalStats& s = f.signal;
  const TrainingHistory& trainings = f.port.trainings;
  if (!s.ber) return unknown("no pre-FEC BER");
  if (!trainings.worse && trainings.pending()) return unknown_yet("the link trained too recently");
  if (!trainings.worse) return Checks(kFec).holds("the errors rose when the link trained", false);
  const WorseTraining& worse = *trainings.worse;
  const bool harmless = *s.ber <= harmless_ber(f);
  Checks errors(kFec);
  errors
      .at_least("relative to the pre-FEC BER before the link loss", *s.ber / worse.ber_before,
                harmless ? kWorseQuietly : kWorse)
      .at_least("pre-FEC BER since the link loss", s.ber, kLeastWorse)
      .below("relative to the pre-FEC BER just after the training", *s.ber / worse.ber_after,
             kWorse);
  // Two trainings with the same outcome point to a part. Reported even if the errors are harmless.
  if (!harmless)
    errors.below("consecutive trainings with the same result", static_cast<double>(worse.trainings),
                 2);
  Finding found = errors;
  // Until the outcome of the next training is known, the last finding stands.
  if (!found.present() || trainings.pending()) return found;
  const Finding light = light_as_before(f, worse);
  if (light.unknown()) return light;
  found.verdict = light.verdict;
  found.comparisons.insert(found.comparisons.end(), light.comparisons.begin(),
                           light.comparisons.end());
  return found;
}

constexpr std::string_view kFecSource =
    "IEEE 802.3 Clauses 91 and 119 (RS-FEC limits); UFM PDR plugin (windows); judgement (ratios)";
constexpr std::string_view kReadFec = "read the FEC counters (ethtool -I --show-fec)";

constexpr Symptom kRows[] = {
    {kReceiveErrors, "receive_errors", "pre-FEC BER above baseline or limit", kAny,
     &observe_receive_errors, kFec | kCounters, kFecSource, kReadFec},
    {kLosingData, "losing_data", "errors that FEC cannot correct", kAny, &losing_data,
     kFec | kCounters, kFecSource, kReadFec},
    {kOneLaneErrors, "one_lane_errors", "one lane has most of the errors", kAny, &one_lane_errors,
     kFec, "CorrOpt; NVIDIA Cable Validation Tool; judgement (ratio)",
     "read the errors of each lane (mlxlink -c)"},
    {kErrorBursts, "error_bursts", "data loss in bursts, with no errors in between", kAny,
     &error_bursts, kFec | kCounters, "judgement", kReadFec},
    {kErrorsBeforeFall, "errors_before_fall", "errors rose before the link went down", kDown,
     &errors_before_fall, kFec, "judgement", ""},
    {kLinkRecoveries, "link_recoveries", "the link retrains on its own", kAny, &link_recoveries,
     kCounters, "IBTA LinkErrorRecoveryCounter; ibqueryerrors' limits", ""},
    {kFarErrors, "far_errors", "the far receiver has errors", kAny, &far_errors, kFarCounters,
     "IBTA PortCounters of the far port; judgement (ratio)",
     "read the error counters of the far port"},
    {kSnrLow, "snr_low", "the module sees a noisy signal", kUp, &snr_low, kModule,
     "CMIS 5 VDM eSNR; judgement (drop)", ""},
    {kCameBackWorse, "came_back_worse", "more errors since the last training, at unchanged light",
     kUp, &came_back_worse, kFec,
     "sonic-net/sonic-mgmt PR 26555; judgement (30 times, if harmless)", ""},
};

}  // namespace

constinit const std::span<const Symptom> kSignalFamily = kRows;

}  // namespace linkhealth::symptoms
