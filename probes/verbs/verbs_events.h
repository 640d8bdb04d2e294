// Asynchronous events of RDMA devices as a feed: port error and active, a fatal error of the
// device, changes by the subnet manager.
//
// One thread per device opens a context, waits for events and closes the context. This costs the
// device a few doorbell pages. A call that hangs in the driver blocks only its own thread, which is
// abandoned.
//
// The context must never block the unloading of a driver. The kernel first removes
// /sys/class/infiniband_verbs/uverbsN (linux: drivers/infiniband/core/uverbs_main.c,
// ib_uverbs_remove_one), which arrives here as a device event. Then drivers that can revoke a
// context (mlx5, mlx4, irdma, hns) do so, and send "device fatal" to it; the others (rxe in many
// kernels) wait until it is closed. So a context is closed as soon as that directory is gone, and
// "device fatal" counts only while it exists. A limitation remains: a driver of the second kind
// cannot be unloaded with `modprobe -r` while its device exists ("module is in use"); `rdma link
// delete`, unplugging the card and unbinding the driver work. The setting sampling.verbs_events
// switches the feed off.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "probes/event_feed.h"

namespace linkhealth {

/// An asynchronous event of a device.
struct VerbsEvent {
  int type = 0;            ///< ibv_event_type (ibv_get_async_event(3))
  std::uint32_t port = 0;  ///< 0: an event of the device, or of a queue
};

/// An open context. Closing it may wait for the firmware.
class VerbsContext {
 public:
  virtual ~VerbsContext() = default;
  /// Readable when there is an event.
  [[nodiscard]] virtual int fd() const = 0;
  /// The next event, nullopt when there is none; never blocks. An Error when the device has gone.
  virtual Result<std::optional<VerbsEvent>> next() = 0;
};

/// The interface to libibverbs; used by several threads.
class VerbsLibrary {
 public:
  virtual ~VerbsLibrary() = default;
  /// May wait for the driver and the firmware. ENODEV: no such device; EACCES, ENOENT: error of its
  /// file.
  virtual Result<std::unique_ptr<VerbsContext>> open(const std::string& device) = 0;
};

/// The real libibverbs.
std::shared_ptr<VerbsLibrary> live_verbs();

class VerbsEvents final : public EventFeed {
 public:
  VerbsEvents(std::shared_ptr<VerbsLibrary> library, Milliseconds patience);
  /// Waits briefly for the contexts to be closed, then abandons their threads.
  ~VerbsEvents() override;
  VerbsEvents(const VerbsEvents&) = delete;
  VerbsEvents& operator=(const VerbsEvents&) = delete;

  [[nodiscard]] std::string_view name() const override { return "verbs_events"; }
  [[nodiscard]] int fd() const override { return wake_->get(); }
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(100); }
  FeedNews receive(Host& host, SteadyTime now) override;
  /// Starts the threads of new devices, and ends those of devices that have gone.
  void set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) override;
  [[nodiscard]] std::vector<Gap> gaps() const override;

  /// Delay before a device that could not be opened, or that failed, is tried again.
  static constexpr Milliseconds kRetry{30'000};
  /// Limit of events of one device between two receive() calls; later ones are dropped: each only
  /// prompts the same reading.
  static constexpr std::size_t kMaxEvents = 1024;
  static constexpr std::size_t kMaxThreads = 64;

 private:
  struct Watch;
  struct Device {
    std::vector<std::uint32_t> ports;
    std::string file;  ///< "uverbs0"
    SteadyTime not_before;
    std::optional<Error> failed;
  };

  void start_due(const std::map<std::string, std::string>& files);
  bool start(const std::string& name);
  void stop(const std::string& name);
  void end_device(Host& host, const std::string& name, std::optional<Error> error, FeedNews& news);
  void add_event(const std::string& name, const VerbsEvent& event, FeedNews& news) const;
  void update_threads();
  /// Devices by name, with their files: what the kernel offers now.
  std::map<std::string, std::string> device_files(Host& host);

  std::shared_ptr<VerbsLibrary> library_;
  Milliseconds patience_;
  std::shared_ptr<OwnedFd> wake_;  ///< eventfd: a thread has something to report
  std::map<std::string, Device> devices_;
  /// By device: at most one thread each, even if the device has gone.
  std::map<std::string, std::shared_ptr<Watch>> threads_;
  SteadyTime now_;
  bool no_thread_ = false;  ///< a device waits for a thread
  std::optional<Gap> no_files_;
};

}  // namespace linkhealth
