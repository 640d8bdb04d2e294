#include "diagnosis/explain.h"

#include "diagnosis/other_faults.h"
#include "diagnosis/undecided.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

std::string peer_name(const PortView& view) {
  const auto& peer = view.port.latest.peer;
  if (peer && !peer->system.empty())
    return peer->port.empty() ? peer->system : peer->system + " " + peer->port;
  if (view.expected != nullptr && !view.expected->peer_system.empty())
    return view.expected->peer_port.empty()
               ? view.expected->peer_system
               : view.expected->peer_system + " " + view.expected->peer_port;
  return "the far end";
}

std::string reader_name(Reader reader, const PortView& view) {
  switch (reader) {
    case Reader::kLink:
      return "link state";
    case Reader::kFec:
      return "FEC counters";
    case Reader::kCounters:
      return "port counters";
    case Reader::kModule:
      return "module";
    case Reader::kPeer:
      return peer_name(view) + " (peer)";
    case Reader::kPcie:
      return "PCIe";
    case Reader::kEvents:
      return "events";
    case Reader::kPlan:
      return "cabling plan";
    case Reader::kMonitor:
      return "monitor";
    case Reader::kNode:
      return "other ports of this node";
  }
  return "";
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The lane that the evidence points at, from 0; -1: none.
int lane_of(const PortView& view, const Findings& findings) {
  if (at(findings, SymptomId::kLightLow).present() && view.light.rx &&
      view.light.rx_low_lanes <= view.light.rx_lanes / 2)
    return view.light.rx->lane;
  if (at(findings, SymptomId::kTxLow).present() && view.light.tx) return view.light.tx->lane;
  if (at(findings, SymptomId::kOneLaneErrors).present()) return view.signal.worst_lane;
  if (at(findings, SymptomId::kLaneReadsDark).present()) return view.light.worst_rx_lane;
  return -1;
}

std::string fill_in(std::string_view text, const PortView& view, int lane) {
  std::string out(text);
  const std::string& serial = view.port.own.serial;
  replace_all(out, "{lane}", lane >= 0 ? fmt::format(" of lane {}", lane + 1) : "");
  replace_all(out, "{peer}", peer_name(view));
  replace_all(out, " ({serial})", serial.empty() ? "" : " (SN " + serial + ")");
  return out;
}

constexpr std::size_t kRuledOut = 5;

std::string time_words(double seconds) {
  return seconds < 120 ? fmt::format("{:.0f} s", seconds)
                       : fmt::format("{:.0f} min", std::floor(seconds / 60));
}

/// An error ratio is worth what it was measured over: " over 2 min, with 95 % 3.1e-05 to 3.4e-05".
std::string window_words(const Comparison& seen, const PortView& view) {
  const SignalStats& s = view.signal;
  if (seen.reader != Reader::kFec || !seen.what.starts_with("pre-FEC BER") ||
      seen.what.ends_with("fall") || s.ber_window_s <= 0)
    return "";
  std::string text = " over " + time_words(s.ber_window_s);
  if (!s.ber || !s.ber_range || seen.observed != *s.ber) return text;
  // Many errors leave no room for doubt; few do, and then it is said how much.
  if (s.ber_range->high < 1.1 * s.ber_range->low) return text + ", with 95 % right to 5 %";
  text += fmt::format(", with 95 % {:.1e} to {:.1e}", s.ber_range->low, s.ber_range->high);
  return text;
}

Evidence evidence_of(const Symptom& row, const Comparison& seen, const PortView& view,
                     bool supports) {
  Evidence evidence;
  evidence.symptom = std::string(row.name);
  evidence.observed = seen.observed;
  evidence.op = std::string(seen.op);
  evidence.threshold = seen.threshold;
  evidence.unit = std::string(seen.unit);
  evidence.where = seen.lane >= 0 ? fmt::format("lane {}", seen.lane + 1) : "";
  evidence.source = reader_name(seen.reader, view);
  evidence.text = std::string(seen.what) + window_words(seen, view);
  evidence.supports = supports;
  return evidence;
}

std::string light_sentence(const PortView& view, int lane) {
  std::string text;
  const LightStats& light = view.light;
  if (light.rx && light.rx->db >= 0.6 && light.worst_rx_dbm) {
    const auto level =
        view.port.own.rx_dbm[static_cast<std::size_t>(std::max(light.rx->lane, 0))].now();
    // Without a past of its own: against the other lanes, what is sent, or what such modules
    // receive.
    text += fmt::format("{} receives {:.1f} dBm, {:.1f} dB below {}",
                        lane >= 0 ? fmt::format("lane {}", light.rx->lane + 1) : "the port",
                        level.value_or(*light.worst_rx_dbm), light.rx->db,
                        light.rx->sigma_db > 0.4 ? "what it should be" : "its normal");
    if (light.far_tx_same_lane)
      text += *light.far_tx_same_lane > 0.6
                  ? fmt::format("; the far end sends {:.1f} dB less", *light.far_tx_same_lane)
                  : "; the far end sends as before";
    if (light.far_rx && light.far_rx->db > 0.8)
      text += fmt::format("; the far end receives {:.1f} dB less too", light.far_rx->db);
  }
  return text;
}

std::string signal_sentence(const PortView& view) {
  const SignalStats& s = view.signal;
  if (s.uncorrectable_intervals_1h >= 3)
    return fmt::format("{:.0f} uncorrectable blocks in an hour", s.uncorrectable_1h);
  if (s.ber && s.ber_limit && *s.ber > 0)
    return fmt::format("pre-FEC BER {:.1e}{} (limit {:.1e})", *s.ber,
                       s.worst_lane >= 0 && s.worst_lane_ratio > 8
                           ? fmt::format(", most of it on lane {}", s.worst_lane + 1)
                           : "",
                       *s.ber_limit);
  return "";
}

std::string down_sentence(const PortView& view) {
  std::string text = "the link is down";
  if (view.link().down_reason && !view.link().down_reason->state.empty()) {
    const DownReason& reason = *view.link().down_reason;
    text += fmt::format(" ({}{}{})", reason.state, reason.substate.empty() ? "" : ": ",
                        reason.substate);
  }
  if (view.light.rx_lanes > 0 && view.light.rx_fresh)
    text += view.light.rx_dark_all    ? "; no light arrives"
            : view.light.rx_dark_some ? "; some lanes get no light"
                                      : "; light arrives";
  return text;
}

/// "the far end is leaf-45 Ethernet2/2, the plan says leaf-45 Ethernet3/2"
std::string wiring_sentence(const PortView& view) {
  const auto& peer = view.port.latest.peer;
  if (!peer || view.expected == nullptr) return "";
  const auto place = [](const std::string& system, const std::string& port) {
    return port.empty() ? system : system + " " + port;
  };
  return fmt::format("the far end is {}, the plan says {}", place(peer->system, peer->port),
                     place(view.expected->peer_system, view.expected->peer_port));
}

std::string summary_of(const PortView& view, const Findings& findings, const RankedFault& ranked,
                       int lane) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += "; ";
    text += part;
  };
  if (view.down) {
    add(down_sentence(view));
  } else {
    add(light_sentence(view, lane));
    // Of a link whose errors are as ever the figures say nothing about what is wrong.
    if (at(findings, SymptomId::kReceiveErrors).present() ||
        at(findings, SymptomId::kLosingData).present())
      add(signal_sentence(view));
  }
  if (at(findings, SymptomId::kNeighbourDiffers).present() &&
      explains(*ranked.cause, SymptomId::kNeighbourDiffers))
    add(wiring_sentence(view));
  if (text.empty()) add(std::string(ranked.fault->meaning));
  std::size_t said = 0;
  for (const Symptom& row : symptom_table()) {
    if (said >= 2 || !at(findings, row.id).present() || !explains(*ranked.cause, row.id)) continue;
    if (row.id == SymptomId::kLightLow || row.id == SymptomId::kLosingData ||
        row.id == SymptomId::kOneLaneErrors || row.id == SymptomId::kNoLight ||
        row.id == SymptomId::kLightThere || row.id == SymptomId::kReceiveErrors)
      continue;
    add(std::string(row.meaning));
    ++said;
  }
  return text;
}

