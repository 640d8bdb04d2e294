#include "probes/peer/peer_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "probes/peer/import_file.h"

namespace linkhealth {

namespace {

constexpr const char* kName = "import";
constexpr std::size_t kMaxFileGaps = 16;

std::string shown(std::string_view name) { return printable(name).substr(0, 80); }

/// The ports by each of their names: "mlx5_0/1", "ibp27s0", "0000:1b:00.0/1".
class PortNames {
 public:
  explicit PortNames(std::span<const InventoryPort> ports) {
    // A name shared by two ports belongs to the watched one: an exempt port may be on its card.
    for (const bool exempt : {false, true})
      for (const InventoryPort& port : ports)
        if (exempt == !port.exempt_reason.empty()) add(port);
  }
  [[nodiscard]] const InventoryPort* find(std::string_view name) const {
    const auto at = ports_.find(name);
    return at == ports_.end() ? nullptr : at->second;
  }

 private:
  void add(const InventoryPort& port) {
    ports_.emplace(port.id.key(), &port);
    if (!port.id.netdev.empty()) ports_.emplace(port.id.netdev, &port);
    if (!port.id.pci.empty())
      ports_.emplace(fmt::format("{}/{}", port.id.pci, port.id.port), &port);
  }
  std::map<std::string, const InventoryPort*, std::less<>> ports_;
};

/// When the readings of a file were taken, and when they expire.
struct Times {
  WallTime at;  ///< as in the file; the newest file counts
  SteadyTime read_at;
  SteadyTime valid_until;
};

/// The newest valid sample of one kind, and the newest file that had one and has expired.
template <typename Sample>
struct Newest {
  std::optional<Sample> sample;
  Times times;
  std::string expired;  ///< file name
  WallTime expired_at;

  void add(std::optional<Sample>& read, const std::string& file, const Times& its, SteadyTime now) {
    if (!read) return;
    if (now >= its.valid_until) {
      if (expired.empty() || its.at >= expired_at) expired = file, expired_at = its.at;
    } else if (!sample || its.at >= times.at) {
      sample = std::move(read);
      times = its;
    }
  }
};

struct OfPort {
  Newest<PeerSample> peer;
  Newest<ModuleSample> module;
  std::vector<Gap> gaps;
};

std::vector<Gap> bounded(const PortKey& port, std::vector<Gap> gaps) {
  if (gaps.size() <= kMaxFileGaps) return gaps;
  gaps.resize(kMaxFileGaps);
  gaps.push_back({port, kName, "and more files that are not used"});
  return gaps;
}

class ImportProbe final : public PeerProbe {
 public:
  ImportProbe(std::unique_ptr<ImportDirectory> directory, const Clock& clock, ImportTiming timing)
      : directory_(std::move(directory)), clock_(clock), timing_(timing) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] SteadyTime next_due(SteadyTime /*now*/) const override { return due_; }

  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    due_ = now + timing_.period;
    node_gaps_.clear();
    std::map<PortKey, OfPort> of_ports;
    for (const InventoryPort& port : ports)
      if (port.exempt_reason.empty()) of_ports[port.id.key()];
    read_files(PortNames(ports), now, of_ports);
    std::vector<PeerReading> all;
    if (!node_gaps_.empty()) all.emplace_back().gaps = bounded("", std::exchange(node_gaps_, {}));
    for (auto& [key, of_port] : of_ports) all.push_back(joined(key, std::move(of_port), now));
    return all;
  }

 private:
  void gap(const std::string& file, const std::string& reason) {
    node_gaps_.push_back({"", kName, shown(file) + ": " + reason});
  }
  /// For the directory as a whole. Placed before those of files, of which only the first are kept.
  void gap_of_all(const std::string& reason) {
    node_gaps_.insert(node_gaps_.begin(), {"", kName, reason});
  }

  void read_files(const PortNames& ports, SteadyTime now, std::map<PortKey, OfPort>& of_ports) {
    auto names = directory_->names();
    if (!names) return gap_of_all(names.error().message);
    if (names->size() > kMaxImportFiles) {
      gap_of_all(fmt::format("more than {} files, and the rest is not read", kMaxImportFiles));
      names->resize(kMaxImportFiles);
    }
    std::size_t bytes = 0;
    std::map<std::string, Times> seen;
    for (const std::string& name : *names) {
      const auto text = directory_->read(name);
      bytes += text ? text->size() : 0;
      if (bytes > kMaxImportBytes) {
        gap_of_all(
            shown(name) +
            ": all files together are larger than 4 MiB: this one and the rest are not read");
        break;
      }
      auto file = text ? parse_import_file(*text) : Result<ImportFile>(text.error());
      if (file) {
        add_file(name, *file, ports, now, seen, of_ports);
      } else if (file.error().errnum != ENOENT) {
        gap(name, file.error().message);
      }
    }
    seen_ = std::move(seen);
  }

