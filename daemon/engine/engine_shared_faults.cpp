// Stage 2: what several ports have in common is reported once, for all.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/engine/engine_state.h"
#include "daemon/engine/shared_parts.h"

namespace linkhealth {

namespace {

/// Where faults are located that several ports show equally, so that they are one fault.
struct Alike {
  SharedKind kind;
  bool (*is_of)(const Fault&);
  bool (*has)(const PortStep&, const PortStep&);
};
constexpr Alike kAlike[] = {
    {SharedKind::kLink,
     [](const Fault& fault) { return fault.end != End::kNode && !fault.life.certain; },
     [](const PortStep& a, const PortStep& b) { return a.link == b.link; }},
    // Dirt affects one lane's fibre, but may affect several.
    {SharedKind::kModule,
     [](const Fault& fault) {
       return fault.end == End::kLocal && fault.id != FaultId::kModuleMissing &&
              !fault.life.certain;
     },
     [](const PortStep& a, const PortStep& b) { return same_module(a.port, b.port); }},
    {SharedKind::kCard, [](const Fault& fault) { return fault.id == FaultId::kNicFault; },
     [](const PortStep& a, const PortStep& b) {
       return same_card(a.port.latest.id, b.port.latest.id);
     }},
    {SharedKind::kCard, [](const Fault& fault) { return fault.id == FaultId::kPcieDegraded; },
     [](const PortStep& a, const PortStep& b) {
       return same_slot(a.port.latest.id, b.port.latest.id);
     }},
    {SharedKind::kLeaf, [](const Fault& fault) { return fault.id == FaultId::kFarSwitchFault; },
     [](const PortStep& a, const PortStep& b) { return !a.leaf.empty() && a.leaf == b.leaf; }},
};

/// Whether this port's fault was derived from lanes of a shared module that it reports for: then it
/// may concern any of the module's ports.
bool is_of_lanes(const PortStep& step, const Fault& fault) {
  if (!step.features.group.tells_for_cage || fault.life.certain) return false;
  if (fault.end == End::kLocal) return fault.id != FaultId::kModuleMissing;
  return step.features.light.rx && (fault.end == End::kPath || fault.end == End::kFar);
}

}  // namespace

void add_named_alike(const std::vector<PortStep>& all, std::vector<SharedCause>& causes) {
  std::vector<bool> taken(all.size());
  for (const SharedCause& cause : causes)
    for (const std::size_t i : cause.ports) taken[i] = true;
  const auto fault_at = [&](std::size_t i) -> const Fault* {
    return !taken[i] && all[i].verdict.primary ? all[i].verdict.primary->fault : nullptr;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Fault* fault = fault_at(i);
    if (fault == nullptr || !is_of_lanes(all[i], *fault)) continue;
    SharedCause cause{SharedKind::kModule, {}, fault->id, "", false, 0, 0, true};
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!taken[k] && all[k].exempt.empty() && all[k].port.present &&
          (k == i || same_module(all[i].port, all[k].port))) {
        cause.ports.push_back(k);
        cause.links += all[k].first_of_link;
      }
    for (const std::size_t k : cause.ports) taken[k] = true;
    causes.push_back(std::move(cause));
  }
  for (const Alike& row : kAlike)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Fault* fault = fault_at(i);
      if (fault == nullptr || !row.is_of(*fault)) continue;
      SharedCause cause{row.kind, {i}, fault->id, "", false, 1, 1};
      for (std::size_t k = i + 1; k < all.size(); ++k)
        if (fault_at(k) == fault && row.has(all[i], all[k])) {
          cause.ports.push_back(k);
          cause.links += all[k].link != all[i].link;
        }
      if (cause.ports.size() < 2) continue;
      for (const std::size_t k : cause.ports) taken[k] = true;
      causes.push_back(std::move(cause));
    }
}

/// Another port reports the fault. Other open faults of this port neither heal nor are renamed
/// meanwhile.
void Engine::State::leave_to_other(PortStep& step) const {
  step.verdict.primary.reset();
  step.verdict.secondary.reset();
  if (!ledger.open(step.stable).empty()) step.verdict.judged = false;
}

