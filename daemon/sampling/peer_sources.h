// Which sources of far-end knowledge this daemon has: the section "peers" of the configuration, and
// the one place where their probes are made.
#pragma once

#include <memory>
#include <span>

#include "config/config.h"
#include "daemon/sampling/far_ends.h"
#include "model/expected_ports.h"
#include "model/setting_table.h"

namespace linkhealth {

/// The section "peers" of the configuration without its paths, which are in Config.
std::span<const SettingGroup> peer_setting_groups();

/// The plan's names of far ends, unless `table` switch the plan off.
ExpectedPorts planned_names(const SettingTable& table, const ExpectedPorts& expected);

/// How long an answer of a far end is valid: `hold_s`, and never less than two reads take.
Milliseconds far_end_hold(const SettingTable& table);

/// All sources that the configuration leaves on; null for none. `once`: for a single report, which
/// spreads no reads over time.
std::unique_ptr<FarEnds> make_far_ends(const Config& config, const Clock& clock, bool once = false);

}  // namespace linkhealth
