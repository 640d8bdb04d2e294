#include "probes/import_file.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "base/text.h"
#include "model/sample_fields.h"
#include "probes/import_judge.h"

namespace linkhealth {

namespace {

std::string named(std::string_view key) { return printable(key).substr(0, 60); }

bool has_names(const PeerSample& peer) {
  return !peer.system.empty() || !peer.port.empty() || !peer.guid.empty() ||
         !peer.description.empty() || !peer.address.empty();
}

/// `group` is an optional or a Boxed.
bool is_said(const auto& group) {
  return group && *group != std::remove_cvref_t<decltype(*group)>();
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

class FileReader {
 public:
  FileReader(std::string_view text, const PortOfName& port_of) : in_(text), port_of_(port_of) {
    in_.watch_keys();
  }

  Result<ImportFile> read() {
    const bool whole =
        in_.object([this](std::string_view key) { return top(key); }) && in_.at_end();
    if (std::string why = refusal(whole); !why.empty()) return Error{std::move(why)};
    file_.at = *at_;
    file_.valid_for_s = *valid_for_s_;
    return std::move(file_);
  }

 private:
  bool top(std::string_view key) {
    if (in_.repeated() && twice_.empty()) twice_ = fmt::format("{} is there twice", named(key));
    const bool ok = field(key);
    in_.forget_repeated();  // inside of what is ignored
    return ok;
  }

  bool field(std::string_view key) {
    if (in_.take_null()) return true;
    if (key == "schema") return in_.read(schema_);
    if (key == "at") return FieldsIn(in_).value(at_);
    if (key == "valid_for_s") return FieldsIn(in_).value(valid_for_s_);
    if (key != "ports") return in_.skip();
    has_ports_ = true;
    return in_.object([this](std::string_view name) { return entry(name); });
  }

  /// What makes the file unbelievable; "": nothing.
  [[nodiscard]] std::string refusal(bool whole) const {
    if (!schema_.empty() && schema_ != kImportSchema)
      return fmt::format("its format is \"{}\", and this program reads {}",
                         printable(schema_).substr(0, 60), kImportSchema);
    if (!whole) return "not whole or not the format: " + printable(in_.error());
    if (!twice_.empty()) return twice_;
    if (schema_.empty()) return fmt::format("schema is missing: write {}", kImportSchema);
    if (!at_) return "at is missing: when the readings were taken";
    if (!valid_for_s_) return "valid_for_s is missing: for how long the readings hold";
    if (!(*valid_for_s_ > 0 && *valid_for_s_ <= kMaxImportValidSeconds))
      return "valid_for_s must be more than 0 and at most a day";
    if (!has_ports_) return "ports is missing: write {} when there is nothing to say";
    if (file_.named > kMaxImportPorts) return fmt::format("more than {} ports", kMaxImportPorts);
    return objection_;
  }

  bool entry(std::string_view name) {
    // The file is refused already, and what is left of it needs no room.
    if (++file_.named > kMaxImportPorts || !objection_.empty()) return in_.skip();
    in_.forget_repeated();  // the name of a port: keep() sees it, also where it has two
    ImportedPort port;
    if (!read_entry(port)) return false;
    if (in_.repeated())
      port.flaw = fmt::format("an entry has {} twice, and is not taken", named(*in_.repeated()));
    in_.forget_repeated();
    if (port.peer && port.peer->source.empty()) port.peer->source = "telemetry";
    const Judgement judgement = judge(port);
    if (port.flaw.empty()) port.flaw = judgement.flaw;
    if (!judgement.objection.empty())
      objection_ = fmt::format("ports > {}: a {}", named(name), judgement.objection);
    else if (const auto key = port_of_(name))
      keep(*key, std::move(port));
    return true;
  }

  bool read_entry(ImportedPort& port) {
    return in_.object([&](std::string_view key) {
      if (key == "peer") return part(port.peer);
      if (key == "module") return part(port.module);
      return in_.skip();
    });
  }

  template <typename Sample>
  bool part(std::optional<Sample>& out) {
    return in_.take_null() || FieldsIn(in_).value(out);
  }

  /// Of two entries that contradict each other nobody can tell which one is right.
  void keep(const PortKey& key, ImportedPort port) {
    const auto [at, first] = file_.ports.try_emplace(key);
    if (!first) port.flaw = "two entries are of one port, and neither is taken";
    if (!port.flaw.empty()) {
      port.peer.reset();
      port.module.reset();
    }
    leave_out_bad_limits(port);
    leave_out_empty(port);
    at->second = std::move(port);
  }

  JsonReader in_;
  const PortOfName& port_of_;
  std::string schema_;
  std::optional<WallTime> at_;
  std::optional<double> valid_for_s_;
  bool has_ports_ = false;
  ImportFile file_;
  std::string twice_;      ///< a key of the file itself
  std::string objection_;  ///< to the first value that can't be
};

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
  return FileReader(text, port_of).read();
}

}  // namespace linkhealth