  std::optional<Times> times_of(const std::string& name, const ImportFile& file, SteadyTime now,
                                std::map<std::string, Times>& seen) {
    const WallTime wall = clock_.wall();
    // The wall clock is read once per reading: steps of the clock do not change a reading's age.
    const auto before = seen_.find(name);
    const bool known = before != seen_.end() && before->second.at == file.at;
    if (!known && file.at > wall + timing_.skew) {
      gap(name, "its time is in the future: check the clocks");
      return std::nullopt;
    }
    const SteadyTime read_at =
        known ? before->second.read_at : std::min(now, now - (wall - file.at));
    return seen[name] = {file.at, read_at, read_at + from_seconds(file.valid_for_s)};
  }

  void add_file(const std::string& name, ImportFile& file, const PortNames& ports, SteadyTime now,
                std::map<std::string, Times>& seen, std::map<PortKey, OfPort>& of_ports) {
    const auto times = times_of(name, file, now, seen);
    if (!times) return;
    std::map<PortKey, int> entries;
    for (const auto& [port_name, entry] : file.ports)
      if (const InventoryPort* port = ports.find(port_name)) ++entries[port->id.key()];
    bool has_unknown = false;
    for (auto& [port_name, entry] : file.ports) {
      const InventoryPort* const port = ports.find(port_name);
      if (port == nullptr && !std::exchange(has_unknown, true))
        gap(name, "ports > " + shown(port_name) + ": names a port that this node does not have");
      // The writer need not know which ports are exempt.
      if (port == nullptr || !port->exempt_reason.empty()) continue;
      const PortKey key = port->id.key();
      if (entries[key] > 1) entry = {{}, {}, "two entries for the same port: neither is used"};
      OfPort& of_port = of_ports[key];
      const Gap flaw{key, kName, shown(name) + ": " + entry.flaw};
      const bool is_new = std::ranges::find(of_port.gaps, flaw) == of_port.gaps.end();
      if (!entry.flaw.empty() && now < times->valid_until && is_new) of_port.gaps.push_back(flaw);
      if (entry.module) entry.module->imported_at = times->at;
      of_port.peer.add(entry.peer, name, *times, now);
      of_port.module.add(entry.module, name, *times, now);
    }
  }

  static PeerReading joined(const PortKey& key, OfPort of_port, SteadyTime now) {
    PeerReading reading;
    reading.port = key;
    reading.read_at = now;
    reading.answered = true;
    std::set<std::string> expired;
    if (!of_port.peer.sample) expired.insert(of_port.peer.expired);
    if (!of_port.module.sample) expired.insert(of_port.module.expired);
    if (of_port.module.sample) {
      const Times& times = of_port.module.times;
      reading.module = std::move(of_port.module.sample);
      reading.read_at = times.read_at;
      reading.module_read_at = times.read_at;
      reading.valid_until = times.valid_until;
    }
    if (of_port.peer.sample) {
      const Times& times = of_port.peer.times;
      reading.peer = std::move(of_port.peer.sample);
      reading.read_at = times.read_at - from_seconds(reading.peer->age_s.value_or(0));
      reading.peer->age_s.reset();
      // The whole reading expires with its first part; the next round has the remaining parts.
      reading.valid_until =
          std::min(reading.valid_until.value_or(times.valid_until), times.valid_until);
    }
    reading.gaps = bounded(key, std::move(of_port.gaps));
    for (const std::string& file : expired)
      if (!file.empty())
        reading.gaps.push_back({key, kName, shown(file) + ": past its time of validity"});
    return reading;
  }

  std::unique_ptr<ImportDirectory> directory_;
  const Clock& clock_;
  ImportTiming timing_;
  SteadyTime due_;
  std::vector<Gap> node_gaps_;
  std::map<std::string, Times> seen_;  ///< of the last round, by file name
};

}  // namespace

std::unique_ptr<PeerProbe> make_import_probe(std::unique_ptr<ImportDirectory> directory,
                                             const Clock& clock, ImportTiming timing) {
  return std::make_unique<ImportProbe>(std::move(directory), clock, timing);
}

}  // namespace linkhealth
