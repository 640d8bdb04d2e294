#include "probes/module/image.h"

#include <algorithm>

namespace linkhealth {

namespace {
constexpr unsigned kHalf = 128;

ModulePageKey key_of(const ModulePageRequest& request) {
  return {request.i2c_address, request.bank, request.page, request.offset >= kHalf};
}

bool overlaps(const ModulePageRequest& a, const ModulePageRequest& b) {
  return key_of(a) == key_of(b) && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}
}  // namespace

bool is_valid(const ModulePageRequest& request) {
  const unsigned end = static_cast<unsigned>(request.offset) + request.length;
  if (request.length == 0 || request.length > kHalf || end > 2 * kHalf) return false;
  if (request.offset < kHalf && end > kHalf) return false;
  if (request.page != 0 && request.offset < kHalf) return false;
  return request.i2c_address <= 0x7f;
}

void ModuleImage::store(const ModulePageRequest& request, std::span<const std::uint8_t> bytes) {
  if (!is_valid(request)) return;
  answered_.insert(request);
  const std::size_t count = std::min<std::size_t>(bytes.size(), request.length);
  if (count == 0) return;
  Half& half = halves_[key_of(request)];
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (request.offset + i) % kHalf;
    half.bytes[at] = bytes[i];
    half.present.set(at);
  }
}

bool ModuleImage::answered(const ModulePageRequest& request) const {
  if (answered_.contains(request)) return true;
  const auto half = halves_.find(key_of(request));
  if (half == halves_.end()) return false;
  for (unsigned i = 0; i < request.length; ++i)
    if (!half->second.present.test((request.offset + i) % kHalf)) return false;
  return true;
}

void ModuleImage::forget(const ModulePageRequest& request) {
  std::erase_if(answered_, [&](const ModulePageRequest& made) { return overlaps(made, request); });
  const auto half = halves_.find(key_of(request));
  if (half == halves_.end()) return;
  for (unsigned i = 0; i < request.length; ++i)
    half->second.present.reset((request.offset + i) % kHalf);
  if (half->second.present.none()) halves_.erase(half);
}

void ModuleImage::drop(const ModulePageKey& key) { halves_.erase(key); }

const ModuleImage::Half* ModuleImage::half(const ModulePageKey& key) const {
  const auto found = halves_.find(key);
  return found == halves_.end() ? nullptr : &found->second;
}

std::optional<std::uint8_t> ModuleImage::byte(const ModulePageKey& key, unsigned offset) const {
  return ModulePage(*this, key).byte(offset);
}

std::optional<std::span<const std::uint8_t, 128>> ModuleImage::whole(
    const ModulePageKey& key) const {
  const auto half = halves_.find(key);
  if (half == halves_.end() || !half->second.present.all()) return std::nullopt;
  return std::span<const std::uint8_t, 128>(half->second.bytes);
}

std::vector<ModulePageKey> ModuleImage::keys() const {
  std::vector<ModulePageKey> out;
  out.reserve(halves_.size());
  for (const auto& [key, half] : halves_) out.push_back(key);
  return out;
}

std::optional<std::uint8_t> ModulePage::byte(unsigned offset) const {
  if (half_ == nullptr || offset >= 2 * kHalf || (offset >= kHalf) != key_.upper)
    return std::nullopt;
  const unsigned at = offset % kHalf;
  return half_->present.test(at) ? std::optional(half_->bytes.at(at)) : std::nullopt;
}

std::optional<std::uint16_t> ModulePage::u16(unsigned offset) const {
  const auto high = byte(offset);
  const auto low = byte(offset + 1);
  if (!high || !low) return std::nullopt;
  return static_cast<std::uint16_t>((*high << 8) | *low);
}

std::optional<std::int16_t> ModulePage::s16(unsigned offset) const {
  const auto value = u16(offset);
  if (!value) return std::nullopt;
  return static_cast<std::int16_t>(*value);
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
  if (!stated) return std::nullopt;
  unsigned sum = 0;
  for (unsigned i = first; i <= last; ++i) {
    const auto value = byte(i);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return (sum & 0xffU) == *stated;
}

bool ModulePage::exists() const {
  const unsigned base = key_.upper ? kHalf : 0;
  for (unsigned i = 0; i < kHalf; ++i)
    if (byte(base + i)) return true;
  return false;
}

}  // namespace linkhealth
