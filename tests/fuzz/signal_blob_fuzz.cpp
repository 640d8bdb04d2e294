// Any bytes are a row that keeps to its table and is written as the same bytes again, or an error
// that says why. Every second run gets a right checksum, so that what is behind it is reached.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/signal_blob.h"

namespace {

std::string with_checksum(std::string bytes) {
  unsigned crc = 0xffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x11021U : 0U);
  }
  bytes.push_back(static_cast<char>(crc & 0xffU));
  bytes.push_back(static_cast<char>((crc >> 8U) & 0xffU));
  return bytes;
}

void check(const std::string& bytes) {
  const auto values = linkhealth::parse_signal_blob(bytes);
  if (!values) {
    if (values.error().message.empty()) std::abort();
    return;
  }
  for (std::size_t i = 0; i < linkhealth::kSignalCount; ++i)
    if (std::isinf((*values)[i])) std::abort();
  if (linkhealth::signal_blob(*values) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  check(with_checksum(bytes));
  return 0;
}
