#include "probes/sysfs/kernel_log.h"

#include <algorithm>
#include <cerrno>

#include "probes/sysfs/pcie.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

constexpr std::size_t kMaxOwners = 1024;
constexpr const char* kProbe = "kernel_log";
/// The kernel, and programs that write to /dev/kmsg without a facility. systemd and others have
/// their own.
constexpr std::uint32_t kLastFacility = 1;

/// printk's clock (kernel/printk: local_clock) is not disciplined like the steady clock: after
/// months they are minutes apart. Then a live line gets the current time.
constexpr Milliseconds kDrift{5'000};

Gap refused(const Error& error) {
  std::string reason = error.message;
  if (error.errnum == EPERM || error.errnum == EACCES)
    reason += " (give the daemon CAP_SYSLOG; kernel.dmesg_restrict requires it)";
  if (error.errnum == ENOENT) reason += " (a container? let it have the device)";
  return {"", kProbe, reason};
}

bool moves_module(KernelLogClass what) {
  return what == KernelLogClass::kModulePlugged || what == KernelLogClass::kModuleUnplugged;
}

}  // namespace

KernelLog::KernelLog(Host& host) {
  auto records = host.open_records(kKernelLogPath);
  if (records) {
    records_ = *std::move(records);
  } else if (records.error().errnum != EOPNOTSUPP) {
    gap_ = refused(records.error());
  }
}

std::vector<Gap> KernelLog::gaps() const {
  return gap_ ? std::vector<Gap>{*gap_} : std::vector<Gap>{};
}

void KernelLog::set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime /*now*/) {
  ports_known_ = ports_changed_ = true;
  if (!records_) return;
  if (owners_.size() > kMaxOwners) owners_.clear();
  std::set<PortKey> keys;
  std::set<std::string> places;
  for (const InventoryPort& port : ports) {
    keys.insert(port.id.key());
    places.insert(port.id.pci);
  }
  // A port that has gone is kept until another one takes its place: a rename, or a new card.
  std::erase_if(owners_, [&](const auto& entry) {
    const auto& addresses = entry.second.addresses;
    return !keys.contains(entry.first) && (addresses.empty() || places.contains(addresses.front()));
  });
  for (const InventoryPort& port : ports) {
    const PortKey key = port.id.key();
    Owner owner;
    for (const std::string& name : {port.id.netdev, port.id.device})
      if (!name.empty()) owner.names.push_back(name);
    if (!port.id.pci.empty()) {
      owner.addresses.push_back(port.id.pci);
      // ".../0000:00:1c.0/0000:1b:00.0": the bridge above logs errors of the slot, and a card's own
      // switch those inside the card.
      const auto path = host.resolve("/sys/bus/pci/devices/" + port.id.pci);
      const auto chain = path ? pci_addresses_in(*path) : std::vector<std::string>();
      const std::string edge = path ? base_name(edge_of_card(host, *path)) : "";
      for (std::size_t i = chain.size(); i-- > 1;) {
        owner.addresses.push_back(chain[i - 1]);
        if (chain[i] == edge) break;
      }
    }
    owners_[key] = std::move(owner);
  }
}

std::vector<PortKey> KernelLog::ports_of(const KernelRecord& record) const {
  // "+pci:0000:1b:00.0"
  const auto addresses =
      pci_addresses_in(record.text + " " + record.device.substr(record.device.find(':') + 1));
  std::vector<PortKey> by_name, by_address;
  for (const auto& [key, owner] : owners_) {
    const bool named = std::ranges::any_of(
        owner.names, [&](const std::string& name) { return has_word(record.text, name); });
    const bool placed =
        std::ranges::find_first_of(owner.addresses, addresses) != owner.addresses.end();
    // All network namespaces share the log: if a line has a PCI address, a netdev name counts only
    // for ports of that card (netdev_printk() writes driver, address and name).
    if (named && (placed || addresses.empty() || owner.addresses.empty())) by_name.push_back(key);
    if (placed) by_address.push_back(key);
  }
  // A name belongs to one port; an address to every port of the function.
  return by_name.empty() ? by_address : by_name;
}

FeedNews KernelLog::receive(Host& /*host*/, SteadyTime now) {
  FeedNews news;
  if (!records_ || !ports_known_) return news;
  const auto records = records_->receive();
  if (!records && records.error().errnum == EPIPE) {
    news.gaps.push_back({"", kProbe, "lines were overwritten before they were read"});
    news.more = true;
  } else if (!records) {
    gap_ = Gap{"", kProbe, records.error().message};
    records_.reset();
    return news;
  }
  if (std::exchange(ports_changed_, false))
    std::erase_if(waiting_, [&](const KernelRecord& record) { return add(record, news); });
  if (records) {
    news.heard = !records->empty();
    news.more = records->size() >= HostEvents::kAtOnce;
    for (const Bytes& bytes : *records) {
      auto record =
          parse_kernel_record({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      if (!record || record->facility > kLastFacility) continue;
      if (live_ && (now - record->t > kDrift || record->t - now > kDrift)) record->t = now;
      if (add(*record, news)) continue;
      if (waiting_.size() >= kMaxWaiting) waiting_.pop_front();
      waiting_.push_back(*std::move(record));
    }
  }
  live_ = live_ || !news.more;
  std::erase_if(waiting_, [&](const KernelRecord& record) { return now - record.t > kPatience; });
  std::erase_if(last_, [&](const auto& entry) { return now - entry.second >= kOnce; });
  return news;
}

/// False: the line matches a pattern, but no known port.
bool KernelLog::add(const KernelRecord& record, FeedNews& news) {
  const KernelLogPattern* pattern = classify_kernel_log(record.text);
  if (pattern == nullptr || pattern->what == KernelLogClass::kNoise) return true;
  const std::vector<PortKey> ports = ports_of(record);
  for (const PortKey& port : ports) add_event(port, *pattern, record, news);
  return !ports.empty();
}

void KernelLog::add_event(const PortKey& port, const KernelLogPattern& pattern,
                          const KernelRecord& record, FeedNews& news) {
  if (moves_module(pattern.what)) news.modules.insert(port);
  const auto [last, is_new] = last_.try_emplace({port, pattern.name}, record.t);
  if (!is_new && record.t - last->second < kOnce) return;
  last->second = record.t;
  if (record.t - minute_ >= kOnce || record.t < minute_) {
    minute_ = record.t;
    in_minute_ = 0;
  }
  if (++in_minute_ == kMaxPerMinute + 1)
    news.gaps.push_back(
        {"", kProbe, "too many lines about ports: the rest of this minute is dropped"});
  if (in_minute_ <= kMaxPerMinute)
    news.events.push_back({record.t, port, PortEventKind::kKernelLog, record.text});
}

}  // namespace linkhealth
