// The settings of the diagnosis. All other limits are constants next to their rules.
#pragma once

#include <span>

#include "model/setting_table.h"

namespace linkhealth {

struct DiagnosisSettings {
  // What counts as a sign of a fault.
  double open_at = 0.7;
  double ber_window_s = 90;
  double error_ratio = 8;
  double light_loss_db = 1.2;
  double flap_losses = 3;
  double module_warn_c = 70;
  double pcie_errors_per_h = 10;
  double marks_per_s = 400;
  double pause_per_s = 5;
  double drops_per_s = 0.4;
  double counters_blind_s = 120;
  double module_blind_s = 900;
  double device_gone_s = 180;
  double trend_days = 90;
  // How long a fault must show before it opens, and be absent before it closes.
  double down_hold_s = 30;
  double signal_hold_s = 30;
  double notice_hold_s = 60;
  double second_hold_s = 300;
  double rival_hold_s = 240;
  double quiet_s = 300;
  double proof_s = 7200;
  double proof_ber = 1e-15;
  double notice_proof_s = 900;
};

/// "diagnosis" and "ledger": names, bounds, units and meanings.
std::span<const SettingGroup> diagnosis_setting_groups();
/// The values in force; the defaults if the table lacks these groups.
DiagnosisSettings diagnosis_settings(const SettingTable& table);

}  // namespace linkhealth
