#include "tests/sim/truth_file.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace linkhealth::sim {
namespace {

using nlohmann::json;

/// Faults that by their nature take the link down; the file does not state it.
bool is_down(const std::string& fault) {
  static const std::set<std::string> names = {
      "module_missing", "module_unsupported", "settings_mismatch", "admin_down",
      "unplugged",      "far_port_down",      "nic_fault"};
  return names.contains(fault);
}

Truth from_json(const json& in) {
  Truth out;
  out.fault = in.value("fault", "healthy");
  out.end = parse_enum<End>(in.value("end", "")).value_or(End::kNone);
  if (in.contains("onset_t") && in["onset_t"].is_number())
    out.onset_s = in["onset_t"].get<double>();
  for (const json& answer : in.value("also_accept", json::array())) {
    out.also_accept.push_back(
        {answer.value("fault", ""), parse_enum<End>(answer.value("end", "")).value_or(End::kNone)});
  }
  for (const json& name : in.value("tolerate", json::array()))
    out.tolerate.push_back(name.get<std::string>());
  out.exempt = in.value("exempt", "");
  if (in.contains("repaired") && in["repaired"].is_string()) {
    out.repaired = in["repaired"].get<std::string>();
    out.repaired_s = in.value("repaired_t", 0.0);
    out.tolerate.push_back(out.repaired);
  }
  out.severity = in.value("severity", "");
  out.medium = in.value("media", "");
  out.note = in.value("mode", in.value("kind", in.value("note", "")));
  out.far_level = in.value("far_level", 0);
  out.link_down = is_down(out.fault);
  return out;
}

json to_json(const Truth& truth) {
  json out = {{"fault", truth.fault},
              {"end", truth.end == End::kNone ? "" : std::string(to_string(truth.end))},
              {"media", truth.medium},
              {"far_level", truth.far_level},
              {"also_accept", json::array()}};
  out["onset_t"] = truth.onset_s ? json(*truth.onset_s) : json(nullptr);
  for (const Answer& answer : truth.also_accept) {
    json one = {{"fault", answer.fault}};
    if (answer.end != End::kNone) one["end"] = std::string(to_string(answer.end));
    out["also_accept"].push_back(one);
  }
  if (!truth.tolerate.empty()) out["tolerate"] = truth.tolerate;
  if (!truth.exempt.empty()) out["exempt"] = truth.exempt;
  if (!truth.repaired.empty()) {
    out["repaired"] = truth.repaired;
    out["repaired_t"] = truth.repaired_s.value_or(0);
  }
  if (!truth.severity.empty()) out["severity"] = truth.severity;
  if (!truth.note.empty()) out["note"] = truth.note;
  if (!truth.second.empty()) out["second"] = truth.second;
  return out;
}

}  // namespace

Result<TruthFile> read_truth_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{path + ": cannot be opened", 0};
  const json all = json::parse(file, nullptr, false);
  if (!all.is_object()) return Error{path + ": is not a JSON object", 0};
  TruthFile out;
  for (const auto& [name, ports] : all.items())
    for (const auto& [port, truth] : ports.items()) out[name][port] = from_json(truth);
  return out;
}

Result<void> write_truth_file(const std::string& path, const TruthFile& truth) {
  json all = json::object();
  for (const auto& [name, ports] : truth)
    for (const auto& [port, at] : ports) all[name][port] = to_json(at);
  std::ofstream file(path);
  file << all.dump(1) << '\n';
  if (!file) return Error{path + ": cannot be written", 0};
  return {};
}

}  // namespace linkhealth::sim
