#include <fmt/format.h>

#include "exporters/text/text_layout.h"
#include "exporters/text/ticket.h"
#include "model/json/json.h"

namespace linkhealth {

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

void add_end(std::string& out, std::string_view name, const TicketEnd& end) {
  add_line(out, name,
           join_parts({end.system.empty() ? "unknown" : end.system, end.place, end.slot,
                       end.port.empty() ? "" : "port " + end.port},
                      ", "));
  const std::string module =
      join_parts({join_parts({end.vendor, end.part_number}, " "),
                  end.serial.empty() ? "" : "serial " + end.serial,
                  end.firmware.empty() ? "" : "firmware " + end.firmware,
                  end.imported_at ? "imported reading of " + instant_words(*end.imported_at) : ""},
                 ", ");
  add_line(out, fmt::format("{} module", name),
           module.empty() ? "not readable from this node" : module);
}

void add_list(std::string& out, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += fmt::format("\n## {}\n\n", title);
  for (const std::string& line : lines)
    out += "- " + (title == "Before you start" ? line : escaped(line)) + "\n";
}

/// Texts that are not known have no key.
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
  add_end(out, "Near end", ticket.near);
  add_end(out, "Far end", ticket.far);
  add_line(out, "Link", ticket.link);
  add_list(out, "Before you start", ticket.before);
  add_list(out, "Bring", ticket.bring);
  if (!ticket.steps.empty()) out += "\n## Steps, cheapest first\n\n";
  for (std::size_t i = 0; i < ticket.steps.size(); ++i)
    out +=
        fmt::format("{}. {}\n   {}\n", i + 1, sentence(ticket.steps[i].text), ticket.steps[i].stop);
  out += fmt::format("\n## Verify\n\n`{}`\n", ticket.verify);
  if (!ticket.verified_when.empty())
    out += fmt::format("\nFixed when: {}.\n", escaped(ticket.verified_when));
  add_list(out, "Evidence", ticket.evidence);
  add_list(out, "History", ticket.history);
  if (!ticket.fault_id.empty())
    out += fmt::format("\nFault `{}`, as of {}.\n", clean_text(ticket.fault_id, true),
                       instant_words(ticket.at));
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
  put(out, "verify", ticket.verify);
  put(out, "verified_when", ticket.verified_when);
  out["evidence"] = ticket.evidence;
  out["history"] = ticket.history;
  put(out, "markdown", ticket_markdown(ticket));
  return format_json(out);
}

}  // namespace linkhealth
