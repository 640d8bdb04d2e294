#include "probes/import_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "model/sample_fields.h"

namespace linkhealth {

namespace {

/// The file as it is written.
struct FileLine {
  std::string schema;
  std::optional<WallTime> at;
  std::optional<double> valid_for_s;
  std::map<std::string, ImportedPort> ports;
};

}  // namespace

void fields(Is<ImportedPort> auto& port, auto& visit) {
  visit("peer", port.peer);
  visit("module", port.module);
}

void fields(Is<FileLine> auto& file, auto& visit) {
  visit("schema", file.schema);
  visit("at", file.at);
  visit("valid_for_s", file.valid_for_s);
  visit("ports", file.ports);
}

namespace {

constexpr std::size_t kMaxLanes = 32;  // of a module with four banks (CMIS 8.1)
constexpr std::size_t kMaxText = 256;

/// What a module can say: wider than any module works, narrower than what a mistaken unit gives.
struct Range {
  std::string_view what;
  double low, high;
};
constexpr Range kTemperature = {"temperature of {:g} °C", -100, 200};
constexpr Range kSupply = {"supply of {:g} V", 0, 20};
constexpr Range kPower = {"power of {:g} mW", 0, 1000};
constexpr Range kBias = {"bias of {:g} mA", 0, 2000};

class Judge {
 public:
  void number(const std::optional<double>& value, const Range& range) {
    if (value && !(*value >= range.low && *value <= range.high)) object(fmt::format(fmt::runtime(range.what), *value));
  }
  void text(const std::string& text, std::string_view name) {
    if (text.size() > kMaxText || printable(text) != text) object(fmt::format("{} that is no plain text", name));
  }
  void limits(const Limits& limits, const Range& range) {
    for (const auto& value : {limits.low_alarm, limits.low_warn, limits.high_warn, limits.high_alarm})
      number(value, range);
  }
  void object(std::string what) {
    if (why_.empty()) why_ = std::move(what);
  }
  /// The first objection; "" when there is none.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

void judge_module(Judge& judge, const ModuleSample& module) {
  constexpr std::array<std::string_view, 5> kKinds = {"optical", "aoc", "dac", "acc", "unknown"};
  if (std::ranges::find(kKinds, module.kind) == kKinds.end()) judge.object("module kind that there is not");
  if (module.lanes.size() > kMaxLanes) judge.object(fmt::format("module with {} lanes", module.lanes.size()));
  judge.number(module.temperature_c, kTemperature);
  judge.number(module.supply_v, kSupply);
  for (const ModuleLane& lane : module.lanes) {
    judge.number(lane.rx_power_mw, kPower);
    judge.number(lane.tx_power_mw, kPower);
    judge.number(lane.tx_bias_ma, kBias);
  }
  judge.limits(module.thresholds.temperature_c, kTemperature);
  judge.limits(module.thresholds.supply_v, kSupply);
  judge.limits(module.thresholds.rx_power_mw, kPower);
  judge.limits(module.thresholds.tx_power_mw, kPower);
  judge.limits(module.thresholds.tx_bias_ma, kBias);
  for (const auto& [text, name] : {std::pair(&module.vendor, "vendor"), std::pair(&module.part_number, "part number"),
                                   std::pair(&module.serial, "serial"), std::pair(&module.type, "type"),
                                   std::pair(&module.firmware, "firmware"), std::pair(&module.state, "state")})
    judge.text(*text, name);
}

void judge_peer(Judge& judge, const PeerSample& peer) {
  if (peer.source != "telemetry" && peer.source != "fleet")
    judge.object("peer source that is neither \"telemetry\" nor \"fleet\"");
  if (peer.age_s && !(*peer.age_s >= 0 && *peer.age_s <= kMaxImportValidSeconds))
    judge.object("peer age that can't be");
  if (peer.module_age_s || !peer.module_source.empty()) judge.object("peer module with a source of its own");
  judge.text(peer.system, "system");
  judge.text(peer.port, "port");
  judge.text(peer.guid, "guid");
  judge.text(peer.description, "description");
  judge.text(peer.address, "address");
  if (peer.module) judge_module(judge, *peer.module);
}

}  // namespace

Result<ImportFile> parse_import_file(std::string_view text) {
  JsonReader in(text);
  FileLine read;
  const bool whole = FieldsIn(in).value(read) && in.at_end();
  if (!read.schema.empty() && read.schema != kImportSchema)
    return Error{fmt::format("its format is \"{}\", and this program reads \"{}\"",
                             printable(read.schema).substr(0, 60), kImportSchema)};
  if (!whole) return Error{"not whole or not the format: " + printable(in.error())};
  if (read.schema.empty()) return Error{fmt::format("\"schema\" is missing: write \"{}\"", kImportSchema)};
  if (!read.at) return Error{"\"at\" is missing: when the readings were taken"};
  if (!read.valid_for_s) return Error{"\"valid_for_s\" is missing: for how long the readings hold"};
  if (!(*read.valid_for_s > 0 && *read.valid_for_s <= kMaxImportValidSeconds))
    return Error{"\"valid_for_s\" must be more than 0 and at most a day"};
  if (read.ports.size() > kMaxImportPorts) return Error{fmt::format("more than {} ports", kMaxImportPorts)};
  for (auto& [key, port] : read.ports) {
    if (port.peer && port.peer->source.empty()) port.peer->source = "telemetry";
    Judge judge;
    if (port.peer) judge_peer(judge, *port.peer);
    if (port.module) judge_module(judge, *port.module);
    if (!judge.why().empty()) return Error{fmt::format("ports > {}: a {}", printable(key).substr(0, 60), judge.why())};
  }
  return ImportFile{*read.at, *read.valid_for_s, std::move(read.ports)};
}

}  // namespace linkhealth
