#include "probes/rdma_netlink.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string_view>

namespace linkhealth {
namespace {

/// enum ib_port_state and ib_port_phys_state (include/rdma/ib_verbs.h), in the words of
/// /sys/class/infiniband.
constexpr std::array<std::string_view, 6> kStates = {"NOP",   "DOWN",   "INIT",
                                                     "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr std::array<std::string_view, 8> kPhysStates = {"",
                                                         "Sleep",
                                                         "Polling",
                                                         "Disabled",
                                                         "PortConfigurationTraining",
                                                         "LinkUp",
                                                         "LinkErrorRecovery",
                                                         "Phy Test"};

std::string word_of(std::optional<std::uint8_t> code, std::span<const std::string_view> words) {
  return code && *code < words.size() ? std::string(words[*code]) : "";
}

constexpr std::uint16_t message_type(unsigned command) {
  return static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

Bytes build_port_request(unsigned command, std::uint32_t device, std::uint32_t port) {
  return NetlinkBuilder(message_type(command), NLM_F_ACK)
      .put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, device)
      .put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, port)
      .bytes();
}

/// The attributes of an answer that names a device and is called `command`.
Result<NetlinkAttributes> open_answer(ByteView bytes, unsigned command) {
  const auto message = parse_netlink_message(bytes, 0);
  if (!message) return message.error();
  if (message->type != message_type(command))
    return bad_message("not the answer that was asked for");
  if (!message->attributes[RDMA_NLDEV_ATTR_DEV_INDEX].u32())
    return bad_message("an answer without a device");
  return message->attributes;
}

Result<Bytes> ask(Host& host, const Bytes& request) {
  return request_one(host, NETLINK_RDMA, request);
}

}  // namespace

Bytes build_rdma_devices_dump() {
  return NetlinkBuilder(message_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP).bytes();
}

Result<RdmaDevice> parse_rdma_device(ByteView message) {
  const auto answer = open_answer(message, RDMA_NLDEV_CMD_GET);
  if (!answer) return answer.error();
  RdmaDevice device;
  device.index = (*answer)[RDMA_NLDEV_ATTR_DEV_INDEX].u32().value_or(0);
  device.name = (*answer)[RDMA_NLDEV_ATTR_DEV_NAME].text();
  if (device.name.empty()) return bad_message("a device without a name");
  return device;
}

Result<std::vector<RdmaDevice>> read_rdma_devices(Host& host) {
  const auto answers = host.netlink(NETLINK_RDMA, build_rdma_devices_dump());
  if (!answers) return answers.error();
  std::vector<RdmaDevice> devices;
  for (const Bytes& answer : *answers)
    if (auto device = parse_rdma_device(answer)) devices.push_back(std::move(*device));
  return devices;
}

Bytes build_rdma_port_get(std::uint32_t device, std::uint32_t port) {
  return build_port_request(RDMA_NLDEV_CMD_PORT_GET, device, port);
}

Result<RdmaPort> parse_rdma_port(ByteView message) {
  // The kernel calls its answer to PORT_GET "GET" (nldev_port_get_doit, seen on 6.1): the state
  // tells it apart.
  auto answer = open_answer(message, RDMA_NLDEV_CMD_GET);
  if (!answer) answer = open_answer(message, RDMA_NLDEV_CMD_PORT_GET);
  if (!answer) return answer.error();
  if (!(*answer)[RDMA_NLDEV_ATTR_PORT_INDEX].u32() || !(*answer)[RDMA_NLDEV_ATTR_PORT_STATE].u8())
    return bad_message("an answer without a port");
  RdmaPort port;
  port.state = word_of((*answer)[RDMA_NLDEV_ATTR_PORT_STATE].u8(), kStates);
  port.phys_state = word_of((*answer)[RDMA_NLDEV_ATTR_PORT_PHYS_STATE].u8(), kPhysStates);
  return port;
}

Result<RdmaPort> read_rdma_port(Host& host, std::uint32_t device, std::uint32_t port) {
  const auto answer = ask(host, build_rdma_port_get(device, port));
  if (!answer) return answer.error();
  return parse_rdma_port(*answer);
}

Bytes build_rdma_counters_get(std::uint32_t device, std::uint32_t port) {
  return build_port_request(RDMA_NLDEV_CMD_STAT_GET, device, port);
}

Result<Counters> parse_rdma_counters(ByteView message) {
  const auto answer = open_answer(message, RDMA_NLDEV_CMD_STAT_GET);
  if (!answer) return answer.error();
  Counters counters;
  for (const NetlinkAttribute& one : answer->nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)) {
    const NetlinkAttributes entry(one.payload);
    const std::string_view name = entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME].text();
    const auto value = entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE].u64();
    if (!name.empty() && value) counters.set(name, *value);
  }
  return counters;
}

Result<Counters> read_rdma_counters(Host& host, std::uint32_t device, std::uint32_t port) {
  const auto answer = ask(host, build_rdma_counters_get(device, port));
  if (!answer) return answer.error();
  return parse_rdma_counters(*answer);
}

}  // namespace linkhealth
