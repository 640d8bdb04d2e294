#include "probes/pcie.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/text.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

namespace {

/// mlx5 shows the module's sensor among the card's: "Module0", or by its index from 64 on where
/// firmware has no name for it (drivers/net/ethernet/mellanox/mlx5/core/hwmon.c).
bool is_of_module(std::string_view label) {
  constexpr std::string_view kSensor = "sensor";
  if (label.starts_with("Module")) return true;
  return label.starts_with(kSensor) &&
         parse_u64(trim(label.substr(kSensor.size()))).value_or(0) >= 64;
}

/// The value in file `name`; what went wrong goes into `trouble`.
template <typename Parse>
auto read_value(Host& host, const std::string& dir, const char* name, Parse parse,
                std::string& trouble, int* errnum = nullptr) {
  const auto text = host.read_file(dir + "/" + name);
  auto value = text ? parse(trim(*text)) : decltype(parse(""))();
  if (errnum != nullptr && !text) *errnum = text.error().errnum;
  if (!value) {
    trouble += trouble.empty() ? "" : "; ";
    trouble += std::string(name) + ": " +
               (text ? unexpected_text(trim(*text)).message : errno_name(text.error().errnum));
  }
  return value;
}

/// The lesser of what the card and the bridge above can do. A bridge that can't be read (a root
/// complex, a virtual machine) limits nothing.
template <typename T>
std::optional<T> both_ends(std::optional<T> card, std::optional<T> bridge) {
  return card && bridge ? std::min(*card, *bridge) : card;
}

/// An AER total of the card's edge and of the function behind it ("": there is none), together. A
/// missing file is no trouble: the firmware may have kept AER to itself. A total without one of
/// them that is there is none.
std::optional<std::uint64_t> aer_total(Host& host, const std::string& edge,
                                       const std::string& behind, const char* name,
                                       std::string& trouble) {
  std::optional<std::uint64_t> total;
  for (const std::string& dir : {edge, behind}) {
    if (dir.empty()) continue;
    std::string failed;
    int errnum = 0;
    const auto part = read_value(host, dir, name, parse_aer_total, failed, &errnum);
    if (part) total = total.value_or(0) + *part;
    if (part || errnum == ENOENT) continue;
    trouble += (trouble.empty() ? "" : "; ") + failed;
    return std::nullopt;
  }
  return total;
}

constexpr std::uint64_t kMaxNumaNodes = 4096;

/// The board's slot: the one whose address is the function's without the function number (linux:
/// drivers/pci/slot.c).
std::string read_slot(Host& host, const std::string& pci) {
  const std::string device = pci.substr(0, pci.rfind('.'));
  const auto slots = host.list_dir("/sys/bus/pci/slots");
  if (!slots || device.empty()) return "";
  for (const std::string& slot : *slots) {
    const auto address = host.read_file("/sys/bus/pci/slots/" + slot + "/address");
    if (address && trim(*address) == device) return printable(slot);
  }
  return "";
}

/// The hottest of the function's own sensors (Documentation/hwmon/sysfs-interface.rst: millidegrees
/// Celsius). A sensor of a module belongs to the module's group: mlx5 labels those "Module0", the
/// NIC's own "asic". A card without sensors is no trouble, one whose sensor can't be read is.
void read_temperature(Host& host, const std::string& dir, PcieSample& pcie, std::string& trouble) {
  std::string ignored;
  const std::string chips_dir = dir + "/hwmon/";
  const auto list = [&](const std::string& folder) {
    auto names = host.list_dir(folder);
    if (!names && names.error().errnum != ENOENT)
      trouble += (trouble.empty() ? "" : "; ") + base_name(folder) + ": " +
                 errno_name(names.error().errnum);
    return names ? std::move(*names) : std::vector<std::string>();
  };
  for (const std::string& chip : list(dir + "/hwmon")) {
    const std::string chip_dir = chips_dir + chip;
    const auto files = list(chip_dir);
    for (const std::string& file : files) {
      constexpr std::string_view kInput = "_input";
      if (!file.starts_with("temp") || !file.ends_with(kInput)) continue;
      const std::string sensor = file.substr(0, file.size() - kInput.size());
      const auto label = host.read_file(fmt::format("{}/{}_label", chip_dir, sensor));
      if (label && is_of_module(*label)) continue;
      const auto now_c = read_value(host, chip_dir, file.c_str(), parse_millidegrees, trouble);
      if (!now_c || (pcie.nic_temperature_c && *pcie.nic_temperature_c >= *now_c)) continue;
      pcie.nic_temperature_c = now_c;
      pcie.nic_critical_temperature_c =
          read_value(host, chip_dir, (sensor + "_crit").c_str(), parse_millidegrees, ignored);
    }
  }
}

/// The address of the bridge above is a PCI function's; "" where there is none: a root complex.
std::string bridge_above(const std::string& dir) {
  const std::string above = dir.substr(0, dir.rfind('/'));
  return pci_address_in(above) == base_name(above) ? above : "";
}

/// What stays as it is while the card is in its slot.
struct Fixed {
  PcieSample pcie;
  std::string trouble;
  bool complete = true;  ///< nothing is missing that may come yet
};

Fixed read_fixed(Host& host, const InventoryPort& port, const std::string& edge,
                 const std::string& bridge) {
  Fixed fixed;
  PcieSample& pcie = fixed.pcie;
  std::string ignored;
  const auto read = [&](const std::string& of, const char* name, auto parse, std::string& trouble) {
    int errnum = 0;
    auto value = read_value(host, of, name, parse, trouble, &errnum);
    fixed.complete = fixed.complete && (value || errnum == ENOENT);
    return value;
  };
  pcie.max_speed_gtps = read(edge, "max_link_speed", parse_link_speed, fixed.trouble);
  pcie.max_width = read(edge, "max_link_width", parse_link_width, fixed.trouble);
  if (!bridge.empty()) {
    pcie.bridge_max_speed_gtps = read(bridge, "max_link_speed", parse_link_speed, ignored);
    pcie.bridge_max_width = read(bridge, "max_link_width", parse_link_width, ignored);
    pcie.max_speed_gtps = both_ends(pcie.max_speed_gtps, pcie.bridge_max_speed_gtps);
    pcie.max_width = both_ends(pcie.max_width, pcie.bridge_max_width);
  }
  const auto node =
      read_value(host, port.sysfs_pci_dir, "numa_node", parse_u64, ignored);  // -1: none
  if (node && *node < kMaxNumaNodes) pcie.numa_node = static_cast<std::uint32_t>(*node);
  pcie.slot = read_slot(host, base_name(edge));
  fixed.complete = fixed.complete && fixed.trouble.empty();
  return fixed;
}

constexpr std::array kLinkFiles = {"current_link_speed", "current_link_width", "max_link_speed",
                                   "max_link_width"};
/// A function on a conventional PCI bus, or a virtual one: the kernel shows none of the four
/// (linux: pci-sysfs.c, pcie_dev_attrs_are_visible()), and all else. Where nothing else is there it
/// is a /sys in part.
bool speaks_no_pcie(Host& host, const std::string& dir) {
  const auto is_absent = [&](const char* name) {
    const auto text = host.read_file(dir + "/" + name);
    return !text && text.error().errnum == ENOENT;
  };
  return host.read_file(dir + "/vendor") && std::ranges::all_of(kLinkFiles, is_absent);
}

}  // namespace

