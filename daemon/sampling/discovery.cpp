#include "daemon/sampling/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "probes/netlink/kernel_events.h"

namespace linkhealth {

/// The progress of a discovery: written by its thread, read by the deciding thread.
class Discovery::Place {
 public:
  explicit Place(const Clock& clock) : clock_(clock), since_(clock.steady()) {}

  void enter(const std::string& device) {
    const std::lock_guard lock(mutex_);
    device_ = device;
    since_ = clock_.steady();
  }
  /// The device, and since when.
  [[nodiscard]] std::pair<std::string, SteadyTime> now() const {
    const std::lock_guard lock(mutex_);
    return {device_, since_};
  }

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::string device_;
  SteadyTime since_;
};

BlockingReadPool::Job Discovery::start(
    std::unique_ptr<Host> host,
    std::function<void(std::optional<Inventory> found, double duration_s)> found) {
  // Each job has its own owner: one that hangs delays no other.
  std::string owner = fmt::format("(discovery {})", ++started_);
  auto place = std::make_shared<Place>(clock_);
  InventoryWatch watch;
  for (const auto& [other, job] : jobs_)
    if (!job.hangs_at.empty()) watch.left_out.insert(job.hangs_at);
  watch.at = [place](const std::string& device) { place->enter(device); };
  watch.managers = managers_;
  current_ = owner;
  jobs_.emplace(owner, JobState{std::move(place), ""});
  auto read = [this, owner, host = std::shared_ptr<Host>(std::move(host)), watch = std::move(watch),
               found = std::move(found)]() -> BlockingReadPool::Done {
    // Read the number of the last device event first: what is found after it was not removed by it.
    const std::uint64_t found_after = latest_device_event(*host);
    Inventory inventory = take_inventory(*host, watch);
    inventory.found_after = found_after;
    return [this, owner, found, inventory = std::move(inventory)](double duration_s) {
      found(finish(owner, inventory), duration_s);
    };
  };
  return {owner, "inventory", std::move(read)};
}

std::optional<Inventory> Discovery::finish(const std::string& owner, Inventory found) {
  jobs_.erase(owner);
  if (owner != current_) return std::nullopt;
  current_.clear();
  return found;
}

Discovery::Hang Discovery::check_hang(const std::string& owner) {
  JobState& job = jobs_.at(owner);
  const auto [device, since] = job.place->now();
  // A discovery that is merely slow, over all devices together, does not hang at any of them.
  if (clock_.steady() - since < patience_ / 2) return {};
  const auto is_left_out = [](const auto& entry) { return !entry.second.hangs_at.empty(); };
  const auto left_out = std::ranges::count_if(jobs_, is_left_out);
  if (owner != current_ || device.empty() || static_cast<std::size_t>(left_out) >= kMaxAbandoned)
    return {device, false};
  job.hangs_at = device;
  current_.clear();
  return {device, true};
}

}  // namespace linkhealth
