#include "exporters/text/ticket.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "exporters/text/explain_repairs.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

constexpr std::size_t kEvidenceLines = 6;

/// "row A, rack 12, U 17": in walking order, then the site's other labels.
std::string format_place(const std::optional<SiteLabels>& site) {
  if (!site) return "";
  constexpr std::array<std::string_view, 8> kOrder = {"site", "building", "room", "hall",
                                                      "pod",  "row",      "rack", "u"};
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view key, const std::string& value) {
    parts.push_back(fmt::format("{} {}", key == "u" ? "U" : key, value));
  };
  for (const std::string_view key : kOrder)
    if (const auto at = site->find(std::string(key)); at != site->end()) add(key, at->second);
  for (const auto& [key, value] : *site)
    if (std::ranges::find(kOrder, key) == kOrder.end()) add(key, value);
  return join_parts(parts, ", ");
}

void set_module(TicketEnd& end, const std::optional<ModuleSample>& module) {
  if (!module) return;
  end.is_empty = !module->present;
  if (end.is_empty) return;
  end.vendor = module->vendor;
  end.part_number =
      module->part_number + (module->revision.empty() ? "" : " rev " + module->revision);
  end.serial = module->serial;
  end.firmware = module->firmware;
  end.imported_at = module->imported_at;
}

TicketEnd near_end(const Report& report, const PortReport& port) {
  const PortId& id = port.latest.id;
  const auto& pcie = port.latest.pcie;
  TicketEnd end;
  end.system = report.node;
  end.place = format_place(report.site);
  end.slot = join_parts({pcie && !pcie->slot.empty() ? "slot " + pcie->slot : "",
                         id.pci.empty() ? "" : "PCI " + id.pci},
                        ", ");
  end.port =
      port.port + (id.netdev.empty() || id.netdev == port.port ? "" : " (" + id.netdev + ")");
  if (!port.expected.rail.empty()) end.port += ", rail " + port.expected.rail;
  set_module(end, port.latest.module);
  return end;
}

TicketEnd far_end(const PortReport& port) {
  const ExpectedPort& planned = port.expected;
  const auto& peer = port.latest.peer;
  const bool named = peer && !(peer->system.empty() && peer->port.empty());
  TicketEnd end;
  end.system = named ? peer->system : planned.peer_system;
  end.port = named ? peer->port : planned.peer_port;
  // The plan has only the rack of the planned switch.
  if (end.system == planned.peer_system)
    end.place = join_parts({planned.peer_rack.empty() ? "" : "rack " + planned.peer_rack,
                            planned.peer_u.empty() ? "" : "U " + planned.peer_u},
                           ", ");
  if (peer) set_module(end, peer->module);
  return end;
}

std::string format_link(const PortReport& port) {
  const auto& module = port.latest.module;
  std::vector<std::string> parts;
  if (module && module->present)
    parts = {
        module->type.empty() ? module->kind : module->type, module->connector,
        module->length_m && *module->length_m > 0 ? fmt::format("{:g} m", *module->length_m) : ""};
  if (!port.expected.cable.empty()) parts.push_back("patch record: " + port.expected.cable);
  return join_parts(parts, ", ");
}

bool touches_hardware(std::string_view step) {
  constexpr std::array<std::string_view, 9> kVerbs = {
      "inspect", "clean", "reseat", "replace", "push", "move", "plug", "reset", "clear"};
  return std::ranges::any_of(kVerbs, [&](std::string_view verb) { return step.starts_with(verb); });
}

std::string format_stop(const std::string& step, const std::string& port, bool last) {
  if (!touches_hardware(step))
    return last ? "Then close this ticket or pass it on."
                : "Stop here if that clears or explains the fault.";
  return fmt::format("Run `linkhealth verify {}`: on PASS stop; on FAIL {}.", port,
                     last ? "pass this ticket on, with what was tried" : "continue");
}

std::string evidence_line(const Evidence& evidence) {
  std::string text = format_name(evidence.symptom);
  if (!evidence.where.empty()) text += ", " + evidence.where;
  const bool statement = is_statement(evidence);
  if (evidence.observed && !statement)
    text += ": " + format_quantity(*evidence.observed, evidence.unit);
  if (evidence.threshold && !statement)
    text += fmt::format(" (limit {} {})", evidence.op,
                        format_quantity(*evidence.threshold, evidence.unit));
  if (!evidence.text.empty()) text += ": " + evidence.text;
  if (!evidence.source.empty()) text += fmt::format(" ({})", evidence.source);
  return evidence.supports ? text : "against: " + text;
}

