#include "model/asked.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/port_lookup.h"

namespace linkhealth {

namespace {

/// What one rank says: the configuration, or the plan.
struct Rank {
  std::string_view who;
  std::vector<std::pair<std::string, const ExpectedPort*>>
      entries;  ///< by the names' order, each name once
  std::string exempt, exempt_name;
};

Rank rank_of(std::string_view who, const std::map<PortKey, ExpectedPort>& expected,
             const std::map<PortKey, std::string>& exempt, const std::vector<std::string>& names) {
  Rank rank{who, {}, "", ""};
  for (const std::string& name : names) {
    if (const auto at = expected.find(name); at != expected.end())
      rank.entries.emplace_back(name, &at->second);
    const auto out = exempt.find(name);
    if (out == exempt.end() || !rank.exempt.empty()) continue;
    rank.exempt = out->second;
    rank.exempt_name = name;
  }
  return rank;
}

using Words = std::string (*)(const ExpectedPort&);
struct Field {
  std::string_view name;
  Words words;  ///< "": not said
  void (*copy)(const ExpectedPort& from, ExpectedPort& to);
};

template <auto member>
Field text_field(std::string_view name) {
  return {name, [](const ExpectedPort& port) { return port.*member; },
          [](const ExpectedPort& from, ExpectedPort& to) { to.*member = from.*member; }};
}
template <auto member>
Field number_field(std::string_view name) {
  return {name,
          [](const ExpectedPort& port) {
            return port.*member ? std::to_string(*(port.*member)) : std::string();
          },
          [](const ExpectedPort& from, ExpectedPort& to) { to.*member = from.*member; }};
}

/// Half of a peer is not mixed with half of another.
std::string peer_words(const ExpectedPort& port) {
  const std::string between = port.peer_system.empty() || port.peer_port.empty() ? "" : " ";
  return port.peer_system + between + port.peer_port;
}
void copy_peer(const ExpectedPort& from, ExpectedPort& to) {
  to.peer_system = from.peer_system;
  to.peer_port = from.peer_port;
}

const std::array<Field, 7>& fields_of_a_port() {
  static const std::array<Field, 7> kFields = {
      number_field<&ExpectedPort::speed_mbps>("speed_mbps"),
      number_field<&ExpectedPort::lanes>("lanes"),
      Field{"peer", &peer_words, &copy_peer},
      text_field<&ExpectedPort::peer_rack>("the peer's rack"),
      text_field<&ExpectedPort::peer_u>("the peer's u"),
      text_field<&ExpectedPort::rail>("rail"),
      text_field<&ExpectedPort::cable>("cable")};
  return kFields;
}

void add_sentence(std::string& text, const std::string& sentence) {
  text += (text.empty() ? "" : "; ") + sentence;
}

/// The first entry of the first rank that says it counts; another of the same rank that says
/// otherwise is a mistake.
void take(const Field& field, const std::array<Rank, 2>& ranks, AskedOfPort& asked) {
  for (const Rank& rank : ranks) {
    const std::string* first = nullptr;
    std::string said;
    for (const auto& [name, entry] : rank.entries) {
      const std::string words = field.words(*entry);
      if (words.empty() || words == said) continue;
      if (first != nullptr) {
        std::string sentence(rank.who);
        sentence.append(" says ")
            .append(field.name)
            .append(" ")
            .append(said)
            .append(" under ")
            .append(*first);
        sentence.append(" and ").append(words).append(" under ").append(name).append(
            ": the first one counts");
        add_sentence(asked.contradiction, sentence);
        break;
      }
      first = &name;
      said = words;
      field.copy(*entry, *asked.expected);
    }
    if (first != nullptr) return;
  }
}

/// Left out under one name, expected under another.
void note_left_out(const Rank& rank, AskedOfPort& asked) {
  for (const auto& [name, entry] : rank.entries) {
    if (name == rank.exempt_name) continue;
    add_sentence(asked.contradiction, std::string(rank.who) + " leaves it out under " +
                                          rank.exempt_name + " and expects something of it under " +
                                          name + ": it is left out");
    return;
  }
}

}  // namespace

AskedOfPort asked_of(const AskedByName& all, const PortKey& key, const PortId& id) {
  std::vector<std::string> names = {key};
  for (const std::string& name : names_of(id))
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  const std::array<Rank, 2> ranks = {rank_of("configuration", all.expected, all.exempt, names),
                                     rank_of("the plan", all.planned, all.planned_exempt, names)};
  AskedOfPort asked;
  if (!ranks[0].entries.empty() || !ranks[1].entries.empty()) {
    asked.expected.emplace();
    for (const Field& field : fields_of_a_port()) take(field, ranks, asked);
  }
  // What the configuration expects, the plan can't leave out.
  for (const Rank& rank : ranks) {
    if (!rank.exempt.empty()) {
      asked.exempt = rank.exempt;
      note_left_out(rank, asked);
    }
    if (!rank.exempt.empty() || !rank.entries.empty()) break;
  }
  return asked;
}

std::map<PortKey, ExpectedPort> with_plan(const AskedByName& all) {
  std::map<PortKey, ExpectedPort> both = all.expected;
  for (const auto& [name, planned] : all.planned) {
    if (all.exempt.contains(name)) continue;
    AskedByName one;
    if (const auto own = all.expected.find(name); own != all.expected.end())
      one.expected.insert(*own);
    one.planned[name] = planned;
    both[name] = *asked_of(one, name, {}).expected;
  }
  return both;
}

bool awaits(const AskedByName& all, const PortKey& name) {
  if (all.exempt.contains(name)) return false;
  return all.expected.contains(name) ||
         (all.planned.contains(name) && !all.planned_exempt.contains(name));
}

}  // namespace linkhealth
