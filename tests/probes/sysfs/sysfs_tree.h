// Builds NICs in a FakeHost, laid out as Linux does it.
#pragma once

#include <string>

#include "tests/support/fake_host.h"

namespace linkhealth::testing {

struct Nic {
  std::string device = "mlx5_0";  ///< "": no verbs device
  std::string netdev = "ens1np0";
  std::string pci = "0000:1b:00.0";
  std::string driver = "mlx5_core";
  std::string link_layer = "Ethernet";
  int ifindex = 2;
  int dev_port = 0;
  std::string phys_port_name = "p0";

  [[nodiscard]] std::string bridge_dir() const { return "/sys/devices/pci0000:1a/0000:1a:01.0"; }
  [[nodiscard]] std::string pci_dir() const { return bridge_dir() + "/" + pci; }
  [[nodiscard]] std::string port_dir() const {
    return pci_dir() + "/infiniband/" + device + "/ports/1";
  }
  [[nodiscard]] std::string netdev_dir() const { return pci_dir() + "/net/" + netdev; }
};

inline void add_netdev(FakeHost& host, const std::string& dir, const std::string& name,
                       int ifindex) {
  host.link("/sys/class/net/" + name, dir);
  const auto put = [&](const std::string& file, const std::string& text) {
    host.set(dir + "/" + file, text + "\n");
  };
  put("type", "1");
  put("ifindex", std::to_string(ifindex));
  put("flags", "0x1003");
  put("carrier", "1");
  put("operstate", "up");
  put("speed", "400000");
  put("mtu", "4200");
  put("carrier_up_count", "3");
  put("carrier_down_count", "2");
  put("statistics/rx_packets", "100");
  put("statistics/rx_crc_errors", "7");
}

inline void add_verbs(FakeHost& host, const std::string& dir, const std::string& name,
                      const std::string& link_layer) {
  host.link("/sys/class/infiniband/" + name, dir);
  host.set(dir + "/node_guid", "b83f:d203:0012:3456\n");
  host.set(dir + "/ports/1/link_layer", link_layer + "\n");
  host.set(dir + "/ports/1/state", "4: ACTIVE\n");
  host.set(dir + "/ports/1/phys_state", "5: LinkUp\n");
  host.set(dir + "/ports/1/rate", "400 Gb/sec (4X NDR)\n");
}

inline void add_nic(FakeHost& host, const Nic& nic) {
  const std::string pci = nic.pci_dir();
  host.make_dir("/sys/bus/pci/drivers/" + nic.driver);
  host.link(pci + "/driver", "/sys/bus/pci/drivers/" + nic.driver);
  host.link("/sys/bus/pci/devices/" + nic.pci, pci);
  host.set(pci + "/numa_node", "1\n");
  for (const char* which : {"current", "max"}) {
    host.set(pci + "/" + which + "_link_speed", "32.0 GT/s PCIe\n");
    host.set(pci + "/" + which + "_link_width", "16\n");
  }
  if (!nic.netdev.empty()) {
    add_netdev(host, nic.netdev_dir(), nic.netdev, nic.ifindex);
    host.link(nic.netdev_dir() + "/device", pci);
    host.set(nic.netdev_dir() + "/dev_port", std::to_string(nic.dev_port) + "\n");
    host.set(nic.netdev_dir() + "/phys_port_name", nic.phys_port_name + "\n");
  }
  if (nic.device.empty()) return;
  add_verbs(host, pci + "/infiniband/" + nic.device, nic.device, nic.link_layer);
  host.link(pci + "/infiniband/" + nic.device + "/device", pci);
  if (!nic.netdev.empty()) host.set(nic.port_dir() + "/gid_attrs/ndevs/0", nic.netdev + "\n");
  for (const char* name :
       {"symbol_error", "link_downed", "port_rcv_errors", "VL15_dropped", "port_xmit_data"})
    host.set(nic.port_dir() + "/counters/" + name, "5\n");
  for (const char* name : {"out_of_sequence", "some_new_counter", "lifespan"})
    host.set(nic.port_dir() + "/hw_counters/" + name, "9\n");
}

/// What mlx5 in switch mode offers in hw_counters: the port's own stay zero, the device's count.
inline void enter_switch_mode(FakeHost& host, const Nic& nic) {
  host.remove(nic.port_dir() + "/hw_counters");
  for (const char* name : {"out_of_sequence", "packet_seq_err", "lifespan"}) {
    const std::string file = name == std::string("lifespan") ? name : std::string("vport_") + name;
    host.set(nic.port_dir() + "/hw_counters/" + file, "0\n");
    host.set(nic.pci_dir() + "/infiniband/" + nic.device + "/hw_counters/" + name, "12\n");
  }
  host.set(nic.pci_dir() + "/infiniband/" + nic.device + "/hw_counters/np_cnp_sent", "13\n");
}

/// Another verbs port of the same device with a netdev of its own.
inline void add_second_port(FakeHost& host, const Nic& nic, const std::string& netdev,
                            const std::string& phys_port_name) {
  const std::string port = nic.pci_dir() + "/infiniband/" + nic.device + "/ports/2";
  for (const auto& [file, text] : {std::pair{"link_layer", "Ethernet"},
                                   {"state", "4: ACTIVE"},
                                   {"phys_state", "5: LinkUp"},
                                   {"rate", "400 Gb/sec (4X NDR)"}})
    host.set(port + "/" + file, std::string(text) + "\n");
  host.set(port + "/hw_counters/vport_packet_seq_err", "3\n");
  const std::string dir = nic.pci_dir() + "/net/" + netdev;
  add_netdev(host, dir, netdev, nic.ifindex + 100);
  host.link(dir + "/device", nic.pci_dir());
  host.set(dir + "/dev_port", "1\n");
  host.set(dir + "/phys_port_name", phys_port_name + "\n");
  host.set(port + "/gid_attrs/ndevs/0", netdev + "\n");
}

}  // namespace linkhealth::testing
