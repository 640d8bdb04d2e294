#include "probes/sysfs/inventory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "probes/netlink/rtnl_link.h"
#include "probes/sysfs/inventory_parts.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

constexpr const char* kVerbsDir = "/sys/class/infiniband";
constexpr const char* kNetDir = "/sys/class/net";
/// A container without the host's network, a partial /sys, or a device that has just gone: one gap,
/// of the source that cannot be read.
constexpr const char* kNotHere = " is not in this network namespace, or not in this /sys";
constexpr const char* kElsewhere = " in another network namespace";
/// A container with the host's /sys but its own network: netlink's numbers refer to other
/// interfaces there.
constexpr const char* kNotOurs = " is in another network namespace than the monitor";
constexpr std::size_t kMaxGids = 16;  // enough to find a netdev; each unused entry returns EINVAL

class Builder {
 public:
  Builder(Host& host, const InventoryWatch& watch)
      : host_(host), watch_(watch), slots_(read_slots(host)) {}

  Inventory build() {
    const std::vector<std::string> devices = list(kVerbsDir);
    for (const auto& device : devices) add_verbs_device(device);
    // a device that cannot be read is a gap.
    lists_verbs_ = !devices.empty() || !inventory_.gaps.empty();
    const bool has_rdma = !inventory_.ports.empty() || !left_out_pci_.empty();
    for (const auto& netdev : list(kNetDir)) add_plain_port(netdev);
    enter("");
    if (has_rdma) exempt_management_ports();
    finish();
    return std::move(inventory_);
  }

 private:
  std::vector<std::string> list(const std::string& dir) {
    auto names = host_.list_dir(dir);
    if (names) return std::move(*names);
    const bool missing = names.error().errnum == ENOENT;
    if (missing && dir != kNetDir) return {};  // no RDMA at all
    // Every kernel has a network interface, at least lo: without their directory there is no /sys.
    add_gap("", dir + ": " + errno_name(names.error().errnum));
    inventory_.incomplete = !missing || inventory_.ports.empty();
    return {};
  }

  void enter(const std::string& device) const {
    if (watch_.at) watch_.at(device);
  }

  /// Whether the device hangs: then only its names and links are read, which does not involve the
  /// driver.
  bool leave_out(const std::string& device, const std::string& dir) {
    if (!watch_.left_out.contains(device)) return false;
    add_gap(device, "left out: its files do not respond");
    const auto function = host_.resolve(dir + "/device");
    left_out_pci_.insert(function ? pci_address_in(*function) : "");
    return true;
  }

  void add_gap(const std::string& port, const std::string& reason) {
    inventory_.gaps.push_back({port, "inventory", reason});
  }

  void add_verbs_device(const std::string& device) {
    enter(device);
    InventoryPort common;
    const auto dir = host_.resolve(std::string(kVerbsDir) + "/" + device);
    if (!dir) return add_gap(device, "device: " + errno_name(dir.error().errnum));
    if (leave_out(device, *dir)) return claim_netdevs_of(*dir);
    common.sysfs_device_dir = *dir;
    common.id.device = device;
    const auto read = [&](const char* name) { return read_attribute(host_, *dir + "/" + name); };
    common.id.guid = read("node_guid");
    common.id.firmware = read("fw_ver");
    common.id.board_id = read("board_id");
    common.id.hca_type = read("hca_type");
    common.id.sys_image_guid = read("sys_image_guid");
    const std::string lower = read("parent");  // rdma_rxe only
    describe_device(host_, *dir, lower, common);
    exempt_plane_device(common);
    auto ports = host_.list_dir(*dir + "/ports");
    if (!ports) {
      claim_netdevs_of(*dir);
      return add_gap(device, "ports: " + errno_name(ports.error().errnum));
    }
    const auto first = static_cast<std::ptrdiff_t>(inventory_.ports.size());
    for (const auto& name : *ports)
      if (const auto number = parse_u64(name); number && *number > 0 && *number <= 0xffffffffU)
        add_verbs_port(common, static_cast<std::uint32_t>(*number), lower);
    exempt_ports_of_representors({inventory_.ports.begin() + first, inventory_.ports.end()});
  }

  /// An XDR port of mlx5 may have a second device with a port for each plane, for management
  /// datagrams only: it is on the same function, has no uverbs file, and its ports are one cable
  /// (drivers/infiniband/hw/mlx5/main.c mlx5_ib_add_sub_dev(), core/uverbs_main.c).
  void exempt_plane_device(InventoryPort& device) {
    const std::string dir = device.sysfs_device_dir + "/device/infiniband_verbs";
    const auto files = host_.list_dir(dir);
    if (!files || files->empty() || !device.exempt_reason.empty()) return;
    std::string whole;
    for (const auto& file : *files) {
      whole = read_attribute(host_, std::string(dir).append("/").append(file).append("/ibdev"));
      if (whole.empty() || whole == device.id.device) return;
    }
    device.exempt_reason = "planes of " + whole + ", whose port is watched";
  }

