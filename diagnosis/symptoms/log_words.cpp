#include "diagnosis/symptoms/log_words.h"

namespace linkhealth::symptoms {

std::optional<SteadyTime> said_in_log(const PortView& v, KernelLogClass what) {
  constexpr double kBeforeS = 120;
  if (!v.down) return std::nullopt;
  for (auto line = v.port.device.kernel_log.rbegin(); line != v.port.device.kernel_log.rend();
       ++line) {
    const auto& [t, text] = *line;
    if (is_kernel_log(text, what)) {
      const bool of_this_fall =
          !v.port.carrier.since || in_seconds(t - *v.port.carrier.since) > -kBeforeS;
      const bool of_this_boot = !v.port.carrier.reboot_at || t >= *v.port.carrier.reboot_at;
      return of_this_fall && of_this_boot ? std::optional(t) : std::nullopt;
    }
    if (is_kernel_log(text, KernelLogClass::kLinkUp) ||
        is_kernel_log(text, KernelLogClass::kModulePlugged))
      break;
  }
  return std::nullopt;
}

}  // namespace linkhealth::symptoms
