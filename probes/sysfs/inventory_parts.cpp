#include "probes/sysfs/inventory_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "base/text.h"
#include "probes/sysfs/kernel_record.h"
#include "probes/sysfs/pcie.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

// NICs of a hypervisor or cloud: the cable is not this machine's. Virtual functions that were
// passed into a virtual machine have no physfn link there; these drivers serve nothing else.
constexpr std::array<std::string_view, 9> kVirtualNicDrivers = {
    "efa", "ena", "erdma", "gve", "hv_netvsc", "mana", "vif", "virtio_net", "vmxnet3"};
constexpr std::array<std::string_view, 5> kVirtualFunctionDrivers = {"iavf", "i40evf", "igbvf",
                                                                     "ixgbevf", "nfp_netvf"};
// Other virtual functions in a virtual machine are recognised only by their PCI id. Each driver's
// PCI table: drivers/net/ethernet/mellanox/{mlx5/core/main.c (MLX5_PCI_DEV_IS_VF),mlx4/main.c},
// broadcom/bnxt/bnxt.c (CONFIG_BNXT_SRIOV), pensando/ionic/ionic.h, intel/idpf/idpf_main.c.
struct VirtualFunctions {
  std::string_view vendor;
  std::string_view devices;
};
constexpr VirtualFunctions kVirtualFunctions[] = {
    {"0x15b3", "0x1002 0x1004 0x1012 0x1014 0x1016 0x1018 0x101a 0x101c 0x101e 0xa2d3"},
    {"0x14e4",
     "0x1606 0x1607 0x1608 0x1609 0x16bd 0x16c1 0x16c2 0x16c3 0x16c4 0x16c5 0x16cb 0x16d3 0x16dc "
     "0x16e1 0x16e5 0x16e6 "
     "0x1806 0x1807 0x1808 0x1809 0x1819 0x181b 0xd800"},
    {"0x1dd8", "0x1003"},
    {"0x8086", "0x145c"}};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// "0000:1b:00.0"; the domain may be longer (VMD: "10000:…").
bool is_pci_address(std::string_view name) {
  const auto found = pci_addresses_in(name);
  return found.size() == 1 && found.front() == name;
}

std::string driver_of(Host& host, const std::string& device_dir) {
  if (const auto driver = host.resolve(device_dir + "/driver"); driver) return base_name(*driver);
  // A copy may lack /sys/bus.
  const std::string uevent = read_attribute(host, device_dir + "/uevent");
  for (const auto line : split(uevent, '\n'))
    if (line.starts_with("DRIVER=")) return std::string(trim(line.substr(7)));
  return "";
}

bool is_virtual_function(std::string_view vendor, std::string_view device) {
  return !device.empty() &&
         std::ranges::any_of(kVirtualFunctions, [&](const VirtualFunctions& row) {
           return row.vendor == vendor && row.devices.find(device) != std::string_view::npos;
         });
}

/// Why the function at `port.sysfs_pci_dir` shares the cable of another; also sets its kind.
void judge_function(Host& host, const std::string& device_dir, InventoryPort& port) {
  const std::string& pci = port.sysfs_pci_dir;
  port.id.function = "pf";
  // The link of an RDMA device is judged all the same: no other port of this machine represents it.
  const bool judged = port.id.verbs;
  if (contains(kVirtualNicDrivers, port.id.driver)) {
    port.id.function = "virtual";
    if (!judged)
      port.exempt_reason =
          "virtual NIC (" + port.id.driver + "): its cable is not visible from this machine";
  } else if (device_dir.find(".sf.") != std::string::npos) {  // auxiliary device "mlx5_core.sf.2"
    port.id.function = "sf";
    port.exempt_reason = "subfunction of " + base_name(pci);
  } else if (const auto physical = host.resolve(pci + "/physfn"); !pci.empty() && physical) {
    port.id.function = "vf";
    port.exempt_reason = "virtual function of " + base_name(*physical);
  } else if (contains(kVirtualFunctionDrivers, port.id.driver) ||
             (!pci.empty() && is_virtual_function(read_attribute(host, pci + "/vendor"),
                                                  read_attribute(host, pci + "/device")))) {
    port.id.function = "vf";
    if (!judged)
      port.exempt_reason = "virtual function: its physical function is not in this machine";
  }
}

