// What symptoms/table.cpp uses from each family's file.
#pragma once

#include <span>
#include <string_view>

#include "diagnosis/symptoms.h"
#include "model/history/saturated_counters.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

extern const std::span<const Symptom> kLinkFamily;
extern const std::span<const Symptom> kSignalFamily;
extern const std::span<const Symptom> kLightFamily;
extern const std::span<const Symptom> kModuleFamily;
extern const std::span<const Symptom> kNodeFamily;
extern const std::span<const Symptom> kGroupFamily;
extern const std::span<const Symptom> kTrafficFamily;
extern const std::span<const Symptom> kMonitorFamily;

inline constexpr std::string_view kSharedModule =
    "the module is shared with another port: lanes cannot be attributed";
inline constexpr std::string_view kFullCounter =
    "its counter is saturated: linkhealth doctor explains how to clear it";
/// For a flow that is unknown. If its counter is full, it did count, but no longer does.
inline Finding not_counted(const Features& f, Indicator flow, std::string_view none) {
  return unknown(is_saturated_for(f.port.counters.saturated, {flow}) ? kFullCounter : none);
}

/// When the kernel log last reported `what` for this link (link.cpp).
std::optional<SteadyTime> logged_since_fall(const Features& f, KernelLogClass what);

// References. "Judgement": there is no public source for the number; ours was measured on simulated
// links (docs/accuracy.md).
inline constexpr std::string_view kExtState =
    "linux: include/uapi/linux/ethtool.h, enum ethtool_link_ext_state";
inline constexpr std::string_view kModuleMap =
    "SFF-8472, SFF-8636, CMIS 5: the module's own flags and limits";

}  // namespace linkhealth::symptoms
