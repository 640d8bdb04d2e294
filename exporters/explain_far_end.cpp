#include "exporters/explain_far_end.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/time.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

std::string_view source_words(std::string_view source) {
  if (source == "mad") return "says that port itself (MAD)";
  if (source == "lldp") return "says LLDP";
  if (source == "telemetry") return "says imported telemetry";
  if (source == "fleet") return "says another node of the fleet (imported)";
  return source == "plan" ? "as planned: nothing says so itself" : "";
}

std::string age_words(const std::optional<double>& age_s) {
  return age_s && *age_s >= 0 ? ", " + duration_words(from_seconds(*age_s)) + " ago" : "";
}

/// What another source has read than the one that says who is there.
void add_part(std::string& text, std::string_view part, const std::string& source,
              const std::optional<double>& age_s) {
  if (!source.empty()) text += fmt::format(" · its {}: {}{}", part, source, age_words(age_s));
}

}  // namespace

std::string far_end_words(const PortReport& port) {
  const auto& peer = port.latest.peer;
  if (!peer || source_words(peer->source).empty()) return {};
  std::string text = port.peer.empty() ? "unnamed" : port.peer;
  text += fmt::format(", {}{}", source_words(peer->source), age_words(peer->age_s));
  if (!peer->description.empty()) text += fmt::format(" · \"{}\"", peer->description);
  if (!peer->address.empty()) text += " · managed at " + peer->address;
  if (peer->link_source == peer->counters_source && peer->link_age_s == peer->counters_age_s) {
    add_part(text, "link and counters", peer->link_source, peer->link_age_s);
  } else {
    add_part(text, "link", peer->link_source, peer->link_age_s);
    add_part(text, "counters", peer->counters_source, peer->counters_age_s);
  }
  add_part(text, "module", peer->module_source, peer->module_age_s);
  return text;
}

}  // namespace linkhealth
