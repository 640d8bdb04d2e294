// The work list: Markdown, to be printed and taken along.
#include <fmt/format.h>

#include <algorithm>

#include "cli/fleet_words.h"
#include "diagnosis/faults.h"
#include "exporters/text_layout.h"

namespace linkhealth::cli {

namespace {

std::string first_step(const FleetFault& fault) {
  for (const Fault& known : fault_table())
    if (known.name == fault.fault && to_string(known.end) == fault.end && !known.repair.empty()) {
      std::string step(known.repair.front().text);
      const auto replace = [&step](std::string_view what, std::string_view by) {
        for (auto at = step.find(what); at != std::string::npos; at = step.find(what))
          step.replace(at, what.size(), by);
      };
      replace("{lane}", ""), replace(" ({serial})", ""), replace("{serial}", "");
      replace("{peer}", fault.peer_system.empty() ? "the far end" : fault.peer_system), replace("{far}", "");
      return step;
    }
  return "run linkhealth explain " + fault.device + "/" + fault.port;
}

/// Text from the network in Markdown: no control bytes, nothing that Markdown would take as its own.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text, false)) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// For a span of code in Markdown.
std::string code(std::string_view text) {
  std::string out = clean_text(text, true);
  std::erase(out, '`');
  return out;
}

std::string place_of(const FleetFault& fault) {
  std::string here;
  for (const auto& [word, value] : {std::pair("pod", &fault.pod), {"row", &fault.row}, {"rack", &fault.rack}})
    if (!value->empty()) here += fmt::format("{}{} {}", here.empty() ? "" : ", ", word, plain(*value));
  return here;
}

std::string item_of(const FleetFault& fault, WallTime now) {
  std::string text =
      fmt::format("- [ ] **{}{}, {}/{}**{}: {} ({} sure), cost number {}\n",
                  fault.u.empty() ? "" : "U " + plain(fault.u) + ", ", plain(fault.instance), plain(fault.device),
                  plain(fault.port), fault.netdev.empty() ? "" : " (" + plain(fault.netdev) + ")",
                  plain(name_words(fault.fault)), confidence_words(fault.confidence), fault.rank);
  std::string facts;
  const auto add = [&facts](const std::string& words) {
    if (!words.empty()) facts += (facts.empty() ? "" : "; ") + words;
  };
  add(to_words(fault).empty() ? "" : "to " + plain(to_words(fault)));
  add(since_words(fault, now).empty() ? "" : "since " + since_words(fault, now));
  add(bandwidth_words(fault.lost_bytes_per_s).empty() ? "" : bandwidth_words(fault.lost_bytes_per_s) + " lost");
  add(fault.part_number.empty()
          ? ""
          : plain(fault.vendor + " " + fault.part_number + (fault.serial.empty() ? "" : ", serial " + fault.serial)));
  add(plain(fault.connector));
  if (!facts.empty()) text += "  " + facts + "\n";
  text += "  First: " + plain(first_step(fault)) + "\n";
  text += fmt::format("  Then, on the node: `linkhealth explain {}/{}`\n", code(fault.device), code(fault.port));
  return text;
}

}  // namespace

std::string work_list_text(const FleetView& view, WallTime now) {
  const std::vector<FleetFault> work = in_walking_order(view.faults);
  std::string text = fmt::format("# Work list, {}\n\n{}.\n\n", instant_words(now), fleet_summary(view));
  const auto shared = shared_causes(view);
  for (const auto& [name, count] : shared)
    text +=
        fmt::format("* **Not single cables:** {} of the links with faults share {}; ask who looks after it first.\n",
                    count, plain(name));
  if (!shared.empty()) text += "\n";
  if (work.empty()) return text + "No link wants work at its place.\n";
  text +=
      fmt::format("{} to do, in the order of one round; number 1 of {} costs most.\n", work.size(), view.faults.size());
  std::string place;
  for (const FleetFault& fault : work) {
    std::string here = place_of(fault);
    if (here.empty()) here = "place not known";
    if (here != place) text += fmt::format("\n## {}\n\n", place = here);
    text += item_of(fault, now);
  }
  if (view.faults_total > view.faults.size())
    text += fmt::format("\n{} more are not on this list: --limit {}\n", view.faults_total - view.faults.size(),
                        view.faults_total);
  return text;
}

}  // namespace linkhealth::cli
