#include "probes/peer/peer_lldp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

constexpr const char* kName = "peer_lldp";
constexpr std::size_t kMaxText = 255;  // of a TLV: 802.1AB 8.5

struct DriverHint {
  std::string_view driver;
  std::string_view text;  ///< {dev}, {pci} and {port} (P1: that of function .0) are filled in
};
// Firmware that consumes LLDP frames, so that the host never sees them.
//   i40e  linux: drivers/net/ethernet/intel/i40e/i40e_ethtool.c, private flag "disable-fw-lldp"; on
//         by default
//   ice   linux: drivers/net/ethernet/intel/ice/ice_ethtool.c, private flag "fw-lldp-agent"
//   bnxt  linux: drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, bnxt_dcb_init(): the host has DCBX
//         only where the firmware has no LLDP agent (BNXT_FW_CAP_LLDP_AGENT)
//   mlx5  mlxconfig/mstconfig parameters LLDP_NB_DCBX_Pn, LLDP_NB_RX_MODE_Pn, LLDP_NB_TX_MODE_Pn;
//         OFF by default
constexpr std::array<DriverHint, 4> kHints = {{
    {"i40e",
     "this NIC's firmware consumes LLDP by default: ethtool --set-priv-flags {dev} disable-fw-lldp "
     "on"},
    {"ice",
     "this NIC's firmware may consume LLDP: ethtool --set-priv-flags {dev} fw-lldp-agent off"},
    {"bnxt_en",
     "this NIC's firmware may consume LLDP: if `dcb dcbx show dev {dev}` does not show \"host\", "
     "switch its LLDP and DCBX off in the NIC's own settings (Broadcom's niccli)"},
    {"mlx5_core",
     "this NIC's firmware may consume LLDP: mstconfig -d {pci} query shows LLDP_NB_RX_MODE_{port}; "
     "if it is not OFF, set LLDP_NB_DCBX_{port}=0 LLDP_NB_RX_MODE_{port}=0 "
     "LLDP_NB_TX_MODE_{port}=0 and reset the NIC"},
}};

/// Text from the wire, safe to show.
std::string shown(std::string_view text) { return printable(trim(text)).substr(0, kMaxText); }

/// Subtypes of a port id that are not the port's name.
bool is_address(std::string_view subtype) {
  return subtype == "mac" || subtype == "ip" || subtype == "unhandled";
}

bool has_lldp(const InventoryPort& port) {
  return port.ifindex != 0 && port.exempt_reason.empty() && port.id.link_layer != "InfiniBand" &&
         !port.id.netdev.empty();
}

/// A system that sends two protocols is one neighbour.
std::vector<LldpNeighbour> distinct(const std::vector<LldpNeighbour>& all) {
  const bool any_lldp =
      std::ranges::any_of(all, [](const auto& one) { return one.protocol == "LLDP"; });
  std::vector<LldpNeighbour> kept;
  for (const LldpNeighbour& one : all) {
    if (any_lldp && one.protocol != "LLDP") continue;
    const auto same = [&](const LldpNeighbour& other) {
      return other.chassis_id == one.chassis_id && other.chassis_name == one.chassis_name &&
             other.port_id == one.port_id;
    };
    if (std::ranges::none_of(kept, same)) kept.push_back(one);
  }
  return kept;
}

