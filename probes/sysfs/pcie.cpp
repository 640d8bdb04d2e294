#include "probes/sysfs/pcie.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/text.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

/// mlx5 lists the module's sensor among the card's: "Module0", or by its index from 64 on if
/// firmware has no name for it (drivers/net/ethernet/mellanox/mlx5/core/hwmon.c).
bool is_of_module(std::string_view label) {
  constexpr std::string_view kSensor = "sensor";
  if (label.starts_with("Module")) return true;
  return label.starts_with(kSensor) &&
         parse_u64(trim(label.substr(kSensor.size()))).value_or(0) >= 64;
}

void add(std::string& trouble, const std::string& what) {
  trouble += (trouble.empty() ? "" : "; ") + what;
}

/// The value in file `name`; if there is none, `trouble` is set to the reason.
template <typename Parse>
auto read_value(Host& host, const std::string& dir, const char* name, Parse parse,
                std::string& trouble, int* errnum = nullptr) {
  const auto text = host.read_file(dir + "/" + name);
  auto value = text ? parse(trim(*text)) : decltype(parse(""))();
  if (errnum != nullptr && !text) *errnum = text.error().errnum;
  if (!value)
    add(trouble,
        std::string(name) + ": " +
            (text ? unexpected_text(trim(*text)).message : errno_name(text.error().errnum)));
  return value;
}

/// The lesser of what the card and the bridge above support. A bridge that cannot be read (a root
/// complex, a virtual machine) limits nothing.
template <typename T>
std::optional<T> both_ends(std::optional<T> card, std::optional<T> bridge) {
  return card && bridge ? std::min(*card, *bridge) : card;
}

/// The sum of an AER total over the card's edge and the function behind it ("": there is none). A
/// missing file is not an error: the firmware may handle AER itself. If one of two existing devices
/// lacks it, there is no total.
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
    add(trouble, failed);
    return std::nullopt;
  }
  return total;
}

