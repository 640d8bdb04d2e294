#include "diagnosis/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/questions.h"

namespace linkhealth {

namespace {

using enum SymptomId;

std::string peer_name(const Features& f) {
  const std::string known = peer_of(f.port, f.expected);
  return known.empty() ? "the far end" : known;
}

/// "module", "leaf-12 Ethernet17/1 (peer)".
std::string source_name(EvidenceSource kind, const Features& f) {
  const bool far = kind == EvidenceSource::kFarLink || kind == EvidenceSource::kFarCounters ||
                   kind == EvidenceSource::kFarModule;
  return far ? peer_name(f) + " (peer)" : std::string(to_string(kind));
}

/// The lane that the evidence points at, from 0; -1: none.
int lane_of(const Features& f, const Findings& findings) {
  if (at(findings, kLightLow).present() && f.light.rx &&
      f.light.rx_low_lanes <= f.light.rx_lanes / 2)
    return f.light.rx->lane;
  if (at(findings, kTxLow).present() && f.light.tx) return f.light.tx->lane;
  if (at(findings, kOneLaneErrors).present()) return f.signal.worst_lane;
  if (at(findings, kLaneReadsDark).present()) return f.light.worst_rx_lane;
  return -1;
}

// --------------------------------------------------------------------------------- the evidence

std::string format_time(double seconds) {
  return seconds < 120 ? fmt::format("{:.0f} s", seconds)
                       : fmt::format("{:.0f} min", std::floor(seconds / 60));
}

/// An error ratio is worth what it was measured over: " over 2 min (3.1e-05 to 3.4e-05 with 95 %
/// confidence)".
std::string format_window(const Comparison& seen, const Features& f) {
  constexpr double kSharp = 1.1;  // many errors leave no room for doubt
  const SignalStats& s = f.signal;
  if (seen.source != EvidenceSource::kFec || !seen.what.starts_with("pre-FEC BER") ||
      seen.what.ends_with("fall") || s.ber_window_s <= 0)
    return "";
  std::string text = " over " + format_time(s.ber_window_s);
  if (!s.ber || !s.ber_range || seen.observed != *s.ber) return text;
  if (s.ber_range->high < kSharp * s.ber_range->low) return text + " (±5 %, 95 % confidence)";
  return text +
         fmt::format(" ({:.1e} to {:.1e}, 95 % confidence)", s.ber_range->low, s.ber_range->high);
}

Evidence evidence_of(SymptomId symptom_id, const Comparison& seen, const Features& f,
                     bool supports) {
  Evidence evidence;
  evidence.symptom = std::string(symptom(symptom_id).name);
  evidence.observed = seen.observed;
  evidence.op = std::string(seen.op);
  evidence.threshold = seen.threshold;
  evidence.unit = std::string(seen.unit);
  evidence.where = seen.lane >= 0 ? fmt::format("lane {}", seen.lane + 1) : "";
  evidence.source = source_name(seen.source, f);
  evidence.text = std::string(seen.what) + format_window(seen, f);
  evidence.supports = supports;
  return evidence;
}

/// What shows, and what does not and should; what does not show and rules others out.
void put_evidence(FaultReport& report, const Features& f, const Findings& findings,
                  const RankedFault& ranked) {
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    if (!finding.present()) continue;
    const bool pooled = row.id == kReceiveErrors || row.id == kLosingData || row.id == kLinkDown;
    const bool supports = pooled || explains(*ranked.cause, row.id);
    for (const Comparison& comparison : finding.comparisons)
      report.evidence.push_back(evidence_of(row.id, comparison, f, supports));
    if (!supports && !finding.comparisons.empty())
      report.evidence.back().text += ": not explained by it";
  }
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    if (!ranked.cause->expects.always.has(row.id) || !finding.absent()) continue;
    report.evidence.push_back(evidence_of(row.id, finding.comparisons.front(), f, false));
    report.evidence.back().text += ": does not show, and nearly always would";
  }
  for (const RuledOut& row : ruled_out(f, findings, ranked)) {
    Evidence evidence = evidence_of(row.symptom, row.seen, f, true);
    std::string against;
    for (const Fault* fault : row.faults)
      against += (against.empty() ? "" : " and ") + title_in_sentence(*fault);
    evidence.text += ": speaks against " + against;
    report.ruled_out.push_back(std::move(evidence));
  }
}