std::string edge_of_card(Host& host, const std::string& dir) {
  constexpr std::string_view kMellanox = "0x15b3";
  const auto is_theirs = [&](const std::string& of) {
    const auto vendor = host.read_file(of + "/vendor");
    return vendor && trim(*vendor) == kMellanox;
  };
  std::string edge = dir;
  if (!is_theirs(edge)) return edge;
  for (std::string above = bridge_above(edge); !above.empty() && is_theirs(above);
       above = bridge_above(edge))
    edge = std::move(above);
  return edge;
}

std::optional<double> parse_millidegrees(std::string_view text) {
  const auto value = parse_double(text);
  if (!value || *value < -100'000 || *value > 250'000) return std::nullopt;
  return *value / 1000;
}

std::optional<double> parse_link_speed(std::string_view text) {
  const auto unit = text.find(" GT/s");
  if (unit == std::string_view::npos) return std::nullopt;
  const auto speed = parse_double(text.substr(0, unit));
  return speed && *speed > 0 && *speed < 1000 ? speed : std::nullopt;
}

std::optional<std::uint32_t> parse_link_width(std::string_view text) {
  const auto width = parse_u64(text);
  if (!width || *width == 0 || *width > 32) return std::nullopt;
  return static_cast<std::uint32_t>(*width);
}

std::optional<std::uint64_t> parse_aer_total(std::string_view text) {
  for (const auto line : split(text, '\n')) {
    const auto space = line.find(' ');
    if (line.starts_with("TOTAL_ERR") && space != std::string_view::npos)
      return parse_u64(trim(line.substr(space)));
  }
  return std::nullopt;
}

void PcieReader::read(Host& host, const InventoryPort& port, PortSample& sample,
                      std::vector<Gap>& gaps) {
  const std::string& dir = port.sysfs_pci_dir;
  if (dir.empty()) return;
  if (!fixed_) edge_ = edge_of_card(host, dir);
  const std::string bridge = bridge_above(edge_);
  Fixed fixed = fixed_ ? Fixed{*fixed_, "", false} : read_fixed(host, port, edge_, bridge);
  if (fixed.complete) fixed_ = fixed.pcie;
  PcieSample& pcie = fixed.pcie;
  std::string trouble;
  std::string ignored;
  // Else it has none of the four (pcie_dev_attrs).
  const bool bridge_speaks = pcie.bridge_max_speed_gtps || pcie.bridge_max_width;
  pcie.speed_gtps = read_value(host, edge_, "current_link_speed", parse_link_speed, trouble);
  pcie.width = read_value(host, edge_, "current_link_width", parse_link_width, trouble);
  if (!pcie.speed_gtps && !pcie.width && speaks_no_pcie(host, edge_)) return;
  if (!fixed.trouble.empty()) trouble += (trouble.empty() ? "" : "; ") + fixed.trouble;
  if (bridge_speaks) {
    pcie.bridge_speed_gtps =
        read_value(host, bridge, "current_link_speed", parse_link_speed, ignored);
    pcie.bridge_width = read_value(host, bridge, "current_link_width", parse_link_width, ignored);
  }
  const std::string behind = edge_ != dir ? dir : "";
  pcie.aer_correctable = aer_total(host, edge_, behind, "aer_dev_correctable", trouble);
  pcie.aer_nonfatal = aer_total(host, edge_, behind, "aer_dev_nonfatal", trouble);
  pcie.aer_fatal = aer_total(host, edge_, behind, "aer_dev_fatal", trouble);
  if (pcie.speed_gtps || pcie.width || pcie.aer_correctable || pcie.aer_nonfatal ||
      pcie.aer_fatal) {
    std::string hot_trouble;
    read_temperature(host, dir, pcie, hot_trouble);
    if (!hot_trouble.empty()) gaps.push_back({port.id.key(), "hwmon", std::move(hot_trouble)});
    sample.pcie = std::move(pcie);
  }
  if (!trouble.empty()) gaps.push_back({port.id.key(), "pcie", std::move(trouble)});
}

}  // namespace linkhealth