/// What shows, and what does not and should; what does not show and rules others out.
void put_evidence(FaultReport& report, const PortView& view, const Findings& findings,
                  const RankedFault& ranked) {
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    if (!finding.present()) continue;
    const bool pooled = row.id == SymptomId::kReceiveErrors || row.id == SymptomId::kLosingData ||
                        row.id == SymptomId::kLinkDown;
    const bool supports = pooled || explains(*ranked.cause, row.id);
    for (const Comparison& comparison : finding.comparisons)
      report.evidence.push_back(evidence_of(row, comparison, view, supports));
    if (!supports && !finding.comparisons.empty())
      report.evidence.back().text += ": not explained by it";
  }
  for (const Expectation& row : ranked.cause->expects) {
    const Finding& finding = at(findings, row.symptom);
    if (row.often != Often::kAlways || !finding.absent() || finding.comparisons.empty()) continue;
    report.evidence.push_back(
        evidence_of(symptom(row.symptom), finding.comparisons.front(), view, false));
    report.evidence.back().text += ": does not show, and nearly always would";
  }
  for (const RuledOut& row : ruled_out(view, findings, ranked, kRuledOut)) {
    Evidence evidence = evidence_of(symptom(row.symptom), row.seen, view, true);
    std::string against;
    for (const Fault* fault : row.faults)
      against += (against.empty() ? "" : " and ") + title_in_sentence(*fault);
    evidence.text += ": speaks against " + against;
    report.ruled_out.push_back(std::move(evidence));
  }
}

}  // namespace

