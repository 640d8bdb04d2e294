// The command line of what people tell the daemon, of checks, tickets and acceptance.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/arguments.h"

namespace linkhealth::cli {

struct MoreParsed {
  AckOptions ack;
  MaintenanceOptions maintenance;
  CheckOptions check;
  TicketOptions ticket;
  VerifyOptions verify, qualify;
  CablingOptions cabling;
  std::string verify_for = "30m", qualify_for = "30m";
};

void add_more(CLI::App& app, MoreParsed& parsed, const LocalCommands& local);
/// The exit code; nullopt when none of these commands was given.
std::optional<int> dispatch_more(const CLI::App& app, const MoreParsed& parsed,
                                 const Client& client, const LocalCommands& local,
                                 const TextStyle& style);

}  // namespace linkhealth::cli
