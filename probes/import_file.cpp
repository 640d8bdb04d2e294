#include "probes/import_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "model/sample_fields.h"
#include "probes/import_judge.h"

namespace linkhealth {

namespace {

/// The file without its ports.
struct ImportHead {
  std::optional<WallTime> at;
  std::optional<double> valid_for_s;
};

}  // namespace

void fields(Is<ImportHead> auto& head, auto& visit) {
  visit("at", head.at);
  visit("valid_for_s", head.valid_for_s);
}

void fields(Is<ImportedPort> auto& port, auto& visit) {
  visit("peer", port.peer);
  visit("module", port.module);
}

namespace {

bool has_names(const PeerSample& peer) {
  return !peer.system.empty() || !peer.port.empty() || !peer.guid.empty() ||
         !peer.description.empty() || !peer.address.empty();
}

template <typename Group>
bool is_said(const std::optional<Group>& group) {
  return group && *group != Group();
}

/// The newest file counts: what says nothing would take away what an older one says.
void leave_out_empty(ImportedPort& port) {
  const auto leave_out = [&port](auto& part, std::string_view name) {
    part.reset();
    port.flaw = fmt::format("an empty {} says nothing, and is not taken", name);
  };
  if (port.module && !is_said(port.module)) leave_out(port.module, "module");
  if (port.peer && port.peer->module && !is_said(port.peer->module))
    leave_out(port.peer->module, "module");
  if (port.peer && parts_of(port.peer, {}).none()) leave_out(port.peer, "peer");
}

Error not_the_format(const std::string& why) {
  return {"not whole or not the format: " + printable(why)};
}

Result<ImportFile> file_without_ports(const Json& json) {
  if (!json.is_object()) return not_the_format("expected an object");
  const std::string schema = text_member(json, "schema");
  if (!schema.empty() && schema != kImportSchema)
    return Error{fmt::format("its format is \"{}\", and this program reads {}",
                             printable(schema).substr(0, 60), kImportSchema)};
  if (schema.empty()) return Error{fmt::format("schema is missing: write {}", kImportSchema)};
  ImportHead head;
  if (auto read = read_fields(json, head); !read) return not_the_format(read.error().message);
  if (!head.at) return Error{"at is missing: when the readings were taken"};
  if (!head.valid_for_s) return Error{"valid_for_s is missing: for how long the readings hold"};
  if (!(*head.valid_for_s > 0 && *head.valid_for_s <= kMaxImportValidSeconds))
    return Error{"valid_for_s must be more than 0 and at most a day"};
  const Json& ports = member(json, "ports");
  if (ports.is_null()) return Error{"ports is missing: write {} when there is nothing to say"};
  if (!ports.is_object()) return not_the_format("ports: expected an object");
  if (ports.size() > kMaxImportPorts)
    return Error{fmt::format("more than {} ports", kMaxImportPorts)};
  ImportFile file;
  file.at = *head.at;
  file.valid_for_s = *head.valid_for_s;
  file.named = ports.size();
  return file;
}

/// Of two entries that contradict each other either may be the right one.
void keep(ImportFile& file, const PortKey& key, ImportedPort port) {
  const auto [at, first] = file.ports.try_emplace(key);
  if (!first) port.flaw = "two entries are of one port, and neither is taken";
  if (!port.flaw.empty()) {
    port.peer.reset();
    port.module.reset();
  }
  leave_out_bad_limits(port);
  leave_out_empty(port);
  at->second = std::move(port);
}

}  // namespace

ImportParts parts_of(const std::optional<PeerSample>& peer,
                     const std::optional<ModuleSample>& module) {
  ImportParts parts;
  parts[kOwnModule] = is_said(module);
  if (!peer) return parts;
  parts[kFarNames] = has_names(*peer);
  parts[kFarLink] = is_said(peer->link);
  parts[kFarCounters] = is_said(peer->counters);
  parts[kFarModule] = is_said(peer->module);
  return parts;
}

std::optional<PortKey> port_as_named(std::string_view name) { return PortKey(name); }

Result<ImportFile> parse_import_file(std::string_view text, const PortOfName& port_of) {
  const auto json = parse_json(text);
  if (!json) return not_the_format(json.error().message);
  auto file = file_without_ports(*json);
  if (!file) return file;
  for (const auto& [name, entry] : (*json)["ports"].items()) {
    ImportedPort port;
    if (auto read = read_fields(entry, port); !read)
      return not_the_format(fmt::format("ports > {} > {}", name, read.error().message));
    if (port.peer && port.peer->source.empty()) port.peer->source = "telemetry";
    const Judgement judgement = judge(port);
    if (!judgement.objection.empty())
      return Error{
          fmt::format("ports > {}: a {}", printable(name).substr(0, 60), judgement.objection)};
    port.flaw = judgement.flaw;
    if (const auto key = port_of(name)) keep(*file, *key, std::move(port));
  }
  return file;
}

}  // namespace linkhealth
