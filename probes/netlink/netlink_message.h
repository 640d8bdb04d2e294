// Netlink messages as bytes: a builder for requests and a strict reader for answers, over libnl
// (nlmsg_*, nla_*, genlmsg_*). No sockets here.
//
// A length in a message is compared with the bytes that are there before it is used. Numbers are
// in host byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probes/host.h"

struct nl_msg;
struct nlattr;

namespace linkhealth {

using ByteView = std::span<const std::byte>;

/// Builds one message: netlink header, the family's fixed header, attributes. At most one page:
/// requests are far smaller.
class NetlinkBuilder {
 public:
  /// `flags` are used unchanged, plus NLM_F_REQUEST.
  NetlinkBuilder(std::uint16_t type, std::uint16_t flags);
  /// A request to a generic netlink family.
  static NetlinkBuilder generic(std::uint16_t family, std::uint16_t flags, std::uint8_t command,
                                std::uint8_t version = 1);

  /// The family's fixed header (ifinfomsg, …). REQUIRES: before the first attribute.
  template <typename Header>
  NetlinkBuilder& header(const Header& fixed) {
    static_assert(std::is_trivially_copyable_v<Header>);
    return append(std::as_bytes(std::span(&fixed, 1)));
  }
  NetlinkBuilder& put_u8(std::uint16_t type, std::uint8_t value) { return number(type, value); }
  NetlinkBuilder& put_u32(std::uint16_t type, std::uint32_t value) { return number(type, value); }
  NetlinkBuilder& put_u64(std::uint16_t type, std::uint64_t value) { return number(type, value); }
  NetlinkBuilder& put_string(std::uint16_t type, const std::string& text);
  NetlinkBuilder& put(std::uint16_t type, ByteView payload);
  NetlinkBuilder& put_flag(std::uint16_t type) { return put(type, {}); }
  /// Attributes added between open and close are inside the nest.
  NetlinkBuilder& open_nest(std::uint16_t type);
  NetlinkBuilder& close_nest();

  /// The whole message. REQUIRES: all nests closed.
  [[nodiscard]] Bytes bytes() const;

 private:
  explicit NetlinkBuilder(nl_msg* message);
  NetlinkBuilder& append(ByteView fixed_header);
  template <typename Number>
  NetlinkBuilder& number(std::uint16_t type, Number value) {
    return put(type, std::as_bytes(std::span(&value, 1)));
  }

  std::unique_ptr<nl_msg, void (*)(nl_msg*)> message_;
  std::vector<nlattr*> nests_;  ///< those that are open
};

/// One attribute. The numbers are nullopt when the payload has another width: a reading is never
/// guessed.
struct NetlinkAttribute {
  std::uint16_t type = 0;  ///< without the NLA_F_* bits
  ByteView payload;

  [[nodiscard]] std::optional<std::uint8_t> u8() const { return number<std::uint8_t>(); }
  [[nodiscard]] std::optional<std::uint16_t> u16() const { return number<std::uint16_t>(); }
  [[nodiscard]] std::optional<std::uint32_t> u32() const { return number<std::uint32_t>(); }
  [[nodiscard]] std::optional<std::uint64_t> u64() const { return number<std::uint64_t>(); }
  /// Up to the first zero byte or the end of the payload.
  [[nodiscard]] std::string_view text() const;

 private:
  template <typename Number>
  [[nodiscard]] std::optional<Number> number() const {
    if (payload.size() != sizeof(Number)) return std::nullopt;
    Number value;
    std::memcpy(&value, payload.data(), sizeof(Number));
    return value;
  }
};

/// A chain of attributes over bytes that must outlive it. A chain that does not fit its bytes
/// exactly is broken, and a broken chain is empty: half a message gives no readings.
class NetlinkAttributes {
 public:
  NetlinkAttributes() = default;
  explicit NetlinkAttributes(ByteView bytes);

  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] bool broken() const { return broken_; }

  /// The first attribute of this type; without payload when there is none.
  [[nodiscard]] NetlinkAttribute operator[](std::uint16_t type) const;
  [[nodiscard]] bool contains(std::uint16_t type) const;
  /// The attributes inside a nest; empty if there is none or it is broken.
  [[nodiscard]] NetlinkAttributes nested(std::uint16_t type) const {
    return NetlinkAttributes((*this)[type].payload);
  }

 private:
  std::vector<NetlinkAttribute> all_;
  bool broken_ = false;
};

/// One parsed message. Points into the bytes it was made from.
struct NetlinkMessage {
  std::uint16_t type = 0;
  ByteView header;  ///< the family's fixed header
  NetlinkAttributes attributes;

  /// REQUIRES: parsed with sizeof(Header) or more.
  template <typename Header>
  [[nodiscard]] Header fixed() const {
    static_assert(std::is_trivially_copyable_v<Header>);
    Header value;
    std::memcpy(&value, header.data(), sizeof(Header));
    return value;
  }
};

/// Error EBADMSG if the message is shorter than its length field or its fixed header, or if its
/// attributes do not fit. Bytes after the message's own length are ignored.
Result<NetlinkMessage> parse_netlink_message(ByteView bytes, std::size_t header_size);

/// The attributes of one message of a generic netlink family. Error as above, or if it has another
/// command.
Result<NetlinkAttributes> parse_genl_message(ByteView bytes, std::uint8_t command);

/// The Error for an unusable message: "netlink: WHAT", errnum EBADMSG.
Error bad_message(const std::string& what);

/// Sends one request and returns its first answer.
Result<Bytes> request_one(Host& host, int protocol, const NetlinkBuilder& request);

/// The answer to a request to a generic netlink family. Move-only: `attributes` point into `bytes`.
struct GenericReply {
  GenericReply(Bytes message, NetlinkAttributes content)
      : bytes(std::move(message)), attributes(std::move(content)) {}
  GenericReply(GenericReply&&) = default;
  GenericReply& operator=(GenericReply&&) = default;
  Bytes bytes;
  NetlinkAttributes attributes;
};
/// Sends one request and parses its first answer, which must have the command `reply_command`.
Result<GenericReply> request_genl(Host& host, const NetlinkBuilder& request,
                                  std::uint8_t reply_command);

/// CTRL_CMD_GETFAMILY: the message type of a generic netlink family, fixed while the kernel runs.
/// ENOENT: the kernel does not have this family.
Result<std::uint16_t> resolve_family(Host& host, const std::string& family);

}  // namespace linkhealth
