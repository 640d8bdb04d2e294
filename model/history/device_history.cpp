#include "model/history/device_history.h"

#include <algorithm>

#include "model/kernel_log.h"

namespace linkhealth {

void DeviceHistory::update(const PortEvent& event) {
  switch (event.kind) {
    case PortEventKind::kDeviceGone:
      gone_at = driver_reload_at = event.t;
      gone_reason = event.text;
      break;
    case PortEventKind::kDeviceAdded:
      gone_at.reset();
      driver_reload_at = event.t;
      break;
    case PortEventKind::kDeviceFatal:
      add_fatal(event.t);
      fatal_is_queue = false;
      break;
    case PortEventKind::kKernelLog:
      if (kernel_log.size() >= 32) kernel_log.erase(kernel_log.begin());
      kernel_log.emplace_back(event.t, event.text);
      if (const bool queue = is_kernel_log(event.text, KernelLogClass::kQueueStuck);
          queue || is_kernel_log(event.text, KernelLogClass::kFatal)) {
        fatal_is_queue = queue && (fatal_is_queue || !fatal_at);
        add_fatal(event.t);
      }
      if (is_kernel_log(event.text, KernelLogClass::kNoAnswer)) {
        constexpr double kRunS = 3600;
        if (!no_answer_at || in_seconds(event.t - *no_answer_at) > kRunS) no_answer_since = event.t;
        no_answer_at = event.t;
      }
      break;
    default:
      break;
  }
}

/// One failure is often reported by several log lines and an event.
void DeviceHistory::add_fatal(SteadyTime t) {
  constexpr double kApartS = 60;
  constexpr std::size_t kKept = 8;
  if (!fatal_at) ran_before_fatal_.reset();
  fatal_at = t;
  if (!fatal_times.empty() && in_seconds(t - fatal_times.back()) < kApartS) return;
  if (fatal_times.size() >= kKept) fatal_times.erase(fatal_times.begin());
  fatal_times.push_back(t);
}

void DeviceHistory::end_fatal() {
  fatal_at.reset();
  fatal_is_queue = false;
}

/// Until the link is up, the card may still be dead.
void DeviceHistory::end_fatal_before_start(const CarrierHistory& carrier) {
  if (!fatal_at || carrier.up != true) return;
  const auto is_later = [this](const std::optional<SteadyTime>& t) { return t && *t > *fatal_at; };
  const bool restarted = is_later(carrier.reboot_at) || (is_later(driver_reload_at) && !gone_at);
  if (restarted || (fatal_is_queue && is_later(carrier.admin_event_at))) end_fatal();
}

/// Drivers also reset a card in place, and the kernel log may contain errors that are weeks old.
/// The counters of a dead card do not increase, but its link may be reported as up for ever.
void DeviceHistory::end_fatal_if_alive(const Interval& interval, const CarrierHistory& carrier,
                                       bool is_infiniband, const std::deque<Interval>& intervals) {
  if (!fatal_at || fatal_is_queue || !interval.carrier || *fatal_at > interval.begin) return;
  const IndicatorSet octets{Indicator::kRxOctets, Indicator::kTxOctets};
  if (!ran_before_fatal_)
    ran_before_fatal_ = std::ranges::any_of(intervals, [&](const Interval& one) {
      return one.begin < *fatal_at && one.counted().has_any(octets);
    });
  // On Ethernet, FEC always has something to correct. The InfiniBand agent does not count that, and
  // an idle port counts no data; but reading it needs a firmware command, which fails on a dead
  // card (linux: mlx5_internal_err_ret_value()). If the card's traffic ran before and has stopped,
  // an answer is no sign of life: the driver may return the last values it read.
  const bool answers = is_infiniband && !*ran_before_fatal_ &&
                       interval.known().has_any({Indicator::kSymbolErrors, Indicator::kLinkDowns});
  const bool counts =
      answers || interval.counted().has_any({Indicator::kRxOctets, Indicator::kCorrectedBits,
                                             Indicator::kCorrectedBlocks});
  const bool set_up = carrier.admin_event_at && *carrier.admin_event_at > *fatal_at;
  const bool trained = carrier.since && *carrier.since > *fatal_at && !set_up;
  const bool is_past = in_seconds(interval.begin - *fatal_at) >= carrier.times.mended_s;
  if (counts && (trained || is_past)) end_fatal();
}

void DeviceHistory::update_aer(const PcieSample& pcie, SteadyTime now) {
  constexpr double kKeepSeconds = 3600;
  const std::array read{pcie.aer_correctable, pcie.aer_nonfatal, pcie.aer_fatal};
  if (std::ranges::none_of(read, [](const auto& value) { return value.has_value(); })) return;
  // A counter that cannot be read now keeps its value; the errors of a counter that is read for the
  // first time are old.
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i] && !aer_totals_[i]) pcie_errors.clear();
    if (read[i]) aer_totals_[i] = read[i];
  }
  const double total =
      static_cast<double>(aer_totals_[0].value_or(0)) +
      100 * static_cast<double>(aer_totals_[1].value_or(0) + aer_totals_[2].value_or(0));
  if (!pcie_errors.empty() && total < pcie_errors.back().second) pcie_errors.clear();
  pcie_errors.emplace_back(now, total);
  while (pcie_errors.size() > 2 && in_seconds(now - pcie_errors.front().first) > kKeepSeconds)
    pcie_errors.erase(pcie_errors.begin());
}

void DeviceHistory::update(const PcieSample& pcie, SteadyTime now) {
  update_aer(pcie, now);
  pcie_low_reads = pcie.lowest().is_low() ? pcie_low_reads + 1 : 0;
  if (pcie_low_reads == 0) pcie_low_since.reset();
  if (pcie_low_reads == 1) pcie_low_since = now;
}

}  // namespace linkhealth
