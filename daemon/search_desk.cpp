#include "daemon/search_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "probes/device_events.h"
#include "probes/inventory.h"

namespace linkhealth {

namespace {

constexpr Milliseconds kShortestRest{60'000};
constexpr unsigned kMaxDoublings = 6;  // an hour and four minutes

}  // namespace

/// Written by the search, read by the owner of the desk.
class SearchDesk::Place {
 public:
  explicit Place(const Clock& clock) : clock_(clock), now_{"", "", clock.steady()} {}

  void enter(const std::string& device) {
    const std::lock_guard lock(mutex_);
    now_ = {device, "", clock_.steady()};
  }
  void open(const std::string& path) {
    const auto slash = path.rfind('/');
    const std::lock_guard lock(mutex_);
    now_.file = path.substr(slash == std::string::npos ? 0 : slash + 1);
  }

  struct Now {
    std::string device, file;
    SteadyTime since;  ///< at this device
  };
  [[nodiscard]] Now now() const {
    const std::lock_guard lock(mutex_);
    return now_;
  }

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  Now now_;
};

/// Notes each file before it is read.
class SearchDesk::PlacedHost final : public Host {
 public:
  PlacedHost(std::unique_ptr<Host> host, std::shared_ptr<Place> place)
      : host_(std::move(host)), place_(std::move(place)) {}

  [[nodiscard]] bool has_kernel() const override { return host_->has_kernel(); }
  Result<std::string> read_file(const std::string& path) override {
    place_->open(path);
    return host_->read_file(path);
  }
  Result<std::vector<std::string>> list_dir(const std::string& path) override {
    place_->open(path);
    return host_->list_dir(path);
  }
  Result<std::string> resolve(const std::string& path) override {
    place_->open(path);
    return host_->resolve(path);
  }
  Result<std::unique_ptr<HostFile>> open_file(const std::string& path) override {
    return host_->open_file(path);
  }
  Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) override {
    return host_->netlink(protocol, request);
  }
  Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) override {
    return host_->ethtool(netdev, command);
  }
  Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                             std::span<const std::uint32_t> groups) override {
    return host_->listen(protocol, groups);
  }
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override {
    return host_->open_records(path);
  }

 private:
  std::unique_ptr<Host> host_;
  std::shared_ptr<Place> place_;
};

ReadWorker::Job SearchDesk::begin(std::unique_ptr<Host> host) {
  const SteadyTime now = clock_.steady();
  Search search{std::make_shared<Place>(clock_), {}, false, ""};
  for (const auto& [name, device] : devices_)
    if (device.hangs || now < device.rests_until) search.left_out.insert(name);
  InventoryWatch watch{search.left_out,
                       [place = search.place](const std::string& device) { place->enter(device); },
                       managers_};
  // A name of its own in the read worker, so that neither another read of the node nor a search
  // left behind delays it.
  const PortKey job = fmt::format("(search {})", ++number_);
  std::shared_ptr<Host> placed = std::make_shared<PlacedHost>(std::move(host), search.place);
  searches_.emplace(job, std::move(search));
  return {job, ReadGroup::kInventory, [job, placed = std::move(placed), watch = std::move(watch)] {
            Reading reading;
            reading.port = job;
            reading.group = ReadGroup::kInventory;
            // The number of the last device event is read first: what is found after it was not
            // removed by it.
            const std::uint64_t found_after = latest_device_event(*placed);
            Inventory& inventory =
                reading.node.emplace().inventory.emplace(take_inventory(*placed, watch));
            inventory.found_after = found_after;
            return reading;
          }};
}

bool SearchDesk::is_out() const {
  return std::ranges::any_of(searches_,
                             [](const auto& search) { return !search.second.left_behind; });
}

SearchDesk::Return SearchDesk::take(const PortKey& job) {
  const auto at = searches_.find(job);
  if (at == searches_.end()) return {};
  const Search search = std::move(at->second);
  searches_.erase(at);
  if (!search.left_behind) {
    std::erase_if(devices_,
                  [&](const auto& device) { return !search.left_out.contains(device.first); });
    return {true, false};
  }
  Device& device = devices_[search.hangs_at];
  device.hangs = false;
  if (++device.late == 1) return {false, true};
  device.rests_until =
      clock_.steady() + kShortestRest * (1 << std::min(device.late - 2, kMaxDoublings));
  return {};
}

SearchDesk::Hang SearchDesk::hang(const PortKey& job) {
  const auto at = searches_.find(job);
  if (at == searches_.end()) return {};
  Search& search = at->second;
  const Place::Now now = search.place->now();
  // One that is merely slow, with all devices together, hangs at none of them.
  if (clock_.steady() - now.since < patience_ / 2) return {};
  Hang hang;
  hang.where = fmt::format(" of {} ({})", now.device.empty() ? "the node" : printable(now.device),
                           printable(now.file));
  const auto left_behind =
      std::ranges::count_if(searches_, [](const auto& other) { return other.second.left_behind; });
  const bool can_do_without = !now.device.empty() && !search.left_out.contains(now.device) &&
                              static_cast<std::size_t>(left_behind) < kMaxLeftBehind;
  if (search.left_behind || !can_do_without) return hang;
  search.left_behind = hang.again = true;
  search.hangs_at = now.device;
  devices_[now.device].hangs = true;
  return hang;
}

std::vector<std::string> SearchDesk::resting() const {
  std::vector<std::string> words;
  for (const auto& [name, device] : devices_)
    if (!device.hangs && device.late > 1)
      words.push_back(printable(name) +
                      " is left out for a while: it answers too late again and again");
  return words;
}

}  // namespace linkhealth