constexpr std::string_view kDevices = "/sys/bus/pci/devices";

/// PCI class 02: Ethernet (0200), InfiniBand (0207) and other network controllers.
bool is_network(std::string_view pci_class) {
  return pci_class.starts_with("0x0200") || pci_class.starts_with("0x0207");
}

}  // namespace

std::map<std::string, std::string> read_slots(Host& host) {
  std::map<std::string, std::string> slots;
  const std::string dir = "/sys/bus/pci/slots";
  const auto names = host.list_dir(dir);
  if (!names) return slots;
  for (const auto& name : *names) {
    std::string path = dir;
    path.append("/").append(name).append("/address");
    if (std::string address = read_attribute(host, path); !address.empty())
      slots.emplace(std::move(address), printable(name));
  }
  return slots;
}

std::string pci_dir_in(const std::string& sysfs_path) {
  std::size_t end = 0;
  for (std::size_t at = sysfs_path.find('/'); at != std::string::npos;) {
    const std::size_t next = sysfs_path.find('/', at + 1);
    const std::size_t length =
        next == std::string::npos ? sysfs_path.size() - at - 1 : next - at - 1;
    if (is_pci_address(std::string_view(sysfs_path).substr(at + 1, length))) end = at + 1 + length;
    at = next;
  }
  return sysfs_path.substr(0, end);
}

std::string pci_address_in(std::string_view sysfs_path) {
  return base_name(pci_dir_in(std::string(sysfs_path)));
}

bool is_representor_name(std::string_view name) {
  // net/core/devlink.c, devlink_port_attrs: [c<controller>]pf<n>[vf<n>|sf<n>|hpf]; the uplink is
  // "p<n>".
  if (name.starts_with('c'))
    name.remove_prefix(std::min(name.find_first_not_of("0123456789", 1), name.size()));
  if (!name.starts_with("pf")) return false;
  const auto digits_end = name.find_first_not_of("0123456789", 2);
  if (digits_end == 2 || name.size() == 2) return false;
  const std::string_view rest = digits_end == std::string_view::npos ? "" : name.substr(digits_end);
  if (rest.empty() || rest == "hpf") return true;
  return (rest.starts_with("vf") || rest.starts_with("sf")) &&
         parse_u64(rest.substr(2)).has_value();
}

bool is_physical_ethernet(Host& host, const std::string& netdev_dir) {
  if (netdev_dir.find("/devices/virtual/") != std::string::npos) return false;
  if (netdev_dir.find("/usb") != std::string::npos) return false;
  if (read_attribute(host, netdev_dir + "/type") != "1") return false;  // ARPHRD_ETHER
  if (host.list_dir(netdev_dir + "/wireless") || host.resolve(netdev_dir + "/phy80211"))
    return false;
  return host.resolve(netdev_dir + "/device").ok();
}

void describe_device(Host& host, const std::string& dir, const std::string& lower,
                     InventoryPort& port) {
  const auto device = host.resolve(dir + "/device");
  // siw's device is that of the lower netdev.
  const bool siw = port.id.verbs && port.id.device.starts_with("siw");
  if (!lower.empty() || siw || !device) {
    port.id.function = "virtual";
    port.id.driver = !lower.empty() ? "rdma_rxe" : siw ? "siw" : "";
    return;
  }
  port.sysfs_pci_dir = pci_dir_in(*device);
  port.id.pci = base_name(port.sysfs_pci_dir);
  port.id.driver = driver_of(host, *device);
  judge_function(host, *device, port);
}

