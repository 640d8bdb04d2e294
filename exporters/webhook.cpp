#include "exporters/webhook.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "model/json_reader.h"
#include "model/json_writer.h"

namespace linkhealth {

namespace {

struct Given {
  const FaultEvent& event;
  std::string_view id, node, json;
  const std::map<std::string, std::string>& labels;
};

struct Placeholder {
  std::string_view name;
  bool is_text;  ///< stands inside quotes
  std::string (*value)(const Given&);
};

std::string label(const Given& given, const char* name) {
  const auto found = given.labels.find(name);
  return found == given.labels.end() ? "" : found->second;
}

std::string labels_json(const Given& given) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  for (const auto& [name, value] : given.labels) {
    json.key(name);
    json.value(value);
  }
  json.end_object();
  return text;
}

std::string first_step(const Given& given) {
  const auto& repair = given.event.fault.repair;
  return repair.empty() ? "" : repair.front();
}

constexpr std::array<Placeholder, 20> kPlaceholders = {{
    {"event", false, [](const Given& g) { return std::string(g.json); }},
    {"labels", false, labels_json},
    {"confidence_percent", false,
     [](const Given& g) {
       return fmt::format("{:.0f}", std::min(g.event.fault.confidence * 100, 99.0));
     }},
    {"event_id", true, [](const Given& g) { return std::string(g.id); }},
    {"kind", true, [](const Given& g) { return std::string(to_string(g.event.kind)); }},
    {"at", true, [](const Given& g) { return format_rfc3339(g.event.at); }},
    {"node", true, [](const Given& g) { return std::string(g.node); }},
    {"port", true, [](const Given& g) { return g.event.port; }},
    {"fault", true, [](const Given& g) { return g.event.fault.fault; }},
    {"fault_id", true, [](const Given& g) { return g.event.fault.id; }},
    {"end", true, [](const Given& g) { return std::string(to_string(g.event.fault.end)); }},
    {"severity", true,
     [](const Given& g) { return std::string(to_string(g.event.fault.severity)); }},
    {"state", true, [](const Given& g) { return std::string(to_string(g.event.fault.state)); }},
    {"summary", true, [](const Given& g) { return g.event.fault.summary; }},
    {"first_step", true, first_step},
    {"verify", true, [](const Given& g) { return g.event.fault.verify; }},
    {"opened_at", true, [](const Given& g) { return format_rfc3339(g.event.fault.opened_at); }},
    {"alertname", true, [](const Given& g) { return label(g, "alertname"); }},
    {"peer_system", true, [](const Given& g) { return label(g, "peer_system"); }},
    {"peer_port", true, [](const Given& g) { return label(g, "peer_port"); }},
}};

/// `text` as it stands between the quotes of a JSON text.
std::string escaped(std::string_view text) {
  std::string out;
  JsonWriter(out).value(text);
  return out.substr(1, out.size() - 2);
}

/// A value full of what must be escaped: whether the template still gives JSON with it.
FaultEvent awkward_event() {
  FaultEvent event;
  event.port = "a\"b\\";
  event.fault.summary = "\"\n\\ {{port}}";
  event.fault.fault = "dirty_connector";
  return event;
}

}  // namespace

std::vector<std::string_view> WebhookTemplate::placeholders() {
  std::vector<std::string_view> names;
  names.reserve(kPlaceholders.size());
  for (const Placeholder& one : kPlaceholders) names.push_back(one.name);
  return names;
}

WebhookTemplate WebhookTemplate::plain() {
  WebhookTemplate made;
  made.parts_.push_back({"", 0});
  return made;
}

Result<WebhookTemplate> WebhookTemplate::parse(std::string_view text, std::string_view file_name) {
  constexpr std::size_t kMaxTemplate_bytes = 65536;
  if (text.size() > kMaxTemplate_bytes)
    return Error{fmt::format("{}: larger than {} bytes", file_name, kMaxTemplate_bytes)};
  WebhookTemplate made;
  while (!text.empty()) {
    const auto open = text.find("{{");
    made.parts_.push_back({std::string(text.substr(0, open)), -1});
    if (open == std::string_view::npos) break;
    const auto close = text.find("}}", open);
    if (close == std::string_view::npos)
      return Error{fmt::format("{}: a {{{{ has no }}}}", file_name)};
    const std::string_view name = trim(text.substr(open + 2, close - open - 2));
    const auto* const found = std::ranges::find(kPlaceholders, name, &Placeholder::name);
    if (found == kPlaceholders.end()) {
      const auto near = closest(name, placeholders());
      return Error{fmt::format("{}: there is no {{{{{}}}}}{}", file_name,
                               printable(name).substr(0, 60),
                               near ? fmt::format(" (did you mean {{{{{}}}}}?)", *near) : "")};
    }
    made.parts_.push_back({"", static_cast<int>(found - kPlaceholders.begin())});
    text.remove_prefix(close + 2);
  }
  const std::string sample =
      made.fill(awkward_event(), "id", "node", "{\"event\":\"opened\"}", {{"a", "\"b"}});
  JsonReader reader(sample);
  if (!reader.skip() || !reader.at_end())
    return Error{fmt::format("{}: what it gives is no JSON: {}", file_name, reader.error())};
  return made;
}

std::string WebhookTemplate::fill(const FaultEvent& event, std::string_view event_id,
                                  std::string_view node, std::string_view event_json,
                                  const std::map<std::string, std::string>& labels) const {
  const Given given{event, event_id, node, event_json, labels};
  std::string out;
  for (const Part& part : parts_) {
    if (part.placeholder < 0) {
      out += part.text;
      continue;
    }
    const Placeholder& placeholder = kPlaceholders.at(static_cast<std::size_t>(part.placeholder));
    out += placeholder.is_text ? escaped(placeholder.value(given)) : placeholder.value(given);
  }
  return out;
}

}  // namespace linkhealth