/// The hottest of the function's own sensors (Documentation/hwmon/sysfs-interface.rst: millidegrees
/// Celsius). A module's sensor belongs to the module's group: mlx5 labels those "Module0", the
/// NIC's own "asic". A card without sensors is not an error; an unreadable sensor is.
void read_temperature(Host& host, const std::string& dir, PcieSample& pcie, std::string& trouble) {
  std::string ignored;
  const std::string chips_dir = dir + "/hwmon/";
  const auto list = [&](const std::string& folder) {
    auto names = host.list_dir(folder);
    if (!names && names.error().errnum != ENOENT)
      add(trouble, base_name(folder) + ": " + errno_name(names.error().errnum));
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

/// The bridge above, if it has a PCI address; "": a root complex.
std::string bridge_above(const std::string& dir) {
  const std::string above = dir.substr(0, dir.rfind('/'));
  return pci_address_in(above) == base_name(above) ? above : "";
}

/// The link between `lower` and the bridge above it.
PcieLink read_link(Host& host, const std::string& lower, const std::string& upper) {
  std::string ignored;
  const auto read = [&](const std::string& dir, const char* name, auto parse) {
    return read_value(host, dir, name, parse, ignored);
  };
  PcieLink link{base_name(lower),
                read(lower, "current_link_speed", parse_link_speed),
                {},
                read(lower, "current_link_width", parse_link_width),
                {}};
  const auto speed = read(upper, "max_link_speed", parse_link_speed);
  const auto width = read(upper, "max_link_width", parse_link_width);
  // An unreadable bridge leaves the value unknown, unlike for the card's own slot.
  if (speed)
    link.max_speed_gtps = both_ends(read(lower, "max_link_speed", parse_link_speed), speed);
  if (width) link.max_width = both_ends(read(lower, "max_link_width", parse_link_width), width);
  return link;
}

double bandwidth(const std::optional<double>& speed, const std::optional<std::uint32_t>& width) {
  return speed.value_or(0) * width.value_or(0);
}

/// Up to the root port: a switch has downstream ports and an upstream port, whose link is the next
/// one (PCI Express Base Specification, 1.3 and 1.4).
std::optional<PcieLink> find_low_link(Host& host, std::string downstream, const PcieSample& card) {
  constexpr int kMostSwitches = 8;
  std::optional<PcieLink> lowest;
  double least = bandwidth(card.speed_gtps, card.width);
  for (int i = 0; i < kMostSwitches && !downstream.empty(); ++i) {
    const std::string upstream = bridge_above(downstream);
    downstream = upstream.empty() ? "" : bridge_above(upstream);
    if (downstream.empty()) break;
    PcieLink link = read_link(host, upstream, downstream);
    const double carries = bandwidth(link.speed_gtps, link.width);
    if (!link.is_low() || carries <= 0 || carries >= least) continue;
    least = carries;
    lowest = std::move(link);
  }
  return lowest;
}

constexpr std::array kLinkFiles = {"current_link_speed", "current_link_width", "max_link_speed",
                                   "max_link_width"};
/// A function on a conventional PCI bus, or a virtual one: the kernel shows none of the four
/// attributes (linux: pci-sysfs.c, pcie_dev_attrs_are_visible()) but others. If those are missing
/// too, it is a partial /sys.
bool has_no_pcie(Host& host, const std::string& dir) {
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

void read_pcie(Host& host, const InventoryPort& port, PortSample& sample, std::vector<Gap>& gaps) {
  const std::string& dir = port.sysfs_pci_dir;
  if (dir.empty()) return;
  const std::string edge = edge_of_card(host, dir);
  const std::string bridge = bridge_above(edge);
  PcieSample pcie;
  std::string trouble;
  std::string ignored;
  pcie.speed_gtps = read_value(host, edge, "current_link_speed", parse_link_speed, trouble);
  pcie.width = read_value(host, edge, "current_link_width", parse_link_width, trouble);
  if (!pcie.speed_gtps && !pcie.width && has_no_pcie(host, edge)) return;
  pcie.max_speed_gtps = read_value(host, edge, "max_link_speed", parse_link_speed, trouble);
  pcie.max_width = read_value(host, edge, "max_link_width", parse_link_width, trouble);
  if (!bridge.empty()) {
    const auto read = [&](const char* name, auto parse) {
      return read_value(host, bridge, name, parse, ignored);
    };
    pcie.bridge_speed_gtps = read("current_link_speed", parse_link_speed);
    pcie.bridge_width = read("current_link_width", parse_link_width);
    pcie.bridge_max_speed_gtps = read("max_link_speed", parse_link_speed);
    pcie.bridge_max_width = read("max_link_width", parse_link_width);
    pcie.max_speed_gtps = both_ends(pcie.max_speed_gtps, pcie.bridge_max_speed_gtps);
    pcie.max_width = both_ends(pcie.max_width, pcie.bridge_max_width);
    pcie.above = find_low_link(host, bridge, pcie);
  }
  const std::string behind = edge != dir ? dir : "";
  pcie.aer_correctable = aer_total(host, edge, behind, "aer_dev_correctable", trouble);
  pcie.aer_nonfatal = aer_total(host, edge, behind, "aer_dev_nonfatal", trouble);
  pcie.aer_fatal = aer_total(host, edge, behind, "aer_dev_fatal", trouble);
  if (pcie.speed_gtps || pcie.width || pcie.aer_correctable || pcie.aer_nonfatal ||
      pcie.aer_fatal) {
    pcie.slot = port.slot;
    if (port.numa_node >= 0) pcie.numa_node = static_cast<std::uint32_t>(port.numa_node);
    std::string sensor_trouble;
    read_temperature(host, dir, pcie, sensor_trouble);
    if (!sensor_trouble.empty()) gaps.push_back({port.id.key(), "hwmon", sensor_trouble});
    sample.pcie = std::move(pcie);
  }
  if (!trouble.empty()) gaps.push_back({port.id.key(), "pcie", std::move(trouble)});
}

}  // namespace linkhealth
