// What a technician needs at the rack: the location of both ends, the fault, what to bring, the
// repair steps and when to stop, how to verify the repair, and the evidence. As Markdown for people
// and as JSON for ticket systems.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/report.h"

namespace linkhealth {

/// One end of the cable. "": unknown.
struct TicketEnd {
  std::string system, place, slot, port;
  std::string vendor, part_number, serial, firmware;
  bool is_empty = false;                ///< there is no module in the cage
  std::optional<WallTime> imported_at;  ///< nullopt: the module was read from this node
};

struct TicketStep {
  std::string text;
  std::string stop;  ///< when to stop after it
};

struct Ticket {
  std::string node, port, title, summary;
  std::string fault_id, fault, severity, state;
  double confidence = 0;
  WallTime at;
  std::optional<WallTime> opened_at;
  TicketEnd near, far;
  std::string link;                 ///< "400G-DR4, MPO-12, 30 m"
  std::vector<std::string> before;  ///< before touching anything
  std::vector<std::string> bring;
  std::vector<TicketStep> steps;
  std::string confirm;        ///< the one test that would confirm the fault
  std::string verify;         ///< the command
  std::string verified_when;  ///< what it tests
  std::vector<std::string> evidence, history;
};

Ticket make_ticket(const Report& report, const PortReport& port);
/// Ends in a newline. Lines are not wrapped: the Markdown viewer does that.
std::string ticket_markdown(const Ticket& ticket);
/// docs/schema/ticket.json, on one line.
std::string ticket_json(const Ticket& ticket);

/// What the repair steps need, depending on the medium: "cleaner for MPO-12 APC", "jumper, 30 m,
/// …".
std::vector<std::string> things_to_bring(const FaultReport& fault, const PortReport& port);

}  // namespace linkhealth