  /// The netdevs of a verbs device that can't be read must not become plain Ethernet ports.
  void claim_netdevs_of(const std::string& device_dir) {
    const auto names = host_.list_dir(device_dir + "/device/net");
    if (names) claimed_.insert(names->begin(), names->end());
  }

  void add_verbs_port(const InventoryPort& common, std::uint32_t number, const std::string& lower) {
    InventoryPort port = common;
    port.id.port = number;
    port.sysfs_port_dir = common.sysfs_device_dir + "/ports/" + std::to_string(number);
    const auto layer = host_.read_file(port.sysfs_port_dir + "/link_layer");
    if (!layer) add_gap(port.id.key(), "link_layer: " + errno_name(layer.error().errnum));
    port.id.link_layer = layer ? std::string(trim(*layer)) : "";
    port.id.netdev = lower.empty() ? find_netdev(port) : lower;
    update_netdev(port);
    if (lower.empty()) exempt_representor(port);
    exempt_nvswitch_manager(host_, watch_.managers.get(), port);
    inventory_.ports.push_back(std::move(port));
  }

  /// The netdev of a verbs port: one of the same device with the port's dev_port that is not above
  /// another netdev (an IPoIB child has its parent's dev_port); of several, the one in the GID
  /// table (representors share a dev_port too); otherwise the GID table's.
  std::string find_netdev(const InventoryPort& port) {
    std::string by_gid = gid_netdev(port.sysfs_port_dir);
    const std::string net = port.sysfs_device_dir + "/device/net";
    const auto names = host_.list_dir(net);
    std::string found;
    std::pair<bool, bool> best;  // of `found`: not above another netdev, in the GID table
    for (const auto& name : names ? *names : std::vector<std::string>()) {
      std::string dir = net;
      dir.append("/").append(name);
      if (parse_u64(read_attribute(host_, dir + "/dev_port")).value_or(0) + 1 != port.id.port)
        continue;
      if (is_representor_name(read_attribute(host_, dir + "/phys_port_name"))) continue;
      const std::pair rank(!is_child(dir), name == by_gid);
      if (found.empty() || rank > best) std::tie(found, best) = std::tie(name, rank);
    }
    if (!found.empty()) return found;
    if (by_gid.empty() || is_of_card(by_gid, port.sysfs_pci_dir, 0)) return by_gid;
    inventory_.gaps.push_back(
        {port.id.key(), "netdev_stats", "its interface is " + by_gid + kElsewhere});
    return "";
  }

  /// Whether the netdev is above another one: otherwise iflink is its own number.
  bool is_child(const std::string& netdev_dir) {
    const auto iflink = parse_u64(read_attribute(host_, netdev_dir + "/iflink"));
    return iflink && iflink != parse_u64(read_attribute(host_, netdev_dir + "/ifindex"));
  }

  /// Whether the netdev of this name is on the card, or above one that is. The GID table has the
  /// interface's name in the interface's own network namespace (linux:
  /// drivers/infiniband/core/sysfs.c print_ndev()): here another interface may have that name.
  bool is_of_card(const std::string& netdev, const std::string& pci_dir, int depth) {
    const auto dir = host_.resolve(std::string(kNetDir) + "/" + netdev);
    // It is not here, which update_netdev() reports; or there is nothing to compare it with.
    if (!dir || pci_dir.empty()) return true;
    if (const std::string own = pci_dir_in(*dir); !own.empty())
      return card_of(own) == card_of(pci_dir);
    const auto entries = host_.list_dir(*dir);
    return entries && depth < 4 && std::ranges::any_of(*entries, [&](const std::string& entry) {
             return entry.starts_with("lower_") && is_of_card(entry.substr(6), pci_dir, depth + 1);
           });
  }

  /// All functions of a card: "/sys/…/0000:1b:00".
  static std::string card_of(const std::string& pci_dir) {
    return pci_dir.substr(0, pci_dir.rfind('.'));
  }

  std::string gid_netdev(const std::string& port_dir) {
    const auto entries = host_.list_dir(port_dir + "/gid_attrs/ndevs");
    if (!entries) return "";
    for (std::size_t i = 0; i < std::min(entries->size(), kMaxGids); ++i) {
      std::string name = read_attribute(host_, port_dir + "/gid_attrs/ndevs/" + (*entries)[i]);
      if (!name.empty()) return name;
    }
    return "";
  }