/// Evidence for the fault first; at least one line is reserved for the evidence against it.
std::vector<std::string> evidence_lines(const FaultReport& fault) {
  std::vector<std::string> lines, against;
  for (const Evidence& evidence : fault.evidence)
    (evidence.supports ? lines : against).push_back(evidence_line(evidence));
  lines.resize(std::min(lines.size(), kEvidenceLines - (against.empty() ? 0 : 1)));
  for (const std::string& line : against)
    if (lines.size() < kEvidenceLines) lines.push_back(line);
  return lines;
}

/// The other ports of this module: they lose their link when it is reset, reseated or replaced.
std::vector<std::string> ports_of_module(const Report& report, const PortReport& port) {
  std::vector<std::string> others;
  const auto& own = port.latest.module;
  if (!own || !own->present || own->serial.empty()) return others;
  for (const PortReport& other : report.ports) {
    const auto& module = other.latest.module;
    if (other.port != port.port && module && module->present && module->serial == own->serial &&
        module->vendor == own->vendor)
      others.push_back(other.port);
  }
  return others;
}

std::vector<std::string> format_before(const Ticket& ticket, const Report& report,
                                       const PortReport& port) {
  if (port.faults.front().state == FaultState::kProving)
    return {
        "Nothing is to be done now: the symptoms are gone, and the repair is being verified. The "
        "steps are for the case that they return."};
  if (std::ranges::any_of(ticket.steps, [](const TicketStep& step) {
        return step.text.find("o not touch") != std::string::npos;
      }))
    return {"Do not touch the cable: the fault is not in it."};
  std::vector<std::string> lines;
  const auto& link = port.latest.link;
  if (link && link->carrier == true)
    lines.emplace_back(
        "The link still carries traffic: ask the node's owner, or wait until it is drained.");
  const auto others = ports_of_module(report, port);
  const bool is_moved = std::ranges::any_of(ticket.steps, [](const TicketStep& step) {
    return step.text.find("this module") != std::string::npos ||
           step.text.find("the module or") != std::string::npos;
  });
  if (!others.empty() && is_moved)
    lines.push_back(
        fmt::format("This module is also that of {}: resetting, reseating or replacing "
                    "it takes {} down.",
                    join_parts(others, " and "), others.size() == 1 ? "that link" : "those links"));
  if (!port.maintenance)
    lines.push_back(
        fmt::format("Announce the work: `linkhealth maintenance start {} --for 1h`.", ticket.port));
  return lines;
}

void fill_fault(Ticket& ticket, const FaultReport& fault, const PortReport& port, WallTime now) {
  ticket.fault_id = fault.id;
  ticket.fault = fault.fault;
  ticket.severity = to_string(fault.severity);
  ticket.state = to_string(fault.state);
  ticket.confidence = fault.confidence;
  ticket.opened_at = fault.opened_at;
  ticket.title = format_headline(fault);
  ticket.summary = (fault.state == FaultState::kProving ? "last symptoms: " : "") + fault.summary;
  ticket.bring = things_to_bring(fault, port);
  for (std::size_t i = 0; i < fault.repair.size(); ++i)
    ticket.steps.push_back(
        {fault.repair[i], format_stop(fault.repair[i], port.port, i + 1 == fault.repair.size())});
  if (fault.state == FaultState::kOpen || fault.state == FaultState::kAcknowledged)
    ticket.confirm = fault.to_be_sure;
  ticket.verified_when = fault.verify;
  ticket.evidence = evidence_lines(fault);
  ticket.history.push_back("open " + format_lasting(fault.opened_at, now));
  if (fault.acknowledged)
    ticket.history.push_back("acknowledged " + format_acknowledged(*fault.acknowledged, now));
  std::string label;
  for (const auto& [name, text] : repair_rows(fault, now)) {
    if (!name.empty()) label = name;
    ticket.history.push_back(fmt::format("{}: {}", label, text));
  }
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Single-mode MPO is angled (IEC 61754-7-1). On multimode, PAM4 optics from 50 Gb/s per lane on
/// are angled, too (IEEE 802.3 cl. 167 for SR at 100 Gb/s per lane, 400G-SR8's MPO-16). Older SR4
/// is flat.
std::string_view polish(const std::string& type) {
  for (const char* single : {"DR", "FR", "LR", "ER", "ZR", "PSM"})
    if (has(type, single)) return " APC";
  for (const char* fast : {"200G", "400G", "800G", "1.6T"})
    if (has(type, fast) && has(type, "SR")) return " APC";
  return has(type, "SR4") ? " PC" : "";
}

std::string format_connector(const ModuleSample& module) {
  const std::string& name = module.connector;
  if (name.empty()) return "the connector on the module (type not readable)";
  return name.starts_with("MPO") ? name + std::string(polish(module.type)) : name;
}

std::string format_length(const PortReport& port) {
  const auto& length = port.latest.module ? port.latest.module->length_m : std::nullopt;
  if (!port.expected.cable.empty()) return port.expected.cable;
  return length && *length > 0 ? fmt::format("{:g} m", *length) : "same length";
}

std::string spare(const ModuleSample& module, std::string_view what) {
  const std::string name =
      join_parts({join_parts({module.vendor, module.part_number}, " "), module.type}, ", ");
  return fmt::format("{}: {}", what, name.empty() ? "same type as now" : name);
}

}  // namespace

