#include "probes/peer_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "probes/import_file.h"

namespace linkhealth {

namespace {

constexpr const char* kName = "import";
constexpr std::size_t kMaxFileGaps = 16;

/// Entries of all files together, at most: each is read and judged in every round, also one of a
/// port of another node.
constexpr std::size_t kMaxEntries = 16 * kMaxImportPorts;

std::string shown(std::string_view file) { return printable(file).substr(0, 80); }

/// The ports by each of their names: "mlx5_0/1", "ibp27s0", "0000:1b:00.0/1".
class PortNames {
 public:
  explicit PortNames(std::span<const InventoryPort> ports) {
    // A name that two have is the watched one's: an exempt port may share its card.
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

/// When the readings of a file were taken, and when they end.
struct Times {
  WallTime at;  ///< as the file says it: files are compared by it
  SteadyTime read_at;
  SteadyTime valid_until;
};

template <typename Sample>
struct Newest {
  Sample sample;
  Times times;
};

struct Expired {
  std::string file;
  WallTime at;
};

/// What the files that were read so far say of a port. Only the newest of each part is kept, so
/// that a round needs room for the ports of this node, however many files there are.
struct OfPort {
  std::optional<Newest<PeerSample>> peer;
  std::optional<Newest<ModuleSample>> module;
  std::array<std::optional<Expired>, kImportParts>
      expired;  ///< of each part the newest file that is over
  std::vector<Gap> gaps;
};

/// Of two files of one time the one that is read later counts.
template <typename Sample>
void keep_newer(std::optional<Newest<Sample>>& kept, std::optional<Sample> said,
                const Times& times) {
  if (said && (!kept || times.at >= kept->times.at)) kept = Newest<Sample>{*std::move(said), times};
}

void keep_expired(OfPort& of_port, ImportParts parts, const Expired& file) {
  for (std::size_t part = 0; part < kImportParts; ++part)
    if (auto& kept = of_port.expired[part]; parts[part] && (!kept || file.at >= kept->at))
      kept = file;
}

/// The files that are over and said what nobody says now. Sorted.
std::set<std::string> missed(const OfPort& of_port, ImportParts said) {
  std::set<std::string> files;
  for (std::size_t part = 0; part < kImportParts; ++part)
    if (of_port.expired[part] && !said[part]) files.insert(of_port.expired[part]->file);
  return files;
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
  /// Of the directory as a whole; before those of files, of which only the first ones are told.
  void gap_of_all(const std::string& reason) {
    node_gaps_.insert(node_gaps_.begin(), {"", kName, reason});
  }

  static std::vector<Gap> bounded(const PortKey& port, std::vector<Gap> gaps) {
    if (gaps.size() <= kMaxFileGaps) return gaps;
    gaps.resize(kMaxFileGaps);
    gaps.push_back({port, kName, "and more files that can't be believed"});
    return gaps;
  }

  std::vector<std::string> names() {
    auto found = directory_->names();
    if (!found) {
      gap_of_all(found.error().message);
      return {};
    }
    if (found->size() > kMaxImportFiles) {
      gap_of_all(fmt::format("more than {} files, and the rest is not read", kMaxImportFiles));
      found->resize(kMaxImportFiles);
    }
    return *std::move(found);
  }

  void read_files(const PortNames& ports, SteadyTime now, std::map<PortKey, OfPort>& of_ports) {
    std::size_t bytes = 0;
    std::size_t entries = 0;
    std::map<std::string, FirstSeen> seen;
    for (const std::string& name : names()) {
      const auto text = directory_->read(name);
      if (!text) {
        if (text.error().errnum != ENOENT) gap(name, text.error().message);
        continue;
      }
      bytes += text->size();
      if (bytes > kMaxImportBytes) {
        gap_of_all(
            shown(name) +
            ": all files together are larger than 4 MiB: this one and the rest are not read");
        break;
      }
      std::string stranger;
      auto file = parse_import_file(
          *text, [&](std::string_view port) { return key_of(ports, port, stranger); });
      if (!file) {
        gap(name, file.error().message);
        continue;
      }
      entries += file->named;
      if (entries > kMaxEntries) {
        gap_of_all(fmt::format(
            "{}: all files together name more than {} ports: this one and the rest are not read",
            shown(name), kMaxEntries));
        break;
      }
      const auto times = times_of(name, *file, now, seen);
      if (!times) continue;
      if (!stranger.empty()) gap(name, "ports > " + stranger + ": names a port that is not here");
      take_file(name, *std::move(file), *times, now, of_ports);
    }
    seen_ = std::move(seen);
  }

  /// An exempt port is no stranger: who writes the file need not know that nobody judges it.
  static std::optional<PortKey> key_of(const PortNames& ports, std::string_view name,
                                       std::string& stranger) {
    const InventoryPort* port = ports.find(name);
    if (port == nullptr && stranger.empty()) stranger = shown(name);
    if (port == nullptr || !port->exempt_reason.empty()) return std::nullopt;
    return port->id.key();
  }

  struct FirstSeen {
    WallTime at;
    SteadyTime read_at;
  };

  std::optional<Times> times_of(const std::string& name, const ImportFile& file, SteadyTime now,
                                std::map<std::string, FirstSeen>& seen) {
    const WallTime wall = clock_.wall();
    // The wall clock is asked once for each reading: a step of it makes no reading older or newer.
    const auto before = seen_.find(name);
    const bool known = before != seen_.end() && before->second.at == file.at;
    if (!known && file.at > wall + timing_.skew) {
      gap(name, "its time is in the future: compare the clocks");
      return std::nullopt;
    }
    const SteadyTime read_at =
        known ? before->second.read_at : std::min(now, now - (wall - file.at));
    seen[name] = {file.at, read_at};
    return Times{file.at, read_at, read_at + from_seconds(file.valid_for_s)};
  }

  static void take_file(const std::string& name, ImportFile&& file, const Times& times,
                        SteadyTime now, std::map<PortKey, OfPort>& of_ports) {
    const bool over = now >= times.valid_until;
    for (auto& [key, entry] : file.ports) {
      OfPort& of_port = of_ports[key];
      if (over) {
        keep_expired(of_port, parts_of(entry.peer, entry.module), {name, times.at});
        continue;
      }
      if (!entry.flaw.empty())
        of_port.gaps.push_back({key, kName, shown(name) + ": " + entry.flaw});
      if (entry.module) entry.module->imported_at = times.at;
      keep_newer(of_port.peer, std::move(entry.peer), times);
      keep_newer(of_port.module, std::move(entry.module), times);
    }
  }

  static PeerReading joined(const PortKey& key, OfPort of_port, SteadyTime now) {
    PeerReading reading;
    reading.port = key;
    reading.read_at = now;
    reading.answered = true;
    reading.gaps = bounded(key, std::move(of_port.gaps));
    if (of_port.module) {
      const Times& times = of_port.module->times;
      reading.module = std::move(of_port.module->sample);
      reading.read_at = times.read_at;
      reading.module_read_at = times.read_at;
      reading.valid_until = times.valid_until;
    }
    if (of_port.peer) {
      const Times& times = of_port.peer->times;
      reading.peer = std::move(of_port.peer->sample);
      reading.read_at = times.read_at - from_seconds(reading.peer->age_s.value_or(0));
      reading.peer->age_s.reset();
      // The whole reading ends with its first part; the next round says what is left of it.
      reading.valid_until =
          std::min(reading.valid_until.value_or(times.valid_until), times.valid_until);
    }
    for (const std::string& file : missed(of_port, parts_of(reading.peer, reading.module)))
      reading.gaps.push_back({key, kName, shown(file) + ": over its time of validity"});
    return reading;
  }

  std::unique_ptr<ImportDirectory> directory_;
  const Clock& clock_;
  ImportTiming timing_;
  SteadyTime due_;
  std::vector<Gap> node_gaps_;
  std::map<std::string, FirstSeen> seen_;  ///< by file name
};

}  // namespace

std::unique_ptr<PeerProbe> make_import_probe(std::unique_ptr<ImportDirectory> directory,
                                             const Clock& clock, ImportTiming timing) {
  return std::make_unique<ImportProbe>(std::move(directory), clock, timing);
}

}  // namespace linkhealth
