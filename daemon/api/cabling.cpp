#include "daemon/api/cabling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnosis/peer_names.h"
#include "exporters/text/text_layout.h"
#include "model/json/json.h"

namespace linkhealth {

namespace {

constexpr std::array<std::string_view, 7> kNames = {"as_planned", "swapped", "wrong",  "unplanned",
                                                    "unseen",     "exempt",  "unknown"};

std::string format_pair(const std::string& system, const std::string& port) {
  return port.empty() ? system : system.empty() ? port : system + " " + port;
}

/// The far end as it identifies itself; a name that is only in the plan does not count.
const PeerSample* identified(const PortReport& port) {
  const auto& peer = port.latest.peer;
  return peer && peer->source != "plan" && !(peer->system.empty() && peer->port.empty()) ? &*peer
                                                                                         : nullptr;
}

bool planned(const PortReport& port) {
  return !port.expected.peer_system.empty() || !port.expected.peer_port.empty();
}

/// Whether `seen` agrees with the plan.
NameMatch compare(const PeerSample& seen, const ExpectedPort& of) {
  const NameMatch system =
      of.peer_system.empty() ? NameMatch::kSame : compare_systems(seen.system, of.peer_system);
  const NameMatch port = of.peer_port.empty()
                             ? NameMatch::kSame
                             : compare_ports(seen.port, seen.description, of.peer_port);
  if (system == NameMatch::kDiffers || port == NameMatch::kDiffers) return NameMatch::kDiffers;
  return system == NameMatch::kSame && port == NameMatch::kSame ? NameMatch::kSame
                                                                : NameMatch::kUnknown;
}

/// The port whose planned far end is seen here; nullptr when it is none of this node's.
const PortReport* owner_of(const Report& report, const PeerSample& seen, const PortReport& here) {
  for (const PortReport& other : report.ports)
    if (&other != &here && planned(other) && compare(seen, other.expected) == NameMatch::kSame)
      return &other;
  return nullptr;
}

void judge(const Report& report, const PortReport& port, CablingRow& row) {
  const PeerSample* seen = identified(port);
  if (port.health == Health::kExempt && seen == nullptr) {
    row.match = CablingMatch::kExempt;
    row.text = port.exempt;
    return;
  }
  if (seen == nullptr) {
    row.match = planned(port) ? CablingMatch::kUnseen : CablingMatch::kUnknown;
    row.text = planned(port) ? "neighbour unknown" : "no plan entry; neighbour unknown";
    return;
  }
  if (!planned(port)) {
    row.match = CablingMatch::kUnplanned;
    row.text = "not in the plan";
    return;
  }
  const NameMatch same = compare(*seen, port.expected);
  row.match = same == NameMatch::kSame ? CablingMatch::kAsPlanned : CablingMatch::kUnknown;
  row.text = same == NameMatch::kSame ? "as planned" : "names cannot be compared";
  if (same != NameMatch::kDiffers) return;
  row.match = CablingMatch::kWrong;
  row.text = "wrong: not planned on this node";
  const PortReport* owner = owner_of(report, *seen, port);
  if (owner == nullptr) return;
  const PeerSample* theirs = identified(*owner);
  const bool swap = theirs != nullptr && compare(*theirs, port.expected) == NameMatch::kSame;
  row.match = swap ? CablingMatch::kSwapped : CablingMatch::kWrong;
  row.text =
      fmt::format("{} {}", swap ? "swapped with" : "wrong: this is the cable of", owner->port);
}

std::string sign(CablingMatch match, bool ascii) {
  if (match == CablingMatch::kAsPlanned) return ascii ? "ok" : "●";
  if (match == CablingMatch::kSwapped || match == CablingMatch::kWrong) return ascii ? "!!" : "✖";
  return ascii ? "- " : "○";
}

}  // namespace

std::string_view to_string(CablingMatch match) {
  return kNames.at(static_cast<std::size_t>(match));
}

std::vector<CablingRow> compare_cabling(const Report& report) {
  std::vector<CablingRow> rows;
  for (const PortReport& port : report.ports) {
    CablingRow row;
    row.port = port.port;
    row.netdev = port.latest.id.netdev;
    row.planned = format_pair(port.expected.peer_system, port.expected.peer_port);
    if (const PeerSample* seen = identified(port)) {
      row.seen = format_pair(seen->system, seen->port);
      row.source = seen->source;
    }
    judge(report, port, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::size_t count_wrong(const std::vector<CablingRow>& rows) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [](const CablingRow& row) {
    return row.match == CablingMatch::kSwapped || row.match == CablingMatch::kWrong;
  }));
}

std::string cabling_text(const Report& report, const std::vector<CablingRow>& rows,
                         const TextStyle& style) {
  const std::size_t wrong = count_wrong(rows);
  const bool plan =
      std::ranges::any_of(rows, [](const CablingRow& row) { return !row.planned.empty(); });
  std::string text =
      fmt::format("{}   {} port{}: {}\n\n", clean_text(report.node, style.ascii), rows.size(),
                  rows.size() == 1 ? "" : "s",
                  !plan        ? "no plan is configured"
                  : wrong == 0 ? "no cable contradicts the plan"
                               : fmt::format("{} plugged into the wrong port", wrong));
  std::array<std::size_t, 3> widths = {4, 7, 4};
  const auto cells = [&](const CablingRow& row) {
    return std::array<std::string, 3>{
        row.port, row.planned.empty() ? "-" : clean_text(row.planned, style.ascii),
        row.seen.empty() ? "-" : clean_text(row.seen, style.ascii)};
  };
  for (const CablingRow& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], display_width(cells(row)[i]));
  text += paint_faint("  " + pad_right("PORT", widths[0]) + "  " + pad_right("PLANNED", widths[1]) +
                          "  " + "SEEN",
                      style) +
          "\n";
  const auto width = static_cast<std::size_t>(std::max(style.width_columns, 40));
  for (const CablingRow& row : rows) {
    const auto row_cells = cells(row);
    std::string line = "  ";
    for (std::size_t i = 0; i < widths.size(); ++i)
      line += pad_right(row_cells[i], widths[i]) + "  ";
    const std::string words =
        sign(row.match, style.ascii) + " " + clean_text(row.text, style.ascii);
    const std::size_t begin = display_width(line);
    if (begin + display_width(words) > width && begin > 6)
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n    " +
              cut(words, width - 4, style.ascii) + "\n";
    else
      text += line + words + "\n";
  }
  return text;
}

std::string cabling_json(const Report& report, const std::vector<CablingRow>& rows) {
  const auto put = [](OrderedJson& out, std::string_view key, std::string_view value) {
    if (!value.empty()) out[key] = value;
  };
  OrderedJson json;
  json["schema"] = "linkhealth.cabling/1";
  put(json, "node", report.node);
  json["ports"] = OrderedJson::array();
  for (const CablingRow& row : rows) {
    OrderedJson out;
    put(out, "port", row.port);
    put(out, "netdev", row.netdev);
    put(out, "planned", row.planned);
    put(out, "seen", row.seen);
    put(out, "source", row.source);
    put(out, "match", to_string(row.match));
    put(out, "text", row.text);
    json["ports"].push_back(std::move(out));
  }
  return format_json(json);
}

}  // namespace linkhealth
