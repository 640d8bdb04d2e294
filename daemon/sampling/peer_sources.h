// Which sources of far-end data this daemon uses: the section "peers" of the configuration, and the
// only place where their probes are created.
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

/// The plan's names of far ends, unless `table` switches the plan off.
ExpectedPorts planned_names(const SettingTable& table, const ExpectedPorts& expected);

/// How long an answer of a far end is valid: `hold_s`, but at least two read periods.
Milliseconds far_end_hold(const SettingTable& table);

/// All sources enabled by the configuration; null if there are none. `once`: for a single report,
/// which does not spread reads over time.
std::unique_ptr<FarEnds> make_far_ends(const Config& config, const Clock& clock, bool once = false);

}  // namespace linkhealth
