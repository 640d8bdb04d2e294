// One record of /dev/kmsg (linux: Documentation/ABI/testing/dev-kmsg). Programs that may write to
// that device choose the text: it is untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace linkhealth {

struct KernelRecord {
  std::uint32_t facility = 0;  ///< 0: the kernel; programs have 1 or more
  /// The kernel's local clock: CLOCK_MONOTONIC apart from some drift.
  SteadyTime t;
  std::string text;    ///< unescaped, then printable ASCII only, at most 1000 characters
  std::string device;  ///< DEVICE=: "+pci:0000:1b:00.0", "n3" (ifindex), "c231:192"; "" none
};

/// EBADMSG if it is not a record.
Result<KernelRecord> parse_kernel_record(std::string_view bytes);

/// Every PCI address in a text: "0000:1b:00.0".
std::vector<std::string> pci_addresses_in(std::string_view text);
/// Whether `name` occurs in the text as a whole word.
bool has_word(std::string_view text, std::string_view name);

}  // namespace linkhealth
