// Each symptom: present, just absent, unknown when blind.
#include "diagnosis/symptoms.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/diagnosis/symptom_scene.h"

namespace linkhealth {
namespace {

using namespace symptom_scene;  // NOLINT(google-build-using-namespace)

using Set = void (*)(Scene&, double value);
struct Row {
  SymptomId id;
  bool up;
  Set set;
  double present, absent;
  std::function<void(Scene&)> unknown = [](Scene&) {};
};
/// For a failed test's message.
void PrintTo(const Row& row, std::ostream* out) { *out << symptom(row.id).name; }

/// 0: the reason of this symptom; 1: another one.
template <const char* const* kStateAndSub>
void give_reason(Scene& s, double other) {
  if (other == 0)
    reason(s, kStateAndSub[0], kStateAndSub[1]);
  else
    reason(s, "SomeOther", "");
}
constexpr const char* kNoPartnerWords[] = {"Autoneg", "No partner detected"};
constexpr const char* kNoHcd[] = {"Autoneg", "No HCD"};
constexpr const char* kInhibit[] = {"Link training failure", "KR link inhibit timeout"};
constexpr const char* kFecWords[] = {"Logical mismatch", "RS FEC is not locked"};
constexpr const char* kPcsWords[] = {"Logical mismatch", "PCS did not acquire AM lock"};
constexpr const char* kBadWords[] = {"Bad signal integrity", "Large number of physical errors"};
constexpr const char* kRemoteWords[] = {"Link training failure", "Remote side is not ready yet"};
constexpr const char* kNoCableWords[] = {"No cable", ""};
constexpr const char* kUnsupportedWords[] = {"Cable issue", "Unsupported cable"};
constexpr const char* kEepromWords[] = {"EEPROM issue", ""};
constexpr const char* kOverheatWords[] = {"Overheat", ""};

template <std::optional<LightLossEstimate> LightStats::*kPoint>
void lose(Scene& s, double loss_db) {
  s.view.light.*kPoint = LightLossEstimate{loss_db, 0.2, 0};
}
template <ModuleHistory PortHistory::*kEnd>
void send_dbm(Scene& s, double dbm) {
  lanes(s);
  s.view.light.far_fresh = true;
  (s.port.*kEnd).tx_lanes = 1;
  (s.port.*kEnd).tx_dbm[0].add_recent(dbm, {});
}
void log_at(Scene& s, double at, const char* line) {
  s.port.device.kernel_log.emplace_back(steady_from_seconds(at), line);
}
PeerSample& read_peer(Scene& s, double at = 9900) {
  s.port.peer_at = steady_from_seconds(at);
  return s.port.latest.peer.emplace();
}
void far_admin(Scene& s, double up, double at = 9900) {
  read_peer(s, at).link.emplace().admin_up = up != 0;
}
void traffic(Scene& s) {
  s.view.traffic.all = 9;
  s.view.traffic.known_s = 1500;
  s.view.traffic.loaded_s = s.view.traffic.tested_s = 1100;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {kAdminDown, false, [](Scene& s, double v) { s.port.latest.link->admin_up = v != 0; }, 0, 1},
      {kLinkDown, false, [](Scene& s, double v) { s.view.down = v != 0; }, 1, 0,
       [](Scene& s) { s.port.carrier.up.reset(); }},
      {kFlaps, true, [](Scene& s, double apart_s) { losses(s, 3, apart_s); }, 121, 119, nullptr},
      {kSpeedReduced, true,
       [](Scene& s, double v) {
         s.port.latest.link->speed_mbps = static_cast<std::uint32_t>(v);
         s.expected.speed_mbps = 400000;
       },
       200000, 400000},
      {kNoPartner, false, &give_reason<kNoPartnerWords>, 0, 1},
      {kNegotiationFails, false, &give_reason<kNoHcd>, 0, 1},
      {kTrainingFails, false, &give_reason<kInhibit>, 0, 1},
      {kNoFecLock, false, &give_reason<kFecWords>, 0, 1},
      {kNoPcsLock, false, &give_reason<kPcsWords>, 0, 1},
      {kBadSignal, false, &give_reason<kBadWords>, 0, 1},
      {kRemoteFault, false, &give_reason<kRemoteWords>, 0, 1},
      {kNoCableReported, false, &give_reason<kNoCableWords>, 0, 1},
      {kUnsupportedReported, false, &give_reason<kUnsupportedWords>, 0, 1},
      {kModuleFaultReported, false, &give_reason<kEepromWords>, 0, 1},
      {kPowerRefused, false,
       [](Scene& s, double v) { reason(s, v != 0 ? "Power budget exceeded" : "Module", ""); }, 1,
       0},
      {kOverheatReported, false, &give_reason<kOverheatWords>, 0, 1},
      {kSettingsTouched, false,
       [](Scene& s, double at) { s.port.carrier.admin_event_at = steady_from_seconds(at); }, 9650,
       9500, [](Scene& s) { s.view.down = false; }},
      {kFecDiffers, false,
       [](Scene& s, double v) {
         s.port.carrier.last_fec = "RS544";
         s.port.latest.link->fec = v != 0 ? "LLRS" : "RS544";
       },
       1, 0, [](Scene& s) { s.port.carrier.last_fec = "RS544", s.port.latest.link->fec = "Off"; }},
      {kReceiveErrors, true,
       [](Scene& s, double ber) {
         s.view.signal.ber_limit = 2.4e-4, s.view.signal.ber_baseline = 1e-7;
         s.view.signal.ber = ber;
       },
       1.1e-6, 0.9e-6, [](Scene& s) { s.view.signal.ber_limit = 2.4e-4; }},
      {kLosingData, true, [](Scene& s, double n) { losing(s, n); }, 3, 2},
      {kOneLaneErrors, true,
       [](Scene& s, double ratio) {
         s.view.signal.worst_lane = 0, s.view.signal.lane_ber[0] = 1e-5;
         s.view.signal.worst_lane_ratio = ratio;
       },
       9, 7},
      {kErrorBursts, true,
       [](Scene& s, double ber) {
         losing(s, 3);
         s.view.signal.ber = ber, s.view.signal.ber_limit = 2.4e-4;
       },
       1e-7, 1e-4},
      {kErrorsBeforeFall, false,
       [](Scene& s, double ber) { s.port.before_loss.ber = ber, s.view.signal.ber_limit = 2.4e-4; },
       1e-4, 1e-6},
      {kLinkRecoveries, true,
       [](Scene& s, double intervals) { repeated(s.view.signal.recoveries, 3, intervals, 60); }, 2,
       1},
      {kFarErrors, true,
       [](Scene& s, double reads) {
         s.view.signal.far_reads = 6, s.view.signal.far_errors_1h = 20;
         s.view.signal.far_error_reads = reads;
       },
       3, 2},
      {kSnrLow, true,
       [](Scene& s, double db) {  // 0: a lane without a value
         lanes(s), s.port.latest.module->vdm.media_esnr_db = {20, 0, db};
       },
       15, 17,
       [](Scene& s) {
         lanes(s), s.port.latest.module->vdm.media_esnr_db = {15},
                   s.port.latest.module->coherent.osnr_db = 30;
       }},
      {kCameBackWorse, true,
       [](Scene& s, double times) {
         s.view.medium = Medium::kAoc;  // without meters
         s.view.signal.ber = times * 1e-8;
         s.port.trainings.worse = WorseTraining{{}, 8, 1e-8, times * 1e-8};
       },
       31, 29,
       [](Scene& s) {
         s.view.signal.ber = 1e-7;
         s.port.trainings.begin({}, 8, 1e-9);
       }},
      {kNoLight, false, [](Scene& s, double v) { lanes(s), s.view.light.rx_dark_all = v != 0; }, 1,
       0},
      {kSomeLanesDark, false,
       [](Scene& s, double v) { lanes(s), s.view.light.rx_dark_some = v != 0; }, 1, 0},
      {kLightThere, false, [](Scene& s, double v) { lanes(s), s.view.light.worst_rx_dbm = v; }, -2,
       -13},
      {kLightLow, true, &lose<&LightStats::rx>, 1.2, 1.1},
      {kFibresAlike, true, [](Scene& s, double low) { ribbon(s, static_cast<std::size_t>(low)); },
       4, 3, [](Scene& s) { ribbon(s, 4), s.port.latest.module->connector = "LC"; }},
      {kLaneReadsDark, true, [](Scene& s, double v) { lanes(s), s.view.light.worst_rx_dbm = v; },
       -40, -15},
      {kTxLow, true, &lose<&LightStats::tx>, 1.2, 1.1},
      {kTxFault, false,
       [](Scene& s, double v) { lanes(s), s.port.latest.module->lanes[1].tx_fault = v != 0; }, 1,
       0},
      {kLaserTires, true,
       [](Scene& s, double v) {
         lanes(s), s.view.light.bias_ratio = v, s.view.light.bias_lane = 0;
       },
       1.31, 1.29, [](Scene& s) { lanes(s); }},
      {kTxOff, false, &send_dbm<&PortHistory::own>, -40, 0},
      {kFarTxLow, true, &lose<&LightStats::far_tx>, 1.2, 1.1},
      {kFarTxOff, false, &send_dbm<&PortHistory::far>, -40, 0},
      {kFarSendsUnheard, false, &unheard, -1, -40,
       [](Scene& s) { unheard(s, -1), s.view.light.far_fresh = false; }},
      {kFarRxLow, true, &lose<&LightStats::far_rx>, 1.2, 1.1},
      {kFarRxDark, false,
       [](Scene& s, double v) {
         s.view.light.far_fresh = true, s.port.far.rx_lanes = 1;
         s.view.light.far_rx_dark_all = v != 0;
       },
       1, 0},
      {kNoLockWithLight, false,
       [](Scene& s, double mw) {
         lanes(s), s.port.latest.module->lanes[0].rx_lol = true,
                   s.port.latest.module->lanes[0].rx_power_mw = mw;
       },
       1, 0},
      {kModuleAbsent, false,
       [](Scene& s, double v) { lanes(s), s.port.latest.module->present = v != 0; }, 0, 1},
      {kModuleState, true,
       [](Scene& s, double v) {
         lanes(s), s.port.latest.module->state = v != 0 ? "ModuleFault" : "ModuleReady";
       },
       1, 0},
      {kModuleHot, true,
       [](Scene& s, double c) {
         lanes(s), s.port.latest.module->temperature_c = c,
                   s.port.own.temperature_c.add_recent(c, {});
       },
       70, 69},
      {kModuleDiffers, false,
       [](Scene& s, double v) {
         s.port.latest.module = ModuleSample{};
         s.port.latest.module->type = v != 0 ? "400G-SR8" : "400G-DR4";
         s.view.group.siblings_type = "400G-DR4";
       },
       1, 0},
      {kModuleNew, false,
       [](Scene& s, double at) { s.port.own.serial_changed_at = steady_from_seconds(at); }, 9940,
       9941},
      {kSupplyShared, true,
       [](Scene& s, double v) {
         s.view.supply_low = true, s.view.supply_low_s = 900, s.view.group.siblings_supply_low = v;
       },
       1, 0},
      {kModuleHeld, false,
       [](Scene& s, double v) { lanes(s), s.port.latest.module->low_pwr_request_sw = v != 0; }, 1,
       0, [](Scene& s) { lanes(s); }},
      {kHostSilent, false,
       [](Scene& s, double v) {
         lanes(s), s.port.own.unheard_reads = 2;
         for (ModuleLane& lane : s.port.latest.module->lanes) lane.tx_los = lane.tx_lol = v != 0;
       },
       1, 0, [](Scene& s) { lanes(s); }},
      {kModuleDropsOut, true, [](Scene& s, double apart_s) { drop_out(s, 3, apart_s); }, 2400, 3601,
       nullptr},
      {kFarAdminDown, false, [](Scene& s, double up) { far_admin(s, up); }, 0, 1,
       [](Scene& s) { far_admin(s, 0, 9600); }},  // read before the fall: it says nothing about now
      {kFarModuleAbsent, false,
       [](Scene& s, double v) { read_peer(s).module.emplace().present = v != 0; }, 0, 1},
      {kNeighbourDiffers, true,
       [](Scene& s, double v) {
         s.expected.peer_system = "leaf-1", s.expected.peer_port = "Ethernet17/1";
         read_peer(s).system = "LEAF-1.site.example";
         s.port.latest.peer->port = v != 0 ? "Eth18/1" : "Eth17/1";
       },
       1, 0},
      {kPcieReduced, true,
       [](Scene& s, double reads) {
         narrow(s), s.port.device.pcie_low_reads = static_cast<std::size_t>(reads);
       },
       1, 0},
      {kPcieErrors, true,
       [](Scene& s, double last) {
         s.port.device.pcie_errors = {{steady_from_seconds(1), 5},
                                      {steady_from_seconds(3600), last}};
       },
       15, 12},
      {kDeviceFatal, true,
       [](Scene& s, double v) {
         if (v != 0) s.port.device.fatal_at = steady_from_seconds(5);
       },
       1, 0, nullptr},
      {kDeviceGone, true,
       [](Scene& s, double at) {
         s.port.present = false, s.port.absent_since = steady_from_seconds(at);
       },
       9819, 9821, nullptr},
      {kNicHot, true,
       [](Scene& s, double at) {
         log_at(s, at, "mlx5_core: High temperature on sensors with bit set 0 1");
       },
       6400, 6399, nullptr},
      {kSlotPower, false,
       [](Scene& s, double booted) {
         log_at(s, 9700,
                "mlx5_core: network ports have been powered down due to insufficient/unadvertised "
                "power on the PCIe slot");
         s.port.carrier.reboot_at = steady_from_seconds(booted);
       },
       9700, 9701, nullptr},
      {kCardErrors, true,
       [](Scene& s, double span_s) { repeated(s.view.signal.card_errors, 8, 4, span_s); }, 300,
       299},
      {kGroupDown, false,
       [](Scene& s, double n) { s.view.group.same_leaf = 1, s.view.group.fell_together = n; }, 1,
       0},
      {kModuleFell, false,
       [](Scene& s, double n) { s.view.group.module_ports = 1, s.view.group.module_fell = n; }, 1,
       0},
      {kCardFell, false,
       [](Scene& s, double n) { s.view.group.card_ports = 1, s.view.group.card_fell = n; }, 1, 0},
      {kNodeFell, false,
       [](Scene& s, double n) {
         s.expected.peer_system = "leaf-1";
         s.view.group.node_ports = 1, s.view.group.node_fell = n;
       },
       1, 0},
      {kFellTogether, false,
       [](Scene& s, double n) { s.view.group.node_ports = 1, s.view.group.unknown_fell = n; }, 1,
       0},
      {kGroupFlaps, true,
       [](Scene& s, double alone) {
         s.view.group.same_leaf = 1, s.view.group.flaps_together = 2;
         s.view.group.flaps_alone = alone;
       },
       3, 4},
      {kGroupErrors, true,
       [](Scene& s, double n) { s.view.group.same_leaf = 1, s.view.group.errors_together = n; }, 1,
       0},
      {kCongested, true,
       [](Scene& s, double share) {
         traffic(s), s.view.traffic.marks_share = share, s.view.traffic.marks_per_s = 500;
         s.view.traffic.marks_known = true;
       },
       0.8, 0.79, [](Scene& s) { traffic(s), s.view.traffic.known_s = 600; }},
      {kHostDrops, true,
       [](Scene& s, double share) {
         traffic(s), s.view.traffic.drops_share = share, s.view.traffic.drops_per_s = 0.5;
         s.view.traffic.drops_known = true;
       },
       0.5, 0.4},
      {kRetries, true,
       [](Scene& s, double share) {
         traffic(s), s.view.traffic.retries_share = share, s.view.traffic.retries_per_s = 0.01;
         s.view.traffic.retries_known = true;
       },
       0.6, 0.5},
      {kForwardedErrors, true,
       [](Scene& s, double share) {
         traffic(s), s.view.traffic.forwarded_share = share, s.view.traffic.forwarded_per_s = 0.01;
         s.view.traffic.forwarded_known = true;
       },
       0.6, 0.5},
      {kCountersBlind, true, [](Scene& s, double for_s) { fail(s, SourceId::kCounters, for_s); },
       120, 119, [](Scene& s) { s.port.present = false; }},
      {kModuleBlind, true,
       [](Scene& s, double for_s) {
         fail(s, SourceId::kModule, for_s, for_s > 900 ? "EBUSY" : "EIO");
       },
       900, 10799, nullptr},
  };
  return kRows;
}

class EverySymptom : public testing::TestWithParam<Row> {};

TEST_P(EverySymptom, IsPresent) {
  Scene scene(GetParam().up);
  GetParam().set(scene, GetParam().present);
  const Finding finding = look(GetParam().id, scene.view);
  EXPECT_TRUE(finding.present() && !finding.comparisons.empty())
      << "no verdict without its evidence";
}

TEST_P(EverySymptom, IsJustAbsent) {
  Scene scene(GetParam().up);
  GetParam().set(scene, GetParam().absent);
  EXPECT_TRUE(look(GetParam().id, scene.view).absent());
}

class BlindSymptom : public testing::TestWithParam<Row> {};

TEST_P(BlindSymptom, IsUnknown) {
  Scene scene(GetParam().up);
  GetParam().unknown(scene);
  const Finding finding = look(GetParam().id, scene.view);
  EXPECT_EQ(finding.verdict, Verdict::kUnknown);
  EXPECT_FALSE(finding.reason.empty());
}

INSTANTIATE_TEST_SUITE_P(Table, EverySymptom, testing::ValuesIn(rows()),
                         [](const auto& row) { return std::string(symptom(row.param.id).name); });

/// Those that can be unknown: the others are known whenever there is a snapshot.
std::vector<Row> rows_with_blindness() {
  std::vector<Row> kept = rows();
  std::erase_if(kept, [](const Row& row) { return !row.unknown; });
  return kept;
}
INSTANTIATE_TEST_SUITE_P(Table, BlindSymptom, testing::ValuesIn(rows_with_blindness()),
                         [](const auto& row) { return std::string(symptom(row.param.id).name); });

TEST(SymptomTable, HasARowForEachNameAndATestForEachRow) {
  EXPECT_EQ(rows().size(), kSymptomCount);
  for (std::size_t i = 0; i < kSymptomCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(symptom_table()[i].id), i);
    EXPECT_FALSE(symptom_table()[i].reference.empty()) << symptom_table()[i].name;
  }
}

}  // namespace
}  // namespace linkhealth
