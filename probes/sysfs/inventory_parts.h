// The parts of the inventory that examine one device: its kind, its driver, whether it has its own
// cable.
#pragma once

#include <map>
#include <string>

#include "probes/host.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// Labels of the PCI slots by address without function ("0000:1b:00"), from /sys/bus/pci/slots.
std::map<std::string, std::string> read_slots(Host& host);
/// The directory of the PCI function that contains a sysfs path; "" if there is none.
std::string pci_dir_in(const std::string& sysfs_path);
/// Whether a netdev has a physical socket: Ethernet, with a device behind it, not wireless and not
/// USB. Decided by bus, not by name: bonds, VLANs, bridges, veth, tunnels and lo are in
/// /sys/devices/virtual.
bool is_physical_ethernet(Host& host, const std::string& netdev_dir);
/// Fills in driver, function, PCI address and, if there is no cable to judge, the reason. `dir` is
/// a verbs device's or a netdev's directory; `lower` is the netdev below an rdma_rxe device, else
/// "".
void describe_device(Host& host, const std::string& dir, const std::string& lower,
                     InventoryPort& port);
/// Exempts an InfiniBand port whose card is soldered to the NVSwitches of an HGX or DGX B200 or
/// B300 to manage them. By number and driver it is a ConnectX-7; it is recognised by "SMDL=SW_MNG"
/// in its vital product data (NVIDIA Fabric Manager User Guide, nvidia-fabricmanager-start.sh).
/// Without a subnet manager such ports stay down or INIT for ever. Only NVIDIA's cards are
/// examined.
void exempt_nvswitch_manager(Host& host, NvSwitchManagers* cache, InventoryPort& port);

}  // namespace linkhealth
