#include "diagnosis/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnosis/questions.h"

namespace linkhealth {

namespace {

/// A comparison is named after what it tests: "the module reports a laser fault" alone would be a
/// false statement about a module that does not have the flag.
std::string reason_of(const Finding& finding) {
  return (finding.unread ? "not known: " : "") + std::string(finding.reason);
}

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

/// The lanes that the evidence points at, from 1, the strongest first. Empty: at the port as a
/// whole, because most lanes lost light or no reading is of a lane.
std::vector<std::uint32_t> lanes_of(const Features& f, const Findings& findings,
                                    const Cause& cause) {
  const LightStats& light = f.light;
  if (at(findings, kModuleHeld).present()) return {};
  std::vector<std::uint32_t> lanes;
  if (at(findings, kLightLow).present() && light.rx) {
    if (light.rx->lane < 0 || light.rx_low.count() > light.rx_lanes / 2) return {};
    const auto worst = static_cast<std::uint32_t>(light.rx->lane);
    lanes.push_back(worst + 1);
    for (std::uint32_t i = 0; i < light.rx_lanes; ++i)
      if (light.rx_low[i] && i != worst) lanes.push_back(i + 1);
    return lanes;
  }
  for (const Symptom& row : symptom_table())
    if (at(findings, row.id).present() && explains(cause, row.id))
      for (const Comparison& seen : at(findings, row.id).comparisons)
        if (seen.lane >= 0) return {static_cast<std::uint32_t>(seen.lane) + 1};
  return {};
}

/// Whether single lanes can have the fault: "module missing, lane 1" would be nonsense, and where
/// two fibres carry all lanes, dirt and bends are those of a fibre.
bool is_of_lanes(const Fault& fault, const std::optional<ModuleSample>& module) {
  constexpr std::array kOfLanes = {FaultId::kDirtyConnector,     FaultId::kDamagedFiber,
                                   FaultId::kFailingTransmitter, FaultId::kFailingFarTransmitter,
                                   FaultId::kBadModule,          FaultId::kBadFarModule,
                                   FaultId::kFaultyCable};
  const bool duplex = module && module->kind == "optical" && !module->connector.empty() &&
                      module->connector.find("MPO") == std::string::npos;
  return std::ranges::count(kOfLanes, fault.id) > 0 && !(duplex && fault.end == End::kPath);
}

bool replace_in(std::string& text, std::string_view part, std::string_view instead) {
  const auto at = text.find(part);
  if (at == std::string::npos) return false;
  text.replace(at, part.size(), instead);
  return true;
}

/// How to get a missing reading on this port: ethtool needs an Ethernet interface (IPoIB's offers
/// neither module nor FEC; linux: mlx5/core/ipoib/ethtool.c), a virtual function has no module, and
/// mlxlink and mstlink know only NVIDIA's cards.
std::string how_to_read(const Symptom& row, const Features& f) {
  const PortId& id = f.port.latest.id;
  const bool guest = id.function == "vf" || id.function == "sf";
  const bool nvidia = id.driver.empty() || id.driver.starts_with("mlx");
  const auto tool = [nvidia](std::string_view command) {
    return nvidia ? fmt::format("(the vendor's tool: {})", command) : "(the vendor's tool)";
  };
  const std::pair<std::string_view, std::string> without_interface[] = {
      {"(ethtool -m)", guest ? "(on the host that has the physical function)" : tool("mstlink -m")},
      {"(ethtool -I --show-fec)", tool("mstlink -c")},
      {"(ethtool --show-fec)", tool("mstlink")},
      {"(ethtool PORT, mlxlink)", tool("mstlink")},
      {"ethtool PORT", "ibstat"},
      {"ip link show", "ibstat"}};
  std::string text(row.how);
  if (guest || id.netdev.empty() || id.link_layer == "InfiniBand")
    for (const auto& [ethtool, instead] : without_interface)
      if (replace_in(text, ethtool, instead)) break;
  if (!nvidia) {
    replace_in(text, "(mlxlink -c)", "(the vendor's tool)");
    replace_in(text, ", mlxlink)", ")");
  }
  return text;
}

// --------------------------------------------------------------------------------- the evidence

std::string format_time(double seconds) {
  return seconds < 120 ? fmt::format("{:.0f} s", seconds)
                       : fmt::format("{:.0f} min", std::floor(seconds / 60));
}

/// The accuracy of an error ratio: " over 2 min (3.1e-05 to 3.4e-05 with 95% confidence)".
std::string format_window(const Comparison& seen, const Features& f) {
  constexpr double kSharp = 1.1;  // with many errors the range is negligible
  const SignalStats& s = f.signal;
  if (seen.source != EvidenceSource::kFec || !seen.what.starts_with("pre-FEC BER") ||
      seen.what.ends_with("link loss") || s.ber_window_s <= 0)
    return "";
  std::string text = " over " + format_time(s.ber_window_s);
  if (!s.ber || !s.ber_range || seen.observed != *s.ber) return text;
  if (s.ber_range->high < kSharp * s.ber_range->low) return text + " (±5%, 95% confidence)";
  return text +
         fmt::format(" ({:.1e} to {:.1e}, 95% confidence)", s.ber_range->low, s.ber_range->high);
}

/// The operator that holds for what was seen: a failed comparison is inverted.
std::string_view op_of(const Comparison& seen) {
  constexpr std::array<std::array<std::string_view, 2>, 3> kOpposites{
      {{">=", "<"}, {">", "<="}, {"<", ">="}}};
  for (const auto& [op, opposite] : kOpposites)
    if (!seen.held && seen.op == op) return opposite;
  return seen.op;
}

Evidence evidence_of(SymptomId symptom_id, const Comparison& seen, const Features& f,
                     bool supports) {
  Evidence evidence;
  evidence.symptom = std::string(symptom(symptom_id).name);
  evidence.observed = seen.observed;
  evidence.op = std::string(op_of(seen));
  evidence.threshold = seen.threshold;
  evidence.unit = std::string(seen.unit);
  evidence.where = seen.lane >= 0 ? fmt::format("lane {}", seen.lane + 1) : "";
  evidence.source = source_name(seen.source, f);
  evidence.text = std::string(seen.what) + format_window(seen, f);
  evidence.supports = supports;
  return evidence;
}

/// What is present, and what is absent but expected; and absences that rule other faults out.
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
      report.evidence.back().text += ": not explained by this fault";
  }
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    if (!ranked.cause->expects.always.has(row.id) || !finding.absent()) continue;
    report.evidence.push_back(evidence_of(row.id, finding.comparisons.front(), f, false));
    report.evidence.back().text += ": expected with this fault, but absent";
  }
  for (const RuledOut& row : ruled_out(f, findings, ranked)) {
    Evidence evidence = evidence_of(row.symptom, row.seen, f, false);
    for (const Fault* fault : row.faults)
      evidence.rules_out += (evidence.rules_out.empty() ? "" : " and ") + title_in_sentence(*fault);
    report.ruled_out.push_back(std::move(evidence));
  }
}

