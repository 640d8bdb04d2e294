#include "probes/mad_questions.h"

#include <algorithm>
#include <utility>

namespace linkhealth {
namespace {

/// A switch that has just been started has its maker's name for some minutes, or none.
constexpr Milliseconds kFreshLink{15 * 60'000};
constexpr Milliseconds kFreshPeriod{5 * 60'000};

/// Names and capabilities of a far end that is new, or was asked long ago. What fails keeps its old
/// value, and the next round tries again.
void ask_identity(MadTalk& talk, std::uint8_t local_port, const IbNodeInfo& node,
                  const MadTiming& timing, KnownPeer& known, SteadyTime now) {
  const bool same = known.node_guid == node.node_guid && known.port == node.local_port;
  if (!same)
    known = {node.node_guid, node.local_port, "", std::nullopt, std::nullopt, std::nullopt};
  if (!known.met_at) known.met_at = now;
  const bool fresh = known.system.empty() || now - *known.met_at < kFreshLink;
  const Milliseconds period =
      fresh ? std::min(kFreshPeriod, timing.identity_period) : timing.identity_period;
  if (known.asked_at && now - *known.asked_at < period) return;
  const auto description = talk.ask_directed(MadQuestion::kNodeDescription, local_port);
  if (!description) return;
  known.system = system_name(decode_node_description(*description));
  known.offered.reset();
  known.asked_at = now;
}

/// Whoever is there next may be another one, or the same under another name.
void forget_identity(KnownPeer& known) {
  known.asked_at.reset();
  known.met_at.reset();
}

/// The LID of the far end's agent. A switch has one for all its ports, in its port 0.
Result<std::uint16_t> agent_lid(MadTalk& talk, std::uint8_t local_port, const IbNodeInfo& node,
                                const IbPortInfo& its_port) {
  if (node.type != IbNodeType::kSwitch) return its_port.lid;
  const auto answer = talk.ask_directed(MadQuestion::kPortInfo, local_port, 0);
  if (!answer) return answer.error();
  return decode_port_info(*answer).lid;
}

/// The reason why there are no counters; nullopt when there are.
std::optional<std::string> add_counters(MadTalk& talk, std::uint8_t local_port,
                                        const IbNodeInfo& node, const IbPortInfo& its_port,
                                        KnownPeer& known, PeerSample& peer) {
  if (!its_port.forwards)
    return "counters: the link is " + its_port.link.state +
           ", no subnet manager has made it active";
  const auto lid = agent_lid(talk, local_port, node, its_port);
  if (!lid) return "counters: its LID: " + lid.error().message;
  if (!is_unicast_lid(*lid))
    return "counters: the far end has no LID, no subnet manager has given it one";
  if (!known.offered) {
    const auto answer = talk.ask_perf(MadQuestion::kPerfClassPortInfo, *lid);
    if (!answer) return "counters: " + answer.error().message;
    known.offered = decode_perf_capabilities(*answer);
  }
  auto counters = ask_counters(talk, *lid, node.local_port, *known.offered);
  if (!counters) return "counters: " + counters.error().message;
  peer.counters = std::move(counters->counters);
  if (counters->reason) return "counters: " + *counters->reason;
  return std::nullopt;
}

}  // namespace

bool is_unicast_lid(std::uint16_t lid) { return lid > 0 && lid < 0xc000; }

Result<Mad> MadTalk::ask(MadRequest request, std::uint16_t lid) {
  request.transaction = ++transaction_;
  const Mad bytes = encode_request(request);
  ++mads_;
  const auto answer = port_.ask(lid, bytes, timing_.timeout, timing_.tries);
  if (!answer) return answer.error();
  return check_answer(bytes, *answer);
}

Result<Mad> MadTalk::ask_directed(MadQuestion question, std::uint8_t leaves_by, std::uint8_t port) {
  return ask({question, port, 0, leaves_by}, 0);
}

Result<Mad> MadTalk::ask_perf(MadQuestion question, std::uint16_t lid, std::uint8_t port) {
  return ask({question, port, 0, 0}, lid);
}

namespace {

/// What is left when the extended query failed. Where that one has the error counters as well, the
/// short ones of the plain query (8 and 16 bits) are no stand-in: under one name one reading would
/// say 65535 and the next 100000.
Result<CounterAnswer> without_extended(Counters plain, const PerfCapabilities& offered,
                                       const Error& why) {
  Error reason{"64-bit ones: " + why.message, why.errnum};
  if (offered.extended_errors) return reason;
  return CounterAnswer{std::move(plain), std::move(reason.message)};
}

}  // namespace

Result<CounterAnswer> ask_counters(MadTalk& talk, std::uint16_t lid, std::uint8_t port,
                                   const PerfCapabilities& offered) {
  const auto plain = talk.ask_perf(MadQuestion::kPortCounters, lid, port);
  if (!plain) return plain.error();
  auto counters = decode_port_counters(*plain, port, offered);
  if (!counters) return counters.error();
  if (!offered.has_extended())
    return CounterAnswer{std::move(*counters), "no 64-bit traffic counters there"};
  const auto extended = talk.ask_perf(MadQuestion::kPortCountersExtended, lid, port);
  if (!extended) return without_extended(std::move(*counters), offered, extended.error());
  const auto wide = decode_port_counters_extended(*extended, port, offered);
  if (!wide) return without_extended(std::move(*counters), offered, wide.error());
  counters->merge(*wide);
  return CounterAnswer{std::move(*counters), std::nullopt};
}

PeerAnswer ask_peer(MadTalk& talk, std::uint8_t local_port, const MadTiming& timing,
                    KnownPeer& known, SteadyTime now) {
  const auto own = talk.ask_directed(MadQuestion::kPortInfo, 0, local_port);
  if (!own)
    return {MadOutcome::kFailed, std::nullopt, {"this node's own port: " + own.error().message}};
  if (!decode_port_info(*own).link_up) {
    forget_identity(known);
    return {MadOutcome::kLinkDown, std::nullopt, {"the link is down: no question can cross it"}};
  }

  const auto node_answer = talk.ask_directed(MadQuestion::kNodeInfo, local_port);
  if (!node_answer)
    return {MadOutcome::kFailed, std::nullopt, {"the far end: " + node_answer.error().message}};
  const auto node = decode_node_info(*node_answer);
  if (!node) return {MadOutcome::kFailed, std::nullopt, {"the far end: " + node.error().message}};

  PeerAnswer answer{MadOutcome::kAnswered, PeerSample{}, {}};
  ask_identity(talk, local_port, *node, timing, known, now);
  answer.peer->source = "mad";
  answer.peer->system = known.system;
  answer.peer->port = std::to_string(node->local_port);
  answer.peer->guid = format_guid(node->node_guid);

  const auto port_answer = talk.ask_directed(MadQuestion::kPortInfo, local_port, node->local_port);
  if (!port_answer) {
    answer.reasons.push_back("state of the far port: " + port_answer.error().message);
    return answer;
  }
  const IbPortInfo its_port = decode_port_info(*port_answer);
  answer.peer->link = its_port.link;
  if (auto reason = add_counters(talk, local_port, *node, its_port, known, *answer.peer))
    answer.reasons.push_back(std::move(*reason));
  return answer;
}

}  // namespace linkhealth
