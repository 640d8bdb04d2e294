// Netlink messages as bytes: a builder for requests and a strict reader for answers. No sockets
// here.
//
// The kernel is trusted to mean well, not to be of our version: a length is never believed before
// it was compared with what is there. Layout: include/uapi/linux/netlink.h. Numbers are in host
// byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "probes/host.h"

namespace linkhealth {

using ByteView = std::span<const std::byte>;

/// Builds one message: netlink header, the family's fixed header, attributes. Lengths and padding
/// are kept right.
class NetlinkBuilder {
 public:
  /// `flags` as they are; NLM_F_REQUEST is always added.
  NetlinkBuilder(std::uint16_t type, std::uint16_t flags);

  /// The family's fixed header (genlmsghdr, ifinfomsg, …). REQUIRES: before the first attribute.
  template <typename Header>
  NetlinkBuilder& header(const Header& fixed) {
    static_assert(std::is_trivially_copyable_v<Header>);
    return append(std::as_bytes(std::span(&fixed, 1)));
  }
  NetlinkBuilder& put_u8(std::uint16_t type, std::uint8_t value) { return put_number(type, value); }
  NetlinkBuilder& put_u32(std::uint16_t type, std::uint32_t value) {
    return put_number(type, value);
  }
  NetlinkBuilder& put_u64(std::uint16_t type, std::uint64_t value) {
    return put_number(type, value);
  }
  NetlinkBuilder& put_string(std::uint16_t type,
                             std::string_view text);  ///< zero-terminated on the wire
  NetlinkBuilder& put_flag(std::uint16_t type) { return put(type, {}); }
  NetlinkBuilder& put(std::uint16_t type, ByteView payload);
  /// Attributes between open and close are inside the nest.
  NetlinkBuilder& open_nest(std::uint16_t type);
  NetlinkBuilder& close_nest();

  /// REQUIRES: all nests closed.
  [[nodiscard]] Bytes take();

 private:
  template <typename Number>
  NetlinkBuilder& put_number(std::uint16_t type, Number value) {
    return put(type, std::as_bytes(std::span(&value, 1)));
  }
  NetlinkBuilder& append(ByteView bytes);

  Bytes bytes_;
  std::vector<std::size_t> nests_;  ///< offsets of the open nests
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
/// exactly is broken, and a broken chain is empty: what could be half a message gives no readings.
class NetlinkAttributes {
 public:
  NetlinkAttributes() = default;
  explicit NetlinkAttributes(ByteView bytes);

  class Iterator {
   public:
    explicit Iterator(ByteView rest) : rest_(rest) {}
    NetlinkAttribute operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    ByteView rest_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(bytes_); }
  [[nodiscard]] Iterator end() const { return Iterator(ByteView()); }

  [[nodiscard]] bool broken() const { return broken_; }
  /// The first attribute of this type.
  [[nodiscard]] std::optional<NetlinkAttribute> find(std::uint16_t type) const;
  [[nodiscard]] std::optional<std::uint8_t> u8(std::uint16_t type) const;
  [[nodiscard]] std::optional<std::uint32_t> u32(std::uint16_t type) const;
  [[nodiscard]] std::optional<std::uint64_t> u64(std::uint16_t type) const;
  [[nodiscard]] std::string_view text(std::uint16_t type) const;  ///< "" when there is none
  /// The attributes inside a nest; empty when there is no such nest or it is broken.
  [[nodiscard]] NetlinkAttributes nested(std::uint16_t type) const;

 private:
  ByteView bytes_;
  bool broken_ = false;
};

/// One whole message, taken apart. Points into the bytes it was made from.
struct NetlinkMessage {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  ByteView header;  ///< the family's fixed header, exactly as many bytes as asked for
  NetlinkAttributes attributes;

  /// REQUIRES: opened with sizeof(Header) or more.
  template <typename Header>
  [[nodiscard]] Header fixed() const {
    static_assert(std::is_trivially_copyable_v<Header>);
    Header value;
    std::memcpy(&value, header.data(), sizeof(Header));
    return value;
  }
};

/// Takes a message apart. An Error (errnum EBADMSG) when it is shorter than it says, than its fixed
/// header, or when its attributes do not fit. Bytes behind the message's own length are ignored.
Result<NetlinkMessage> open_netlink_message(ByteView bytes, std::size_t header_size);

/// One message of a generic netlink family, checked to be of `command`. Error as above, or when it
/// is another message.
Result<NetlinkAttributes> open_genl_message(ByteView bytes, std::uint8_t command);

/// The Error of a message that cannot be used: "netlink: WHAT", errnum EBADMSG.
Error bad_message(const std::string& what);

}  // namespace linkhealth
