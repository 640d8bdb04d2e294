#include "daemon/sampling/peer_sources.h"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/live_host.h"
#include "probes/peer/mad_port.h"
#include "probes/peer/peer_import.h"
#include "probes/peer/peer_lldp.h"
#include "probes/peer/peer_mad.h"

namespace linkhealth {

namespace {

enum SettingIndex : std::size_t {
  kMad,
  kLldp,
  kImport,
  kPlan,
  kHold,
  kLldpPeriod,
  kImportPeriod,
  kMadPeriod
};

constexpr auto kSettings = std::to_array<Setting>({
    {"mad", 1, 0, 1, "", "1: read the switch port of an InfiniBand link by MADs; 0: do not"},
    {"lldp", 1, 0, 1, "", "1: read the neighbours of Ethernet ports from lldpd; 0: do not"},
    {"import", 1, 0, 1, "",
     "1: use the readings that other programs put into import_dir; 0: do not"},
    {"plan", 1, 0, 1, "",
     "1: the plan (ports > PORT > peer) names a far end that no other source names; 0: the plan is "
     "not used for names"},
    {"hold_s", 300, 10, 86400, "s",
     "how long the last answer of a far end stays valid; at least 2.5 times the longest period "
     "below"},
    {"lldp_period_s", 30, 1, 3600, "s",
     "how often lldpd is read; LLDP is sent every 30 s (802.1AB msgTxInterval)"},
    {"import_period_s", 15, 1, 3600, "s", "how often import_dir is read"},
    {"mad_period_s", 60, 1, 3600, "s",
     "how often a far InfiniBand port is read; the ports are spread over this period"},
});
constexpr Milliseconds kReadPatience{30'000};  // a round that takes longer is reported as hung
constexpr Milliseconds kLldpdPatience{2'000};
constexpr std::array<SettingGroup, 1> kGroups = {{{"peers", kSettings}}};

}  // namespace

std::span<const SettingGroup> peer_setting_groups() { return kGroups; }

ExpectedPorts planned_names(const SettingTable& table, const ExpectedPorts& expected) {
  return table.values("peers")[kPlan] >= 0.5 ? expected : ExpectedPorts();
}

Milliseconds far_end_hold(const SettingTable& table) {
  // One answer may be lost, and each port has its own offset in a period.
  constexpr double kPeriods = 2.5;
  const SettingValues values = table.values("peers");
  const double longest =
      std::max(values[kMad] * values[kMadPeriod], values[kLldp] * values[kLldpPeriod]);
  return from_seconds(std::max(values[kHold], kPeriods * longest));
}

std::unique_ptr<FarEnds> make_far_ends(const Config& config, const Clock& clock, bool once) {
  const SettingValues values = config.setting_table.values("peers");
  const auto is_on = [&](SettingIndex setting) { return values[setting] >= 0.5; };
  const auto time = [&](SettingIndex setting) { return from_seconds(values[setting]); };
  MadTiming mad;
  mad.period = time(kMadPeriod);
  if (once) mad.first_within = Milliseconds(0);
  LldpTiming lldp;
  lldp.period = time(kLldpPeriod);
  ImportTiming import;
  import.period = time(kImportPeriod);
  std::vector<std::unique_ptr<PeerProbe>> probes;
  if (is_on(kMad)) probes.push_back(make_mad_probe(mad, &open_umad_port));
  if (is_on(kLldp))
    probes.push_back(make_lldp_probe(make_lldpd_client(config.lldpd_socket, kLldpdPatience, clock),
                                     config.lldpd_socket, std::make_unique<LiveHost>(), lldp));
  if (is_on(kImport))
    probes.push_back(make_import_probe(open_import_directory(config.import_dir), clock, import));
  ExpectedPorts plan = planned_names(config.setting_table, config);
  if (probes.empty() && plan.empty()) return nullptr;
  return std::make_unique<FarEnds>(std::move(probes), clock,
                                   FarEndTiming{far_end_hold(config.setting_table), kReadPatience},
                                   std::move(plan));
}

}  // namespace linkhealth
