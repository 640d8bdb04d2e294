// Asynchronous events of RDMA devices as a feed: port error and active, a fatal error of the
// device, changes by the subnet manager.
//
// One thread for each device opens a context, waits for events and closes the context. It costs the
// device a few doorbell pages. A call that hangs in the driver holds up only its own thread, which
// is left behind.
//
// The context must never be in the way of a driver that is unloaded: the kernel takes
// /sys/class/infiniband_verbs/uverbsN away first of all (linux:
// drivers/infiniband/core/uverbs_main.c, ib_uverbs_remove_one), which comes here as a device event;
// then drivers that can take a context from its holder (mlx5, mlx4, irdma, hns) do so, and send it
// "device fatal"; the others (rxe in many kernels) wait until it is closed. So a context is closed
// as soon as that directory is gone, and "device fatal" counts only while it is there. What stays:
// a driver of the second kind can't be unloaded with `modprobe -r` while its device is there
// ("module is in use"); `rdma link delete`, an unplugged card and driver unbind work. The setting
// sampling.verbs_events switches the feed off.
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

/// The seam to libibverbs; used by several threads.
class VerbsLibrary {
 public:
  virtual ~VerbsLibrary() = default;
  /// May wait for the driver and the firmware. ENODEV: no such device; EACCES, ENOENT: its file.
  virtual Result<std::unique_ptr<VerbsContext>> open(const std::string& device) = 0;
};

/// The real libibverbs.
std::shared_ptr<VerbsLibrary> live_verbs();

class VerbsEvents final : public EventFeed {
 public:
  VerbsEvents(std::shared_ptr<VerbsLibrary> library, Milliseconds patience);
  /// Waits a moment for the contexts to be closed, then leaves their threads behind.
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

  /// A device that could not be opened, or that failed, is tried again after this.
  static constexpr Milliseconds kRetry{30'000};
  /// Events of one device between two receive(); later ones are dropped: each only prompts the same
  /// reading.
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
  /// Devices by name, and their files: what the kernel offers now.
  std::map<std::string, std::string> device_files(Host& host);

  std::shared_ptr<VerbsLibrary> library_;
  Milliseconds patience_;
  std::shared_ptr<OwnedFd> wake_;  ///< eventfd: a thread has something to report
  std::map<std::string, Device> devices_;
  /// By device: at most one thread each, also when the device has gone meanwhile.
  std::map<std::string, std::shared_ptr<Watch>> threads_;
  SteadyTime now_;
  bool no_thread_ = false;  ///< a device waits for a thread
  std::optional<Gap> no_files_;
};

}  // namespace linkhealth
