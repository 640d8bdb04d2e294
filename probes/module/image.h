// The bytes that were read from a transceiver module's memory, and nothing else: the decoders' only
// input. What was not read, or did not come (a refused page, a short read), is absent; no byte is
// ever made up.
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

/// I2C addresses of a module: A0h and A2h of SFF-8472, seven bits as the kernel wants them.
inline constexpr std::uint8_t kModuleAddressA0 = 0x50;
inline constexpr std::uint8_t kModuleAddressA2 = 0x51;

/// One read of ETHTOOL_MSG_MODULE_EEPROM_GET. The kernel's rules (net/ethtool/eeprom.c): 1 to 128
/// bytes, not across the middle of a page, and only the upper half of any page but 0.
struct ModulePageRequest {
  std::uint8_t i2c_address = kModuleAddressA0;
  std::uint8_t bank = 0;
  std::uint8_t page = 0;
  std::uint8_t offset = 0;  ///< 0 to 255
  std::uint8_t length = 128;
  auto operator<=>(const ModulePageRequest&) const = default;
};

/// True when the kernel would accept it.
bool is_valid(const ModulePageRequest& request);

/// A byte's page: half a page of one bank.
struct ModulePageKey {
  std::uint8_t i2c_address = kModuleAddressA0;
  std::uint8_t bank = 0;
  std::uint8_t page = 0;
  bool upper = false;  ///< false: bytes 0 to 127, which are the same on every page
  auto operator<=>(const ModulePageKey&) const = default;
};

class ModuleImage {
 public:
  struct Half {
    std::array<std::uint8_t, 128> bytes{};
    std::bitset<128> present;
  };

  /// Takes the answer to `request`: as many bytes as came, none for a read that failed. Bytes
  /// beyond the request are ignored. The request counts as made from then on.
  void store(const ModulePageRequest& request, std::span<const std::uint8_t> bytes);
  /// True when store() was called for this request, or its bytes are all there.
  [[nodiscard]] bool answered(const ModulePageRequest& request) const;
  /// Forgets the bytes of `request`, and that any read of them was made.
  void forget(const ModulePageRequest& request);
  /// Forgets half a page.
  void drop(const ModulePageKey& key);

  /// One byte; nullopt when it was not read. `offset` is 0 to 255.
  [[nodiscard]] std::optional<std::uint8_t> byte(const ModulePageKey& key, unsigned offset) const;
  /// Half a page, with at least one byte; nullptr where none was read. It stands until the image is
  /// changed.
  [[nodiscard]] const Half* half(const ModulePageKey& key) const;
  /// The 128 bytes of half a page when all are there.
  [[nodiscard]] std::optional<std::span<const std::uint8_t, 128>> whole(
      const ModulePageKey& key) const;
  /// The half pages with at least one byte, ordered.
  [[nodiscard]] std::vector<ModulePageKey> keys() const;
  [[nodiscard]] bool empty() const { return halves_.empty(); }

 private:
  std::map<ModulePageKey, Half> halves_;
  std::set<ModulePageRequest> answered_;
};

/// One half page of an image, seen with the page's own offsets (0 to 127 lower, 128 to 255 upper).
/// Numbers are big endian, as all three memory maps have them. Anything that was not read whole is
/// nullopt. It holds until the image is changed: a decoder asks for thousands of bytes, so that the
/// half page is looked up once.
class ModulePage {
 public:
  ModulePage(const ModuleImage& image, ModulePageKey key) : half_(image.half(key)), key_(key) {}

  [[nodiscard]] std::optional<std::uint8_t> byte(unsigned offset) const;
  [[nodiscard]] std::optional<std::uint16_t> u16(unsigned offset) const;
  [[nodiscard]] std::optional<std::int16_t> s16(unsigned offset) const;
  [[nodiscard]] std::optional<std::uint32_t> u32(unsigned offset) const;
  /// Bit `bit` of the byte at `offset`.
  [[nodiscard]] std::optional<bool> bit(unsigned offset, unsigned bit) const;
  /// True only when the byte was read and the bit is set: for advertisements, where not read means
  /// not offered.
  [[nodiscard]] bool offers(unsigned offset, unsigned bit) const {
    return this->bit(offset, bit).value_or(false);
  }
  /// `length` bytes as they are; nullopt when one is missing.
  [[nodiscard]] std::optional<std::string> raw(unsigned offset, unsigned length) const;
  /// Whether the sum of bytes first..last, modulo 256, is the byte at `at`; nullopt when one of
  /// them was not read.
  [[nodiscard]] std::optional<bool> checksum_ok(unsigned first, unsigned last, unsigned at) const;
  /// True when at least one byte was read.
  [[nodiscard]] bool exists() const;
  [[nodiscard]] const ModulePageKey& key() const { return key_; }

 private:
  const ModuleImage::Half* half_;
  ModulePageKey key_;
};

/// The lower half of A0h; of A2h; and the upper half of a page of A0h.
inline ModulePage lower_page(const ModuleImage& image) {
  return {image, {kModuleAddressA0, 0, 0, false}};
}
inline ModulePage a2_page(const ModuleImage& image) {
  return {image, {kModuleAddressA2, 0, 0, false}};
}
/// Of a tunable SFP.
inline constexpr ModulePageKey kTunablePage{kModuleAddressA2, 0, 0x02, true};
inline ModulePage upper_page(const ModuleImage& image, std::uint8_t page, std::uint8_t bank = 0) {
  return {image, {kModuleAddressA0, bank, page, true}};
}

}  // namespace linkhealth