// ---------------------------------------------------------------------------------- the summary

std::string light_sentence(const Features& f, const std::vector<std::uint32_t>& lanes) {
  constexpr double kWorthSayingDb = 0.6, kFarWorthSayingDb = 0.8;
  const LightStats& light = f.light;
  if (!light.rx || light.rx->loss_db < kWorthSayingDb || !light.worst_rx_dbm) return "";
  const auto level =
      f.port.own.rx_dbm[static_cast<std::size_t>(std::max(light.rx->lane, 0))].now(light.since);
  // Without a baseline: compared with the other lanes, with what is sent, or with what such modules
  // receive.
  std::string text =
      fmt::format("{} receives {:.1f} dBm, {:.1f} dB below {}",
                  lanes.empty() ? "the port" : fmt::format("lane {}", light.rx->lane + 1),
                  level.value_or(*light.worst_rx_dbm), light.rx->loss_db,
                  light.rx->against_past() ? "its baseline" : "the expected level");
  if (lanes.size() > 1)
    text += " (also low: " + format_lanes({lanes.begin() + 1, lanes.end()}) + ")";
  if (light.far_tx_same_lane)
    text += *light.far_tx_same_lane > kWorthSayingDb
                ? fmt::format("; far Tx power is down {:.1f} dB", *light.far_tx_same_lane)
                : "; far Tx power is at its baseline";
  if (light.far_rx && light.far_rx->loss_db > kFarWorthSayingDb)
    text += fmt::format("; far Rx power is also down {:.1f} dB", light.far_rx->loss_db);
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
    text += f.light.rx_dark_all    ? "; no light received"
            : f.light.rx_dark_some ? "; some lanes receive no light"
                                   : "; light is received";
  return text;
}

