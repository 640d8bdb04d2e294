// The arguments of `linkhealth fleet`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/fleet.h"

namespace linkhealth::cli {

void add_fleet(CLI::App& app, FleetOptions& options);

}  // namespace linkhealth::cli
