#include "daemon/sampling/port_inventory_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace linkhealth {

namespace {

/// Whether the search could not read the port's device.
bool is_unreadable(const Inventory& found, const PortId& id) {
  return std::any_of(found.gaps.begin(), found.gaps.end(), [&](const Gap& gap) {
    return !gap.port.empty() && (gap.port == id.device || gap.port == id.netdev);
  });
}

/// Whether the port's own files, which need no lock, show that its device is gone.
bool answers_gone(SampledPort& port) {
  if (port.gone) return true;
  if (!port.files) return false;
  std::optional<LinkSample> unused;
  std::vector<Gap> unused_gaps;
  return port.files->read_link(unused, unused_gaps) == ReadStatus::kGone;
}

/// The driver that passes the card to a virtual machine or a program; "": none.
std::string lender_of(const std::string& pci, const Inventory& found) {
  if (!found.cards) return "";
  const auto card = std::ranges::find(*found.cards, pci, &PciCard::address);
  return card == found.cards->end() ? "" : lender_of(*card);
}

/// Why a missing port is exempt instead of lost; "": it is lost.
std::string lent_to(const SampledPort& port, const Inventory& found) {
  if (const std::string lender = lender_of(port.port.id.pci, found); !lender.empty())
    return "lent by " + lender + ": a virtual machine or a program has taken the card";
  return port.moved ? "its interface was moved to another network namespace" : "";
}

const PortKey* plain_port_at(const std::map<PortKey, SampledPort>& ports,
                             const std::string& stable_key) {
  for (const auto& [key, port] : ports)
    if (!port.port.id.verbs && port.port.id.stable_key() == stable_key) return &key;
  return nullptr;
}

/// With mlx5 as a LAG, two links have one verbs device, at the function of one of them (linux:
/// drivers/net/ethernet/mellanox/mlx5/core/lag/lag.c): the other's is not lost.
bool shares_rdma(const std::string& pci, const std::map<PortKey, SampledPort>& ports) {
  const auto card_of = [](const std::string& address) {
    return address.substr(0, address.rfind('.'));
  };
  return std::ranges::any_of(ports, [&](const auto& entry) {
    const PortId& id = entry.second.port.id;
    return id.verbs && entry.second.watched() && id.pci != pci && card_of(id.pci) == card_of(pci);
  });
}

Gap rdma_gap(const PortKey& port) {
  return {port, "rdma_device", "the RDMA device is gone, its network interface is still there"};
}

/// An IPoIB interface comes and goes independently of its port.
bool is_same_interface(const InventoryPort& former, const InventoryPort& now) {
  return former.ifindex == now.ifindex ||
         !(former.has_link_of_netdev() || now.has_link_of_netdev());
}

/// A port whose netdev was renamed keeps its counts, so that no carrier loss is missed.
SampledPort renamed(InventoryPort port, SampledPort* former) {
  SampledPort fresh;
  if (former != nullptr && !former->gone && is_same_interface(former->port, port)) {
    fresh.netdev = former->netdev;
    fresh.kernel = former->kernel;
    fresh.module_seen = former->module_seen;
    fresh.by_module_reader = former->by_module_reader;
  }
  if (former != nullptr) fresh.module_serial = former->module_serial;  // the same cage
  if (former != nullptr && !port.id.verbs)
    fresh.lost_device = former->port.id.verbs ? former->port.id.device : former->lost_device;
  fresh.port = std::move(port);
  return fresh;
}

}  // namespace

PortsFound PortInventoryDiff::compare(Inventory found, std::map<PortKey, SampledPort> known,
                                      SteadyTime now) {
  PortsFound result;
  result.complete = !found.incomplete;
  const bool first = std::exchange(first_, false);
  if (first) remembered_from_ = now;
  std::erase_if(remembered_, [&](const RememberedPort& port) {
    return now - remembered_from_ + port.unseen >= kRememberedFor;
  });
  if (found.incomplete && !known.empty()) {
    // Without the list of RDMA devices, their netdevs would be taken for plain Ethernet ports.
    result.ports = std::move(known);
    result.gaps = std::move(found.gaps);
    return result;
  }
  std::map<std::string, PortKey> former_keys;
  for (const auto& [key, port] : known) former_keys.emplace(port.port.id.stable_key(), key);
  std::set<PortKey> done;
  std::set<std::string> rdma_guids;
  for (const InventoryPort& port : found.ports)
    if (port.id.verbs) rdma_guids.insert(port.id.guid);
  for (InventoryPort& port : found.ports) {
    const PortKey key = port.id.key();
    port.id.exempt = port.exempt_reason;
    const auto at = former_keys.find(port.id.stable_key());
    SampledPort* const former = at == former_keys.end() ? nullptr : &known.at(at->second);
    if (former != nullptr) done.insert(at->second);
    // After a reboot another card may have the address: the port has not lost a GUID that an RDMA
    // device has.
    if (!port.id.verbs) port.id.guid = lost_guid(port.id, former);
    if (!port.id.verbs && rdma_guids.contains(port.id.guid)) port.id.guid.clear();
    if (former != nullptr && !former->gone && former->port.id == port.id &&
        former->port.ifindex == port.ifindex) {
      former->misses = 0;
      result.ports.emplace(key, std::move(*former));
      continue;
    }
    const bool reloaded =
        former != nullptr && (former->gone || !is_same_interface(former->port, port) ||
                              former->port.id.verbs != port.id.verbs);
    if (reloaded) result.events.push_back({now, at->second, PortEventKind::kDeviceGone, ""});
    const bool lost_rdma = former != nullptr && former->port.id.verbs && !port.id.verbs;
    if ((former == nullptr && !first) || (reloaded && !lost_rdma))
      result.events.push_back({now, key, PortEventKind::kDeviceAdded, ""});
    SampledPort named = renamed(std::move(port), former);
    if (const auto before = serials_.extract(named.port.id.stable_key());
        former == nullptr && !before.empty())
      named.module_serial = named.imported_serial = before.mapped();
    result.ports.insert_or_assign(key, std::move(named));
    result.fresh.push_back(key);
  }
  for (const PortKey& key : done) known.erase(key);
  result.gaps = found.gaps;
  judge_missing(result, found, known, now);
  miss_remembered(result, found, now);
  report_losses(result, now);
  return result;
}