std::vector<std::string> things_to_bring(const FaultReport& fault, const PortReport& port) {
  std::vector<std::string> things;
  const auto any = [&](std::string_view part) {
    return std::ranges::any_of(fault.repair,
                               [&](const std::string& step) { return has(step, part); });
  };
  const auto& own = port.latest.module;
  const ModuleSample here = own && own->present ? *own : ModuleSample{};
  const bool one_piece = here.kind == "dac" || here.kind == "acc" || here.kind == "aoc";
  if (any("clean"))
    things.push_back(
        fmt::format("inspection scope and cleaner for {} (both ends), and one for the module ports",
                    format_connector(here)));
  if (any("replace the jumper") || any("cable or jumper"))
    things.push_back(fmt::format("jumper: {}, {}", format_connector(here), format_length(port)));
  const bool this_module = any("replace this module") || any("replace the module or cable");
  if (one_piece && (any("replace the cable") || any("cable or jumper") || this_module))
    things.push_back(spare(here, fmt::format("spare cable ({})", format_length(port))));
  else if (this_module && fault.fault == "module_unsupported")
    things.push_back(fmt::format("an approved module for this node, not another {}",
                                 join_parts({here.vendor, here.part_number}, " ")));
  else if (this_module)
    things.push_back(spare(here, "spare module for this node"));
  if (any("replace the module at") || any("replace the far module")) {
    const auto& peer = port.latest.peer;
    const bool known =
        peer && peer->module && !(peer->module->part_number.empty() && peer->module->type.empty());
    things.push_back(known ? spare(*peer->module, "spare module for the far end")
                           : "spare module for the far end: part number not readable");
  }
  if (any("OTDR")) things.emplace_back("OTDR or light source and power meter");
  if (any("power meter")) things.emplace_back("power meter");
  if (any("the card"))
    things.emplace_back("spare network card; the node must be drained and powered off");
  return things;
}

Ticket make_ticket(const Report& report, const PortReport& port) {
  Ticket ticket;
  ticket.node = report.node;
  ticket.port = port.port;
  ticket.at = report.at;
  ticket.near = near_end(report, port);
  ticket.far = far_end(port);
  ticket.link = format_link(port);
  ticket.verify = "linkhealth verify " + port.port;
  if (port.faults.empty()) {
    ticket.title = format_name(to_string(port.health));
    ticket.state = "none";
    ticket.summary = port.exempt.empty() ? "no fault is open" : "exempt: " + port.exempt;
    return ticket;
  }
  fill_fault(ticket, port.faults.front(), port, report.at);
  ticket.before = format_before(ticket, report, port);
  for (std::size_t i = 1; i < port.faults.size(); ++i)
    ticket.history.push_back(fmt::format("also open: {}: {}", format_name(port.faults[i].fault),
                                         port.faults[i].summary));
  return ticket;
}

// ---------------------------------------------------------------------------- Markdown and JSON

namespace {

/// Text from modules and neighbours must not become markup.
std::string escaped(std::string_view text) {
  std::string out;
  const std::string clean = clean_text(text, false);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    const bool tag = c == '<' && i + 1 < clean.size() && clean[i + 1] != ' ' && clean[i + 1] != '=';
    if (c == '\\' || c == '`' || c == '*' || tag || c == '[' || c == '#') out += '\\';
    out += c;
  }
  return out;
}

std::string sentence(const std::string& text) {
  const bool ends = text.ends_with('.') || text.ends_with('?') || text.ends_with('!');
  return capitalize(escaped(text)) + (ends ? "" : ".");
}

void add_line(std::string& out, std::string_view label, const std::string& value) {
  if (!value.empty()) out += fmt::format("- {}: {}\n", label, escaped(value));
}

