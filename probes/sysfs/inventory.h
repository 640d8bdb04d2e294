// Which ports this node has: RDMA device and port, the netdev and the PCI function behind it, and
// its driver; plain Ethernet ports too. Reads /sys/class/infiniband, /sys/class/net and
// /proc/net/{route,ipv6_route}; meant for the start and for each time a device comes or goes, not
// for each cycle.
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

/// A network controller's function, one that is no virtual function.
struct PciCard {
  std::string address;  ///< "0000:1b:00.0"
  std::string driver;   ///< "" when none is bound
  std::optional<std::uint32_t> width, max_width;
  bool operator==(const PciCard&) const = default;
};

/// What the PCI bus shows of network cards, also of those without a driver, by address
/// (/sys/bus/pci/devices/ADDR/{class,driver,current_link_width,max_link_width}; linux:
/// drivers/pci/pci-sysfs.c). nullopt: the bus can't be listed.
std::optional<std::vector<PciCard>> network_cards(Host& host);
/// "on the PCI bus without a driver, 8 of 16 lanes"; "not on the PCI bus"; "" when the bus could
/// not be read.
std::string describe_on_pci_bus(const std::optional<std::vector<PciCard>>& cards,
                                const std::string& address);

struct InventoryPort {
  PortId id;
  std::string
      sysfs_device_dir;  ///< canonical directory of the verbs device; "" for a plain Ethernet port
  std::string sysfs_port_dir;    ///< "…/ports/1" of it; "" likewise
  std::string sysfs_netdev_dir;  ///< canonical directory of the netdev; "" when there is none
  std::string
      sysfs_pci_dir;  ///< of the PCI function (for rxe: of the netdev below); "" when there is none
  int ifindex = 0;    ///< 0: no netdev
  std::string exempt_reason;  ///< why this port has no cable to judge; "": it is watched
  std::string slot;           ///< the slot's label on the machine; "" not known
  std::size_t cabled_ports =
      1;  ///< ports of its verbs device that are watched, with this one; of an exempt one: all
  int numa_node = -1;  ///< -1: not known, as the kernel says it

  /// Whether the netdev's carrier, flags and packets are the port's. IPoIB's carrier means that a
  /// multicast group is joined; it is lost with each change of LID or P_Key, and off while the
  /// interface is administratively down, which most are on a rail for RDMA (linux:
  /// drivers/infiniband/ulp/ipoib/{ipoib_ib,ipoib_multicast,ipoib_verbs}.c).
  [[nodiscard]] bool has_link_of_netdev() const {
    return !sysfs_netdev_dir.empty() && id.link_layer != "InfiniBand";
  }
};

struct Inventory {
  std::vector<InventoryPort>
      ports;                ///< by PCI address, port and name; those without PCI address last
  std::vector<Gap> gaps;    ///< probe "inventory"; port is the device's name, "" for the node
  bool incomplete = false;  ///< a list could not be read: a port that is not here need not be gone
  std::optional<std::vector<PciCard>>
      cards;  ///< network cards on the PCI bus; nullopt: the bus can't be listed
  /// The number of the kernel's device event (device_events.h) before the search; 0: not known.
  std::uint64_t found_after = 0;
};

/// Cards, by node GUID, that manage the machine's NVSwitches, or not. Kept from search to search,
/// and shared by searches that overlap: it is in the vital product data, which is read word by word
/// over PCI configuration space and takes some 100 ms a card.
struct NvSwitchManagers {
  std::mutex mutex;
  std::map<std::string, bool> by_guid;
};

/// Of a search on a node where a device hangs, or that was searched before.
struct InventoryWatch {
  /// Verbs devices and plain netdevs that are not read; each is a gap.
  std::set<std::string> left_out;
  /// Called before anything of a device is read; "": of the node.
  std::function<void(const std::string& device)> at;
  std::shared_ptr<NvSwitchManagers> managers;  ///< nullptr: no cache
};

/// Never fails: what could not be read is a gap, and hides nothing else. Without
/// /sys/class/infiniband the node has no RDMA, which is no gap.
///
/// Exempt are: virtual functions and subfunctions (they share their parent's cable), representors
/// of switch mode, virtual NICs of clouds and hypervisors, cards that manage NVSwitches, and
/// management ports. A management port is judged with care: it carries a default route (also
/// through a bond, bridge or VLAN, but not beside an RDMA port, as in a LAG), has no RDMA device,
/// and the node has RDMA ports elsewhere.
Inventory take_inventory(Host& host, const InventoryWatch& watch = {});

/// Names of the netdevs that carry a default route, from the text of /proc/net/route and
/// /proc/net/ipv6_route.
std::vector<std::string> default_route_netdevs(std::string_view route, std::string_view ipv6_route);
/// The last PCI address in a sysfs path ("…/0000:1b:00.0/net/eth0" -> "0000:1b:00.0"); "" when
/// there is none.
std::string pci_address_in(std::string_view sysfs_path);
/// True for the phys_port_name of a representor: "pf0vf3", "c1pf0sf88", "pf0hpf".
bool is_representor_name(std::string_view phys_port_name);

}  // namespace linkhealth
