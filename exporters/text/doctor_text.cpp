#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exporters/text/doctor_text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

// Of the faults that cannot be distinguished; where many sources are unavailable there are too many
// to read.
constexpr std::size_t kShownLines = 10;

std::string_view source_state_words(Visibility state) {
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

class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style), width_(usable_width(style)) {}

  void title(const std::string& text) {
    out_ += paint_bold(clean_text(text, style_.ascii), style_) + "\n";
  }
  void blank() { out_ += "\n"; }
  void text(std::size_t indent, const std::string& text) {
    if (!text.empty())
      out_ +=
          paragraph(std::string(indent, ' '), indent + 2, clean_text(text, style_.ascii), width_);
  }
  void sources(const std::vector<SourceSight>& sources) {
    std::vector<std::string> no_data, off;
    std::string last_cause;  // a cause that several sources share is printed once
    for (const SourceSight& source : sources) {
      if (source.state == Visibility::kNoWord) no_data.push_back(source.probe);
      if (source.state == Visibility::kNotUsed && !source.why.empty()) off.push_back(source.probe);
      if (!source_state_words(source.state).empty()) add_source(source, last_cause);
    }
    if (!no_data.empty()) text(4, "- not available on this system: " + join_parts(no_data, ", "));
    if (!off.empty()) text(4, "- disabled by the configuration: " + join_parts(off, ", "));
  }
  std::string result() { return std::move(out_); }

 private:
  void add_source(const SourceSight& source, std::string& last_cause) {
    const bool bad = source.state == Visibility::kHidden || source.state == Visibility::kPartly;
    const std::string sign = bad                                 ? (style_.ascii ? "!" : "▲")
                             : source.state == Visibility::kSeen ? "+"
                                                                 : "-";
    const std::string head =
        fmt::format("    {} {:<15}{:<13}", sign, source.probe, source_state_words(source.state));
    out_ += paragraph(head, display_width(head), clean_text(source.what, style_.ascii), width_);
    if (!bad || source.why + source.hint == last_cause) return;
    last_cause = source.why + source.hint;
    if (!source.why.empty()) text(8, "reason: " + source.why);
    if (!source.hint.empty()) text(8, "to enable: " + source.hint);
  }

  TextStyle style_;
  std::size_t width_;
  std::string out_;
};

std::string port_title(const PortSight& port) {
  const std::string details =
      join_parts({port.netdev, port.pci, join_parts({port.driver, port.driver_version}, " "),
                  port.firmware.empty() ? "" : "firmware " + port.firmware},
                 ", ");
  return details.empty() ? port.port : fmt::format("{} ({})", port.port, details);
}

/// Ports with the same limits share their lines.
void add_limits(Page& page, const DoctorReport& doctor) {
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<std::string>>
      groups;
  for (const PortSight& port : doctor.ports)
    if (port.exempt.empty()) groups[{port.not_noticed, port.not_told_apart}].push_back(port.port);
  for (const auto& [limits, ports] : groups) {
    const auto& [undetected, alike] = limits;
    page.blank();
    page.title("Diagnosis of " +
               (ports.size() == 1 ? ports.front()
                                  : fmt::format("{} ports ({} …)", ports.size(), ports.front())));
    if (undetected.empty() && alike.empty())
      page.text(4, "every fault can be detected and distinguished");
    if (!undetected.empty())
      page.text(4, "faults that cannot be detected: " + join_parts(undetected, ", "));
    if (!alike.empty()) page.text(4, "faults that cannot be distinguished:");
    for (std::size_t i = 0; i < std::min(alike.size(), kShownLines); ++i) page.text(6, alike[i]);
    if (alike.size() > kShownLines)
      page.text(6, fmt::format("… and {} (linkhealth doctor --json)",
                               count_of(alike.size() - kShownLines, "more line")));
  }
}

std::string environment_words(const DoctorReport& doctor) {
  if (doctor.played)
    return fmt::format(
        "linkhealth {} plays a recording: kernel and permissions of the recorded node are unknown",
        doctor.version);
  const std::string capabilities = join_parts(doctor.capabilities, ", ");
  return fmt::format("kernel {}, linkhealth {}, permissions of {}: {}",
                     doctor.kernel.empty() ? "unknown" : doctor.kernel, doctor.version,
                     doctor.of_daemon ? "the daemon" : "this command (no daemon was asked)",
                     capabilities.empty() ? "no capabilities" : capabilities);
}

}  // namespace

std::string doctor_text(const DoctorReport& doctor, const TextStyle& style) {
  Page page(style);
  page.title(doctor.node + "   " +
             (doctor.hidden == 0 ? "all sources readable"
                                 : count_of(doctor.hidden, "source") + " unavailable or partial"));
  page.text(2, environment_words(doctor));
  page.blank();
  page.title("  Node");
  page.sources(doctor.node_sources);
  for (auto port = doctor.ports.begin(); port != doctor.ports.end(); ++port) {
    page.blank();
    page.title("  " + port_title(*port));
    if (!port->exempt.empty()) page.text(4, "exempt: " + port->exempt);
    const auto same = std::find_if(doctor.ports.begin(), port, [&](const PortSight& other) {
      return !port->sources.empty() && other.sources == port->sources;
    });
    if (same != port)
      page.text(4, "same as " + same->port);
    else
      page.sources(port->sources);
  }
  if (doctor.ports.empty()) page.text(2, "no port found");
  add_limits(page, doctor);
  return page.result();
}

}  // namespace linkhealth
