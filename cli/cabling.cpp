#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/commands.h"
#include "cli/fetched.h"
#include "cli/local.h"
#include "config/plan_learn.h"
#include "daemon/cabling.h"
#include "exporters/json.h"
#include "probes/live_host.h"

namespace linkhealth::cli {

namespace {

std::string host_name() {
  LiveHost host;
  const auto name = host.read_file("/proc/sys/kernel/hostname");
  return name ? name->substr(0, name->find('\n')) : "";
}

/// Every port with an identified far end.
Result<std::vector<PlanRow>> learn_from_daemon(const Client& client, int& exit_code) {
  const auto report = fetch_as(client, "/api/v1/report", &parse_report);
  exit_code = report.exit_code;
  if (!report.value) return Error{report.message};
  std::vector<PlanRow> rows;
  for (const PortReport& port : report.value->ports) {
    const auto& peer = port.latest.peer;
    if (!peer || peer->source == "plan" || (peer->system.empty() && peer->port.empty())) continue;
    PlanRow row;
    row.node = report.value->node;
    row.port = port.port;
    row.expected = port.expected;  // what is known of rails and racks stays
    row.expected.peer_system = peer->system;
    row.expected.peer_port = peer->port;
    if (const auto& link = port.latest.link; link && link->carrier == true)
      row.expected.speed_mbps = link->speed_mbps;
    if (report.value->site)
      for (const char* label : {"row", "rack", "u", "pod"})
        if (const auto at = report.value->site->find(label); at != report.value->site->end())
          row.site[label] = at->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<PlanRow>> learn_from_file(const std::string& path, const std::string& node) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error("can't read " + path, errno);
  std::string text(kMaxPlanBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || text.size() > kMaxPlanBytes)
    return Error{path + " can't be read, or is too long"};
  auto rows = learn_plan(text, node.empty() ? host_name() : node);
  if (!rows) return Error{path + ": " + rows.error().message};
  return rows;
}

}  // namespace

int run_cabling(const Client& client, const CablingOptions& options, const TextStyle& style) {
  if (!options.learn) {
    const auto fetched = fetch_as(client, "/api/v1/report", &parse_report);
    if (!fetched.value) {
      complain(fetched.message);
      return fetched.exit_code;
    }
    const auto rows = compare_cabling(*fetched.value);
    std::cout << (options.json ? cabling_json(*fetched.value, rows) + "\n"
                               : cabling_text(*fetched.value, rows, style));
    return count_wrong(rows) > 0 ? kProblems : kOk;
  }
  std::vector<PlanRow> all;
  int exit_code = kBadInput;
  if (options.from.empty()) {
    auto rows = learn_from_daemon(client, exit_code);
    if (!rows) {
      complain(rows.error().message);
      return exit_code;
    }
    all = *std::move(rows);
  }
  for (const std::string& path : options.from) {
    const auto rows = learn_from_file(path, options.node);
    if (!rows) {
      complain(rows.error().message);
      return kBadInput;
    }
    all.insert(all.end(), rows->begin(), rows->end());
  }
  if (all.empty()) {
    complain(
        "no far end says who it is: nothing to learn (linkhealth doctor says what would make them "
        "visible)");
    return kBadInput;
  }
  std::cout << (options.yaml ? plan_yaml(all) : plan_csv(all));
  std::cerr << "linkhealth: " << all.size() << (all.size() == 1 ? " link" : " links")
            << " learned: compare them with what was meant before you call it a plan\n";
  return kOk;
}

}  // namespace linkhealth::cli
