#include "exporters/ticket.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "exporters/explain_repairs.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

constexpr std::size_t kEvidenceLines = 6;

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
}

/// "row A, rack 12, U 17": the order in which people walk, then whatever else the site says.
std::string place_words(const std::optional<SiteLabels>& site) {
  if (!site) return "";
  constexpr std::array<std::string_view, 8> kOrder = {"site", "building", "room", "hall",
                                                      "pod",  "row",      "rack", "u"};
  std::vector<std::string> parts;
  const auto words = [](std::string_view key, const std::string& value) {
    return fmt::format("{} {}", key == "u" ? "U" : key, value);
  };
  for (const std::string_view key : kOrder)
    if (const auto at = site->find(std::string(key)); at != site->end())
      parts.push_back(words(key, at->second));
  for (const auto& [key, value] : *site)
    if (std::ranges::find(kOrder, key) == kOrder.end()) parts.push_back(words(key, value));
  return joined(parts, ", ");
}

void name_module(TicketEnd& end, const std::optional<ModuleSample>& module) {
  if (!module || !module->present) return;
  end.vendor = module->vendor;
  end.part_number =
      module->part_number + (module->revision.empty() ? "" : " rev " + module->revision);
  end.serial = module->serial;
  end.firmware = module->firmware;
  end.imported_at = module->imported_at;
}

TicketEnd near_end(const Report& report, const PortReport& port) {
  const PortId& id = port.latest.id;
  TicketEnd end;
  end.system = report.node;
  end.place = place_words(report.site);
  if (port.latest.pcie && !port.latest.pcie->slot.empty())
    end.slot = "slot " + port.latest.pcie->slot;
  if (!id.pci.empty()) end.slot += (end.slot.empty() ? "PCI " : ", PCI ") + id.pci;
  end.port =
      port.port + (id.netdev.empty() || id.netdev == port.port ? "" : " (" + id.netdev + ")");
  if (!port.expected.rail.empty()) end.port += ", rail " + port.expected.rail;
  name_module(end, port.latest.module);
  return end;
}

TicketEnd far_end(const PortReport& port) {
  TicketEnd end;
  end.system = port.expected.peer_system;
  end.port = port.expected.peer_port;
  const auto& peer = port.latest.peer;
  if (peer && !(peer->system.empty() && peer->port.empty())) {
    end.system = peer->system;
    end.port = peer->port;
  }
  // The plan's rack is that of the planned switch only.
  if (end.system == port.expected.peer_system)
    end.place = joined({port.expected.peer_rack.empty() ? "" : "rack " + port.expected.peer_rack,
                        port.expected.peer_u.empty() ? "" : "U " + port.expected.peer_u},
                       ", ");
  if (peer) name_module(end, peer->module);
  return end;
}

std::string link_words(const PortReport& port) {
  const auto& module = port.latest.module;
  std::vector<std::string> parts;
  if (module && module->present)
    parts = {
        module->type.empty() ? module->kind : module->type, module->connector,
        module->length_m && *module->length_m > 0 ? fmt::format("{:g} m", *module->length_m) : ""};
  if (!port.expected.cable.empty()) parts.push_back("patch record: " + port.expected.cable);
  return joined(parts, ", ");
}

bool touches_hardware(std::string_view step) {
  constexpr std::array<std::string_view, 9> kVerbs = {
      "inspect", "clean", "reseat", "replace", "push", "move", "plug", "reset", "clear"};
  return std::ranges::any_of(kVerbs, [&](std::string_view verb) { return step.starts_with(verb); });
}

std::string stop_words(const std::string& step, const std::string& port, bool last) {
  if (!touches_hardware(step))
    return last ? "Then close or pass on this ticket." : "Stop here if that explains it.";
  return fmt::format(
      "Run `linkhealth verify {}`: on PASS stop, the rest is not needed{}", port,
      last ? "; on FAIL pass the ticket on with what was tried." : "; on FAIL go on.");
}