void exempt_nvswitch_manager(Host& host, NvSwitchManagers* cache, InventoryPort& port) {
  if (port.id.link_layer != "InfiniBand" || !port.exempt_reason.empty() ||
      port.sysfs_pci_dir.empty() ||
      read_attribute(host, port.sysfs_pci_dir + "/vendor") != "0x15b3")
    return;
  std::optional<bool> manages;
  if (cache != nullptr) {
    const std::lock_guard lock(cache->mutex);
    if (const auto at = cache->by_guid.find(port.id.guid); at != cache->by_guid.end())
      manages = at->second;
  }
  if (!manages) {
    const auto vpd = host.read_file(port.sysfs_pci_dir + "/vpd");
    if (!vpd) return;  // a card without VPD, or a container without permission: it is watched
    manages = vpd->find("SW_MNG") != std::string::npos;
    if (cache != nullptr && !port.id.guid.empty()) {
      const std::lock_guard lock(cache->mutex);
      cache->by_guid[port.id.guid] = *manages;
    }
  }
  if (*manages)
    port.exempt_reason = "manages the machine's NVSwitches (VPD SW_MNG): it has no cable";
}

std::vector<std::string> default_route_netdevs(std::string_view route,
                                               std::string_view ipv6_route) {
  constexpr std::uint64_t kUp = 1;
  constexpr std::uint64_t kReject = 0x200;
  const auto is_usable = [](const std::string& flags) {
    const auto bits = parse_hex_or_decimal("0x" + flags).value_or(0);
    return (bits & kUp) != 0 && (bits & kReject) == 0;
  };
  const auto fields_of = [](std::string_view line) {
    std::istringstream in{std::string(line)};
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  std::set<std::string> names;
  for (const auto line : split(route, '\n'))
    // Iface Destination Gateway Flags RefCnt Use Metric Mask …
    if (const auto f = fields_of(line);
        f.size() >= 8 && f[1] == "00000000" && f[7] == "00000000" && is_usable(f[3]))
      names.insert(f[0]);
  const std::string any(32, '0');
  for (const auto line : split(ipv6_route, '\n'))
    // destination length source length next metric ref use flags dev
    if (const auto f = fields_of(line);
        f.size() >= 10 && f[0] == any && f[1] == "00" && is_usable(f[8]) && f[9] != "lo")
      names.insert(f[9]);
  return {names.begin(), names.end()};
}

std::optional<std::vector<PciCard>> network_cards(Host& host) {
  const auto addresses = host.list_dir(std::string(kDevices));
  if (!addresses) return std::nullopt;
  std::vector<PciCard> cards;
  for (const std::string& address : *addresses) {
    const std::string link = std::string(kDevices) + "/" + address;
    if (!is_network(read_attribute(host, link + "/class"))) continue;
    const auto followed = host.resolve(link);  // resolve once, not for each attribute
    const std::string& dir = followed ? *followed : link;
    if (host.resolve(dir + "/physfn")) continue;
    PciCard card;
    card.address = address;
    if (const auto driver = host.resolve(dir + "/driver")) card.driver = base_name(*driver);
    card.width = parse_link_width(read_attribute(host, dir + "/current_link_width"));
    card.max_width = parse_link_width(read_attribute(host, dir + "/max_link_width"));
    // The kernel creates and removes these directories with the first and the last device in them;
    // the directory also exists if the device is in another network namespace (linux:
    // drivers/base/core.c, cleanup_glue_dir()).
    const auto has = [&](const char* name) { return host.list_dir(dir + name).ok(); };
    // Chelsio's driver uses functions 0 to 3 for SR-IOV only (linux: cxgb4_main.c init_one()).
    card.without_port = !card.driver.empty() && card.driver != "cxgb4" && followed &&
                        !has("/net") && !has("/infiniband");
    cards.push_back(std::move(card));
  }
  std::ranges::sort(cards, {}, &PciCard::address);
  return cards;
}

std::string describe_on_pci_bus(const std::optional<std::vector<PciCard>>& cards,
                                const std::string& address) {
  if (!cards || address.empty()) return "";
  const auto at = std::ranges::find(*cards, address, &PciCard::address);
  if (at == cards->end()) return "not on the PCI bus";
  std::string words = at->driver.empty()
                          ? "on the PCI bus without a driver"
                          : fmt::format("on the PCI bus with the driver {}", at->driver);
  if (at->without_port) words.append(", ").append(kMadeNoPort);
  if (at->width && at->max_width && *at->width < *at->max_width)
    words += fmt::format(", {} of {} lanes", *at->width, *at->max_width);
  return words;
}

}  // namespace linkhealth
