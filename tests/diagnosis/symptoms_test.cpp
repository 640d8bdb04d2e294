// Each symptom: present, just absent, unknown when blind.
#include "diagnosis/symptoms.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/diagnosis/symptom_scene.h"

namespace linkhealth {
namespace {

using namespace symptom_scene;  // NOLINT(google-build-using-namespace)

struct Row {
  SymptomId id;
  bool up;
  std::function<void(Scene&)> present, absent, unknown;
};
constexpr const char* kNoPower =
    "mlx5_core: network ports have been powered down due to insufficient/unadvertised power on the "
    "PCIe slot";
void say(Scene& s, double at, const char* line) {
  s.port.device.kernel_log.emplace_back(steady_from_seconds(at), line);
}
/// For a failed test's message.
void PrintTo(const Row& row, std::ostream* out) { *out << symptom(row.id).name; }

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {kAdminDown, false, [](Scene& s) { s.port.latest.link->admin_up = false; },
       [](Scene& s) { s.port.latest.link->admin_up = true; }, kNoReason},
      {kLinkDown, false, [](Scene&) {}, [](Scene& s) { s.view.down = false; },
       [](Scene& s) { s.port.carrier.up.reset(); }},
      {kFlaps, true, [](Scene& s) { losses(s, 3, 121); }, [](Scene& s) { losses(s, 3, 119); },
       nullptr},
      {kSpeedReduced, true,
       [](Scene& s) { s.port.latest.link->speed_mbps = 200000, s.expected.speed_mbps = 400000; },
       [](Scene& s) { s.port.latest.link->speed_mbps = 400000, s.expected.speed_mbps = 400000; },
       kNoReason},
      {kNoPartner, false, [](Scene& s) { reason(s, "Autoneg", "No partner detected"); },
       kOtherReason, kNoReason},
      {kNegotiationFails, false, [](Scene& s) { reason(s, "Autoneg", "No HCD"); }, kOtherReason,
       kNoReason},
      {kTrainingFails, false,
       [](Scene& s) { reason(s, "Link training failure", "KR link inhibit timeout"); },
       kOtherReason, kNoReason},
      {kNoFecLock, false, [](Scene& s) { reason(s, "Logical mismatch", "RS FEC is not locked"); },
       kOtherReason, kNoReason},
      {kNoPcsLock, false,
       [](Scene& s) { reason(s, "Logical mismatch", "PCS did not acquire AM lock"); }, kOtherReason,
       kNoReason},
      {kBadSignal, false,
       [](Scene& s) { reason(s, "Bad signal integrity", "Large number of physical errors"); },
       kOtherReason, kNoReason},
      {kRemoteFault, false,
       [](Scene& s) { reason(s, "Link training failure", "Remote side is not ready yet"); },
       kOtherReason, kNoReason},
      {kNoCableReported, false, kOtherReason, [](Scene& s) { reason(s, "Autoneg", "No HCD"); },
       kNoReason},
      {kUnsupportedReported, false, [](Scene& s) { reason(s, "Cable issue", "Unsupported cable"); },
       kOtherReason, kNoReason},
      {kModuleFaultReported, false, [](Scene& s) { reason(s, "EEPROM issue", ""); }, kOtherReason,
       kNoReason},
      {kOverheatReported, false, [](Scene& s) { reason(s, "Overheat", ""); }, kOtherReason,
       kNoReason},
      {kSettingsTouched, false,
       [](Scene& s) { s.port.carrier.admin_event_at = steady_from_seconds(9650); },
       [](Scene& s) { s.port.carrier.admin_event_at = steady_from_seconds(9500); },
       [](Scene& s) { s.view.down = false; }},
      {kReceiveErrors, true,
       [](Scene& s) {
         s.view.signal.ber_limit = 2.4e-4, s.view.signal.ber = 1.1e-6,
         s.view.signal.ber_reference = 1e-7;
       },
       [](Scene& s) {
         s.view.signal.ber_limit = 2.4e-4, s.view.signal.ber = 0.9e-6,
         s.view.signal.ber_reference = 1e-7;
       },
       [](Scene& s) { s.view.signal.ber_limit = 2.4e-4; }},
      {kLosingData, true, [](Scene& s) { losing(s, 3); }, [](Scene& s) { losing(s, 2); },
       kNoReason},
      {kOneLaneErrors, true,
       [](Scene& s) {
         s.view.signal.worst_lane = 0, s.view.signal.lane_ber[0] = 1e-5,
         s.view.signal.worst_lane_ratio = 9;
       },
       [](Scene& s) {
         s.view.signal.worst_lane = 0, s.view.signal.lane_ber[0] = 1e-5,
         s.view.signal.worst_lane_ratio = 7;
       },
       kNoReason},
      {kErrorBursts, true,
       [](Scene& s) {
         s.view.signal.ber = 1e-7, s.view.signal.ber_limit = 2.4e-4,
         s.view.signal.uncorrectable_known = true;
         losing(s, 3);
       },
       [](Scene& s) {
         s.view.signal.ber = 1e-4, s.view.signal.ber_limit = 2.4e-4,
         s.view.signal.uncorrectable_known = true;
         s.view.signal.uncorrectable_intervals_1h = 3,
         s.view.signal.uncorrectable_intervals_10m = 1;
       },
       kNoReason},
      {kErrorsBeforeFall, false,
       [](Scene& s) { s.port.before_loss.ber = 1e-4, s.view.signal.ber_limit = 2.4e-4; },
       [](Scene& s) { s.port.before_loss.ber = 1e-6, s.view.signal.ber_limit = 2.4e-4; },
       kNoReason},
      {kLinkRecoveries, true, [](Scene& s) { repeated(s.view.signal.recoveries, 3, 2, 60); },
       [](Scene& s) { repeated(s.view.signal.recoveries, 200, 1, 0); }, kNoReason},
      {kFarErrors, true,
       [](Scene& s) {
         s.view.signal.far_reads = 6, s.view.signal.far_error_reads = 3,
         s.view.signal.far_errors_1h = 20;
       },
       [](Scene& s) {
         s.view.signal.far_reads = 6, s.view.signal.far_error_reads = 2,
         s.view.signal.far_errors_1h = 20;
       },
       kNoReason},
      {kSnrLow, true,
       [](Scene& s) {
         lanes(s), s.port.latest.module->vdm.media_esnr_db = {20, 0, 15};
       },
       [](Scene& s) {
         lanes(s),
             s.port.latest.module->vdm.media_esnr_db = {20, 0, 17};  // 0: a lane without a value
       },
       [](Scene& s) {
         lanes(s), s.port.latest.module->vdm.media_esnr_db = {15},
                   s.port.latest.module->coherent.osnr_db = 30;
       }},
      {kNoLight, false, [](Scene& s) { lanes(s), s.view.light.rx_dark_all = true; },
       [](Scene& s) { lanes(s); }, kNoReason},
      {kSomeLanesDark, false, [](Scene& s) { lanes(s), s.view.light.rx_dark_some = true; },
       [](Scene& s) { lanes(s); }, kNoReason},
      {kLightThere, false, [](Scene& s) { lanes(s), s.view.light.worst_rx_dbm = -2; },
       [](Scene& s) { lanes(s), s.view.light.worst_rx_dbm = -13; }, kNoReason},
      {kLightLow, true,
       [](Scene& s) {
         s.view.light.rx = Drop{1.2, 0.2, 0};
       },
       [](Scene& s) {
         s.view.light.rx = Drop{1.1, 0.2, 0};
       },
       kNoReason},
      {kFibresAlike, true, [](Scene& s) { ribbon(s, 4); }, [](Scene& s) { ribbon(s, 3); },
       [](Scene& s) { ribbon(s, 4), s.port.latest.module->connector = "LC"; }},
      {kLaneReadsDark, true, [](Scene& s) { lanes(s), s.view.light.worst_rx_dbm = -40; },
       [](Scene& s) { lanes(s), s.view.light.worst_rx_dbm = -15; }, kNoReason},
      {kTxLow, true,
       [](Scene& s) {
         s.view.light.tx = Drop{1.2, 0.2, 0};
       },
       [](Scene& s) {
         s.view.light.tx = Drop{1.1, 0.2, 0};
       },
       kNoReason},
      {kTxFault, true, [](Scene& s) { lanes(s), s.port.latest.module->lanes[1].tx_fault = true; },
       [](Scene& s) { lanes(s), s.port.latest.module->lanes[1].tx_fault = false; }, kNoReason},
      {kBiasHigh, true, [](Scene& s) { s.view.light.bias_ratio = 1.2; },
       [](Scene& s) { s.view.light.bias_ratio = 1.19; }, kNoReason},
      {kLaserTires, true,
       [](Scene& s) { lanes(s), s.view.light.bias_ratio = 1.31, s.view.light.bias_lane = 0; },
       [](Scene& s) { lanes(s), s.view.light.bias_ratio = 1.29, s.view.light.bias_lane = 0; },
       [](Scene& s) { lanes(s); }},
      {kTxOff, false, [](Scene& s) { lanes(s), s.port.own.tx_dbm[0].add_recent(-40); },
       [](Scene& s) { lanes(s), s.port.own.tx_dbm[0].add_recent(0); }, kNoReason},
      {kFarTxLow, true,
       [](Scene& s) {
         s.view.light.far_tx = Drop{1.2, 0.2, 0};
       },
       [](Scene& s) {
         s.view.light.far_tx = Drop{1.1, 0.2, 0};
       },
       kNoReason},
      {kFarTxOff, false,
       [](Scene& s) {
         s.view.light.far_fresh = true, s.port.far.tx_lanes = 1,
         s.port.far.tx_dbm[0].add_recent(-40);
       },
       [](Scene& s) {
         s.view.light.far_fresh = true, s.port.far.tx_lanes = 1, s.port.far.tx_dbm[0].add_recent(0);
       },
       kNoReason},
      {kFarSendsUnheard, false, [](Scene& s) { unheard(s, -1); }, [](Scene& s) { unheard(s, -40); },
       [](Scene& s) { unheard(s, -1), s.view.light.far_fresh = false; }},
      {kFarRxLow, true,
       [](Scene& s) {
         s.view.light.far_rx = Drop{1.2, 0.2, 0};
       },
       [](Scene& s) {
         s.view.light.far_rx = Drop{1.1, 0.2, 0};
       },
       kNoReason},
      {kFarRxDark, false,
       [](Scene& s) {
         s.view.light.far_fresh = true, s.port.far.rx_lanes = 1,
         s.view.light.far_rx_dark_all = true;
       },
       [](Scene& s) { s.view.light.far_fresh = true, s.port.far.rx_lanes = 1; }, kNoReason},
      {kNoLockWithLight, false,
       [](Scene& s) {
         lanes(s), s.port.latest.module->lanes[0].rx_lol = true,
                   s.port.latest.module->lanes[0].rx_power_mw = 1;
       },
       [](Scene& s) {
         lanes(s), s.port.latest.module->lanes[0].rx_lol = true,
                   s.port.latest.module->lanes[0].rx_power_mw = 0;
       },
       kNoReason},
      {kModuleAbsent, false, [](Scene& s) { lanes(s), s.port.latest.module->present = false; },
       [](Scene& s) { lanes(s); }, kNoReason},
      {kModuleState, true, [](Scene& s) { lanes(s), s.port.latest.module->state = "ModuleFault"; },
       [](Scene& s) { lanes(s), s.port.latest.module->state = "ModuleReady"; }, kNoReason},
      {kModuleHot, true,
       [](Scene& s) {
         lanes(s), s.port.latest.module->temperature_c = 70,
                   s.port.own.temperature_c.add_recent(70);
       },
       [](Scene& s) {
         lanes(s), s.port.latest.module->temperature_c = 69,
                   s.port.own.temperature_c.add_recent(69);
       },
       kNoReason},
      {kModuleNew, false,
       [](Scene& s) { s.port.own.serial_changed_at = steady_from_seconds(9940); },
       [](Scene& s) { s.port.own.serial_changed_at = steady_from_seconds(9941); }, kNoReason},
      {kSupplyLow, true, [](Scene& s) { s.view.supply_low = true; },
       [](Scene& s) { s.view.supply_low = false; }, kNoReason},
      {kSupplyShared, true,
       [](Scene& s) { s.view.supply_low = true, s.view.group.siblings_supply_low = 1; },
       [](Scene& s) { s.view.supply_low = true; }, kNoReason},
      {kFarAdminDown, false,
       [](Scene& s) {
         s.port.latest.peer = PeerSample{}, s.port.latest.peer->link = LinkSample{};
         s.port.latest.peer->link->admin_up = false, s.port.peer_at = steady_from_seconds(9900);
       },
       [](Scene& s) {
         s.port.latest.peer = PeerSample{}, s.port.latest.peer->link = LinkSample{};
         s.port.latest.peer->link->admin_up = true, s.port.peer_at = steady_from_seconds(9900);
       },
       [](Scene& s) {  // a reading from before the fall says nothing about now
         s.port.latest.peer = PeerSample{}, s.port.latest.peer->link = LinkSample{};
         s.port.latest.peer->link->admin_up = false, s.port.peer_at = steady_from_seconds(9600);
       }},
      {kFarModuleAbsent, false,
       [](Scene& s) {
         s.port.latest.peer = PeerSample{}, s.port.latest.peer->module = ModuleSample{};
         s.port.latest.peer->module->present = false, s.port.peer_at = steady_from_seconds(9900);
       },
       [](Scene& s) {
         s.port.latest.peer = PeerSample{}, s.port.latest.peer->module = ModuleSample{};
         s.port.peer_at = steady_from_seconds(9900);
       },
       kNoReason},
      {kNeighbourDiffers, true,
       [](Scene& s) {
         s.expected.peer_system = "leaf-1", s.expected.peer_port = "Ethernet17/1",
         s.port.latest.peer = PeerSample{};
         s.port.latest.peer->system = "leaf-1", s.port.latest.peer->port = "Ethernet18/1";
       },
       [](Scene& s) {
         s.expected.peer_system = "leaf-1", s.expected.peer_port = "Ethernet17/1",
         s.port.latest.peer = PeerSample{};
         s.port.latest.peer->system = "LEAF-1.site.example", s.port.latest.peer->port = "Eth17/1";
       },
       kNoReason},
      {kPcieReduced, true, [](Scene& s) { narrow(s), s.port.device.pcie_low_reads = 1; },
       [](Scene& s) { narrow(s), s.port.device.pcie_low_reads = 0; }, kNoReason},
      {kPcieErrors, true,
       [](Scene& s) {
         s.port.device.pcie_errors = {{steady_from_seconds(1), 5}, {steady_from_seconds(2), 15}};
       },
       [](Scene& s) {
         s.port.device.pcie_errors = {{steady_from_seconds(1), 5}, {steady_from_seconds(3600), 12}};
       },
       kNoReason},
      {kDeviceFatal, true, [](Scene& s) { s.port.device.fatal_at = steady_from_seconds(5); },
       kNoReason, nullptr},
      {kDeviceGone, true,
       [](Scene& s) { s.port.present = false, s.port.absent_since = steady_from_seconds(9819); },
       [](Scene& s) { s.port.present = false, s.port.absent_since = steady_from_seconds(9821); },
       nullptr},
      {kNicHot, true,
       [](Scene& s) { say(s, 6400, "mlx5_core: High temperature on sensors with bit set 0 1"); },
       [](Scene& s) { say(s, 6399, "mlx5_core: High temperature on sensors with bit set 0 1"); },
       nullptr},
      {kSlotPower, false, [](Scene& s) { say(s, 9700, kNoPower); },
       [](Scene& s) {
         say(s, 9700, kNoPower), s.port.carrier.reboot_at = steady_from_seconds(9701);
       },
       nullptr},
      {kPcieLost, true,
       [](Scene& s) {
         say(s, 9000, "pciehp 0000:00:01.0: Slot(3): Link Down"), s.port.present = false;
       },
       [](Scene& s) { say(s, 9000, "pciehp 0000:00:01.0: Slot(3): Link Down"); }, nullptr},
      {kCardErrors, true, [](Scene& s) { repeated(s.view.signal.card_errors, 8, 4, 300); },
       [](Scene& s) { repeated(s.view.signal.card_errors, 8, 4, 299); }, kNoReason},
      {kGroupDown, false,
       [](Scene& s) { s.view.group.same_leaf = 1, s.view.group.fell_together = 1; },
       [](Scene& s) { s.view.group.same_leaf = 1; }, kNoReason},
      {kGroupFlaps, true,
       [](Scene& s) { s.view.group = {.same_leaf = 1, .flaps_together = 2, .flaps_alone = 3}; },
       [](Scene& s) { s.view.group = {.same_leaf = 1, .flaps_together = 2, .flaps_alone = 4}; },
       kNoReason},
      {kGroupErrors, true,
       [](Scene& s) { s.view.group.same_leaf = 1, s.view.group.errors_together = 1; },
       [](Scene& s) { s.view.group.same_leaf = 1; }, kNoReason},
      {kCongested, true,
       [](Scene& s) {
         s.view.traffic = {.loaded_s = 1100,
                           .known_s = 1500,
                           .marks_share = 0.8,
                           .marks_per_s = 500,
                           .marks_known = true};
       },
       [](Scene& s) {
         s.view.traffic = {.loaded_s = 1100,
                           .known_s = 1500,
                           .marks_share = 0.79,
                           .marks_per_s = 500,
                           .marks_known = true};
       },
       [](Scene& s) {
         s.view.traffic = {.loaded_s = 1100,
                           .known_s = 600,
                           .marks_share = 1,
                           .marks_per_s = 500,
                           .marks_known = true};
       }},
      {kHostDrops, true,
       [](Scene& s) {
         s.view.traffic = {.all = 9,
                           .tested_s = 1100,
                           .known_s = 1500,
                           .drops_share = 0.5,
                           .drops_per_s = 0.5,
                           .drops_known = true};
       },
       [](Scene& s) {
         s.view.traffic = {.all = 9,
                           .known_s = 1500,
                           .drops_share = 0.4,
                           .drops_per_s = 0.5,
                           .drops_known = true};
       },
       kNoReason},
      {kRetries, true,
       [](Scene& s) {
         s.view.traffic = {.all = 9,
                           .known_s = 1500,
                           .retries_share = 0.6,
                           .retries_per_s = 0.01,
                           .retries_known = true};
       },
       [](Scene& s) {
         s.view.traffic = {.all = 9,
                           .known_s = 1500,
                           .retries_share = 0.5,
                           .retries_per_s = 0.01,
                           .retries_known = true};
       },
       kNoReason},
      {kForwardedErrors, true,
       [](Scene& s) {
         s.view.traffic = {.all = 9,
                           .known_s = 1500,
                           .forwarded_per_s = 0.01,
                           .forwarded_share = 0.6,
                           .forwarded_known = true};
       },
       [](Scene& s) {
         s.view.traffic = {.all = 9,
                           .known_s = 1500,
                           .forwarded_per_s = 0.01,
                           .forwarded_share = 0.5,
                           .forwarded_known = true};
       },
       kNoReason},
      {kCountersBlind, true, [](Scene& s) { fail(s, "counters", 120); },
       [](Scene& s) { fail(s, "counters", 119); }, [](Scene& s) { s.port.present = false; }},
      {kModuleBlind, true, [](Scene& s) { fail(s, "module", 900); },
       [](Scene& s) { fail(s, "module", 10799, "EBUSY"); }, nullptr},
  };
  return kRows;
}

class EverySymptom : public testing::TestWithParam<Row> {};

TEST_P(EverySymptom, IsPresent) {
  Scene scene(GetParam().up);
  GetParam().present(scene);
  const Finding finding = look(GetParam().id, scene.view);
  EXPECT_TRUE(finding.present() && !finding.comparisons.empty())
      << "no verdict without its evidence";
}

TEST_P(EverySymptom, IsJustAbsent) {
  Scene scene(GetParam().up);
  GetParam().absent(scene);
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
    for (const Knob& knob : symptom_table()[i].knobs) {
      EXPECT_LE(knob.min, knob.value) << symptom_table()[i].name << "." << knob.name;
      EXPECT_GE(knob.max, knob.value) << symptom_table()[i].name << "." << knob.name;
    }
  }
}

}  // namespace
}  // namespace linkhealth
