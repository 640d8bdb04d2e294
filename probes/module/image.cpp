#include "probes/module/image.h"

#include <algorithm>

namespace linkhealth {

namespace {
constexpr unsigned kHalf = 128;
}

ModulePageRequest request_of(const ModulePageKey& key) {
  const auto offset = static_cast<std::uint8_t>(key.upper ? kHalf : 0);
  return {key.i2c_address, key.bank, key.page, offset, kHalf};
}

bool is_valid(const ModulePageRequest& request) {
  const unsigned end = static_cast<unsigned>(request.offset) + request.length;
  if (request.length == 0 || request.length > kHalf || end > 2 * kHalf) return false;
  if (request.offset < kHalf && end > kHalf) return false;
  if (request.page != 0 && request.offset < kHalf) return false;
  return request.i2c_address <= 0x7f;
}

void ModuleImage::store(const ModulePageRequest& request, std::span<const std::uint8_t> bytes) {
  if (!is_valid(request)) return;
  answered_.insert(request.key());
  const std::size_t count = std::min<std::size_t>(bytes.size(), request.length);
  if (count == 0) return;
  Half& half = halves_[request.key()];
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (request.offset + i) % kHalf;
    half.bytes[at] = bytes[i];
    half.present.set(at);
  }
}

void ModuleImage::forget(const ModulePageKey& key) {
  answered_.erase(key);
  halves_.erase(key);
}

const ModuleImage::Half* ModuleImage::half(const ModulePageKey& key) const {
  const auto found = halves_.find(key);
  return found == halves_.end() ? nullptr : &found->second;
}

std::optional<std::uint8_t> ModuleImage::byte(const ModulePageKey& key, unsigned offset) const {
  return ModulePage(*this, key).byte(offset);
}

std::optional<std::span<const std::uint8_t, 128>> ModuleImage::whole(
    const ModulePageKey& key) const {
  const Half* found = half(key);
  if (found == nullptr || !found->present.all()) return std::nullopt;
  return std::span<const std::uint8_t, 128>(found->bytes);
}

std::vector<ModulePageKey> ModuleImage::keys() const {
  std::vector<ModulePageKey> out;
  for (const auto& [key, half] : halves_) out.push_back(key);
  return out;
}

std::optional<std::uint8_t> ModulePage::byte(unsigned offset) const {
  if (half_ == nullptr || (offset >= kHalf) != upper_ || offset >= 2 * kHalf) return std::nullopt;
  const unsigned at = offset % kHalf;
  return half_->present.test(at) ? std::optional(half_->bytes.at(at)) : std::nullopt;
}

std::optional<std::uint16_t> ModulePage::u16(unsigned offset) const {
  const auto high = byte(offset);
  const auto low = byte(offset + 1);
  if (!high || !low) return std::nullopt;
  return static_cast<std::uint16_t>((*high << 8) | *low);
}

std::optional<std::uint32_t> ModulePage::u32(unsigned offset) const {
  const auto high = u16(offset);
  const auto low = u16(offset + 2);
  if (!high || !low) return std::nullopt;
  return (static_cast<std::uint32_t>(*high) << 16) | *low;
}

std::optional<bool> ModulePage::bit(unsigned offset, unsigned bit) const {
  const auto value = byte(offset);
  if (!value) return std::nullopt;
  return ((*value >> bit) & 1U) != 0;
}

bool ModulePage::are_ones(unsigned first, unsigned last) const {
  for (unsigned at = first; at <= last; ++at)
    if (byte(at) != 0xff) return false;
  return true;
}

std::optional<std::string> ModulePage::raw(unsigned offset, unsigned length) const {
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    const auto value = byte(offset + i);
    if (!value) return std::nullopt;
    out.push_back(static_cast<char>(*value));
  }
  return out;
}

std::optional<bool> ModulePage::checksum_ok(unsigned first, unsigned last, unsigned at) const {
  const auto stated = byte(at);
  const auto summed = raw(first, last - first + 1);
  if (!stated || !summed) return std::nullopt;
  unsigned sum = 0;
  for (const char one : *summed) sum += static_cast<unsigned char>(one);
  return (sum & 0xffU) == *stated;
}

}  // namespace linkhealth
