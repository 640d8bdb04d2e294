// Discoveries of the node's ports, as jobs for the pool. One that hangs at a device is abandoned,
// and the next ones skip that device until the hung read has returned, so that it hides no other.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "daemon/sampling/blocking_read_pool.h"
#include "probes/host.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

class Discovery {
 public:
  /// At most this many may hang at a device, each with its thread; a further one is waited for.
  static constexpr std::size_t kMaxAbandoned = 4;

  /// `clock` must outlive every job, also those that hang: it belongs to main().
  Discovery(const Clock& clock, Milliseconds patience) : clock_(clock), patience_(patience) {}

  /// Only this job uses `host`. `found` receives the result; nullopt: the job was abandoned, and
  /// the device at which it hung answers again.
  BlockingReadPool::Job start(
      std::unique_ptr<Host> host,
      std::function<void(std::optional<Inventory> found, double duration_s)> found);
  /// Whether a job is running that is waited for.
  [[nodiscard]] bool is_out() const { return !current_.empty(); }
  [[nodiscard]] bool is_job(const std::string& owner) const { return jobs_.contains(owner); }

  struct Hang {
    std::string device;          ///< "" for the node, or unknown
    bool abandoned_now = false;  ///< start another one
  };
  /// Whether the job takes longer than the patience.
  Hang check_hang(const std::string& owner);

 private:
  class Place;
  struct JobState {
    std::shared_ptr<Place> place;
    std::string hangs_at;  ///< the device for which it was abandoned; "": not abandoned
  };
  std::optional<Inventory> finish(const std::string& owner, Inventory found);

  const Clock& clock_;
  Milliseconds patience_;
  std::uint64_t started_ = 0;
  std::string current_;                   ///< the job that is waited for
  std::map<std::string, JobState> jobs_;  ///< running ones, by owner
  std::shared_ptr<NvSwitchManagers> managers_ = std::make_shared<NvSwitchManagers>();
};

}  // namespace linkhealth
