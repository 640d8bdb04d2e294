// Any bytes as the kernel's answer to any netlink or ethtool request, and as any event: the readers
// neither overrun nor take much memory.
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/netlink/devlink_health.h"
#include "probes/netlink/ethtool.h"
#include "probes/netlink/ethtool_driver_stats.h"
#include "probes/netlink/kernel_events.h"
#include "probes/netlink/netlink_message.h"
#include "probes/netlink/rtnl_link.h"

namespace {

using namespace linkhealth;

class FuzzEvents final : public HostEvents {
 public:
  explicit FuzzEvents(Bytes bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] int fd() const override { return 0; }
  Result<std::vector<Bytes>> receive() override { return std::vector<Bytes>{bytes_}; }

 private:
  Bytes bytes_;
};

class FuzzHost final : public Host {
 public:
  explicit FuzzHost(Bytes answer) : answer_(std::move(answer)) {}
  Result<std::string> read_file(const std::string& path) override { return Error{path, ENOENT}; }
  Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) override {
    return Error{path, ENOENT};
  }
  Result<std::vector<std::string>> list_dir(const std::string& path) override {
    return Error{path, ENOENT};
  }
  Result<std::string> resolve(const std::string& path) override { return Error{path, ENOENT}; }
  Result<std::vector<Bytes>> netlink(int, std::span<const std::byte> request) override {
    // A family is found, so that the request behind it is made.
    const auto message = parse_netlink_message(request, GENL_HDRLEN);
    if (message && message->type == GENL_ID_CTRL)
      return std::vector<Bytes>{NetlinkBuilder::generic(GENL_ID_CTRL, 0, CTRL_CMD_NEWFAMILY)
                                    .put(CTRL_ATTR_FAMILY_ID, std::as_bytes(std::span(&kFamily, 1)))
                                    .bytes()};
    const bool is_dump =
        message && message->fixed<genlmsghdr>().cmd == DEVLINK_CMD_HEALTH_REPORTER_GET;
    if (message && message->type == kFamily && is_dump)
      return std::vector<Bytes>{answer_, reporter()};
    return std::vector<Bytes>{answer_};
  }
  Result<bool> ethtool(const std::string&, std::span<std::byte> command) override {
    std::copy_n(answer_.begin(), std::min(answer_.size(), command.size()), command.begin());
    return true;
  }
  Result<std::unique_ptr<HostEvents>> listen(int, std::span<const std::uint32_t>) override {
    return std::unique_ptr<HostEvents>(std::make_unique<FuzzEvents>(answer_));
  }
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override {
    return Error{path, ENOENT};
  }

 private:
  static constexpr std::uint16_t kFamily = 0x15;
  /// A reporter with a new error each time, so that it is diagnosed.
  Bytes reporter() {
    return NetlinkBuilder::generic(kFamily, 0, DEVLINK_CMD_HEALTH_REPORTER_GET)
        .open_nest(DEVLINK_ATTR_HEALTH_REPORTER)
        .put_string(DEVLINK_ATTR_HEALTH_REPORTER_NAME, "port")
        .put_u64(DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, ++errors_)
        .close_nest()
        .bytes();
  }
  Bytes answer_;
  std::uint64_t errors_ = 0;
};

/// Reads every attribute's payload, and what could be nests in it.
void walk(const NetlinkAttributes& attributes, int depth) {
  for (const NetlinkAttribute& attribute : attributes) {
    volatile std::size_t used = attribute.text().size() + attribute.u64().value_or(0);
    static_cast<void>(used);
    if (depth > 0) walk(NetlinkAttributes(attribute.payload), depth - 1);
  }
}

void read_all(const Bytes& bytes) {
  if (const auto message = parse_netlink_message(bytes, 4)) walk(message->attributes, 4);
  FuzzHost host(bytes);
  constexpr EthtoolFamily kFamily{0x14};
  EthtoolStatNames names;
  if (auto read = read_stat_names(host, kFamily)) names = *std::move(read);
  for (std::uint32_t set = 0; set < 32; ++set) names[set].resize(32, "name");
  bool statistics = true;
  static_cast<void>(read_netdev_identity(host, 2));
  static_cast<void>(read_netdev_stats(host));
  static_cast<void>(read_linkstate(host, kFamily, 2, statistics));
  static_cast<void>(read_linkmodes(host, kFamily, 2));
  static_cast<void>(read_fec(host, kFamily, 2, {100000, 4}));
  static_cast<void>(read_stats(host, kFamily, 2, names));
  static_cast<void>(read_pause(host, kFamily, 2));
  static_cast<void>(read_module(host, kFamily, 2, {}));
  HealthReporters reporters;
  for (int i = 0; i < 2; ++i) static_cast<void>(reporters.read(host));
  static_cast<void>(DriverStatisticsReader().read(host, "eth0"));
  LinkEvents(host).receive(host, SteadyTime());
  DeviceEvents(host).receive(host, SteadyTime());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The first input byte chooses whether the message's own length is corrected: otherwise almost
  // nothing gets past it.
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  Bytes bytes(input.begin(), input.end());
  if (data[0] % 2 == 0 && bytes.size() >= 4)
    for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(bytes.size() >> (8 * i));
  read_all(bytes);
  return 0;
}
