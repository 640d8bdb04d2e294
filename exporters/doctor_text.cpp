#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exporters/doctor.h"
#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

std::string state_words(Visibility state) {
  switch (state) {
    case Visibility::kSeen:
      return "seen";
    case Visibility::kPartly:
      return "in part";
    case Visibility::kHidden:
      return "can't";
    case Visibility::kNotOffered:
      return "not offered";
    case Visibility::kNoWord:
      return "nothing yet";
    case Visibility::kNotUsed:
      return "-";
  }
  return "";
}

std::string joined(const std::vector<std::string>& parts, std::string_view none) {
  if (parts.empty()) return std::string(none);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

class Page {
 public:
  explicit Page(const TextStyle& style)
      : style_(style),
        width_(static_cast<std::size_t>(std::clamp(style.width_columns, 40, 1000))) {}

  void title(const std::string& text) {
    out_ += paint_bold(clean_text(text, style_.ascii), style_) + "\n";
  }
  void blank() { out_ += "\n"; }
  /// A paragraph, its lines after the first indented by two more.
  void paragraph(const std::string& text, std::size_t indent) {
    bool first = true;
    for (const std::string& line : wrap(clean_text(text, style_.ascii), width_ - indent - 2)) {
      out_ += std::string(indent + (first ? 0 : 2), ' ') + line + "\n";
      first = false;
    }
  }
  void source(const SourceSight& source) {
    if (source.state == Visibility::kNotUsed || source.state == Visibility::kNoWord) return;
    const bool bad = source.state == Visibility::kHidden || source.state == Visibility::kPartly;
    const std::string sign = bad                                 ? (style_.ascii ? "!" : "▲")
                             : source.state == Visibility::kSeen ? "+"
                                                                 : "-";
    out_ +=
        "    " + sign + " " + pad_right(source.probe, 15) +
        pad_right(state_words(source.state), 13) +
        cut(clean_text(source.what, style_.ascii), width_ > 40 ? width_ - 36 : 4, style_.ascii) +
        "\n";
    if (bad || source.state == Visibility::kNotOffered) {
      if (source.why + source.hint == said_) return;  // the same cause as the line above
      said_ = source.why + source.hint;
      if (!source.why.empty() && bad) paragraph("why: " + source.why, 8);
      if (!source.hint.empty() && bad) paragraph("do:  " + source.hint, 8);
    }
  }
  void sources(const std::vector<SourceSight>& sources) {
    std::vector<std::string> quiet, off;
    said_.clear();
    for (const SourceSight& each : sources) {
      source(each);
      if (each.state == Visibility::kNoWord) quiet.push_back(each.probe);
      if (each.state == Visibility::kNotUsed && !each.why.empty()) off.push_back(each.probe);
    }
    if (!quiet.empty()) paragraph("- nothing read and nothing failed: " + joined(quiet, ""), 4);
    if (!off.empty()) paragraph("- switched off in the configuration: " + joined(off, ""), 4);
  }
  std::string take() { return std::move(out_); }

 private:
  TextStyle style_;
  std::size_t width_;
  std::string out_;
  std::string said_;  ///< the cause and advice of the last source that is hidden
};

std::string port_title(const PortSight& port) {
  std::vector<std::string> details;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) details.push_back(text);
  };
  add(port.netdev);
  add(port.pci);
  add(port.driver_version.empty() ? port.driver : port.driver + " " + port.driver_version);
  add(port.firmware.empty() ? "" : "firmware " + port.firmware);
  return details.empty() ? port.port : fmt::format("{} ({})", port.port, joined(details, ""));
}

/// Ports with the same lines share them.
void add_verdicts(Page& page, const DoctorReport& doctor) {
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<std::string>>
      groups;
  for (const PortSight& port : doctor.ports)
    if (port.exempt.empty()) groups[{port.not_noticed, port.not_told_apart}].push_back(port.port);
  for (const auto& [lines, ports] : groups) {
    page.blank();
    const std::string who =
        ports.size() == 1 ? ports.front() : fmt::format("{} ports ({} …)", ports.size(), ports[0]);
    page.title("With what can be seen of " + who);
    if (lines.first.empty() && lines.second.empty())
      page.paragraph("every fault can be noticed and told apart", 4);
    if (!lines.first.empty()) page.paragraph("would not be noticed: " + joined(lines.first, ""), 4);
    if (!lines.second.empty()) {
      page.paragraph("can't be told apart:", 4);
      for (const std::string& line : lines.second) page.paragraph(line, 6);
    }
  }
}

}  // namespace

std::string doctor_text(const DoctorReport& doctor, const TextStyle& style) {
  Page page(style);
  page.title(fmt::format("{}   {}", doctor.node,
                         doctor.hidden == 0
                             ? "nothing is hidden"
                             : fmt::format("{} source{} can't be seen, or only in part",
                                           doctor.hidden, doctor.hidden == 1 ? "" : "s")));
  page.paragraph(
      doctor.played
          ? fmt::format(
                "linkhealth {} plays a recording: kernel and rights of its node are not known",
                doctor.version)
          : fmt::format("kernel {}, linkhealth {}, rights of {}: {}",
                        doctor.kernel.empty() ? "not known" : doctor.kernel, doctor.version,
                        doctor.of_daemon ? "the daemon" : "this command (no daemon was asked)",
                        joined(doctor.capabilities, "no capabilities")),
      2);
  page.blank();
  page.title("  The node");
  page.sources(doctor.node_sources);
  for (auto port = doctor.ports.begin(); port != doctor.ports.end(); ++port) {
    page.blank();
    page.title("  " + port_title(*port));
    if (!port->exempt.empty()) page.paragraph("left out: " + port->exempt, 4);
    const auto same = std::find_if(doctor.ports.begin(), port, [&](const PortSight& other) {
      return !port->sources.empty() && other.sources == port->sources;
    });
    if (same != port)
      page.paragraph("as " + same->port, 4);
    else
      page.sources(port->sources);
  }
  if (doctor.ports.empty()) page.paragraph("no port was found", 2);
  add_verdicts(page, doctor);
  return page.take();
}

}  // namespace linkhealth
