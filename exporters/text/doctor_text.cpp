#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exporters/text/doctor_text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

// For the faults that cannot be distinguished.
constexpr std::size_t kShownLines = 10;

std::string_view format_source_state(Visibility state) {
  switch (state) {
    case Visibility::kSeen:
      return "ok";
    case Visibility::kPartly:
      return "partial";
    case Visibility::kHidden:
      return "unavailable";
    case Visibility::kNotOffered:
      return "not offered";
    case Visibility::kNoWord:
    case Visibility::kNotUsed:
      return "";
  }
  return "";
}

/// `last_cause`: a cause that several sources share is printed once.
void add_source(TextPage& page, const SourceSight& source, std::string& last_cause) {
  const bool bad = source.state == Visibility::kHidden || source.state == Visibility::kPartly;
  const std::string_view sign =
      bad ? (page.style().ascii ? "!" : "▲") : (source.state == Visibility::kSeen ? "+" : "-");
  const std::string head =
      fmt::format("    {} {:<15}{:<13}", sign, source.probe, format_source_state(source.state));
  page.append(paragraph(head, display_width(head), page.clean(source.what), page.width()));
  if (!bad || source.why + source.hint == last_cause) return;
  last_cause = source.why + source.hint;
  if (!source.why.empty()) page.text(8, "reason: " + source.why);
  if (!source.hint.empty()) page.text(8, "to enable: " + source.hint);
}

void add_sources(TextPage& page, const std::vector<SourceSight>& sources) {
  std::vector<std::string> no_data, off;
  std::string last_cause;
  for (const SourceSight& source : sources) {
    if (source.state == Visibility::kNoWord) no_data.push_back(source.probe);
    if (source.state == Visibility::kNotUsed && !source.why.empty()) off.push_back(source.probe);
    if (!format_source_state(source.state).empty()) add_source(page, source, last_cause);
  }
  if (!no_data.empty())
    page.text(4, "- not available on this system: " + join_parts(no_data, ", "));
  if (!off.empty()) page.text(4, "- disabled by the configuration: " + join_parts(off, ", "));
}

std::string port_title(const PortSight& port) {
  const std::string details =
      join_parts({port.netdev, port.pci, join_parts({port.driver, port.driver_version}, " "),
                  port.firmware.empty() ? "" : "firmware " + port.firmware},
                 ", ");
  return details.empty() ? port.port : fmt::format("{} ({})", port.port, details);
}

/// Ports with the same limits share their lines.
void add_limits(TextPage& page, const DoctorReport& doctor) {
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<std::string>>
      groups;
  for (const PortSight& port : doctor.ports)
    if (port.exempt.empty()) groups[{port.not_noticed, port.not_told_apart}].push_back(port.port);
  for (const auto& [limits, ports] : groups) {
    const auto& [undetected, alike] = limits;
    page.line();
    page.title("Diagnosis of " +
               (ports.size() == 1 ? ports.front()
                                  : fmt::format("{} ports ({} …)", ports.size(), ports.front())));
    if (undetected.empty() && alike.empty())
      page.text(4, "all faults can be detected and distinguished");
    if (!undetected.empty())
      page.text(4, "faults that cannot be detected: " + join_parts(undetected, ", "));
    if (!alike.empty()) page.text(4, "faults that cannot be distinguished:");
    for (std::size_t i = 0; i < std::min(alike.size(), kShownLines); ++i) page.text(6, alike[i]);
    if (alike.size() > kShownLines)
      page.text(6, fmt::format("… and {} (linkhealth doctor --json)",
                               count_of(alike.size() - kShownLines, "more line")));
  }
}

std::string format_environment(const DoctorReport& doctor) {
  if (doctor.played)
    return fmt::format(
        "linkhealth {} plays a recording: the recorded node's kernel and permissions are unknown",
        doctor.version);
  const std::string capabilities = join_parts(doctor.capabilities, ", ");
  return fmt::format("kernel {}, linkhealth {}, permissions of {}: {}",
                     doctor.kernel.empty() ? "unknown" : doctor.kernel, doctor.version,
                     doctor.of_daemon ? "the daemon" : "this command (no daemon runs)",
                     capabilities.empty() ? "no capabilities" : capabilities);
}

}  // namespace

std::string doctor_text(const DoctorReport& doctor, const TextStyle& style) {
  TextPage page(style);
  std::string summary = doctor.hidden == 0
                            ? "all sources readable"
                            : count_of(doctor.hidden, "source") + " unavailable or partial";
  if (std::ranges::none_of(doctor.ports, [](const PortSight& port) { return port.exempt.empty(); }))
    summary += "; no port of this node is monitored";
  page.line(paint_bold(page.clean(doctor.node + "   " + summary), style));
  page.text(2, format_environment(doctor));
  page.line();
  page.title("Node", 2);
  add_sources(page, doctor.node_sources);
  for (auto port = doctor.ports.begin(); port != doctor.ports.end(); ++port) {
    page.line();
    page.title(port_title(*port), 2);
    if (!port->exempt.empty()) page.text(4, "exempt: " + port->exempt);
    const auto same = std::find_if(doctor.ports.begin(), port, [&](const PortSight& other) {
      return !port->sources.empty() && other.sources == port->sources;
    });
    if (same != port)
      page.text(4, "same as " + same->port);
    else
      add_sources(page, port->sources);
  }
  if (doctor.ports.empty()) page.text(2, "no port found");
  add_limits(page, doctor);
  return page.result();
}

}  // namespace linkhealth
