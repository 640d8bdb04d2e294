#include "storage/reference_file.h"

#include "model/report_fields.h"

namespace linkhealth {

namespace {

constexpr std::string_view kSchema = "linkhealth.references/1";

struct ReferenceDocument {
  std::string schema;
  ReferenceState state;
};

}  // namespace

void fields(Is<KeptReference> auto& reference, auto& visit) {
  visit.always("name", reference.name);
  visit("values", reference.values);
}

void fields(Is<PortReferences> auto& port, auto& visit) {
  visit.always("port", port.port);
  visit("label", port.label);
  visit("guid", port.guid);
  visit.always("serial", port.serial);
  visit("far_serial", port.far_serial);
  visit.always("seen_at", port.seen_at);
  visit("linked_at", port.linked_at);
  visit("verbs_seen_at", port.verbs_seen_at);
  visit("last_drop_at", port.last_drop_at);
  visit("peer_source", port.peer_source);
  visit("peer_system", port.peer_system);
  visit("peer_port", port.peer_port);
  visit("peer_guid", port.peer_guid);
  visit("peer_at", port.peer_at);
  visit.always("best_speed_mbps", port.best_speed_mbps);
  visit.always("best_lanes", port.best_lanes);
  visit("references", port.references);
}

void fields(Is<ReferenceDocument> auto& document, auto& visit) {
  visit.always("schema", document.schema);
  visit("ports", document.state.ports);
}

std::string references_json(const ReferenceState& state) {
  return format_fields(ReferenceDocument{std::string(kSchema), state});
}

Result<ReferenceState> parse_references(std::string_view json) {
  auto document = parse_fields<ReferenceDocument>(json);
  if (!document) return document.error();
  if (document->schema != kSchema) return Error{"it is not a " + std::string(kSchema)};
  return std::move(document->state);
}

}  // namespace linkhealth
