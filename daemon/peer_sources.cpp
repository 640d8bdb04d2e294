#include "daemon/peer_sources.h"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/live_host.h"
#include "probes/mad_umad.h"
#include "probes/peer_import.h"
#include "probes/peer_lldp.h"
#include "probes/peer_mad.h"

namespace linkhealth {

namespace {

enum KnobIndex : std::size_t {
  kMad,
  kLldp,
  kImport,
  kPlan,
  kHold,
  kPatience,
  kLldpPeriod,
  kLldpTimeout,
  kLldpSettle,
  kImportPeriod,
  kImportSkew,
  kMadPeriod,
  kMadTimeout,
  kMadTries,
  kMadsPerSecond
};

constexpr auto kKnobs = std::to_array<Knob>({
    {"mad", 1, 0, 1, "", "1: ask the switch port of an InfiniBand link by MADs; 0: do not"},
    {"lldp", 1, 0, 1, "", "1: ask lldpd for the neighbours of Ethernet ports; 0: do not"},
    {"import", 1, 0, 1, "", "1: take the readings that others put into import_dir; 0: do not"},
    {"plan", 1, 0, 1, "",
     "1: the plan (ports > PORT > peer) names a far end that nothing else does; 0: it does not"},
    {"hold_s", 300, 10, 86400, "s",
     "how long the last answer of a far end stands when no other comes; at least 2.5 of the "
     "periods below"},
    {"patience_s", 30, 1, 600, "s", "a source that takes longer is reported as hung"},
    {"lldp_period_s", 30, 1, 3600, "s",
     "how often lldpd is asked; it is told every 30 s (802.1AB msgTxInterval)"},
    {"lldp_timeout_s", 2, 0.1, 60, "s", "how long lldpd may take to answer"},
    {"lldp_settle_s", 60, 10, 3600, "s",
     "a port that is up for longer and has no neighbour is a gap"},
    {"import_period_s", 15, 1, 3600, "s", "how often import_dir is looked at"},
    {"import_skew_s", 5, 0, 3600, "s", "how far in the future the time of an imported file may be"},
    {"mad_period_s", 60, 1, 3600, "s",
     "how often a far InfiniBand port is asked; each port has its own place in it"},
    {"mad_timeout_s", 0.2, 0.01, 5, "s", "how long a far end may take to answer one MAD"},
    {"mad_tries", 2, 1, 10, "", "and how often it is asked before it counts as silent"},
    {"mads_per_s", 20, 1, 1000, "",
     "MADs that this node sends, at most: thousands of nodes ask the same switches"},
});
constexpr std::array<KnobGroup, 1> kGroups = {{{"", "peers", kKnobs}}};

/// `once`: everything is asked at once, because nobody comes back.
MadTiming mad_timing(KnobValues values, bool once) {
  MadTiming timing;
  timing.period = from_seconds(values[kMadPeriod]);
  timing.timeout = from_seconds(values[kMadTimeout]);
  timing.tries = static_cast<int>(values[kMadTries]);
  timing.mads_per_s = once ? 0 : static_cast<int>(values[kMadsPerSecond]);
  if (once) timing.first_within = Milliseconds(0);
  return timing;
}

}  // namespace

std::span<const KnobGroup> peer_knob_groups() { return kGroups; }

ExpectedPorts planned_names(const KnobTable& knobs, const ExpectedPorts& asked) {
  return knobs.values("peers")[kPlan] >= 0.5 ? asked : ExpectedPorts();
}

Milliseconds far_end_hold(const KnobTable& knobs) {
  constexpr double kPeriods =
      2.5;  // one answer may be lost, and each port has its own place in a period
  const KnobValues values = knobs.values("peers");
  const double longest =
      std::max(values[kMad] * values[kMadPeriod], values[kLldp] * values[kLldpPeriod]);
  return from_seconds(std::max(values[kHold], kPeriods * longest));
}

std::unique_ptr<FarEnds> make_far_ends(const Config& config, const Clock& clock, bool once) {
  const KnobValues values = config.knobs.values("peers");
  const auto is_on = [&](KnobIndex knob) { return values[knob] >= 0.5; };
  const auto time = [&](KnobIndex knob) { return from_seconds(values[knob]); };
  std::vector<std::unique_ptr<PeerProbe>> probes;
  if (is_on(kMad)) probes.push_back(make_mad_probe(mad_timing(values, once), &open_umad_port));
  if (is_on(kLldp))
    probes.push_back(make_lldp_probe(
        make_lldpd_client(config.lldpd_socket, time(kLldpTimeout), clock), config.lldpd_socket,
        std::make_unique<LiveHost>(), {time(kLldpPeriod), time(kLldpSettle)}));
  if (is_on(kImport))
    probes.push_back(make_import_probe(open_import_directory(config.import_dir), clock,
                                       {time(kImportPeriod), time(kImportSkew)}));
  ExpectedPorts plan = planned_names(config.knobs, config);
  if (probes.empty() && plan.empty()) return nullptr;
  return std::make_unique<FarEnds>(std::move(probes), clock,
                                   FarEndTiming{far_end_hold(config.knobs), time(kPatience)},
                                   std::move(plan));
}

}  // namespace linkhealth