  /// Fills in what depends on the netdev's name, and records that the netdev belongs to a port.
  void update_netdev(InventoryPort& port) {
    if (port.id.netdev.empty()) return;
    const auto dir = host_.resolve(std::string(kNetDir) + "/" + port.id.netdev);
    if (!dir) {
      if (port.exempt_reason.empty())
        inventory_.gaps.push_back({port.id.key(), "netdev_stats", port.id.netdev + kNotHere});
      return;
    }
    port.sysfs_netdev_dir = *dir;
    port.ifindex =
        static_cast<int>(parse_u64(read_attribute(host_, *dir + "/ifindex")).value_or(0));
    if (port.exempt_reason.empty() && is_elsewhere(port)) {
      port.ifindex = 0;
      inventory_.gaps.push_back({port.id.key(), "link_modes", port.id.netdev + kNotOurs});
    }
    claimed_.insert(port.id.netdev);
    if (port.sysfs_pci_dir.empty())
      if (const auto device = host_.resolve(*dir + "/device"); device)
        port.sysfs_pci_dir = pci_dir_in(*device);
  }

  /// Whether this number belongs to another interface here, or to none.
  bool is_elsewhere(const InventoryPort& port) {
    if (port.ifindex == 0 || !host_.has_kernel()) return false;
    const auto link = read_netdev_identity(host_, static_cast<std::uint32_t>(port.ifindex));
    if (!link) return link.error().errnum == ENODEV;
    return link->name != port.id.netdev ||
           link->address != read_attribute(host_, port.sysfs_netdev_dir + "/address");
  }

  void exempt_representor(InventoryPort& port) {
    if (port.sysfs_netdev_dir.empty() || !port.exempt_reason.empty()) return;
    const std::string name = read_attribute(host_, port.sysfs_netdev_dir + "/phys_port_name");
    if (is_representor_name(name)) port.exempt_reason = "representor of " + name + " (switch mode)";
  }

  /// In switch mode mlx5's device has a port for each function that exists or may exist; the first
  /// one is the cable's. It does not name the netdevs of representors
  /// (drivers/infiniband/hw/mlx5/ib_rep.c).
  static void exempt_ports_of_representors(std::span<InventoryPort> ports) {
    const auto has_netdev = [](const InventoryPort& port) { return !port.id.netdev.empty(); };
    if (std::ranges::none_of(ports, has_netdev)) return;
    for (InventoryPort& port : ports)
      if (port.id.port > 1 && port.id.link_layer == "Ethernet" && !has_netdev(port) &&
          port.exempt_reason.empty())
        port.exempt_reason = "no network interface: a representor's port (switch mode)";
  }

  void add_plain_port(const std::string& netdev) {
    if (claimed_.contains(netdev)) return;
    enter(netdev);
    const auto dir = host_.resolve(std::string(kNetDir) + "/" + netdev);
    if (!dir) {
      if (dir.error().errnum != ENOENT)
        add_gap(netdev, "netdev: " + errno_name(dir.error().errnum));
      return;
    }
    if (leave_out(netdev, *dir)) return;
    if (!is_physical_ethernet(host_, *dir)) return;
    InventoryPort port;
    port.id.device = port.id.netdev = netdev;
    port.id.verbs = false;
    port.id.link_layer = "Ethernet";
    port.id.port = static_cast<std::uint32_t>(
        parse_u64(read_attribute(host_, *dir + "/dev_port")).value_or(0) + 1);
    describe_device(host_, *dir, "", port);
    update_netdev(port);
    exempt_representor(port);
    report_unlisted_verbs(*dir, netdev);
    inventory_.ports.push_back(std::move(port));
  }

  /// A partial /sys, as in some containers: the device exists, but the class that lists it does
  /// not.
  void report_unlisted_verbs(const std::string& netdev_dir, const std::string& netdev) {
    if (lists_verbs_) return;
    const auto devices = host_.list_dir(netdev_dir + "/device/infiniband");
    if (!devices || devices->empty()) return;
    add_gap(netdev,
            devices->front() + " is its RDMA device, and " + kVerbsDir + " does not list it");
  }

  void exempt_management_ports() {
    const auto may_be = [](const InventoryPort& port) {
      return !port.id.verbs && port.exempt_reason.empty();
    };
    if (std::ranges::none_of(inventory_.ports, may_be)) return;
    const auto route = host_.read_file("/proc/net/route");
    const auto ipv6 = host_.read_file("/proc/net/ipv6_route");
    if (!route && !ipv6)
      add_gap("", "default route: " + errno_name(route.error().errnum) +
                      "; management ports are not recognised");
    std::set<std::string> carriers;
    for (const auto& name : default_route_netdevs(route ? *route : "", ipv6 ? *ipv6 : "")) {
      std::set<std::string> lowers;
      add_lowers(name, 0, lowers);
      if (!has_verbs_port(lowers)) carriers.merge(lowers);
    }
    for (auto& port : inventory_.ports)
      if (may_be(port) && carriers.contains(port.id.netdev))
        port.exempt_reason = "management port: carries the default route and has no RDMA device";
  }

