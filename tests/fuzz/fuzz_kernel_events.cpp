// Any bytes as a record of the kernel log, as a device event, and as the text of a line: nothing
// overruns, and what is kept is printable and bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "model/kernel_log.h"
#include "probes/netlink/kernel_events.h"
#include "probes/sysfs/kernel_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linkhealth;
  const auto copy = std::make_unique<std::byte[]>(size);
  for (std::size_t i = 0; i < size; ++i) copy[i] = static_cast<std::byte>(data[i]);
  const std::string_view text(reinterpret_cast<const char*>(copy.get()), size);
  if (const auto record = parse_kernel_record(text)) {
    if (record->text.size() > 1000) std::abort();
    for (const char c : record->text)
      if (c < 0x20 || c > 0x7e) std::abort();
    if (has_word(record->text, "eth0") && record->text.find("eth0") == std::string::npos)
      std::abort();
  }
  for (const std::string& address : pci_addresses_in(text))
    if (text.find(address) == std::string_view::npos) std::abort();
  static_cast<void>(classify_kernel_log(text));
  static_cast<void>(parse_uevent({copy.get(), size}));
  return 0;
}
