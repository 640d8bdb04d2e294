#include "probes/netlink_message.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <limits>

namespace linkhealth {
namespace {

constexpr std::size_t kAlignment = NLMSG_ALIGNTO;
static_assert(kAlignment == NLA_ALIGNTO);

constexpr std::size_t aligned(std::size_t size) {
  return (size + kAlignment - 1) & ~(kAlignment - 1);
}

template <typename Value>
Value read_at(ByteView bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Value));
  return value;
}

template <typename Value>
void write_at(Bytes& bytes, std::size_t offset, const Value& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(Value));
}

/// The length of the first attribute with its header; 0 when it does not fit into `rest`.
std::size_t attribute_length(ByteView rest) {
  if (rest.size() < sizeof(nlattr)) return 0;
  const std::size_t length = read_at<nlattr>(rest, 0).nla_len;
  return length >= sizeof(nlattr) && length <= rest.size() ? length : 0;
}

/// What is behind the first attribute and its padding. The last attribute may come without padding.
ByteView behind_first(ByteView rest) {
  return rest.subspan(std::min(aligned(attribute_length(rest)), rest.size()));
}

}  // namespace

Error bad_message(const std::string& what) { return {"netlink: " + what, EBADMSG}; }

NetlinkBuilder::NetlinkBuilder(std::uint16_t type, std::uint16_t flags) : bytes_(sizeof(nlmsghdr)) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST);
  write_at(bytes_, 0, head);
}

NetlinkBuilder& NetlinkBuilder::append(ByteView bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize(aligned(bytes_.size()));
  return *this;
}

NetlinkBuilder& NetlinkBuilder::put(std::uint16_t type, ByteView payload) {
  assert(payload.size() <= std::numeric_limits<std::uint16_t>::max() - sizeof(nlattr));
  nlattr head{};
  head.nla_type = type;
  head.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + payload.size());
  append(std::as_bytes(std::span(&head, 1)));
  return append(payload);
}

NetlinkBuilder& NetlinkBuilder::put_string(std::uint16_t type, std::string_view text) {
  std::vector<char> terminated(text.begin(), text.end());
  terminated.push_back('\0');
  return put(type, std::as_bytes(std::span(terminated)));
}

NetlinkBuilder& NetlinkBuilder::open_nest(std::uint16_t type) {
  nests_.push_back(bytes_.size());
  // Strict families (ethtool) refuse a nest without the flag.
  return put(static_cast<std::uint16_t>(type | NLA_F_NESTED), {});
}

NetlinkBuilder& NetlinkBuilder::close_nest() {
  assert(!nests_.empty());
  const std::size_t start = nests_.back();
  nests_.pop_back();
  nlattr head = read_at<nlattr>(bytes_, start);
  head.nla_len = static_cast<std::uint16_t>(bytes_.size() - start);
  write_at(bytes_, start, head);
  return *this;
}

Bytes NetlinkBuilder::take() {
  assert(nests_.empty());
  nlmsghdr head = read_at<nlmsghdr>(bytes_, 0);
  head.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
  write_at(bytes_, 0, head);
  return std::move(bytes_);
}

std::string_view NetlinkAttribute::text() const {
  const std::string_view all(reinterpret_cast<const char*>(payload.data()), payload.size());
  return all.substr(0, all.find('\0'));
}

NetlinkAttributes::NetlinkAttributes(ByteView bytes) : bytes_(bytes) {
  for (ByteView rest = bytes; !rest.empty(); rest = behind_first(rest)) {
    if (attribute_length(rest) != 0) continue;
    broken_ = true;
    bytes_ = {};
    return;
  }
}

NetlinkAttribute NetlinkAttributes::Iterator::operator*() const {
  const auto head = read_at<nlattr>(rest_, 0);
  return {static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
          rest_.subspan(sizeof(nlattr), head.nla_len - sizeof(nlattr))};
}

NetlinkAttributes::Iterator& NetlinkAttributes::Iterator::operator++() {
  rest_ = behind_first(rest_);
  return *this;
}

std::optional<NetlinkAttribute> NetlinkAttributes::find(std::uint16_t type) const {
  for (const NetlinkAttribute attribute : *this)
    if (attribute.type == type) return attribute;
  return std::nullopt;
}

std::optional<std::uint8_t> NetlinkAttributes::u8(std::uint16_t type) const {
  const auto attribute = find(type);
  return attribute ? attribute->u8() : std::nullopt;
}

std::optional<std::uint32_t> NetlinkAttributes::u32(std::uint16_t type) const {
  const auto attribute = find(type);
  return attribute ? attribute->u32() : std::nullopt;
}

std::optional<std::uint64_t> NetlinkAttributes::u64(std::uint16_t type) const {
  const auto attribute = find(type);
  return attribute ? attribute->u64() : std::nullopt;
}

std::string_view NetlinkAttributes::text(std::uint16_t type) const {
  const auto attribute = find(type);
  return attribute ? attribute->text() : std::string_view();
}

NetlinkAttributes NetlinkAttributes::nested(std::uint16_t type) const {
  const auto attribute = find(type);
  return attribute ? NetlinkAttributes(attribute->payload) : NetlinkAttributes();
}

Result<NetlinkMessage> open_netlink_message(ByteView bytes, std::size_t header_size) {
  if (bytes.size() < sizeof(nlmsghdr)) return bad_message("message shorter than its header");
  const auto head = read_at<nlmsghdr>(bytes, 0);
  if (head.nlmsg_len < sizeof(nlmsghdr) || head.nlmsg_len > bytes.size())
    return bad_message("message is cut off");
  const ByteView payload = bytes.subspan(sizeof(nlmsghdr), head.nlmsg_len - sizeof(nlmsghdr));
  if (payload.size() < header_size) return bad_message("no room for the fixed header");
  const std::size_t start = std::min(aligned(header_size), payload.size());
  NetlinkMessage message{head.nlmsg_type, head.nlmsg_flags, payload.first(header_size),
                         NetlinkAttributes(payload.subspan(start))};
  if (message.attributes.broken()) return bad_message("attributes do not fit into the message");
  return message;
}

Result<NetlinkAttributes> open_genl_message(ByteView bytes, std::uint8_t command) {
  const auto message = open_netlink_message(bytes, sizeof(genlmsghdr));
  if (!message) return message.error();
  if (message->type < NLMSG_MIN_TYPE || message->fixed<genlmsghdr>().cmd != command)
    return bad_message("not the answer that was asked for");
  return message->attributes;
}

}  // namespace linkhealth
