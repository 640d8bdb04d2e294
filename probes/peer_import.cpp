#include "probes/peer_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "probes/import_file.h"

namespace linkhealth {

namespace {

constexpr const char* kName = "import";
constexpr std::size_t kMaxFileGaps = 16;

/// A file that can be believed, in this node's monotonic time.
struct Believed {
  std::string name;
  ImportFile file;
  SteadyTime read_at;
  SteadyTime valid_until;
};

/// A port by any of its names: "mlx5_0/1", "ibp27s0", "0000:1b:00.0/1".
const InventoryPort* find_port(std::span<const InventoryPort> ports, const std::string& name) {
  for (const InventoryPort& port : ports)
    if (port.id.key() == name || (!port.id.netdev.empty() && port.id.netdev == name) ||
        (!port.id.pci.empty() && fmt::format("{}/{}", port.id.pci, port.id.port) == name))
      return &port;
  return nullptr;
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
    std::map<PortKey, PeerReading> readings;
    for (const InventoryPort& port : ports) {
      PeerReading& reading = readings[port.id.key()];
      reading.port = port.id.key();
      reading.read_at = now;
      reading.answered = true;
    }
    for (const Believed& one : believed(now)) take_file(one, ports, now, readings);
    tell_expired(readings);
    std::vector<PeerReading> all;
    if (!node_gaps_.empty()) {
      all.emplace_back().gaps = bounded(std::move(node_gaps_));
      node_gaps_.clear();
    }
    for (auto& [key, reading] : readings) all.push_back(std::move(reading));
    return all;
  }

 private:
  void gap(const std::string& file, const std::string& reason) {
    node_gaps_.push_back({"", kName, (file.empty() ? "" : printable(file).substr(0, 80) + ": ") + reason});
  }

  static std::vector<Gap> bounded(std::vector<Gap> gaps) {
    if (gaps.size() <= kMaxFileGaps) return gaps;
    gaps.resize(kMaxFileGaps);
    gaps.push_back({"", kName, "and more files that can't be believed"});
    return gaps;
  }

  /// Files by the time of their readings, the newest last; a later one replaces what an earlier one says of a port.
  std::vector<Believed> believed(SteadyTime now) {
    std::vector<Believed> files;
    auto names = directory_->names();
    if (!names) {
      gap("", names.error().message);
      return files;
    }
    if (names->size() > kMaxImportFiles) {
      gap("", fmt::format("more than {} files: the rest is not read", kMaxImportFiles));
      names->resize(kMaxImportFiles);
    }
    std::size_t bytes = 0;
    std::map<std::string, FirstSeen> seen;
    for (const std::string& name : *names) {
      const auto text = directory_->read(name);
      if (!text) {
        if (text.error().errnum != ENOENT) gap(name, text.error().message);
        continue;
      }
      bytes += text->size();
      if (bytes > kMaxImportBytes) {
        gap(name, "all files together are larger than 4 MiB: this one and the rest are not read");
        break;
      }
      auto file = parse_import_file(*text);
      if (!file) {
        gap(name, file.error().message);
        continue;
      }
      judge_time(name, *std::move(file), now, seen, files);
    }
    seen_ = std::move(seen);
    std::ranges::stable_sort(files, {}, [](const Believed& one) { return one.file.at; });
    return files;
  }

  struct FirstSeen {
    WallTime at;
    SteadyTime read_at;
  };

  struct Expired {
    std::string name;
    bool peer = false, module = false;
  };

  void judge_time(const std::string& name, ImportFile file, SteadyTime now, std::map<std::string, FirstSeen>& seen,
                  std::vector<Believed>& files) {
    const WallTime wall = clock_.wall();
    // The wall clock is asked once for each reading: a step of it makes no reading older or newer.
    const auto before = seen_.find(name);
    const bool known = before != seen_.end() && before->second.at == file.at;
    if (!known && file.at > wall + timing_.skew) {
      gap(name, "its time is in the future: compare the clocks");
      return;
    }
    const SteadyTime read_at = known ? before->second.read_at : std::min(now, now - (wall - file.at));
    seen[name] = {file.at, read_at};
    const SteadyTime until = read_at + from_seconds(file.valid_for_s);
    files.push_back({name, std::move(file), read_at, until});
  }

  void take_file(const Believed& one, std::span<const InventoryPort> ports, SteadyTime now,
                 std::map<PortKey, PeerReading>& readings) {
    bool stranger = false;
    for (const auto& [name, imported] : one.file.ports) {
      const InventoryPort* port = find_port(ports, name);
      if (port == nullptr) {
        stranger = true;
        continue;
      }
      PeerReading& reading = readings[port->id.key()];
      if (now >= one.valid_until) {
        expired_[port->id.key()] = {one.name, imported.peer.has_value(), imported.module.has_value()};
        continue;
      }
      take_port(one, imported, reading);
    }
    if (stranger) gap(one.name, "names a port that is not here");
  }

  /// The newest of a port's files that are over, unless another one says the same.
  void tell_expired(std::map<PortKey, PeerReading>& readings) {
    for (const auto& [port, file] : expired_) {
      PeerReading& reading = readings[port];
      if ((!file.peer || reading.peer) && (!file.module || reading.module)) continue;
      reading.gaps.push_back({reading.port, kName, printable(file.name).substr(0, 80) + ": over its time of validity"});
    }
    expired_.clear();
  }

  static void take_port(const Believed& one, const ImportedPort& imported, PeerReading& reading) {
    if (imported.peer) {
      reading.peer = imported.peer;
      reading.read_at = one.read_at - from_seconds(imported.peer->age_s.value_or(0));
      reading.peer->age_s.reset();
    }
    if (imported.module) {
      reading.module = imported.module;
      if (!reading.peer) reading.read_at = one.read_at;
      reading.module_read_at = one.read_at;
    }
    // The whole reading ends with its first part; the next round says what is left of it.
    if (imported.peer || imported.module)
      reading.valid_until = std::min(reading.valid_until.value_or(one.valid_until), one.valid_until);
  }

  std::unique_ptr<ImportDirectory> directory_;
  const Clock& clock_;
  ImportTiming timing_;
  std::map<PortKey, Expired> expired_;
  SteadyTime due_;
  std::vector<Gap> node_gaps_;
  std::map<std::string, FirstSeen> seen_;  ///< by file name
};

}  // namespace

std::unique_ptr<PeerProbe> make_import_probe(std::unique_ptr<ImportDirectory> directory, const Clock& clock,
                                             ImportTiming timing) {
  return std::make_unique<ImportProbe>(std::move(directory), clock, timing);
}

}  // namespace linkhealth