/// Links that went down together come back one after the other: until the last one has had its
/// time, the remaining ones are not a separate fault.
void Engine::State::settle_shared(std::vector<PortStep>& all) const {
  constexpr double kSettleS = 60;  // as links train (docs/physics.md 7d)
  for (PortStep& teller : all)
    for (const LedgerEntry* entry : ledger.open(teller.stable)) {
      const auto& members = entry->kept.ports;
      const auto is_member = [&members](const PortStep& step) {
        return std::ranges::count(members, step.stable) > 0;
      };
      const bool settling = std::ranges::any_of(all, [&](const PortStep& step) {
        return is_member(step) && step.features.up && step.port.carrier.since &&
               in_seconds(step.features.now - *step.port.carrier.since) < kSettleS;
      });
      if (!settling) continue;
      if (teller.verdict.primary) teller.verdict.ports = members;
      for (PortStep& step : all)
        if (&step != &teller && is_member(step) && step.features.down) leave_to_other(step);
    }
}

/// One of the ports that show a shared cause reports it for all: the one that already does,
/// otherwise the first.
void Engine::State::report_once(std::vector<SharedCause>& causes,
                                std::vector<PortStep>& all) const {
  settle_shared(all);
  for (SharedCause& cause : causes) {
    const auto named = [&all](std::size_t i) {
      const auto& primary = all[i].verdict.primary;
      return primary ? primary->fault : nullptr;
    };
    // If a module is missing, refused or too hot on one port only, that is not the shared cause,
    // even if another link went down at the same moment.
    const auto is_own = [&](std::size_t i) {
      const Fault* fault = named(i);
      const bool one_part = cause.kind == SharedKind::kLink || cause.kind == SharedKind::kModule;
      return cause.fell && !one_part && fault != nullptr && fault->end == End::kLocal &&
             std::ranges::count(cause.ports, fault, named) == 1;
    };
    std::vector<std::size_t> shown;
    for (const std::size_t i : cause.ports) {
      if (is_own(i)) continue;
      // If all ports of a driver are gone, that is the fault, whatever each still shows. Ports that
      // went down together have one fault, whatever their own diagnoses.
      const Fault* fault = named(i);
      const bool shows = cause.kind == SharedKind::kDriver ||
                         (cause.fell         ? fault == nullptr || !fault->life.certain
                          : fault != nullptr ? fault->id == cause.fault
                                             : cause.by_lanes);
      if (shows && all[i].shared == nullptr) shown.push_back(i);
    }
    if (cause.fell && shown.size() < 2 && cause.ports.size() > shown.size() &&
        std::ranges::any_of(cause.ports, is_own))
      continue;
    const auto rank = [&](std::size_t i) {
      int best = named(i) != nullptr ? 1 : 0;
      if (best > 0 && at(all[i].findings, SymptomId::kNegotiationFails).present()) best = 2;
      for (const LedgerEntry* entry : ledger.open(all[i].stable))
        if (best > 0 && entry->fault == named(i))
          best = std::max(best, entry->kept.ports.empty() ? 3 : 4);
      return best;
    };
    const auto teller = std::ranges::max_element(shown, {}, rank);  // the first of the best
    if (teller == shown.end() || named(*teller) == nullptr) continue;
    const std::size_t told_by = *teller;
    if (cause.fell) cause.fault = named(told_by)->id;
    for (const std::size_t i : shown) {
      PortStep& step = all[i];
      step.shared = &cause;
      if (i == told_by) continue;
      leave_to_other(step);
      step.verdict.judged = step.verdict.judged && cause.kind != SharedKind::kDriver;
    }
    if (shown.size() < 2) continue;
    std::vector<std::string>& members = all[told_by].verdict.ports;
    members = {all[told_by].stable};
    for (const std::size_t i : shown)
      if (i != told_by) members.push_back(all[i].stable);
  }
}

namespace {

/// Steps that name the far end of one link, for another link.
void name_far_end(FaultReport& fault, const std::string& theirs, const std::string& own) {
  if (theirs.empty() || own.empty() || theirs == own) return;
  const auto rename = [&](std::string& text) {
    for (auto at = text.find(theirs); at != std::string::npos;
         at = text.find(theirs, at + own.size()))
      text.replace(at, theirs.size(), own);
  };
  for (std::string& step : fault.repair) rename(step);
  rename(fault.to_be_sure);
  if (fault.undecided) rename(fault.undecided->test);
}

}  // namespace

