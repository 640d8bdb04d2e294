// One record of /dev/kmsg (linux: Documentation/ABI/testing/dev-kmsg). Whoever may write to that
// device chooses the text: it is untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace linkhealth {

struct KernelRecord {
  std::uint32_t level = 0;     ///< syslog level, 0 is the worst
  std::uint32_t facility = 0;  ///< 0: the kernel; who writes to /dev/kmsg has 1 or more
  std::uint64_t sequence = 0;
  /// The kernel's local clock, microseconds since boot: what CLOCK_MONOTONIC said then, but for
  /// some milliseconds of drift.
  SteadyTime t;
  std::string text;  ///< escapes undone, then printable ASCII only, at most 1000 characters
  std::string
      device;  ///< DEVICE=, as it stands: "+pci:0000:1b:00.0", "n3" (ifindex), "c231:192"; "" none
};

/// EBADMSG for what is not a record.
Result<KernelRecord> parse_kernel_record(std::string_view bytes);

/// Every PCI address in a text: "0000:1b:00.0".
std::vector<std::string> pci_addresses_in(std::string_view text);
/// True when `name` stands in the text as a word of its own.
bool has_word(std::string_view text, std::string_view name);

}  // namespace linkhealth
