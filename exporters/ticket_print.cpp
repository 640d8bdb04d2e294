#include <fmt/format.h>

#include "exporters/text_layout.h"
#include "exporters/ticket.h"
#include "model/json_writer.h"

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

class Object {
 public:
  explicit Object(JsonWriter& out) : out_(out) { out_.begin_object(); }
  ~Object() { out_.end_object(); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void put(std::string_view key, const std::string& text) {
    if (text.empty()) return;
    out_.key(key);
    out_.value(text);
  }
  void put(std::string_view key, const std::vector<std::string>& lines) {
    out_.key(key);
    out_.begin_array();
    for (const std::string& line : lines) out_.value(line);
    out_.end_array();
  }

 private:
  JsonWriter& out_;
};

void end_json(JsonWriter& out, std::string_view key, const TicketEnd& end) {
  out.key(key);
  Object object(out);
  object.put("system", end.system);
  object.put("place", end.place);
  object.put("slot", end.slot);
  object.put("port", end.port);
  object.put("vendor", end.vendor);
  object.put("part_number", end.part_number);
  object.put("serial", end.serial);
  object.put("firmware", end.firmware);
  if (end.imported_at) object.put("module_imported_at", format_rfc3339(*end.imported_at));
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
  std::string body;
  JsonWriter out(body);
  {
    Object object(out);
    object.put("schema", "linkhealth.ticket/1");
    object.put("at", format_rfc3339(ticket.at));
    object.put("node", ticket.node);
    object.put("port", ticket.port);
    object.put("title", ticket.title);
    object.put("summary", ticket.summary);
    object.put("fault", ticket.fault);
    object.put("fault_id", ticket.fault_id);
    object.put("severity", ticket.severity);
    object.put("state", ticket.state);
    if (ticket.opened_at) {
      out.key("confidence");
      out.value(ticket.confidence);
      object.put("opened_at", format_rfc3339(*ticket.opened_at));
    }
    end_json(out, "near", ticket.near);
    end_json(out, "far", ticket.far);
    object.put("link", ticket.link);
    object.put("before", ticket.before);
    object.put("bring", ticket.bring);
    out.key("steps");
    out.begin_array();
    for (const TicketStep& step : ticket.steps) {
      Object one(out);
      one.put("text", step.text);
      one.put("stop", step.stop);
    }
    out.end_array();
    object.put("verify", ticket.verify);
    object.put("verified_when", ticket.verified_when);
    object.put("evidence", ticket.evidence);
    object.put("history", ticket.history);
    object.put("markdown", ticket_markdown(ticket));
  }
  return body;
}

}  // namespace linkhealth