/// "connected to leaf-45 Ethernet2/2; the plan expects leaf-45 Ethernet3/2"
std::string wiring_sentence(const Features& f) {
  if (!f.port.latest.peer || f.expected == nullptr) return "";
  const auto place = [](const std::string& system, const std::string& port) {
    return port.empty() ? system : system + " " + port;
  };
  return fmt::format("connected to {}{}; the plan expects {}",
                     place(f.port.latest.peer->system, f.port.latest.peer->port),
                     f.planned_there.empty()
                         ? ""
                         : ", where the plan has " + f.planned_there + " (cables swapped?)",
                     place(f.expected->peer_system, f.expected->peer_port));
}

/// "pre-FEC BER rose 100-fold after the link loss at 2026-11-20T08:59:56Z (8 s): …"
std::string training_sentence(const Features& f) {
  if (!f.port.trainings.worse || !f.signal.ber) return "";
  const WorseTraining& worse = *f.port.trainings.worse;
  std::string text = fmt::format(
      "pre-FEC BER rose {:.0f}-fold after the link loss at {}{}: {:.1e} before, {:.1e} since, at "
      "unchanged light",
      *f.signal.ber / worse.ber_before,
      format_rfc3339(std::chrono::floor<std::chrono::seconds>(worse.fell_at)),
      worse.down_s > 0 ? fmt::format(" ({:.0f} s)", worse.down_s) : "", worse.ber_before,
      *f.signal.ber);
  return worse.trainings < 2
             ? text
             : text + fmt::format("; same result after {} trainings", worse.trainings);
}

std::string module_sentence(const Features& f) {
  if (!f.port.latest.module) return "";
  const std::string &type = f.port.latest.module->type, &before = f.port.own.type_before;
  if (!before.empty() && before != type)
    return fmt::format("module type {}, previously {}", type, before);
  if (!f.group.siblings_type.empty() && f.group.siblings_type != type)
    return fmt::format("module type {}; comparable ports have {}", type, f.group.siblings_type);
  return fmt::format("module type {}", type);
}

std::string fec_sentence(const Features& f) {
  const std::string& before = f.port.carrier.last_fec;
  if (fec_is_on(before)) return fmt::format("FEC mode changed from {} to {}", before, f.link().fec);
  return fmt::format("FEC mode {}; links with the same kind of module use {}", f.link().fec,
                     f.group.siblings_fec);
}

/// "module at 79.2 °C, limit 70 °C"
std::string heat_sentence(const Finding& hot) {
  const Comparison& seen = hot.comparisons.front();
  return seen.what == "module temperature"
             ? fmt::format("module at {:.1f} °C, limit {:g} °C", seen.observed, seen.threshold)
             : fmt::format("module {:.1f} °C above its baseline, limit {:g} °C", seen.observed,
                           seen.threshold);
}