void Engine::State::share_faults(std::vector<PortReport>& reports) const {
  std::vector<std::pair<PortKey, FaultReport>> copies;
  for (const PortReport& port : reports)
    for (const FaultReport& fault : port.faults)
      for (const PortKey& other : fault.ports)
        if (other != port.port) {
          const auto member = std::ranges::find(reports, other, &PortReport::port);
          copies.emplace_back(other, fault);
          if (member != reports.end()) name_far_end(copies.back().second, port.peer, member->peer);
        }
  for (auto& [key, fault] : copies) {
    const auto port = std::ranges::find(reports, key, &PortReport::port);
    if (port != reports.end() && port->exempt.empty()) port->faults.push_back(std::move(fault));
  }
}

namespace {

/// A sentence for people on what is shared.
std::string shared_sentence(const SharedCause& cause, const PortStep& step) {
  const GroupStats& group = step.features.group;
  const std::string fell = cause.fell ? "went down at the same moment" : "show this fault together";
  const std::string serial =
      step.port.own.serial.empty() ? "" : fmt::format(" (SN {})", step.port.own.serial);
  switch (cause.kind) {
    case SharedKind::kDriver:
      return fmt::format(
          "all {} ports of {} disappeared together: the cause is the driver or the daemon's view "
          "of /sys, not a cable",
          cause.ports.size(), cause.name);
    case SharedKind::kRoom:
      return fmt::format(
          "{:.0f} modules of this node overheated together: the cause is the room, the inlet air "
          "or a fan, not this module",
          group.siblings_hotter + 1);
    case SharedKind::kSupply:
      return fmt::format(
          "{:.0f} modules of this node lost supply voltage together ({:.2f} V here): the cause is "
          "the card's or the node's supply, not these modules",
          group.siblings_supply_low + 1, step.port.own.supply_v.now().value_or(0));
    case SharedKind::kLink:
      return "one cable, which shares its link with " + step.twins;
    case SharedKind::kModule:
      if (cause.by_lanes)
        return fmt::format(
            "seen on lanes of a module{} with {} links: which link's lanes is not known", serial,
            cause.links);
      return fmt::format("{} links of one module{} {}", cause.links, serial, fell);
    case SharedKind::kCard:
      return fmt::format("{} links of one card ({}) {}", cause.links, step.port.latest.id.pci,
                         fell);
    case SharedKind::kLeaf:
      return fmt::format("{} links to {} {}", cause.links, step.leaf, fell);
    case SharedKind::kNode:
      if (cause.leaves < 2)
        return fmt::format(
            "{} links of this node {} and stopped transmitting: they share this node", cause.links,
            fell);
      return fmt::format(
          "{} links of this node to {} different switches {}: they share {}", cause.links,
          cause.leaves, fell,
          cause.fault == FaultId::kDamagedFiber ? "a trunk or a patch panel" : "this node");
    case SharedKind::kUnknown:
      return fmt::format("{} links of this node {}: they share this node or an unknown switch",
                         cause.links, fell);
  }
  return "";
}

/// Where to look first; "" if the fault's own steps cover it.
std::string_view first_look(const SharedCause& cause) {
  if (!cause.fell) return "";
  if (cause.fault == FaultId::kDamagedFiber && cause.kind != SharedKind::kLink)
    return "check what these fibres share: trunk, its connectors, patch panel";
  switch (cause.kind) {
    case SharedKind::kModule:
      return "check what these links share: module seated, cable plugged in, module visible to the "
             "card";
    case SharedKind::kCard:
      return "check what these links share: first the card (kernel log, slot), then their cables "
             "or trunk";
    case SharedKind::kNode:
      return "check this node first (cage power, card firmware and driver in the kernel log), then "
             "the fabric's management";
    case SharedKind::kUnknown:
      return "check this node first (kernel log, card power and firmware), then the switch that "
             "these links share";
    default:
      return "";
  }
}

}  // namespace

void tell_shared(FaultReport& report, const SharedCause& cause, const PortStep& step) {
  const std::string sentence = shared_sentence(cause, step);
  const bool says_all = cause.kind == SharedKind::kDriver || cause.kind == SharedKind::kRoom ||
                        cause.kind == SharedKind::kSupply;
  if (says_all)
    report.summary = sentence;
  else if (!report.summary.starts_with(sentence))
    report.summary = sentence + "; " + report.summary;
  const std::string look(first_look(cause));
  if (!look.empty() && !std::ranges::count(report.repair, look))
    report.repair.insert(report.repair.begin(), look);
}

}  // namespace linkhealth
