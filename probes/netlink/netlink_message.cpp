#include "probes/netlink/netlink_message.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <new>

namespace linkhealth {
namespace {

/// libnl fails only when the message has no room left.
void check_room([[maybe_unused]] bool fits) { assert(fits); }

ByteView view(const void* data, int size) {
  return {static_cast<const std::byte*>(data), static_cast<std::size_t>(std::max(size, 0))};
}

}  // namespace

Error bad_message(const std::string& what) { return {"netlink: " + what, EBADMSG}; }

NetlinkBuilder::NetlinkBuilder(nl_msg* message) : message_(message, nlmsg_free) {
  if (!message_) throw std::bad_alloc();
}

NetlinkBuilder::NetlinkBuilder(std::uint16_t type, std::uint16_t flags)
    : NetlinkBuilder(nlmsg_alloc_simple(type, flags | NLM_F_REQUEST)) {}

NetlinkBuilder NetlinkBuilder::generic(std::uint16_t family, std::uint16_t flags,
                                       std::uint8_t command, std::uint8_t version) {
  NetlinkBuilder builder(nlmsg_alloc());
  check_room(genlmsg_put(builder.message_.get(), 0, 0, family, 0, flags | NLM_F_REQUEST, command,
                         version) != nullptr);
  return builder;
}

NetlinkBuilder& NetlinkBuilder::append(ByteView fixed_header) {
  void* const room = nlmsg_reserve(message_.get(), fixed_header.size(), NLMSG_ALIGNTO);
  check_room(room != nullptr);
  if (room != nullptr) std::memcpy(room, fixed_header.data(), fixed_header.size());
  return *this;
}

NetlinkBuilder& NetlinkBuilder::put_string(std::uint16_t type, const std::string& text) {
  check_room(nla_put_string(message_.get(), type, text.c_str()) == 0);
  return *this;
}

NetlinkBuilder& NetlinkBuilder::put(std::uint16_t type, ByteView payload) {
  check_room(nla_put(message_.get(), type, static_cast<int>(payload.size()), payload.data()) == 0);
  return *this;
}

NetlinkBuilder& NetlinkBuilder::open_nest(std::uint16_t type) {
  nests_.push_back(nla_nest_start(message_.get(), type));
  check_room(nests_.back() != nullptr);
  return *this;
}

NetlinkBuilder& NetlinkBuilder::close_nest() {
  assert(!nests_.empty());
  if (nests_.back() != nullptr) nla_nest_end_keep_empty(message_.get(), nests_.back());
  nests_.pop_back();
  return *this;
}

Bytes NetlinkBuilder::bytes() const {
  assert(nests_.empty());
  const nlmsghdr* const head = nlmsg_hdr(message_.get());
  const ByteView all =
      std::as_bytes(std::span(reinterpret_cast<const char*>(head), head->nlmsg_len));
  return {all.begin(), all.end()};
}

std::string_view NetlinkAttribute::text() const {
  const std::string_view all(reinterpret_cast<const char*>(payload.data()), payload.size());
  return all.substr(0, all.find('\0'));
}

NetlinkAttributes::NetlinkAttributes(ByteView bytes) {
  const auto* attribute = reinterpret_cast<const nlattr*>(bytes.data());
  int rest = static_cast<int>(bytes.size());
  // The last attribute may lack its padding: nla_next() then makes `rest` negative.
  for (; rest > 0 && nla_ok(attribute, rest) != 0; attribute = nla_next(attribute, &rest))
    all_.push_back({static_cast<std::uint16_t>(nla_type(attribute)),
                    view(nla_data(attribute), nla_len(attribute))});
  broken_ = rest > 0;
  if (broken_) all_.clear();
}

NetlinkAttribute NetlinkAttributes::operator[](std::uint16_t type) const {
  const auto found = std::ranges::find(all_, type, &NetlinkAttribute::type);
  return found == all_.end() ? NetlinkAttribute{type, {}} : *found;
}

bool NetlinkAttributes::contains(std::uint16_t type) const {
  return std::ranges::find(all_, type, &NetlinkAttribute::type) != all_.end();
}

Result<NetlinkMessage> parse_netlink_message(ByteView bytes, std::size_t header_size) {
  const auto* head = reinterpret_cast<const nlmsghdr*>(bytes.data());
  const auto header_bytes = static_cast<int>(header_size);
  if (nlmsg_ok(head, static_cast<int>(bytes.size())) == 0) return bad_message("message is cut off");
  if (nlmsg_datalen(head) < header_bytes) return bad_message("no room for the fixed header");
  NetlinkMessage message{head->nlmsg_type, view(nlmsg_data(head), header_bytes),
                         NetlinkAttributes(view(nlmsg_attrdata(head, header_bytes),
                                                nlmsg_attrlen(head, header_bytes)))};
  if (message.attributes.broken()) return bad_message("attributes do not fit into the message");
  return message;
}

Result<NetlinkAttributes> parse_genl_message(ByteView bytes, std::uint8_t command) {
  auto message = parse_netlink_message(bytes, GENL_HDRLEN);
  if (!message) return message.error();
  auto* const head = const_cast<nlmsghdr*>(reinterpret_cast<const nlmsghdr*>(bytes.data()));
  if (message->type < NLMSG_MIN_TYPE || genlmsg_hdr(head)->cmd != command)
    return bad_message("not the expected answer");
  return std::move(message->attributes);
}

Result<Bytes> request_one(Host& host, int protocol, const NetlinkBuilder& request) {
  auto answers = host.netlink(protocol, request.bytes());
  if (!answers) return answers.error();
  if (answers->empty()) return bad_message("no answer");
  return std::move(answers->front());
}

Result<GenericReply> request_genl(Host& host, const NetlinkBuilder& request,
                                  std::uint8_t reply_command) {
  auto answer = request_one(host, NETLINK_GENERIC, request);
  if (!answer) return answer.error();
  auto attributes = parse_genl_message(*answer, reply_command);
  if (!attributes) return attributes.error();
  return GenericReply(*std::move(answer), *std::move(attributes));
}

Result<std::uint16_t> resolve_family(Host& host, const std::string& family) {
  const auto reply =
      request_genl(host,
                   NetlinkBuilder::generic(GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY)
                       .put_string(CTRL_ATTR_FAMILY_NAME, family),
                   CTRL_CMD_NEWFAMILY);
  if (!reply) return reply.error();
  const auto id = reply->attributes[CTRL_ATTR_FAMILY_ID].u16();
  if (!id || *id < NLMSG_MIN_TYPE) return bad_message("a family without a number");
  return *id;
}

}  // namespace linkhealth