void explain(FaultReport& report, const PortView& view, const Findings& findings,
             const Differential& differential, const RankedFault& ranked, double undecided_ratio,
             std::span<const RepairAction> failed) {
  const int lane = lane_of(view, findings);
  report.summary = summary_of(view, findings, ranked, lane);
  report.undecided.reset();
  if (const auto rival =
          rival_of(differential, ranked, findings, view.down, undecided_ratio, failed)) {
    const std::string_view test = rival->reading ? symptom(*rival->reading).how
                                  : rival->step  ? rival->step->text
                                                 : std::string_view();
    report.undecided = Undecided{std::string(rival->other.fault->name), rival->other.fault->end,
                                 rival->other.confidence, fill_in(test, view, lane)};
    report.summary +=
        fmt::format(". From here it cannot be told from: {}", rival->other.fault->title);
  }
  report.verify = fill_in(ranked.fault->verify, view, lane);
  report.to_be_sure = fill_in(ranked.fault->sure, view, lane);
  report.repair.clear();
  for (const RepairStep* step : steps_left(*ranked.fault, failed))
    report.repair.push_back(fill_in(step->text, view, lane));
  put_evidence(report, view, findings, ranked);
  for (const Missing& missing : missing_evidence(differential, findings, view.down)) {
    const Symptom& row = symptom(missing.symptom);
    const Finding& finding = at(findings, row.id);
    report.missing.push_back(
        {std::string(row.name), std::string(finding.reason),
         finding.comes ? "wait, the monitor reads it" : fill_in(row.how, view, lane),
         decides(differential, ranked, row.id)});
  }
  for (const RankedFault& row : differential.ranked)
    if (row.confidence >= 0.005)
      report.differential.push_back({std::string(row.fault->name), row.fault->end, row.confidence});
}

namespace {

/// The likeliest cause of all that are another fault: perhaps that nothing is wrong.
const Cause& runner_up(const Differential& differential, const RankedFault& ranked) {
  std::size_t best = 0;
  for (const RankedFault& row : differential.ranked) {
    const auto i = static_cast<std::size_t>(row.cause - cause_table().data());
    if (row.fault != ranked.fault && differential.posterior[i] > differential.posterior[best])
      best = i;
  }
  return cause_table()[best];
}

std::string_view name_of(const Share& share) {
  switch (share.kind) {
    case Share::Kind::kPrior:
      return "how often each of them comes";
    case Share::Kind::kLightAndErrors:
      return "light and errors together";
    case Share::Kind::kSymptom:
      return symptom(share.symptom).name;
  }
  return "";
}

}  // namespace

void explain_shares(FaultReport& report, const DifferentialInput& input, KnobValues knobs,
                    const Differential& differential, const RankedFault& ranked) {
  const Cause& other = runner_up(differential, ranked);
  EvidenceShares& out = report.shares.emplace();
  out.against = std::string(other.fault);
  out.end = other.end;
  for (const Share& share : shares(input, knobs, *ranked.cause, other))
    out.shares.push_back({std::string(name_of(share)), share.nats});
  std::ranges::stable_sort(out.shares, [](const EvidenceShare& a, const EvidenceShare& b) {
    return std::abs(a.nats) > std::abs(b.nats);
  });
}

namespace {

std::string_view word_of(const Finding& finding) {
  return finding.present() ? "present" : finding.absent() ? "absent" : "unknown";
}

bool says_the_same(const SymptomsTold* before, const Findings& findings) {
  return before != nullptr &&
         std::ranges::equal(before->of, findings, [](const auto& was, const Finding& is) {
           return was.verdict == is.verdict && was.reason == is.reason;
         });
}

}  // namespace

std::shared_ptr<const SymptomsTold> tell_symptoms(
    const Findings& findings, const std::shared_ptr<const SymptomsTold>& before,
    const std::shared_ptr<const SymptomsTold>& neighbour) {
  if (says_the_same(neighbour.get(), findings)) return neighbour;
  if (says_the_same(before.get(), findings)) return before;
  auto told = std::make_shared<SymptomsTold>();
  std::vector<SymptomVerdict> verdicts;
  verdicts.reserve(kSymptomCount);
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    told->of.at(static_cast<std::size_t>(row.id)) = {finding.verdict, finding.reason};
    verdicts.push_back(
        {std::string(row.name), std::string(word_of(finding)), std::string(finding.reason)});
  }
  told->verdicts = std::move(verdicts);
  return told;
}

}  // namespace linkhealth