  /// Whether a bond is also used by RDMA: as a LAG, mlx5 has one verbs device, at its first member.
  bool has_verbs_port(const std::set<std::string>& netdevs) const {
    return std::ranges::any_of(inventory_.ports, [&netdevs](const InventoryPort& port) {
      return port.id.verbs && port.exempt_reason.empty() && netdevs.contains(port.id.netdev);
    });
  }

  /// `netdev` and all below it: a bond's members, a VLAN's parent, a bridge's ports.
  void add_lowers(const std::string& netdev, int depth, std::set<std::string>& found) {
    if (depth > 4 || !found.insert(netdev).second) return;
    const auto entries = host_.list_dir(std::string(kNetDir) + "/" + netdev);
    if (!entries) return;
    for (const auto& entry : *entries)
      if (entry.starts_with("lower_")) add_lowers(entry.substr(6), depth + 1, found);
  }

  /// The slot of the function or of a bridge above it: a card may have its own switch.
  [[nodiscard]] std::string slot_of(std::string pci_dir) const {
    for (; !pci_address_in(pci_dir).empty(); pci_dir.resize(pci_dir.rfind('/'))) {
      const std::string address = base_name(pci_dir);
      if (const auto slot = slots_.find(address.substr(0, address.rfind('.')));
          slot != slots_.end())
        return slot->second;
    }
    return "";
  }

  void finish() {
    auto& ports = inventory_.ports;
    for (auto& port : ports) {
      if (port.sysfs_pci_dir.empty()) continue;
      enter(port.id.device);
      port.slot = slot_of(port.sysfs_pci_dir);
      if (port.slot.empty()) port.slot = read_attribute(host_, port.sysfs_pci_dir + "/label");
      port.numa_node = static_cast<int>(
          parse_i64(read_attribute(host_, port.sysfs_pci_dir + "/numa_node")).value_or(-1));
    }
    enter("");
    drop_shared_addresses();
    count_cabled_ports();
    std::ranges::sort(ports, {}, [](const InventoryPort& port) {
      return std::tuple(port.id.pci.empty(), port.id.pci, port.id.port, !port.id.verbs,
                        port.id.device);
    });
  }

  /// Makes stable keys unique: a representor or subfunction has its parent's address, and would
  /// continue the parent's history.
  void drop_shared_addresses() {
    for (auto& port : inventory_.ports)
      if (!port.exempt_reason.empty() && left_out_pci_.contains(port.id.pci)) port.id.pci.clear();
    std::set<std::string> taken;
    for (const bool exempt : {false, true})
      for (auto& port : inventory_.ports)
        if (exempt == !port.exempt_reason.empty() && !taken.insert(port.id.stable_key()).second)
          port.id.pci.clear();
  }

  void count_cabled_ports() {
    std::map<std::string, std::size_t> all, cabled;
    for (const auto& port : inventory_.ports) {
      if (!port.id.verbs) continue;
      ++all[port.id.device];
      cabled[port.id.device] += port.exempt_reason.empty();
    }
    for (auto& port : inventory_.ports)
      if (port.id.verbs)
        port.cabled_ports = (port.exempt_reason.empty() ? cabled : all)[port.id.device];
  }

  Host& host_;
  const InventoryWatch& watch_;
  std::set<std::string> left_out_pci_;        // of devices that hang; "" without an address
  std::map<std::string, std::string> slots_;  // "0000:1b:00" -> "4"
  bool lists_verbs_ = false;                  // whether there is any device
  std::set<std::string> claimed_;             // netdevs of verbs ports
  Inventory inventory_;
};

}  // namespace

std::string lender_of(const PciCard& card) {
  constexpr std::string_view kLenders[] = {"vfio-pci", "pci-stub", "pciback", "uio_pci_generic",
                                           "igb_uio"};
  return std::ranges::find(kLenders, card.driver) != std::end(kLenders) ? card.driver : "";
}

Inventory take_inventory(Host& host, const InventoryWatch& watch) {
  Inventory found = Builder(host, watch).build();
  found.cards = network_cards(host);
  for (const PciCard& card : found.cards.value_or(std::vector<PciCard>())) {
    const bool has_port = std::ranges::any_of(found.ports, [&card](const InventoryPort& port) {
      return port.id.pci == card.address || port.sysfs_pci_dir.ends_with(card.address);
    });
    const bool is_missed = card.driver.empty() || (card.without_port && lender_of(card).empty());
    if (!is_missed || has_port) continue;
    const std::string what = card.address + " is " + describe_on_pci_bus(found.cards, card.address);
    found.gaps.push_back({"", "pci_bus", what});
  }
  return found;
}

}  // namespace linkhealth
