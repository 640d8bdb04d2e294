// The outbox over the memory: what was written and not sent yet comes again after a kill.
#pragma once

#include "daemon/outbox.h"
#include "exporters/json.h"
#include "storage/memory.h"

namespace linkhealth {

class KeptOutbox : public Outbox {
 public:
  /// `memory` must outlive it.
  explicit KeptOutbox(Memory& memory) : memory_(memory) {}

  void add_sink(const std::string& sink) override { memory_.add_sink(sink); }
  Result<std::vector<OutboxEvent>> undelivered(const std::string& sink,
                                               std::size_t limit) override {
    const auto kept = memory_.undelivered(sink, limit);
    if (!kept) return kept.error();
    std::vector<OutboxEvent> events;
    for (const KeptEvent& one : *kept) {
      auto event = parse_event(one.document);
      // Of a version whose events are not understood any more: never sent, and it holds up nobody.
      if (event) events.push_back({one.id, *std::move(event)});
    }
    if (events.empty() && !kept->empty()) memory_.mark_delivered(sink, kept->back().id);
    return events;
  }
  void mark_delivered(const std::string& sink, const std::string& id) override {
    memory_.mark_delivered(sink, id);
  }

 private:
  Memory& memory_;
};

}  // namespace linkhealth
