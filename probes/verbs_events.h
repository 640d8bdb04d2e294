// Asynchronous events of RDMA devices as a feed: port error and active, a fatal error of the
// device, changes by the subnet manager.
//
// A context is held on each device for that, and costs the device a few doorbell pages. It must
// never be in the way of a driver that is unloaded: the kernel takes
// /sys/class/infiniband_verbs/uverbsN away first of all (linux:
// drivers/infiniband/core/uverbs_main.c, ib_uverbs_remove_one), which comes here as a device event;
// then drivers that can take a context from its holder (mlx5, mlx4, irdma, hns) do so, and tell it
// "device fatal"; the others (rxe in many kernels) wait until it is closed. So a context is closed
// as soon as that directory is gone, and "device fatal" counts only while it is there. What stays:
// a driver of the second kind can't be unloaded with `modprobe -r` while its device is there
// ("module is in use"); `rdma link delete`, an unplugged card and driver unbind work. The knob
// sampling.verbs_events switches the feed off.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "probes/event_feed.h"
#include "probes/kernel_socket.h"
#include "probes/verbs_calls.h"

namespace linkhealth {

class VerbsEvents final : public EventFeed {
 public:
  VerbsEvents(std::shared_ptr<VerbsLibrary> library, Milliseconds patience);

  [[nodiscard]] std::string_view name() const override { return "verbs_events"; }
  /// One descriptor for all devices, so that those that come and go do not matter to who waits.
  [[nodiscard]] int fd() const override { return poll_.get(); }
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(100); }
  FeedNews receive(Host& host, SteadyTime now) override;
  /// Opens what is new, closes what has gone; both take place elsewhere.
  void set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) override;
  [[nodiscard]] std::vector<Gap> gaps() const override;

  /// Nothing is being opened or closed.
  [[nodiscard]] bool settled() const { return calls_.idle(); }

  /// A device that could not be opened, or that failed, is tried again after this, with or without
  /// a search.
  static constexpr Milliseconds kAgain{30'000};
  static constexpr std::size_t kEventsAtOnce = 32;  ///< of one device

 private:
  struct Device {
    std::vector<std::uint32_t> ports;  ///< none: it has gone while it was being opened
    std::string file;                  ///< "uverbs0"
    std::unique_ptr<VerbsContext> context;
    std::uint64_t ticket = 0;  ///< what the poll descriptor calls it
    bool out = false;          ///< being opened
    SteadyTime not_before;
    std::optional<Error> failed;
  };

  [[nodiscard]] static bool is_due(const Device& device, SteadyTime now);
  /// `files`: see device_files().
  void open_due(const std::map<std::string, std::string>& files, SteadyTime now);
  void take_opened(Host& host, SteadyTime now);
  void drain(Host& host, const std::string& name, Device& device, SteadyTime now, FeedNews& news);
  void tell(const std::string& name, const Device& device, const VerbsEvent& event, SteadyTime now,
            FeedNews& news);
  void release(const std::string& name, Device& device);
  /// Devices by name, and their files: what the kernel offers now.
  std::map<std::string, std::string> device_files(Host& host);

  OwnedFd poll_;
  VerbsCalls calls_;
  std::map<std::string, Device> devices_;
  std::uint64_t tickets_ = 0;
  std::optional<Gap> no_files_;
};

}  // namespace linkhealth
