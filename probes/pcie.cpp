#include "probes/pcie.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <tuple>

#include "base/text.h"
#include "probes/kept_files.h"
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

/// The value in the text of file `name`; what went wrong goes into `trouble`.
template <typename Text, typename Parse>
auto value_of(const Result<Text>& text, const char* name, Parse parse, std::string& trouble,
              int* errnum = nullptr) {
  auto value = text ? parse(trim(*text)) : decltype(parse(""))();
  if (errnum != nullptr && !text) *errnum = text.error().errnum;
  if (!value) {
    trouble += trouble.empty() ? "" : "; ";
    trouble += std::string(name) + ": " +
               (text ? unexpected_text(trim(*text)).message : errno_name(text.error().errnum));
  }
  return value;
}

template <typename Parse>
auto read_value(Host& host, const std::string& dir, const char* name, Parse parse,
                std::string& trouble, int* errnum = nullptr) {
  return value_of(host.read_file(dir + "/" + name), name, parse, trouble, errnum);
}

/// The lesser of what the card and the bridge above can do. A bridge that can't be read (a root
/// complex, a virtual machine) limits nothing.
template <typename T>
std::optional<T> both_ends(std::optional<T> card, std::optional<T> bridge) {
  return card && bridge ? std::min(*card, *bridge) : card;
}

/// An AER total; a missing file is no trouble: the firmware may have kept AER to itself.
std::optional<std::uint64_t> aer_total(const Result<std::string_view>& text, const char* name,
                                       std::string& trouble) {
  std::string aer_trouble;
  int errnum = 0;
  const auto total = value_of(text, name, parse_aer_total, aer_trouble, &errnum);
  if (!total && errnum != ENOENT) trouble += (trouble.empty() ? "" : "; ") + aer_trouble;
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

enum MovingFile : std::uint8_t {
  kSpeed,
  kWidth,
  kCorrectable,
  kNonfatal,
  kFatal,
  kBridgeSpeed,
  kBridgeWidth,
  kInnerCorrectable,
  kInnerNonfatal,
  kInnerFatal
};
/// By MovingFile.
constexpr std::array kMovingNames = {
    "current_link_speed", "current_link_width", "aer_dev_correctable", "aer_dev_nonfatal",
    "aer_dev_fatal",      "current_link_speed", "current_link_width",  "aer_dev_correctable",
    "aer_dev_nonfatal",   "aer_dev_fatal"};
constexpr std::array kLinkFiles = {"current_link_speed", "current_link_width", "max_link_speed",
                                   "max_link_width"};
/// aer_dev_fatal has some twenty lines of "PoisonTLPBlocked 18446744073709551615".
constexpr std::size_t kLongestText = 2048;

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

/// What the files say that change.
struct PcieReader::Moving {
  std::array<FileRead, kMovingNames.size()> reads;
  std::array<std::array<char, kLongestText>, kMovingNames.size()>
      texts;  // NOLINT(*-member-init): filled by the reads

  [[nodiscard]] Result<std::string_view> text(MovingFile which) const {
    const FileRead& read = reads.at(which);
    if (!read.got) return read.got.error();
    return std::string_view(read.buffer.data(), *read.got);
  }
  /// Of the card's edge and of the function behind it. A total without one of them that is there is
  /// none.
  [[nodiscard]] std::optional<std::uint64_t> aer_total_of(MovingFile edge, MovingFile inner,
                                                          std::string& trouble) const {
    std::string failed;
    const auto at_edge = aer_total(text(edge), kMovingNames.at(edge), failed);
    const auto behind = aer_total(text(inner), kMovingNames.at(inner), failed);
    if (!failed.empty()) {
      trouble += (trouble.empty() ? "" : "; ") + failed;
      return std::nullopt;
    }
    return at_edge && behind ? *at_edge + *behind : at_edge ? at_edge : behind;
  }
};

/// One that fails is opened anew the next time: the function may have gone and come back.
void PcieReader::read_moving(Host& host, const std::string& bridge, const std::string& inner,
                             Moving& moving) {
  static_assert(std::tuple_size_v<decltype(kept_)> == kMovingNames.size());
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    FileRead& read = moving.reads.at(i);
    const std::string& dir = i >= kInnerCorrectable ? inner : i >= kBridgeSpeed ? bridge : edge_;
    if (dir.empty()) {
      read.got = Error{"there is none", ENOENT};
    } else if (!kept_.at(i)) {
      auto opened = host.open_file(dir + "/" + kMovingNames.at(i));
      if (!opened) read.got = opened.error();
      if (opened) kept_.at(i) = *std::move(opened);
    }
    read.file = kept_.at(i).get();
    read.buffer = moving.texts.at(i);
  }
  host.read_together(moving.reads);
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (!moving.reads.at(i).got) kept_.at(i).reset();
}

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
  Moving moving;
  read_moving(host, bridge_speaks ? bridge : "", edge_ != dir ? dir : "", moving);
  const auto value = [&](MovingFile which, auto parse, std::string& into) {
    return value_of(moving.text(which), kMovingNames.at(which), parse, into);
  };
  pcie.speed_gtps = value(kSpeed, parse_link_speed, trouble);
  pcie.width = value(kWidth, parse_link_width, trouble);
  if (!pcie.speed_gtps && !pcie.width && speaks_no_pcie(host, edge_)) return;
  if (!fixed.trouble.empty()) trouble += (trouble.empty() ? "" : "; ") + fixed.trouble;
  if (bridge_speaks) {
    pcie.bridge_speed_gtps = value(kBridgeSpeed, parse_link_speed, ignored);
    pcie.bridge_width = value(kBridgeWidth, parse_link_width, ignored);
  }
  pcie.aer_correctable = moving.aer_total_of(kCorrectable, kInnerCorrectable, trouble);
  pcie.aer_nonfatal = moving.aer_total_of(kNonfatal, kInnerNonfatal, trouble);
  pcie.aer_fatal = moving.aer_total_of(kFatal, kInnerFatal, trouble);
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
