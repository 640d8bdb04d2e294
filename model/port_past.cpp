#include "model/port_past.h"

namespace linkhealth {

std::string event_id(const FaultEvent& event) {
  return event.fault.id + "/" + std::string(to_string(event.kind)) + "/" +
         std::to_string(event.at.time_since_epoch().count());
}

KeptEvent kept_event(const FaultEvent& event, std::string port, std::string document) {
  KeptEvent kept;
  kept.id = event_id(event);
  kept.port = std::move(port);
  kept.at = event.at;
  kept.event = to_string(event.kind);
  kept.fault = event.fault.fault;
  kept.fault_id = event.fault.id;
  kept.end = to_string(event.fault.end);
  kept.severity = to_string(event.fault.severity);
  kept.confidence = event.fault.confidence;
  kept.summary = event.fault.summary;
  kept.document = std::move(document);
  return kept;
}

}  // namespace linkhealth
