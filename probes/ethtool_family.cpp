#include "probes/ethtool_family.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace linkhealth {

Bytes build_family_request(std::string_view family) {
  genlmsghdr head{};
  head.cmd = CTRL_CMD_GETFAMILY;
  head.version = 1;
  return NetlinkBuilder(GENL_ID_CTRL, NLM_F_ACK)
      .header(head)
      .put_string(CTRL_ATTR_FAMILY_NAME, family)
      .take();
}

Result<std::uint16_t> parse_family_id(ByteView message) {
  const auto answer = open_genl_message(message, CTRL_CMD_NEWFAMILY);
  if (!answer) return answer.error();
  const auto id = answer->find(CTRL_ATTR_FAMILY_ID);
  const auto number = id ? id->u16() : std::nullopt;
  if (!number || *number < NLMSG_MIN_TYPE) return bad_message("a family without a number");
  return *number;
}

Result<EthtoolFamily> resolve_ethtool_family(Host& host) {
  const auto answer = ask_ethtool(host, build_family_request(ETHTOOL_GENL_NAME));
  if (!answer) return answer.error();
  const auto id = parse_family_id(*answer);
  if (!id) return id.error();
  return EthtoolFamily{*id};
}

NetlinkBuilder ethtool_request(EthtoolFamily family, std::uint8_t command, std::uint16_t header,
                               std::uint32_t ifindex, std::uint32_t flags) {
  genlmsghdr head{};
  head.cmd = command;
  head.version = ETHTOOL_GENL_VERSION;
  NetlinkBuilder request(family.id, NLM_F_ACK);
  request.header(head).open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
  if (flags != 0) request.put_u32(ETHTOOL_A_HEADER_FLAGS, flags);
  request.close_nest();
  return request;
}

Result<EthtoolDevice> ethtool_device(const NetlinkAttributes& answer, std::uint16_t header) {
  const NetlinkAttributes device = answer.nested(header);
  const auto ifindex = device.u32(ETHTOOL_A_HEADER_DEV_INDEX);
  if (!ifindex) return bad_message("an answer without a device");
  return EthtoolDevice{*ifindex, std::string(device.text(ETHTOOL_A_HEADER_DEV_NAME))};
}

Result<Bytes> ask_ethtool(Host& host, const Bytes& request) {
  auto answers = host.netlink(NETLINK_GENERIC, request);
  if (!answers) return answers.error();
  if (answers->empty()) return bad_message("no answer");
  return std::move(answers->front());
}

}  // namespace linkhealth