void PortInventoryDiff::judge_missing(PortsFound& result, const Inventory& found,
                                      std::map<PortKey, SampledPort>& known, SteadyTime now) {
  for (auto& [key, port] : known) {
    if (result.ports.contains(key)) continue;  // another device has the name now
    if (std::string lent = lent_to(port, found); !lent.empty()) {
      port.port.exempt_reason = port.port.id.exempt = std::move(lent);
      port.lent = true;
      port.gone = false;
      port.files.reset();
      port.netdev.reset();
      port.by_reader.clear();
      result.ports.emplace(key, std::move(port));
      continue;
    }
    const bool unreadable = is_unreadable(found, port.port.id);
    const bool gone = !unreadable && (answers_gone(port) || ++port.misses >= kMisses);
    if (gone) {
      result.events.push_back({now, key, PortEventKind::kDeviceGone,
                               describe_on_pci_bus(found.cards, port.port.id.pci)});
      continue;
    }
    result.gaps.push_back(
        {key, "inventory",
         unreadable ? "the device cannot be read" : "not found by the last scan"});
    result.again_soon = result.again_soon || !unreadable;
    port.gone = false;  // its readers check again
    result.ports.emplace(key, std::move(port));
  }
}

/// The GUID of the RDMA device that this plain port has lost; "": none. The database keeps it with
/// the port, so that the next run knows about the loss.
std::string PortInventoryDiff::lost_guid(const PortId& plain, const SampledPort* former) const {
  if (former != nullptr && (former->port.id.verbs || !former->lost_device.empty()))
    return former->port.id.guid;
  const auto at =
      std::ranges::find(remembered_, plain.stable_key(),
                        [](const RememberedPort& port) { return port.id.stable_key(); });
  return at == remembered_.end() ? "" : at->id.guid;
}

/// A port whose card has its driver is a gap, not a fault: its interface may have been moved or
/// passed on before the start. A driver that has created no port at all has given up the card.
void PortInventoryDiff::miss_remembered(PortsFound& result, const Inventory& found,
                                        SteadyTime now) {
  if (found.incomplete) return;
  std::erase_if(remembered_, [&result](const RememberedPort& port) {
    return std::ranges::any_of(result.ports, [&id = port.id](const auto& entry) {
      const PortId& here = entry.second.port.id;
      return here.verbs && (here.stable_key() == id.stable_key() || here.guid == id.guid);
    });
  });
  missed_ = 0;
  if (remembered_.empty()) return;
  if (remembered_looks_ < kMisses && ++remembered_looks_ < kMisses) {
    result.again_soon = true;
    return;
  }
  for (const auto& [id, unseen] : remembered_) {
    if (!lender_of(id.pci, found).empty()) continue;
    ++missed_;
    const PortKey* plain = plain_port_at(result.ports, id.stable_key());
    if (plain != nullptr && !shares_rdma(id.pci, result.ports))
      result.gaps.push_back(rdma_gap(*plain));
  }
  if (found.cards && !std::exchange(remembered_reported_, true))
    report_remembered_gone(result, found, now);
}

/// A card that did not come back after a reboot.
void PortInventoryDiff::report_remembered_gone(PortsFound& result, const Inventory& found,
                                               SteadyTime now) const {
  for (const auto& [id, unseen] : remembered_) {
    const auto card = std::ranges::find(*found.cards, id.pci, &PciCard::address);
    const bool there = card != found.cards->end() && !card->driver.empty() && !card->without_port;
    if (!there && plain_port_at(result.ports, id.stable_key()) == nullptr)
      result.events.push_back(
          {now, id.key(), PortEventKind::kDeviceGone, describe_on_pci_bus(found.cards, id.pci)});
  }
}

void RecentMaximum::add(std::size_t count, SteadyTime now) {
  if (count < value_ && !lower_since_) lower_since_ = now;
  if (count < value_ && now - *lower_since_ <= kRecent) return;
  value_ = count;
  lower_since_.reset();
}

void PortInventoryDiff::report_losses(PortsFound& result, SteadyTime now) {
  std::size_t watched = 0;
  std::size_t rdma = 0;
  for (const auto& [key, port] : result.ports) {
    watched += port.watched();
    rdma += port.watched() && port.port.id.verbs;
    if (!port.lost_device.empty() && !shares_rdma(port.port.id.pci, result.ports))
      result.gaps.push_back(rdma_gap(key));
  }
  const auto add = [&](std::size_t left, const RecentMaximum& before, std::string_view what) {
    const std::size_t count = before.value() > 0 ? before.value() : missed_;
    if (left > 0 || count == 0) return false;
    result.gaps.push_back({"", "inventory",
                           fmt::format("no {} left of {}: the cause is the driver or the "
                                       "daemon's view of /sys, not a cable",
                                       what, count)});
    return true;
  };
  if (!add(watched, watched_before_, "port")) add(rdma, rdma_before_, "RDMA port");
  if (watched > 0) watched_before_.add(watched, now);
  if (rdma > 0) rdma_before_.add(rdma, now);
}

}  // namespace linkhealth
