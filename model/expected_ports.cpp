#include "model/expected_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace linkhealth {

namespace {

/// The entries of the configuration, or of the plan, for one port.
struct Entries {
  std::string_view of;
  std::vector<std::pair<std::string, ExpectedPort>> expected;  ///< in the order of the port's names
  std::vector<std::pair<std::string, std::string>> exempt;     ///< with the reason
  [[nodiscard]] bool empty() const { return expected.empty() && exempt.empty(); }
};

Entries entries_of(std::string_view of, const std::map<PortKey, ExpectedPort>& expected,
                   const std::map<PortKey, std::string>& exempt,
                   const std::vector<std::string>& names) {
  Entries entries{of, {}, {}};
  for (const std::string& name : names) {
    if (const auto at = expected.find(name); at != expected.end()) entries.expected.push_back(*at);
    if (const auto at = exempt.find(name); at != exempt.end()) entries.exempt.push_back(*at);
  }
  return entries;
}

void fill_missing(ExpectedPort& into, const ExpectedPort& from) {
  if (!into.speed_mbps) into.speed_mbps = from.speed_mbps;
  if (!into.lanes) into.lanes = from.lanes;
  if (into.peer_system.empty() && into.peer_port.empty()) {  // take both or neither
    into.peer_system = from.peer_system;
    into.peer_port = from.peer_port;
  }
  for (const auto text :
       {&ExpectedPort::peer_rack, &ExpectedPort::peer_u, &ExpectedPort::rail, &ExpectedPort::cable})
    if ((into.*text).empty()) into.*text = from.*text;
}

/// Two entries that set a field to different values, or that exempt the port and also expect
/// something of it; "": none.
std::string contradiction_in(const Entries& entries) {
  const auto words = [&](const std::string& a, const std::string& b) {
    return fmt::format("{}: {} and {} are the same port but disagree: {} is used", entries.of, a, b,
                       a);
  };
  for (const auto& [out, reason] : entries.exempt)
    for (const auto& [name, expected] : entries.expected)
      if (name != out) return words(out, name);
  for (std::size_t i = 1; i < entries.expected.size(); ++i) {
    ExpectedPort one = entries.expected[0].second, other = entries.expected[i].second;
    fill_missing(one, entries.expected[i].second);
    fill_missing(other, entries.expected[0].second);
    if (one != other) return words(entries.expected[0].first, entries.expected[i].first);
  }
  return "";
}

}  // namespace

ExpectedConfig expected_for(const ExpectedPorts& all, const PortKey& key, const PortId& id) {
  std::vector<std::string> names = {key};
  for (const std::string& name : port_names(id))
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  const Entries own = entries_of("configuration", all.expected, all.exempt, names);
  const Entries planned = entries_of("plan", all.planned, all.planned_exempt, names);
  ExpectedConfig config;
  for (const Entries* entries : {&own, &planned})
    for (const auto& [name, expected] : entries->expected) {
      if (!config.expected) config.expected.emplace();
      fill_missing(*config.expected, expected);
    }
  // The plan cannot exempt a port that the configuration expects.
  if (const auto& exempt = (own.empty() ? planned : own).exempt; !exempt.empty())
    config.exempt = exempt[0].second;
  config.contradiction = contradiction_in(own);
  if (config.contradiction.empty()) config.contradiction = contradiction_in(planned);
  return config;
}

std::map<PortKey, ExpectedPort> with_plan(const ExpectedPorts& all) {
  std::map<PortKey, ExpectedPort> both = all.expected;
  for (const auto& [name, planned] : all.planned)
    if (!all.exempt.contains(name)) fill_missing(both[name], planned);
  return both;
}

bool is_expected(const ExpectedPorts& all, const PortKey& name) {
  if (all.exempt.contains(name)) return false;
  return all.expected.contains(name) ||
         (all.planned.contains(name) && !all.planned_exempt.contains(name));
}

}  // namespace linkhealth