/// "running at 100G, expected 400G"
std::string speed_sentence(const Finding& reduced) {
  const Comparison& seen = reduced.comparisons.front();
  return seen.unit == "Mb/s" ? fmt::format("running at {:g}G, expected {:g}G", seen.observed / 1000,
                                           seen.threshold / 1000)
                             : fmt::format("running on {:g} lane{}, expected {:g}", seen.observed,
                                           seen.observed == 1 ? "" : "s", seen.threshold);
}

/// "this host keeps the module in low power"
std::string hold_sentence(const Features& f) {
  std::string text;
  for (const HoldText& row : hold_texts())
    if ((held_by_host(f).value_or(0) & row.hold) != 0)
      text.append(text.empty() ? "" : " and ").append(row.what);
  return text;
}

/// A change after the link loss did not cause it, but may be why it lasts.
std::string settings_sentence(const Features& f) {
  const auto &changed = f.port.carrier.admin_event_at, &since = f.port.carrier.since;
  constexpr double kSameMomentS = 1;
  if (!changed || !since || in_seconds(*changed - *since) < kSameMomentS)
    return std::string(symptom(kSettingsTouched).meaning);
  return fmt::format("an operator changed settings {:.0f} s after the link loss",
                     in_seconds(*changed - *since));
}

/// Steps that follow from the evidence itself, before the fault's ladder. {dev}: the interface.
std::vector<std::string> first_steps(const Features& f, const Findings& findings,
                                     const Cause& cause) {
  std::vector<std::string> steps;
  const auto shows = [&](SymptomId id) {
    return at(findings, id).present() && explains(cause, id);
  };
  if (shows(kModuleHeld))
    for (const HoldText& row : hold_texts())
      if ((held_by_host(f).value_or(0) & row.hold) != 0)
        steps.push_back("undo this host setting (do not replace the module): " +
                        std::string(row.undo));
  if (shows(kHostSilent)) {
    steps.emplace_back("bounce this port once (ip link set {dev} down, then up)");
    steps.emplace_back("reseat this module ({serial}) and check its host contacts");
  }
  if (shows(kFarModuleAbsent)) steps.emplace_back("check the cage at {peer}: it reports no module");
  if (shows(kModuleDropsOut))
    steps.emplace_back("reseat this module ({serial}); check latch, contacts and cage");
  const std::string& netdev = f.port.latest.id.netdev;
  for (std::string& step : steps)
    for (auto at = step.find("{dev}"); at != std::string::npos; at = step.find("{dev}"))
      step.replace(at, 5, netdev.empty() ? "DEV" : netdev);
  return steps;
}

/// "PCIe at bridge 0000:59:01.0 runs at 16 of 32 GT/s": if it is above the card, its place matters.
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
                       const std::vector<std::uint32_t>& lanes) {
  // Already covered by the sentences above.
  constexpr SymptomSet kSaid{kLightLow,       kLosingData,    kOneLaneErrors, kNoLight,
                             kLightThere,     kReceiveErrors, kCameBackWorse, kModuleDiffers,
                             kFecDiffers,     kModuleHeld,    kModuleHot,     kSpeedReduced,
                             kSettingsTouched};
  constexpr std::size_t kMostMeanings = 2;
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (part.empty() || text.find(part) != std::string::npos) return;
    text.append(text.empty() ? "" : "; ").append(part);
  };
  const auto explained = [&](SymptomId id) {
    return at(findings, id).present() && explains(*ranked.cause, id);
  };
  if (f.down) {
    add(down_sentence(f));
  } else {
    // A meter that reads dark while data arrives shows no loss of light.
    if (!explained(kLaneReadsDark)) add(light_sentence(f, lanes));
    // Without errors these figures do not show what is wrong.
    if (receive_errors(findings) == true) add(signal_sentence(f.signal));
  }
  if (explained(kModuleHeld)) add(hold_sentence(f));
  if (explained(kNeighbourDiffers)) add(wiring_sentence(f));
  if (explained(kCameBackWorse)) add(training_sentence(f));
  if (explained(kModuleDiffers)) add(module_sentence(f));
  if (explained(kFecDiffers)) add(fec_sentence(f));
  if (explained(kPcieReduced)) add(pcie_sentence(f));
  if (explained(kModuleHot)) add(heat_sentence(at(findings, kModuleHot)));
  if (explained(kSpeedReduced)) add(speed_sentence(at(findings, kSpeedReduced)));
  std::size_t meanings = 0;
  for (const Symptom& row : symptom_table()) {
    if (meanings >= kMostMeanings || kSaid.has(row.id) || !explained(row.id)) continue;
    add(row.meaning);
    ++meanings;
  }
  // The symptoms are more specific than the general meaning of the fault.
  if (text.empty()) add(ranked.fault->meaning);
  if (explained(kSettingsTouched)) add(settings_sentence(f));
  return text;
}

