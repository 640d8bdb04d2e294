#include "tests/probes/netlink/devlink_answers.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstring>

#include "probes/netlink/netlink_message.h"

namespace linkhealth::testing {

namespace {

constexpr std::uint16_t kFamily = 0x15;

Bytes family_answer() {
  genlmsghdr head{};
  head.cmd = CTRL_CMD_NEWFAMILY;
  return NetlinkBuilder(GENL_ID_CTRL, 0)
      .header(head)
      .put(CTRL_ATTR_FAMILY_ID, std::as_bytes(std::span(&kFamily, 1)))
      .bytes();
}

bool requests_devlink(std::span<const std::byte> request) {
  const auto message = parse_netlink_message(request, sizeof(genlmsghdr));
  return message && message->attributes[CTRL_ATTR_FAMILY_NAME].text() == DEVLINK_GENL_NAME;
}

}  // namespace

Bytes devlink_reporter(const std::string& bus, const std::string& device, const std::string& name,
                       std::uint8_t state, std::uint64_t errors) {
  genlmsghdr head{};
  head.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET;
  return NetlinkBuilder(kFamily, NLM_F_MULTI)
      .header(head)
      .put_string(DEVLINK_ATTR_BUS_NAME, bus)
      .put_string(DEVLINK_ATTR_DEV_NAME, device)
      .open_nest(DEVLINK_ATTR_HEALTH_REPORTER)
      .put_string(DEVLINK_ATTR_HEALTH_REPORTER_NAME, name)
      .put_u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE, state)
      .put_u64(DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, errors)
      .put_u64(DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 2)
      .close_nest()
      .bytes();
}

Bytes devlink_diagnosis(const std::string& description) {
  constexpr std::uint8_t kU32 = 3,
                         kString = 10;  // NLA_U32, NLA_NUL_STRING (linux: include/net/netlink.h)
  genlmsghdr head{};
  head.cmd = DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE;
  NetlinkBuilder answer(kFamily, NLM_F_MULTI);
  answer.header(head).open_nest(DEVLINK_ATTR_FMSG).put_flag(DEVLINK_ATTR_FMSG_OBJ_NEST_START);
  const auto pair = [&](const std::string& name, std::uint8_t type) -> NetlinkBuilder& {
    return answer.put_flag(DEVLINK_ATTR_FMSG_PAIR_NEST_START)
        .put_string(DEVLINK_ATTR_FMSG_OBJ_NAME, name)
        .put_u8(DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE, type);
  };
  pair("Syndrome", kU32)
      .put_u32(DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, 0x102)
      .put_flag(DEVLINK_ATTR_FMSG_NEST_END);
  if (!description.empty())
    pair("Description", kString)
        .put_string(DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, description)
        .put_flag(DEVLINK_ATTR_FMSG_NEST_END);
  return answer.put_flag(DEVLINK_ATTR_FMSG_NEST_END).close_nest().bytes();
}

Result<std::vector<Bytes>> DevlinkAnswers::answer(int protocol,
                                                  std::span<const std::byte> request) {
  if (protocol != NETLINK_GENERIC) return Error{"no such protocol", EPROTONOSUPPORT};
  nlmsghdr head;
  std::memcpy(&head, request.data(), sizeof(head));
  if (head.nlmsg_type == GENL_ID_CTRL) {
    if (!requests_devlink(request)) return Error{"no such family", ENOENT};
    return std::vector<Bytes>{family_answer()};
  }
  if (head.nlmsg_type != kFamily) return Error{"no such family", ENOENT};
  if ((head.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) return dump();
  ++diagnoses;
  if (diagnosis_error != 0) return Error{std::strerror(diagnosis_error), diagnosis_error};
  return diagnose(request);
}

std::vector<Bytes> DevlinkAnswers::dump() const {
  std::vector<Bytes> answers;
  for (const auto& [device, its] : reporters)
    for (const auto& [name, reporter] : its)
      answers.push_back(devlink_reporter(device.first, device.second, name,
                                         reporter.in_error ? 1 : 0, reporter.errors));
  return answers;
}

Result<std::vector<Bytes>> DevlinkAnswers::diagnose(std::span<const std::byte> request) const {
  const auto message = parse_genl_message(request, DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE);
  if (!message) return message.error();
  const auto device = reporters.find({std::string((*message)[DEVLINK_ATTR_BUS_NAME].text()),
                                      std::string((*message)[DEVLINK_ATTR_DEV_NAME].text())});
  if (device == reporters.end()) return Error{"no such device", ENODEV};
  const auto reporter =
      device->second.find(std::string((*message)[DEVLINK_ATTR_HEALTH_REPORTER_NAME].text()));
  if (reporter == device->second.end()) return Error{"no such reporter", EINVAL};
  return std::vector<Bytes>{devlink_diagnosis(reporter->second.description)};
}

}  // namespace linkhealth::testing
