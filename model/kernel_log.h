// THE table of kernel log patterns. The probe keeps only lines that match; history and symptoms
// classify lines by it. No other code interprets log text.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace linkhealth {

enum class KernelLogClass : std::uint8_t {
  kFatal,            ///< the NIC has failed until the next boot
  kQueueStuck,       ///< a transmit queue did not move: the driver resets it
  kNoAnswer,         ///< the firmware did not answer a command: possibly only that one
  kModuleRefused,    ///< the driver does not accept this module or cable
  kModuleError,      ///< the module is at fault or cannot be read
  kModulePower,      ///< the module needs more power than the card gives it
  kModuleHot,        ///< the module is too hot
  kModulePlugged,    ///< a module was plugged in
  kModuleUnplugged,  ///< a module was pulled, or is missing
  kModuleDisabled,   ///< the port's module was switched off by software
  kNicHot,           ///< a sensor of the NIC is too hot
  kPortPower,        ///< ports are off because the slot gives too little power
  kWeakPower,        ///< little slot power at boot: harmless on some hosts
  kMisconfigured,    ///< the port's settings do not fit its medium
  kLinkUp,
  kLinkDown,
  kPcieReduced,  ///< less PCIe bandwidth than the device could use
  kPcieError,    ///< PCIe errors that were corrected
  /// A transaction was lost, the PCIe link still works (linux: PCI/pcieaer-howto, "non-fatal").
  kPcieUncorrected,
  kPcieLost,    ///< the PCIe link below a slot went down, or its card was taken out
  kPaused,      ///< paused for so long that the card ignores pauses: congestion or a hung receiver
  kHostBusy,    ///< the host requests more than the card can do
  kFabricTrap,  ///< a port's error threshold, as a trap of the fabric
  kNoise,       ///< not about the link; never kept
};

/// One kind of line: it matches if the line contains all non-empty parts in this order.
struct KernelLogPattern {
  std::string_view name;
  KernelLogClass what = KernelLogClass::kNoise;
  std::array<std::string_view, 3> parts;
};

/// In the order in which they are tried: the first match wins.
std::span<const KernelLogPattern> kernel_log_patterns();
/// nullptr: no pattern matches. Linear in the text's length.
const KernelLogPattern* classify_kernel_log(std::string_view text);
/// Whether the line is of this class.
bool is_kernel_log(std::string_view text, KernelLogClass what);

}  // namespace linkhealth
