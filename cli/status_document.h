// Shared by the commands that show something: the daemon's status, and its text.
#pragma once

#include <string>

#include "cli/commands.h"
#include "exporters/json/json.h"

namespace linkhealth::cli {

StatusDocument fetch_status(const Client& client);
/// The port with the name that the user gave. Throws CommandError if there is none.
const PortReport& port_named(const Report& report, const std::string& name);
/// The output of `status` and `explain`.
std::string status_of(const StatusDocument& status, const StatusOptions& options,
                      const TextStyle& style);
std::string explanation_of(const StatusDocument& status, const PortReport& port,
                           const ExplainOptions& options, const TextStyle& style);

}  // namespace linkhealth::cli
