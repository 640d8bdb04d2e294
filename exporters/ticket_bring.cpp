// What to carry to the rack: by what the steps do, and by the medium.
#include <fmt/format.h>

#include <algorithm>

#include "exporters/text_layout.h"
#include "exporters/ticket.h"

namespace linkhealth {

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Single-mode MPO is angled (IEC 61754-7-1); of multimode, the PAM4 optics at 50 Gb/s a lane and
/// above are, too (IEEE 802.3 cl. 167 for SR at 100 Gb/s a lane, 400G-SR8's MPO-16). An older SR4
/// is flat.
std::string_view polish(const std::string& type) {
  for (const char* single : {"DR", "FR", "LR", "ER", "ZR", "PSM"})
    if (has(type, single)) return " APC";
  for (const char* fast : {"200G", "400G", "800G", "1.6T"})
    if (has(type, fast) && has(type, "SR")) return " APC";
  return has(type, "SR4") ? " PC" : "";
}

std::string connector_words(const ModuleSample& module) {
  const std::string& name = module.connector;
  if (name.empty()) return "the connector on the module (not read: look)";
  if (name.starts_with("MPO")) return name + std::string(polish(module.type));
  return name;
}

std::string length_words(const PortReport& port) {
  const auto& length = port.latest.module ? port.latest.module->length_m : std::nullopt;
  if (!port.expected.cable.empty()) return port.expected.cable;
  return length && *length > 0 ? fmt::format("{:g} m", *length) : "length as the one in place";
}

std::string spare(const ModuleSample& module, std::string_view what) {
  std::string name = module.part_number;
  if (!module.vendor.empty()) name = module.vendor + " " + name;
  if (!module.type.empty()) name += (name.empty() ? "" : ", ") + module.type;
  return fmt::format("{}: {}", what, name.empty() ? "the same as the one in place" : name);
}

}  // namespace

std::vector<std::string> things_to_bring(const FaultReport& fault, const PortReport& port) {
  std::vector<std::string> things;
  const auto any = [&](std::string_view part) {
    return std::ranges::any_of(fault.repair,
                               [&](const std::string& step) { return has(step, part); });
  };
  const ModuleSample none;
  const auto& own = port.latest.module;
  const ModuleSample& here = own && own->present ? *own : none;
  const bool one_piece = here.kind == "dac" || here.kind == "acc" || here.kind == "aoc";
  if (any("clean")) {
    things.push_back(
        fmt::format("inspection scope and cleaner for {} (both ends), and one for the module ports",
                    connector_words(here)));
  }
  if (any("replace the jumper") || any("cable or jumper"))
    things.push_back(fmt::format("jumper: {}, {}", connector_words(here), length_words(port)));
  const bool this_module = any("replace this module") || any("replace the module or cable");
  if (one_piece && (any("replace the cable") || any("cable or jumper") || this_module))
    things.push_back(spare(here, fmt::format("spare cable ({})", length_words(port))));
  else if (this_module)
    things.push_back(spare(here, "spare module for this node"));
  if (any("replace the module at") || any("replace the far module")) {
    const auto& peer = port.latest.peer;
    const bool known =
        peer && peer->module && !(peer->module->part_number.empty() && peer->module->type.empty());
    things.push_back(
        known ? spare(*peer->module, "spare module for the far end")
              : "spare module for the far end: its part number is not readable from here");
  }
  if (any("OTDR")) things.push_back("OTDR or light source and power meter");
  if (any("power meter")) things.push_back("power meter");
  if (any("the card")) things.push_back("spare network card, and the node drained and powered off");
  return things;
}

}  // namespace linkhealth