// ---------------------------------------------------------------------------------- the summary

std::string light_sentence(const Features& f, int lane) {
  constexpr double kWorthSayingDb = 0.6, kFarWorthSayingDb = 0.8;
  const LightStats& light = f.light;
  if (!light.rx || light.rx->loss_db < kWorthSayingDb || !light.worst_rx_dbm) return "";
  const auto level = f.port.own.rx_dbm[static_cast<std::size_t>(std::max(light.rx->lane, 0))].now();
  // Without a past of its own: against the other lanes, what is sent, or what such modules receive.
  std::string text =
      fmt::format("{} receives {:.1f} dBm, {:.1f} dB below {}",
                  lane >= 0 ? fmt::format("lane {}", light.rx->lane + 1) : "the port",
                  level.value_or(*light.worst_rx_dbm), light.rx->loss_db,
                  light.rx->against_past() ? "its normal" : "what it should be");
  if (light.far_tx_same_lane)
    text += *light.far_tx_same_lane > kWorthSayingDb
                ? fmt::format("; the far end sends {:.1f} dB less", *light.far_tx_same_lane)
                : "; the far end sends as before";
  if (light.far_rx && light.far_rx->loss_db > kFarWorthSayingDb)
    text += fmt::format("; the far end receives {:.1f} dB less too", light.far_rx->loss_db);
  return text;
}

std::string signal_sentence(const SignalStats& s) {
  if (s.blocks.intervals >= 3)
    return fmt::format("{:.0f} uncorrectable blocks in an hour", s.blocks.events);
  if (!s.ber || !s.ber_limit || *s.ber <= 0) return "";
  const std::string lane = s.worst_lane >= 0 && s.worst_lane_ratio > 8
                               ? fmt::format(", most of it on lane {}", s.worst_lane + 1)
                               : "";
  return fmt::format("pre-FEC BER {:.1e}{} (limit {:.1e})", *s.ber, lane, *s.ber_limit);
}

std::string down_sentence(const Features& f) {
  std::string text = "the link is down";
  if (const auto& reason = f.link().down_reason; reason && !reason->state.empty())
    text += fmt::format(" ({}{}{})", reason->state, reason->substate.empty() ? "" : ": ",
                        reason->substate);
  if (f.light.rx_lanes > 0 && f.light.rx_fresh)
    text += f.light.rx_dark_all    ? "; no light arrives"
            : f.light.rx_dark_some ? "; some lanes get no light"
                                   : "; light arrives";
  return text;
}

/// "the far end is leaf-45 Ethernet2/2, the plan says leaf-45 Ethernet3/2"
std::string wiring_sentence(const Features& f) {
  if (!f.port.latest.peer || f.expected == nullptr) return "";
  const auto place = [](const std::string& system, const std::string& port) {
    return port.empty() ? system : system + " " + port;
  };
  return fmt::format("the far end is {}, the plan says {}",
                     place(f.port.latest.peer->system, f.port.latest.peer->port),
                     place(f.expected->peer_system, f.expected->peer_port));
}

/// "PCIe at bridge 0000:59:01.0 runs at 16 of 32 GT/s": above the card, where its place matters.
std::string pcie_sentence(const Features& f) {
  const auto& pcie = f.port.latest.pcie;
  const PcieLink link = pcie ? pcie->lowest() : PcieLink();
  if (!link.is_low()) return "";
  const std::string place = link.bridge.empty()
                                ? "PCIe of the card"
                                : fmt::format("PCIe at bridge {}, above the card,", link.bridge);
  return link.is_narrow()
             ? fmt::format("{} has {} of {} lanes", place, *link.width, *link.max_width)
             : fmt::format("{} runs at {:g} of {:g} GT/s", place, *link.speed_gtps,
                           *link.max_speed_gtps);
}

