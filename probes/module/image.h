// The bytes that were read from a transceiver module's memory: the decoders' only input. What was
// not read or not returned (a refused page, a short read) is absent.
#pragma once

#include <array>
#include <bitset>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace linkhealth {

/// I2C addresses of a module, A0h and A2h of SFF-8472, in the kernel's seven-bit form.
inline constexpr std::uint8_t kModuleAddressA0 = 0x50;
inline constexpr std::uint8_t kModuleAddressA2 = 0x51;

/// Half a page of one bank: the result of one read.
struct ModulePageKey {
  std::uint8_t i2c_address = kModuleAddressA0;
  std::uint8_t bank = 0;
  std::uint8_t page = 0;
  bool upper = false;  ///< false: bytes 0 to 127, which are the same on every page
  auto operator<=>(const ModulePageKey&) const = default;
};
inline constexpr ModulePageKey kLowerPage{};
inline constexpr ModulePageKey kA2Page{kModuleAddressA2, 0, 0, false};
constexpr ModulePageKey upper_key(std::uint8_t page, std::uint8_t bank = 0) {
  return {kModuleAddressA0, bank, page, true};
}

/// One read by ETHTOOL_MSG_MODULE_EEPROM_GET. The kernel's rules (net/ethtool/eeprom.c): 1 to 128
/// bytes, not across the middle of a page, and only the upper half of any page but 0.
struct ModulePageRequest {
  std::uint8_t i2c_address = kModuleAddressA0;
  std::uint8_t bank = 0;
  std::uint8_t page = 0;
  std::uint8_t offset = 0;  ///< 0 to 255
  std::uint8_t length = 128;
  auto operator<=>(const ModulePageRequest&) const = default;

  [[nodiscard]] ModulePageKey key() const { return {i2c_address, bank, page, offset >= 128}; }
};
/// The request for a whole half page.
ModulePageRequest request_of(const ModulePageKey& key);
/// Whether the kernel would accept it.
bool is_valid(const ModulePageRequest& request);

class ModuleImage {
 public:
  struct Half {
    std::array<std::uint8_t, 128> bytes{};
    std::bitset<128> present;
  };

  /// Stores the answer to `request`: the bytes that were returned, none for a failed read. Bytes
  /// beyond the request are ignored.
  void store(const ModulePageRequest& request, std::span<const std::uint8_t> bytes);
  /// Whether store() was called for this half page, even without bytes.
  [[nodiscard]] bool answered(const ModulePageKey& key) const { return answered_.contains(key); }
  /// Removes the bytes of half a page and its answered mark.
  void forget(const ModulePageKey& key);
  /// Marks all half pages as not answered; their bytes stay until new ones are stored.
  void expect_new_answers() { answered_.clear(); }

  /// One byte; nullopt when it was not read. `offset` is 0 to 255.
  [[nodiscard]] std::optional<std::uint8_t> byte(const ModulePageKey& key, unsigned offset) const;
  /// nullptr if no byte was read. Valid until the image changes.
  [[nodiscard]] const Half* half(const ModulePageKey& key) const;
  /// The 128 bytes of half a page, if complete.
  [[nodiscard]] std::optional<std::span<const std::uint8_t, 128>> whole(
      const ModulePageKey& key) const;
  /// The half pages with at least one byte, ordered.
  [[nodiscard]] std::vector<ModulePageKey> keys() const;
  [[nodiscard]] bool empty() const { return halves_.empty(); }

 private:
  std::map<ModulePageKey, Half> halves_;
  std::set<ModulePageKey> answered_;
};

/// One half page of an image, with the page's own offsets (0 to 127 lower, 128 to 255 upper).
/// Numbers are big endian. A number that was not read completely is nullopt. Valid until the image
/// changes.
class ModulePage {
 public:
  ModulePage(const ModuleImage& image, const ModulePageKey& key)
      : half_(image.half(key)), upper_(key.upper) {}

  [[nodiscard]] std::optional<std::uint8_t> byte(unsigned offset) const;
  /// 0 for a byte that was not read: for codes and advertisements, where 0 means "not offered".
  [[nodiscard]] std::uint8_t code(unsigned offset) const { return byte(offset).value_or(0); }
  [[nodiscard]] std::optional<std::uint16_t> u16(unsigned offset) const;
  [[nodiscard]] std::optional<std::uint32_t> u32(unsigned offset) const;
  [[nodiscard]] std::optional<bool> bit(unsigned offset, unsigned bit) const;
  /// Whether the byte was read and the bit is set.
  [[nodiscard]] bool offers(unsigned offset, unsigned bit) const {
    return this->bit(offset, bit).value_or(false);
  }
  /// Whether bytes first..last were read and all are FFh.
  [[nodiscard]] bool are_ones(unsigned first, unsigned last) const;
  /// `length` unconverted bytes; nullopt if one is missing.
  [[nodiscard]] std::optional<std::string> raw(unsigned offset, unsigned length) const;
  /// Whether the sum of bytes first..last, modulo 256, equals the byte at `at`; nullopt if one of
  /// them was not read.
  [[nodiscard]] std::optional<bool> checksum_ok(unsigned first, unsigned last, unsigned at) const;
  /// Whether at least one byte was read.
  [[nodiscard]] bool exists() const { return half_ != nullptr; }

 private:
  const ModuleImage::Half* half_;
  bool upper_;
};

inline ModulePage lower_page(const ModuleImage& image) { return {image, kLowerPage}; }
inline ModulePage a2_page(const ModuleImage& image) { return {image, kA2Page}; }
inline ModulePage upper_page(const ModuleImage& image, std::uint8_t page, std::uint8_t bank = 0) {
  return {image, upper_key(page, bank)};
}

}  // namespace linkhealth
