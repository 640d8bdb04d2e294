// Which ports this node has: RDMA device and port, the netdev and the PCI function behind it, and
// its driver; also plain Ethernet ports. Reads /sys/class/infiniband, /sys/class/net and
// /proc/net/{route,ipv6_route}. Meant for the start and for each time a device is added or removed,
// not for each cycle.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.h"
#include "probes/host.h"

namespace linkhealth {

/// A PCI function of a network controller, other than a virtual function.
struct PciCard {
  std::string address;  ///< "0000:1b:00.0"
  std::string driver;   ///< "" when none is bound
  std::optional<std::uint32_t> width, max_width;
  /// The driver has created neither an interface nor an RDMA device for it, in any network
  /// namespace.
  bool without_port = false;
  bool operator==(const PciCard&) const = default;
};

/// The network cards on the PCI bus, including those without a driver, by address
/// (/sys/bus/pci/devices/ADDR/{class,driver,current_link_width,max_link_width}; linux:
/// drivers/pci/pci-sysfs.c). nullopt: the bus cannot be listed.
std::optional<std::vector<PciCard>> network_cards(Host& host);
/// The driver that passes the card to a virtual machine or a program; "": none.
std::string lender_of(const PciCard& card);
/// "on the PCI bus without a driver, 8 of 16 lanes"; "not on the PCI bus"; "" when the bus could
/// not be read.
std::string describe_on_pci_bus(const std::optional<std::vector<PciCard>>& cards,
                                const std::string& address);

struct InventoryPort {
  PortId id;
  /// Canonical directories of the verbs device and of its "ports/1" ("" for a plain Ethernet port),
  /// of the netdev and of the PCI function (for rxe: of the netdev below); "" when there is none.
  std::string sysfs_device_dir, sysfs_port_dir, sysfs_netdev_dir, sysfs_pci_dir;
  int ifindex = 0;            ///< 0: no netdev
  std::string exempt_reason;  ///< why this port has no cable to judge; "": it is watched
  std::string slot;           ///< the slot's label on the machine; "" unknown
  /// Number of watched ports of its verbs device; for an exempt port, number of all its ports.
  std::size_t cabled_ports = 1;
  int numa_node = -1;  ///< -1: unknown, as in the kernel

  /// Whether the netdev's carrier, flags and packets are the port's. IPoIB's carrier means that a
  /// multicast group is joined; it is lost with each change of LID or P_Key, and off while the
  /// interface is administratively down, as most are on an RDMA rail (linux:
  /// drivers/infiniband/ulp/ipoib/{ipoib_ib,ipoib_multicast,ipoib_verbs}.c).
  [[nodiscard]] bool has_link_of_netdev() const {
    return !sysfs_netdev_dir.empty() && id.link_layer != "InfiniBand";
  }
};

struct Inventory {
  /// By PCI address, port and name; those without a PCI address last.
  std::vector<InventoryPort> ports;
  std::vector<Gap> gaps;    ///< probe "inventory"; port is the device's name, "" for the node
  bool incomplete = false;  ///< a list could not be read: a missing port may still exist
  std::optional<std::vector<PciCard>> cards;  ///< nullopt: the bus cannot be listed
  /// The number of the kernel's device event (kernel_events.h) before the search; 0: not known.
  std::uint64_t found_after = 0;
};

/// Whether a card, by node GUID, manages the machine's NVSwitches. Cached over all searches: the
/// vital product data is read word by word over PCI configuration space, which takes some 100 ms
/// per card.
struct NvSwitchManagers {
  std::mutex mutex;
  std::map<std::string, bool> by_guid;
};

/// Options of a search.
struct InventoryWatch {
  /// Verbs devices and plain netdevs that hang: not read, and each is a gap.
  std::set<std::string> left_out;
  /// Called before anything of a device is read; "": the node itself.
  std::function<void(const std::string& device)> at;
  std::shared_ptr<NvSwitchManagers> managers;  ///< nullptr: no cache
};

/// Never fails: what could not be read is a gap, and does not affect the rest. Without
/// /sys/class/infiniband the node has no RDMA, which is not a gap.
///
/// Exempt are virtual functions and subfunctions (they share their parent's cable), representors
/// of switch mode, virtual NICs of clouds and hypervisors, cards that manage NVSwitches, and
/// management ports. A management port carries a default route (also through a bond, bridge or
/// VLAN, but not in a bond with an RDMA port), has no RDMA device, and the node has RDMA ports.
Inventory take_inventory(Host& host, const InventoryWatch& watch = {});

/// Names of the netdevs that carry a default route, from the text of /proc/net/route and
/// /proc/net/ipv6_route.
std::vector<std::string> default_route_netdevs(std::string_view route, std::string_view ipv6_route);
/// The last PCI address in a sysfs path ("…/0000:1b:00.0/net/eth0" -> "0000:1b:00.0"); "" when
/// there is none.
std::string pci_address_in(std::string_view sysfs_path);
/// Whether this is the phys_port_name of a representor: "pf0vf3", "c1pf0sf88", "pf0hpf".
bool is_representor_name(std::string_view phys_port_name);

}  // namespace linkhealth
