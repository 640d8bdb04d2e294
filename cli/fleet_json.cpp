#include "base/time.h"
#include "cli/fleet_words.h"
#include "model/json_writer.h"

namespace linkhealth::cli {

namespace {

class Document {
 public:
  explicit Document(std::string& text) : json_(text) {}

  void member(std::string_view key, const auto& value) {
    json_.key(key);
    json_.value(value);
  }
  void links(const FleetGroup& group) {
    json_.key("links");
    json_.begin_object();
    for (const char* health : kHealthWords) member(health, group.count(health));
    json_.end_object();
  }
  void group(const FleetGroup& group) {
    json_.begin_object();
    member("name", std::string_view(group.name));
    links(group);
    member("faults", group.faults);
    json_.end_object();
  }
  void fault(const FleetFault& fault);
  template <typename Rows, typename Write>
  void list(std::string_view key, const Rows& rows, Write write) {
    json_.key(key);
    json_.begin_array();
    for (const auto& row : rows) write(row);
    json_.end_array();
  }
  void begin() { json_.begin_object(); }
  void end() { json_.end_object(); }

 private:
  JsonWriter json_;
};

void Document::fault(const FleetFault& fault) {
  json_.begin_object();
  member("rank", static_cast<std::uint64_t>(fault.rank));
  for (const auto& [key, value] : {std::pair("instance", &fault.instance),
                                   {"device", &fault.device},
                                   {"port", &fault.port},
                                   {"netdev", &fault.netdev},
                                   {"fault", &fault.fault},
                                   {"end", &fault.end},
                                   {"severity", &fault.severity},
                                   {"peer_system", &fault.peer_system},
                                   {"peer_port", &fault.peer_port},
                                   {"pod", &fault.pod},
                                   {"row", &fault.row},
                                   {"rack", &fault.rack},
                                   {"u", &fault.u},
                                   {"rail", &fault.rail},
                                   {"vendor", &fault.vendor},
                                   {"part_number", &fault.part_number},
                                   {"serial", &fault.serial},
                                   {"shared_cause", &fault.shared}})
    if (!value->empty()) member(key, std::string_view(*value));
  member("confidence", fault.confidence);
  if (fault.opened_at) member("opened_at", std::string_view(format_rfc3339(*fault.opened_at)));
  member("bandwidth_lost_bytes_per_second", fault.lost_bytes_per_s);
  json_.end_object();
}

}  // namespace

std::string fleet_json(const FleetView& view, const FleetOptions& options, WallTime now) {
  std::string text;
  Document out(text);
  out.begin();
  out.member("schema", "linkhealth.fleet/1");
  out.member("at", std::string_view(format_rfc3339(now)));
  out.member("nodes", view.nodes);
  out.member("nodes_silent", view.silent_nodes);
  out.links(view.links);
  out.member("bandwidth_lost_bytes_per_second", view.lost_bytes_per_s);
  if (!options.by.empty()) {
    out.member("by", std::string_view(options.by));
    out.member("groups_total", view.groups_total);
    out.list("groups", view.groups, [&](const FleetGroup& group) { out.group(group); });
  } else {
    out.member("faults_total", view.faults_total);
    out.list("faults", options.work_list ? in_walking_order(view.faults) : view.faults,
             [&](const FleetFault& fault) { out.fault(fault); });
  }
  out.end();
  return text + "\n";
}

}  // namespace linkhealth::cli
