#include "probes/peer/import_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "model/json/sample_fields.h"

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

Error not_the_format(const std::string& why) {
  return {"not whole or not the format: " + printable(why)};
}

Result<ImportFile> parse_head(const Json& json) {
  if (!json.is_object()) return not_the_format("expected an object");
  const std::string schema = text_member(json, "schema");
  if (schema.empty()) return Error{fmt::format("schema is missing: write {}", kImportSchema)};
  if (schema != kImportSchema)
    return Error{fmt::format("unsupported format \"{}\": this program reads {}",
                             printable(schema).substr(0, 60), kImportSchema)};
  ImportHead head;
  if (auto read = read_fields(json, head); !read) return not_the_format(read.error().message);
  if (!head.at) return Error{"at is missing: when the readings were taken"};
  if (!head.valid_for_s) return Error{"valid_for_s is missing: how long the readings are valid"};
  if (!(*head.valid_for_s > 0 && *head.valid_for_s <= kMaxImportValidSeconds))
    return Error{"valid_for_s must be more than 0 and at most a day"};
  const Json& ports = member(json, "ports");
  if (ports.is_null()) return Error{"ports is missing: write {} when there is nothing to report"};
  if (!ports.is_object()) return not_the_format("ports: expected an object");
  return ImportFile{*head.at, *head.valid_for_s, {}};
}

/// The newest file counts: an empty group would revoke an older file's.
void drop_empty(ImportedPort& port) {
  const auto drop = [&port](auto& group, std::string_view name) {
    group.reset();
    port.flaw = fmt::format("an empty {} is not used", name);
  };
  if (port.module && *port.module == ModuleSample()) drop(port.module, "module");
  if (!port.peer) return;
  if (port.peer->module && *port.peer->module == ModuleSample()) drop(port.peer->module, "module");
  PeerSample content = *port.peer;
  content.source.clear();
  content.age_s.reset();
  if (content.link == LinkSample()) content.link.reset();
  if (content.counters == Counters()) content.counters.reset();
  if (content == PeerSample()) drop(port.peer, "peer");
}

void check(ImportedPort& port) {
  port.flaw = find_implausible(port);
  if (!port.flaw.empty()) {
    port.peer.reset();
    port.module.reset();
    return;
  }
  if (port.peer && port.peer->module) drop_bad_limits(*port.peer->module);
  if (port.module) drop_bad_limits(*port.module);
  drop_empty(port);
}

}  // namespace

Result<ImportFile> parse_import_file(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return not_the_format(json.error().message);
  auto file = parse_head(*json);
  if (!file) return file;
  for (const auto& [name, entry] : (*json)["ports"].items()) {
    ImportedPort& port = file->ports[name];
    if (auto read = read_fields(entry, port); !read)
      return not_the_format(fmt::format("ports > {} > {}", name, read.error().message));
    if (port.peer && port.peer->source.empty()) port.peer->source = "telemetry";
    check(port);
  }
  return file;
}

}  // namespace linkhealth
