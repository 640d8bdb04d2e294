// The searches for ports that are out, and where each of them stands. One that hangs at a device is
// left behind, and the node is searched again without that device: it hides no other. It is
// searched with the others once the read that hung has come back; one that is late again and again
// rests in between.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/read_worker.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/inventory.h"

namespace linkhealth {

class SearchDesk {
 public:
  /// So many searches may hang at a device, each with its thread; one more is waited for.
  static constexpr std::size_t kMaxLeftBehind = 4;

  /// `clock` must outlive every search, also those left behind: it belongs to main().
  SearchDesk(const Clock& clock, Milliseconds patience) : clock_(clock), patience_(patience) {}

  /// A search of everything but the devices that hang or rest. `host` is for it alone.
  ReadWorker::Job begin(std::unique_ptr<Host> host);
  /// Whether a search is out that is waited for.
  [[nodiscard]] bool is_out() const;

  struct Return {
    bool use = false;    ///< it is the one that was waited for
    bool again = false;  ///< a device answers again: search anew
  };
  /// The search `job` has come back.
  Return take(const PortKey& job);

  struct Hang {
    std::string where;   ///< " of mlx5_3 (phys_port_name)"; "" where nothing was read yet
    bool again = false;  ///< it was left behind just now: search anew
  };
  /// The search `job` is longer out than it should be.
  Hang hang(const PortKey& job);

  /// Devices that are left out though they do not hang now, as words for a gap each.
  [[nodiscard]] std::vector<std::string> resting() const;

 private:
  class Place;
  class PlacedHost;
  struct Search {
    std::shared_ptr<Place> place;
    std::set<std::string> left_out;
    bool left_behind = false;
    std::string hangs_at;  ///< the device for which it was left behind
  };
  struct Device {
    bool hangs = false;
    unsigned late = 0;  ///< times in a row that it came back too late
    SteadyTime rests_until;
  };

  const Clock& clock_;
  Milliseconds patience_;
  std::uint64_t number_ = 0;
  std::map<PortKey, Search> searches_;
  std::map<std::string, Device> devices_;
  std::shared_ptr<NvSwitchManagers> managers_ = std::make_shared<NvSwitchManagers>();
};

}  // namespace linkhealth