std::string evidence_line(const Evidence& evidence) {
  std::string text = name_words(evidence.symptom);
  if (!evidence.where.empty()) text += ", " + evidence.where;
  const bool statement =
      evidence.op == "=" && evidence.threshold == 1.0 && evidence.unit.empty();  // true or not
  if (evidence.observed && !statement)
    text += ": " + quantity_words(*evidence.observed, evidence.unit);
  if (evidence.threshold && !statement)
    text += fmt::format(" (limit {} {})", evidence.op,
                        quantity_words(*evidence.threshold, evidence.unit));
  if (!evidence.text.empty()) text += ": " + evidence.text;
  if (!evidence.source.empty()) text += fmt::format(" ({})", evidence.source);
  return evidence.supports ? text : "against it: " + text;
}

/// What speaks for it first; what speaks against it has a place among them.
std::vector<std::string> evidence_lines(const FaultReport& fault) {
  std::vector<std::string> lines, against;
  for (const Evidence& evidence : fault.evidence)
    (evidence.supports ? lines : against).push_back(evidence_line(evidence));
  const std::size_t room = kEvidenceLines - (against.empty() ? 0 : 1);
  if (lines.size() > room) lines.resize(room);
  for (const std::string& line : against)
    if (lines.size() < kEvidenceLines) lines.push_back(line);
  return lines;
}

std::vector<std::string> before_words(const Ticket& ticket, const PortReport& port) {
  std::vector<std::string> lines;
  const auto& link = port.latest.link;
  if (link && link->carrier == true)
    lines.push_back(
        "The link still carries traffic: ask the owner of the node, or wait until it is drained.");
  if (!port.maintenance)
    lines.push_back(fmt::format(
        "Say that you are at work: `linkhealth maintenance start {} --for 1h`.", ticket.port));
  const bool off_limits = std::ranges::any_of(ticket.steps, [](const TicketStep& step) {
    return step.text.find("o not touch") != std::string::npos;
  });
  if (off_limits) lines = {"Do not touch the cable: the fault is not in it."};
  return lines;
}

void fill_fault(Ticket& ticket, const FaultReport& fault, const PortReport& port, WallTime now) {
  ticket.fault_id = fault.id;
  ticket.fault = fault.fault;
  ticket.severity = to_string(fault.severity);
  ticket.state = to_string(fault.state);
  ticket.confidence = fault.confidence;
  ticket.opened_at = fault.opened_at;
  ticket.title =
      fmt::format("{} ({} sure)", name_words(fault.fault), confidence_words(fault.confidence));
  ticket.summary = fault.summary;
  ticket.bring = things_to_bring(fault, port);
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    ticket.steps.push_back(
        {fault.repair[i], stop_words(fault.repair[i], port.port, i + 1 == fault.repair.size())});
  ticket.verified_when = fault.verify;
  ticket.evidence = evidence_lines(fault);
  ticket.history.push_back("open since " + ago_words(fault.opened_at, now));
  if (fault.acknowledged) ticket.history.push_back(acknowledged_words(*fault.acknowledged, now));
  std::string label;
  for (const auto& [name, text] : repair_rows(fault, now)) {
    if (!name.empty())
      label = name == "Before" ? "faults before" : name == "Tried" ? "tried" : "proving";
    ticket.history.push_back(fmt::format("{}: {}", label, text));
  }
}

}  // namespace

Ticket make_ticket(const Report& report, const PortReport& port) {
  Ticket ticket;
  ticket.node = report.node;
  ticket.port = port.port;
  ticket.at = report.at;
  ticket.near = near_end(report, port);
  ticket.far = far_end(port);
  ticket.link = link_words(port);
  ticket.verify = "linkhealth verify " + port.port;
  if (port.faults.empty()) {
    ticket.title = name_words(to_string(port.health));
    ticket.state = "none";
    ticket.summary =
        port.exempt.empty() ? "no fault is open on this port" : "exempt: " + port.exempt;
    return ticket;
  }
  fill_fault(ticket, port.faults.front(), port, report.at);
  ticket.before = before_words(ticket, port);
  for (std::size_t i = 1; i < port.faults.size(); ++i)
    ticket.history.push_back(
        fmt::format("also open: {}: {}", name_words(port.faults[i].fault), port.faults[i].summary));
  return ticket;
}

}  // namespace linkhealth