std::string names_of(const std::vector<LldpNeighbour>& neighbours) {
  std::vector<std::string> names;
  for (const LldpNeighbour& one : neighbours) {
    const PeerSample peer = peer_of_neighbour(one);
    names.push_back(peer.port.empty() ? peer.system : peer.system + " " + peer.port);
  }
  std::ranges::sort(names);  // the reason is a metric's label: always the same words
  if (names.size() > 3) {
    names.resize(3);
    names.emplace_back("…");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class LldpProbe final : public PeerProbe {
 public:
  LldpProbe(std::unique_ptr<LldpClient> client, std::string socket_path, std::unique_ptr<Host> host,
            LldpTiming timing)
      : client_(std::move(client)),
        socket_path_(std::move(socket_path)),
        host_(std::move(host)),
        timing_(timing) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] SteadyTime next_due(SteadyTime /*now*/) const override { return due_; }

  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    due_ = now + timing_.period;
    if (std::ranges::none_of(ports, has_lldp)) return {};
    const auto interfaces = client_->interfaces();
    std::vector<PeerReading> readings;
    if (!interfaces) {
      readings.emplace_back().gaps.push_back(
          {"", kName, lldp_failure(interfaces.error(), socket_path_)});
      return readings;
    }
    for (const InventoryPort& port : ports)
      if (has_lldp(port)) readings.push_back(reading_of(port, *interfaces, now));
    return readings;
  }

 private:
  PeerReading reading_of(const InventoryPort& port, const std::vector<LldpInterface>& interfaces,
                         SteadyTime now) {
    const std::string& netdev = port.id.netdev;
    PeerReading reading;
    reading.port = port.id.key();
    reading.read_at = now;
    reading.answered = true;
    const auto gap = [&](std::string reason) {
      reading.gaps.push_back({reading.port, kName, std::move(reason)});
    };
    const auto found = std::ranges::find(interfaces, netdev, &LldpInterface::netdev);
    const auto neighbours =
        found == interfaces.end() ? std::vector<LldpNeighbour>() : distinct(found->neighbours);
    const bool is_late = is_overdue(port, !neighbours.empty(), now);
    if (neighbours.size() == 1) {
      reading.peer = peer_of_neighbour(neighbours.front());
    } else if (neighbours.size() > 1) {
      gap(fmt::format(
          "{} LLDP neighbours ({}): a bridge in between forwards LLDP, so none is known "
          "to be the far end",
          neighbours.size(), names_of(neighbours)));
    } else if (is_late && found == interfaces.end()) {
      gap(
          fmt::format("lldpd does not watch {}: see \"configure system interface pattern\" in "
                      "lldpcli show configuration",
                      netdev));
    } else if (is_late) {
      const std::string hint = lldp_driver_hint(port.id.driver, netdev, port.id.pci);
      gap(fmt::format("no LLDP neighbour: check that LLDP is enabled at the far port{}{}",
                      hint.empty() ? "" : ". Or ", hint));
    }
    return reading;
  }

  /// Whether the port has been up for so long that LLDP must have arrived.
  bool is_overdue(const InventoryPort& port, bool has_neighbour, SteadyTime now) {
    // Not the carrier file, whose read waits for the RTNL lock (probes/sysfs/netdev_sysfs.h).
    // "unknown": the driver sets none.
    const std::string state = read_attribute(*host_, port.sysfs_netdev_dir + "/operstate");
    if (has_neighbour || (state != "up" && state != "unknown")) {
      missing_since_.erase(port.id.netdev);
      return false;
    }
    return now - missing_since_.try_emplace(port.id.netdev, now).first->second >= timing_.settle;
  }

  std::unique_ptr<LldpClient> client_;
  std::string socket_path_;
  std::unique_ptr<Host> host_;
  LldpTiming timing_;
  SteadyTime due_;
  std::map<std::string, SteadyTime> missing_since_;  ///< by netdev: up without a neighbour since
};

}  // namespace

PeerSample peer_of_neighbour(const LldpNeighbour& neighbour) {
  PeerSample peer;
  peer.source = "lldp";
  peer.system =
      shown(neighbour.chassis_name.empty() ? neighbour.chassis_id : neighbour.chassis_name);
  const bool described = !trim(neighbour.port_description).empty();
  const bool by_description =
      described && (is_address(neighbour.port_id_subtype) || neighbour.port_id.empty());
  peer.port = shown(by_description ? neighbour.port_description : neighbour.port_id);
  if (described && !by_description && neighbour.port_description != neighbour.port_id)
    peer.description = shown(neighbour.port_description);
  peer.address = shown(neighbour.management_address);
  return peer;
}

std::string lldp_driver_hint(std::string_view driver, const std::string& netdev,
                             const std::string& pci) {
  const auto hint = std::ranges::find(kHints, driver, &DriverHint::driver);
  if (hint == kHints.end()) return {};
  // A card's ports are its functions .0, .1, …; the firmware counts from 1.
  const bool has_function =
      pci.size() > 2 && pci[pci.size() - 2] == '.' && pci.back() >= '0' && pci.back() <= '7';
  return fmt::format(fmt::runtime(hint->text), fmt::arg("dev", netdev), fmt::arg("pci", pci),
                     fmt::arg("port", fmt::format("P{}", has_function ? pci.back() - '0' + 1 : 1)));
}

std::string lldp_failure(const Error& error, const std::string& socket_path) {
  switch (error.errnum) {
    case ENOENT:
      return fmt::format(
          "no socket at {}: install and start lldpd (in a container: mount the host's socket, "
          "docs/hardware.md), or set peers.lldp to 0",
          socket_path);
    case ECONNREFUSED:
      // After lldpd has recreated its socket, a socket file that was bind-mounted alone is still
      // the old one.
      return fmt::format(
          "no process listens on {}: start lldpd (systemctl start lldpd; in a container restart "
          "the container too)",
          socket_path);
    case EACCES:
    case EPERM:
      return fmt::format(
          "no access to {}: add the daemon's user to lldpd's group (usermod -aG _lldpd linkhealth, "
          "then restart it; docker: --group-add; Kubernetes: supplementalGroups)",
          socket_path);
    case ETIMEDOUT:
      return fmt::format("lldpd does not answer at {} in time: restart it", socket_path);
    case EPROTO:
      return fmt::format(
          "cannot parse lldpd's answer ({}): lldpd and liblldpctl must have the same version",
          error.message);
    default:
      return error.message;
  }
}

std::unique_ptr<PeerProbe> make_lldp_probe(std::unique_ptr<LldpClient> client,
                                           std::string socket_path, std::unique_ptr<Host> host,
                                           LldpTiming timing) {
  return std::make_unique<LldpProbe>(std::move(client), std::move(socket_path), std::move(host),
                                     timing);
}

}  // namespace linkhealth