/// The most likely of the causes of other faults, including "healthy".
const Cause& next_cause(const Differential& differential, const RankedFault& ranked) {
  const Cause* best = &cause_table().front();
  for (const RankedFault& row : differential.ranked)
    if (row.fault != ranked.fault &&
        differential.posterior[index_of(*row.cause)] > differential.posterior[index_of(*best)])
      best = row.cause;
  return *best;
}

/// Whether a reading shows that the cable is good: the far port is administratively down or dark,
/// or went down together with others; or the link is up without errors at either end.
bool is_cable_cleared(const Features& f, const Findings& findings) {
  const auto shows = [&findings](SymptomId id) { return at(findings, id).present(); };
  if (f.down) return shows(kFarAdminDown) || shows(kFarTxOff) || shows(kGroupDown);
  return receive_errors(findings) == false && !shows(kFarErrors);
}

/// Whether a fault of the cable or of a module is still possible on a link that is up: it remains
/// in the differential, or the far end counts errors, even a few.
bool leaves_cable_open(const Features& f, const Differential& differential) {
  if (f.down) return false;
  return f.signal.far_error_reads > 0 ||
         std::ranges::any_of(differential.ranked, [](const RankedFault& row) {
           return touches_cable(row) && row.confidence >= kLeastOfCable;
         });
}

/// "far port down (55%), unplugged (25%) or damaged fibre (20%)"
std::string format_names(const RunnerUp& others) {
  std::string text;
  for (std::size_t i = 0; i < others.names.size(); ++i) {
    const RankedFault& row = others.names[i];
    text += fmt::format("{}{} ({:.0f}%)",
                        i == 0                         ? ""
                        : i + 1 == others.names.size() ? " or "
                                                       : ", ",
                        title_in_sentence(*row.fault), row.confidence * 100);
  }
  return text;
}

template <typename Fill>
Undecided undecided_of(const RunnerUp& others, const Features& f, const Findings& findings,
                       Fill fill) {
  std::string test;
  if (others.reading && at(findings, *others.reading).pending)
    test = "wait about a minute for the next module reading";
  else if (others.reading)
    test = fill(how_to_read(symptom(*others.reading), f));
  else if (others.step != nullptr)
    test = fill(others.step->text);
  Undecided undecided{std::string(others.other.fault->name),
                      others.other.fault->end,
                      others.other.confidence,
                      std::move(test),
                      {}};
  for (const RankedFault& row : others.names)
    undecided.names.push_back({std::string(row.fault->name), row.fault->end, row.confidence});
  return undecided;
}

}  // namespace

