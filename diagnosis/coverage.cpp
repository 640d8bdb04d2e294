#include "diagnosis/coverage.h"

namespace linkhealth {

namespace {

/// A link of 25 Gb/s or more uses FEC, unless it reports that it does not (IEEE 802.3 cl. 108).
bool needs_fec(const Features& f) {
  constexpr std::uint32_t kFecMbps = 25'000;
  const std::string_view mode = f.port.fec();
  return mode.empty() ? f.link().speed_mbps.value_or(0) >= kFecMbps : fec_is_on(mode);
}

bool reads_fec(const Features& f) {
  const auto& counters = f.port.latest.counters;
  return f.signal.ber || (counters && (counters->get("fec_uncorrectable_blocks") ||
                                       counters->get("fec_corrected_blocks")));
}

/// An active cable may report no light: reading its module is enough.
bool reads_optics(const Features& f) {
  switch (f.medium) {
    case Medium::kCopper:
      return true;
    case Medium::kAoc:
      return f.port.latest.module.has_value();
    case Medium::kOptical:
      return f.light.worst_rx_dbm.has_value();
    case Medium::kUnknown:
      return false;
  }
  return false;
}

}  // namespace

std::vector<std::string> missing_coverage(const Features& f, const Findings& findings,
                                          bool link_events) {
  std::vector<std::string> missing;
  if (!receive_errors(findings)) missing.emplace_back("errors");
  if (needs_fec(f) && !reads_fec(f)) missing.emplace_back("fec");
  if (!reads_optics(f)) missing.emplace_back("optics");
  if (!link_events) missing.emplace_back("events");
  const auto& peer = f.port.latest.peer;
  if (!missing.empty() && (!peer || peer->source == "plan")) missing.emplace_back("far_end");
  return missing;
}

}  // namespace linkhealth