std::string summary_of(const Features& f, const Findings& findings, const RankedFault& ranked,
                       int lane) {
  // The sentences above say these already.
  constexpr SymptomSet kSaid{kLightLow, kLosingData, kOneLaneErrors,
                             kNoLight,  kLightThere, kReceiveErrors};
  constexpr std::size_t kMostMeanings = 2;
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!part.empty()) text.append(text.empty() ? "" : "; ").append(part);
  };
  const auto explained = [&](SymptomId id) {
    return at(findings, id).present() && explains(*ranked.cause, id);
  };
  if (f.down) {
    add(down_sentence(f));
  } else {
    add(light_sentence(f, lane));
    // Of a link without errors the figures say nothing about what is wrong.
    if (receive_errors(findings) == true) add(signal_sentence(f.signal));
  }
  if (explained(kNeighbourDiffers)) add(wiring_sentence(f));
  if (explained(kPcieReduced)) add(pcie_sentence(f));
  if (text.empty()) add(ranked.fault->meaning);
  std::size_t meanings = 0;
  for (const Symptom& row : symptom_table()) {
    if (meanings >= kMostMeanings || kSaid.has(row.id) || !explained(row.id)) continue;
    add(row.meaning);
    ++meanings;
  }
  return text;
}

/// The likeliest cause of all that are another fault: perhaps that nothing is wrong.
const Cause& next_cause(const Differential& differential, const RankedFault& ranked) {
  const Cause* best = &cause_table().front();
  for (const RankedFault& row : differential.ranked)
    if (row.fault != ranked.fault &&
        differential.posterior[index_of(*row.cause)] > differential.posterior[index_of(*best)])
      best = row.cause;
  return *best;
}

}  // namespace

void explain(FaultReport& report, const Features& f, const Findings& findings,
             const Differential& differential, const RankedFault& ranked,
             std::span<const RepairAction> failed) {
  constexpr double kWorthSaying = 0.005;
  const int lane = lane_of(f, findings);
  const auto fill = [format_lane = lane >= 0 ? fmt::format(" of lane {}", lane + 1) : "",
                     peer = peer_name(f), &serial = f.port.own.serial](std::string_view text) {
    return fill_in(text, format_lane, peer, serial);
  };
  report.summary = summary_of(f, findings, ranked, lane);
  report.undecided.reset();
  if (const auto other = ambiguous_with(differential, ranked, findings, f.down, failed)) {
    const std::string_view test = other->reading ? symptom(*other->reading).how
                                  : other->step  ? other->step->text
                                                 : std::string_view();
    const Fault& fault = *other->other.fault;
    report.undecided =
        Undecided{std::string(fault.name), fault.end, other->other.confidence, fill(test)};
    report.summary += fmt::format(". From here it cannot be told from: {}", fault.title);
  }
  report.verify = fill(ranked.fault->verify);
  report.to_be_sure = fill(ranked.fault->sure);
  report.repair.clear();
  for (const RepairStep* step : steps_left(*ranked.fault, failed))
    report.repair.push_back(fill(step->text));
  put_evidence(report, f, findings, ranked);
  for (const MissingReading& missing : missing_readings(differential, findings)) {
    const Symptom& row = symptom(missing.symptom);
    const Finding& finding = at(findings, row.id);
    report.missing.push_back({std::string(row.name), std::string(finding.reason),
                              finding.pending ? "wait, the monitor reads it" : fill(row.how),
                              faults_told_apart(differential, ranked, row.id)});
  }
  for (const RankedFault& row : differential.ranked)
    if (row.confidence >= kWorthSaying)
      report.differential.push_back({std::string(row.fault->name), row.fault->end, row.confidence});
}

EvidenceShares explain_shares(const Observations& seen, const Differential& differential,
                              const RankedFault& ranked) {
  const Cause& other = next_cause(differential, ranked);
  const Fault& fault = fault_of(other.fault);
  EvidenceShares shares{std::string(fault.name), fault.end, {}};
  for (const EvidenceWeight& row : evidence_weights(seen, *ranked.cause, other))
    shares.shares.push_back({std::string(row.name), row.nats});
  return shares;
}

std::vector<SymptomVerdict> symptom_verdicts(const Findings& findings) {
  std::vector<SymptomVerdict> verdicts;
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    verdicts.push_back({std::string(row.name), std::string(to_string(finding.verdict)),
                        std::string(finding.reason)});
  }
  return verdicts;
}

}  // namespace linkhealth