void explain(FaultReport& report, const Features& f, const Findings& findings,
             const Differential& differential, const RankedFault& ranked,
             std::span<const RepairAction> failed) {
  constexpr double kWorthSaying = 0.005;
  const auto lanes = lanes_of(f, findings, *ranked.cause);
  if (is_of_lanes(*ranked.fault, f.port.latest.module)) report.lanes = lanes;
  const auto fill = [format_lane = report.lanes.empty() ? "" : " of " + format_lanes(report.lanes),
                     peer = peer_name(f), &serial = f.port.own.serial](std::string_view text) {
    return fill_in(text, format_lane, peer, serial);
  };
  report.summary = summary_of(f, findings, ranked, lanes);
  report.undecided.reset();
  report.repair.clear();
  const auto others = ambiguous_with(differential, ranked, findings, f.down, failed);
  // This end is nearest, and its cage was read: the far end comes second.
  if (at(findings, kModuleAbsent).present() && explains(*ranked.cause, kModuleAbsent) &&
      ranked.fault->id != FaultId::kModuleMissing)
    report.repair.emplace_back(
        "push the module or cable into this port's cage until it clicks: the cage is empty");
  if (others) {
    report.undecided = undecided_of(*others, f, findings, fill);
    report.summary += ": " + format_names(*others);
    if (!report.undecided->test.empty()) report.repair.push_back(report.undecided->test);
  }
  report.verify = fill(ranked.fault->verify);
  if (f.down && report.verify.find("link is up") == std::string::npos &&
      report.verify.find("carrier loss") != std::string::npos)
    report.verify = "the link is up, " + report.verify;
  report.to_be_sure = fill(sure_of(*ranked.cause));
  for (const std::string& step : first_steps(f, findings, *ranked.cause))
    report.repair.push_back(fill(step));
  const bool reseats_first =
      at(findings, kModuleDropsOut).present() && explains(*ranked.cause, kModuleDropsOut);
  const bool cleared =
      !others && is_cable_cleared(f, findings) && !leaves_cable_open(f, differential);
  for (const RepairStep* step :
       steps_left(repair_of(*ranked.cause), failed, f.port.latest.id.link_layer)) {
    if (reseats_first && step->action == RepairAction::kModuleReseated) continue;
    const std::string text = fill(step->text);
    if (std::ranges::count(report.repair, text) == 0)
      report.repair.push_back(step->hands_off && cleared ? "do not touch the cable: " + text
                                                         : text);
  }
  put_evidence(report, f, findings, ranked);
  for (const MissingReading& missing : missing_readings(differential, findings)) {
    const Symptom& row = symptom(missing.symptom);
    const Finding& finding = at(findings, row.id);
    report.missing.push_back(
        {std::string(row.name), reason_of(finding),
         finding.pending ? "wait for the next reading" : fill(how_to_read(row, f)),
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

std::vector<std::string> undiagnosed_checks(const Features& f) {
  std::vector<std::string> checks;
  const auto& link = f.link();
  const std::string& netdev = f.port.latest.id.netdev;
  if (link.admin_up == false)
    checks.push_back("here: the port is administratively down (ip link set " +
                     (netdev.empty() ? "DEV" : netdev) + " up enables it)");
  if (link.down_reason && !link.down_reason->state.empty())
    checks.push_back("here: the driver reports: " + link.down_reason->state +
                     (link.down_reason->substate.empty() ? "" : ", " + link.down_reason->substate));
  if (f.light.rx_lanes > 0 && f.light.rx_fresh)
    checks.emplace_back(
        f.light.rx_dark_all || f.light.rx_dark_some
            ? "here: no light received on at least one lane: check that the fibre is plugged in"
            : "here: light is received: compare speed, FEC and autonegotiation with the far end");
  else
    checks.emplace_back("here: check that the cable is plugged in and the module seated");
  checks.push_back("at " + peer_name(f) +
                   ": check that the port is enabled and up, and that its module transmits");
  return checks;
}

std::vector<SymptomVerdict> symptom_verdicts(const Findings& findings) {
  std::vector<SymptomVerdict> verdicts;
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    verdicts.push_back(
        {std::string(row.name), std::string(to_string(finding.verdict)), reason_of(finding)});
  }
  return verdicts;
}

}  // namespace linkhealth