void add_end(std::string& out, std::string_view name, std::string_view module_name,
             const TicketEnd& end) {
  add_line(out, name,
           join_parts({end.system.empty() ? "unknown" : end.system, end.place, end.slot,
                       end.port.empty() ? "" : "port " + end.port},
                      ", "));
  const std::string module =
      join_parts({join_parts({end.vendor, end.part_number}, " "),
                  end.serial.empty() ? "" : "serial " + end.serial,
                  end.firmware.empty() ? "" : "firmware " + end.firmware,
                  end.imported_at ? "imported reading of " + format_instant(*end.imported_at) : ""},
                 ", ");
  add_line(out, module_name,
           end.is_empty     ? "none in the cage"
           : module.empty() ? "identity not readable from this node"
                            : module);
}

/// `is_markdown`: the lines have commands in backquotes.
void add_list(std::string& out, std::string_view title, const std::vector<std::string>& lines,
              bool is_markdown = false) {
  if (lines.empty()) return;
  out += fmt::format("\n## {}\n\n", title);
  for (const std::string& line : lines) out += "- " + (is_markdown ? line : escaped(line)) + "\n";
}

/// Unknown texts have no key.
void put(OrderedJson& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

OrderedJson end_json(const TicketEnd& end) {
  OrderedJson out = OrderedJson::object();
  put(out, "system", end.system);
  put(out, "place", end.place);
  put(out, "slot", end.slot);
  put(out, "port", end.port);
  put(out, "vendor", end.vendor);
  put(out, "part_number", end.part_number);
  put(out, "serial", end.serial);
  put(out, "firmware", end.firmware);
  if (end.imported_at) out["module_imported_at"] = format_rfc3339(*end.imported_at);
  return out;
}

}  // namespace

std::string ticket_markdown(const Ticket& ticket) {
  std::string out = fmt::format("# {} {}: {}\n", escaped(ticket.node), escaped(ticket.port),
                                escaped(ticket.title));
  if (!ticket.summary.empty()) out += fmt::format("\n{}\n", sentence(ticket.summary));
  out += "\n## Where\n\n";
  add_end(out, "This end", "Module here", ticket.near);
  add_end(out, "Far end", "Module there", ticket.far);
  add_line(out, "Link", ticket.link);
  add_list(out, "Before you start", ticket.before, true);
  add_list(out, "Bring", ticket.bring);
  if (!ticket.steps.empty()) out += "\n## Steps, cheapest first\n\n";
  for (std::size_t i = 0; i < ticket.steps.size(); ++i)
    out +=
        fmt::format("{}. {}\n   {}\n", i + 1, sentence(ticket.steps[i].text), ticket.steps[i].stop);
  if (!ticket.confirm.empty()) out += fmt::format("\nTo confirm: {}.\n", escaped(ticket.confirm));
  out += fmt::format("\n## Verify\n\n`{}`\n", ticket.verify);
  if (!ticket.verified_when.empty())
    out += fmt::format("\nFixed when: {}.\n", escaped(ticket.verified_when));
  add_list(out, "Evidence", ticket.evidence);
  add_list(out, "History", ticket.history);
  if (!ticket.fault_id.empty())
    out += fmt::format("\nFault `{}`, as of {}.\n", clean_text(ticket.fault_id, true),
                       format_instant(ticket.at));
  return out;
}

std::string ticket_json(const Ticket& ticket) {
  OrderedJson out;
  out["schema"] = "linkhealth.ticket/1";
  out["at"] = format_rfc3339(ticket.at);
  put(out, "node", ticket.node);
  put(out, "port", ticket.port);
  put(out, "title", ticket.title);
  put(out, "summary", ticket.summary);
  put(out, "fault", ticket.fault);
  put(out, "fault_id", ticket.fault_id);
  put(out, "severity", ticket.severity);
  put(out, "state", ticket.state);
  if (ticket.opened_at) {
    out["confidence"] = ticket.confidence;
    out["opened_at"] = format_rfc3339(*ticket.opened_at);
  }
  out["near"] = end_json(ticket.near);
  out["far"] = end_json(ticket.far);
  put(out, "link", ticket.link);
  out["before"] = ticket.before;
  out["bring"] = ticket.bring;
  out["steps"] = OrderedJson::array();
  for (const TicketStep& step : ticket.steps) {
    OrderedJson one = OrderedJson::object();
    put(one, "text", step.text);
    put(one, "stop", step.stop);
    out["steps"].push_back(std::move(one));
  }
  put(out, "confirm", ticket.confirm);
  put(out, "verify", ticket.verify);
  put(out, "verified_when", ticket.verified_when);
  out["evidence"] = ticket.evidence;
  out["history"] = ticket.history;
  put(out, "markdown", ticket_markdown(ticket));
  return format_json(out);
}

}  // namespace linkhealth
