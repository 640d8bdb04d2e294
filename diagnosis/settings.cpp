#include "diagnosis/settings.h"

#include <vector>

namespace linkhealth {

namespace {

struct Row {
  double DiagnosisSettings::*field;
  Setting setting;
};

using S = DiagnosisSettings;
constexpr S kDefaults;

constexpr Row make(double S::*field, std::string_view name, double min, double max,
                   std::string_view unit, std::string_view meaning) {
  return {field, {name, kDefaults.*field, min, max, unit, meaning}};
}

constexpr Row kSigns[] = {
    make(&S::open_at, "open_at", 0.5, 0.999, "",
         "a fault opens when the probability that something is wrong reaches this"),
    make(&S::ber_window_s, "ber_window_s", 10, 3600, "s",
         "shortest window of the BER (its median counts)"),
    make(&S::error_ratio, "error_ratio", 2, 1000, "",
         "pre-FEC BER relative to the link's baseline (8 °C more raise it 1.5 to 2 times)"),
    make(&S::light_loss_db, "light_loss_db", 0.3, 10, "dB",
         "light lost against the link's baseline (read noise 0.07 dB, remating 0.3 dB)"),
    make(&S::flap_losses, "flap_losses", 2, 1000, "",
         "unplanned carrier losses within three hours (docs/physics.md 3d)"),
    make(&S::module_warn_c, "module_warn_c", 40, 110, "C",
         "module temperature limit if the module reports none (docs/physics.md 3f)"),
    make(&S::pcie_errors_per_h, "pcie_errors_per_h", 1, 1e6, "",
         "PCIe errors; an uncorrectable one counts as 100 (docs/physics.md 3g)"),
    make(&S::marks_per_s, "marks_per_s", 1, 1e6, "/s",
         "congestion marks from which an interval counts as congested"),
    make(&S::pause_per_s, "pause_per_s", 0.1, 1e6, "/s",
         "pause frames from which an interval counts as congested"),
    make(&S::drops_per_s, "drops_per_s", 0.01, 1e6, "/s",
         "packets dropped for lack of a buffer from which the host counts as too slow"),
    make(&S::counters_blind_s, "counters_blind_s", 10, 86400, "s",
         "counters or link state unreadable for this long are a fault (a hung firmware command "
         "times out after 60 s)"),
    make(&S::module_blind_s, "module_blind_s", 1, 86400, "s",
         "a module unreadable for this long is a fault; 12 times as long while another reader "
         "holds its bus"),
    make(&S::device_gone_s, "device_gone_s", 10, 3600, "s",
         "a device missing for this long is a fault (a driver reload is shorter)"),
    make(&S::trend_days, "trend_days", 1, 365, "d",
         "report a trend that reaches its limit within this time"),
};

constexpr Row kTimes[] = {
    make(&S::down_hold_s, "down_hold_s", 0, 3600, "s",
         "a link that went down is judged after this time: it may be retraining"),
    make(&S::signal_hold_s, "signal_hold_s", 0, 3600, "s",
         "a degradation opens after it has lasted this long"),
    make(&S::notice_hold_s, "notice_hold_s", 0, 86400, "s",
         "the same for notices (congestion, a slow host, loss elsewhere)"),
    make(&S::second_hold_s, "second_hold_s", 0, 86400, "s",
         "the same for a second fault on one port"),
    make(&S::rival_hold_s, "rival_hold_s", 0, 86400, "s",
         "an open fault is renamed after another one has been likelier for this long"),
    make(&S::quiet_s, "quiet_s", 0, 86400, "s",
         "verification of a repair begins after this time without symptoms"),
    make(&S::proof_s, "proof_s", 0, 604800, "s", "longest verification of a repair"),
    make(&S::proof_ber, "proof_ber", 1e-18, 1e-6, "",
         "the verification rules out this post-FEC BER with 95% confidence: no error in 3/(ratio "
         "x rate), docs/physics.md 3b"),
    make(&S::notice_proof_s, "notice_proof_s", 0, 604800, "s",
         "verification of notices and of node faults"),
};

template <std::size_t kCount>
std::vector<Setting> settings_of(const Row (&rows)[kCount]) {
  std::vector<Setting> settings;
  for (const Row& row : rows) settings.push_back(row.setting);
  return settings;
}

}  // namespace

std::span<const SettingGroup> diagnosis_setting_groups() {
  static const std::vector<Setting> kDiagnosis = settings_of(kSigns), kLedger = settings_of(kTimes);
  static const SettingGroup kGroups[] = {{"diagnosis", kDiagnosis}, {"ledger", kLedger}};
  return kGroups;
}

DiagnosisSettings diagnosis_settings(const SettingTable& table) {
  DiagnosisSettings settings;
  for (const SettingGroup& group : table.groups())
    for (const auto& rows : {std::span<const Row>(kSigns), std::span<const Row>(kTimes)})
      if (group.name == (rows.data() == kSigns ? "diagnosis" : "ledger"))
        for (std::size_t i = 0; i < rows.size(); ++i)
          settings.*rows[i].field = table.values(group.name)[i];
  return settings;
}

}  // namespace linkhealth
