#include "diagnosis/symptoms/log_words.h"

namespace linkhealth::symptoms {

std::optional<SteadyTime> said_in_log(const PortView& v, KernelLogClass what) {
  constexpr double kBeforeS = 120;
  if (!v.down) return std::nullopt;
  for (auto line = v.port.kernel_log.rbegin(); line != v.port.kernel_log.rend(); ++line) {
    const auto& [t, text] = *line;
    if (is_kernel_log(text, what)) {
      const bool of_this_fall =
          !v.port.carrier_since || in_seconds(t - *v.port.carrier_since) > -kBeforeS;
      const bool of_this_boot = !v.port.last_reboot || t >= *v.port.last_reboot;
      return of_this_fall && of_this_boot ? std::optional(t) : std::nullopt;
    }
    if (is_kernel_log(text, KernelLogClass::kLinkUp) ||
        is_kernel_log(text, KernelLogClass::kModulePlugged))
      break;
  }
  return std::nullopt;
}

}  // namespace linkhealth::symptoms
