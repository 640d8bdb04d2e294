#include "probes/peer_mad.h"

#include <cerrno>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "probes/mad_questions.h"

namespace linkhealth {
namespace {

constexpr const char* kName = "peer_mad";

/// A port that this probe asks. Port numbers above 254 do not exist in InfiniBand (IBA 14.2.5.3).
bool is_asked(const InventoryPort& port) {
  return port.id.link_layer == "InfiniBand" && port.id.verbs && port.exempt_reason.empty() &&
         port.id.port > 0 && port.id.port < std::numeric_limits<std::uint8_t>::max();
}

std::string identity(const PortId& id) {
  return (id.guid.empty() ? id.stable_key() : id.guid) + "/" + std::to_string(id.port);
}

class MadProbe final : public PeerProbe {
 public:
  MadProbe(const MadTiming& timing, MadOpener opener)
      : timing_(timing), opener_(std::move(opener)), schedule_(timing) {}

  [[nodiscard]] std::string_view name() const override { return kName; }

  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    std::vector<MadSchedule::Port> asked;
    for (const InventoryPort& port : ports)
      if (is_asked(port)) asked.push_back({port.id.key(), identity(port.id)});
    schedule_.set_ports(asked, now);
    started_ = true;
    forget_others(asked);

    std::vector<PeerReading> readings;
    while (const PortKey* due = schedule_.next(now)) {  // done() makes each one not due
      const PortKey key = *due;
      for (const InventoryPort& port : ports)
        if (port.id.key() == key) {
          if (auto reading = ask(port.id, now)) readings.push_back(std::move(*reading));
          break;
        }
    }
    say_closed(readings, now);
    return readings;
  }

  [[nodiscard]] SteadyTime next_due(SteadyTime now) const override {
    return started_ ? schedule_.next_due(now) : now;
  }

 private:
  void forget_others(const std::vector<MadSchedule::Port>& asked) {
    const auto gone = [&](const auto& entry) {
      for (const MadSchedule::Port& port : asked)
        if (port.key == entry.first) return false;
      return true;
    };
    std::erase_if(closed_, gone);
    std::erase_if(opened_, [&](const PortKey& key) { return gone(std::pair(key, 0)); });
    std::erase_if(known_, gone);
  }

  /// No right or no interface concerns every port and is said once, unless one of them could be
  /// opened.
  void say_closed(std::vector<PeerReading>& readings, SteadyTime now) const {
    const auto say = [&](const PortKey& whose, std::string reason) {
      PeerReading& reading = readings.emplace_back();
      reading.port = whose;
      reading.read_at = now;
      reading.gaps.push_back({whose, kName, std::move(reason)});
    };
    if (!opened_.empty()) {
      for (const auto& [key, reason] : closed_) say(key, reason);
    } else if (closed_.size() == 1) {
      say("", closed_.begin()->second);
    } else if (!closed_.empty()) {
      say("", closed_.begin()->second + " (the other ports likewise)");
    }
  }

  std::optional<PeerReading> ask(const PortId& id, SteadyTime now) {
    const PortKey key = id.key();
    auto opened = opener_(id.device, id.port);
    if (!opened) return refuse(key, opened.error(), now);
    closed_.erase(key);
    opened_.insert(key);
    MadTalk talk(**opened, timing_, transaction_);
    PeerAnswer answer =
        ask_peer(talk, static_cast<std::uint8_t>(id.port), timing_, known_[key], now);
    schedule_.done(key, answer.outcome, talk.mads(), now);
    PeerReading reading;
    reading.port = key;
    reading.read_at = now;
    reading.peer = std::move(answer.peer);
    for (std::string& reason : answer.reasons)
      reading.gaps.push_back({key, kName, std::move(reason)});
    return reading;
  }

  /// No right or no interface: say_closed(). Anything else is this port's.
  std::optional<PeerReading> refuse(const PortKey& key, const Error& error, SteadyTime now) {
    schedule_.done(key, MadOutcome::kFailed, 0, now);
    opened_.erase(key);
    if (error.errnum == EACCES || error.errnum == EPERM || error.errnum == ENODEV) {
      closed_[key] = error.message;
      return std::nullopt;
    }
    closed_.erase(key);
    PeerReading reading;
    reading.port = key;
    reading.read_at = now;
    reading.gaps.push_back({key, kName, error.message});
    return reading;
  }

  MadTiming timing_;
  MadOpener opener_;
  MadSchedule schedule_;
  bool started_ = false;
  std::uint32_t transaction_ = 0;
  std::map<PortKey, std::string> closed_;  ///< ports whose interface cannot be used, and why
  std::set<PortKey> opened_;               ///< those whose interface could be, the last time
  std::map<PortKey, KnownPeer> known_;
};

}  // namespace

std::unique_ptr<PeerProbe> make_mad_probe(const MadTiming& timing, MadOpener opener) {
  return std::make_unique<MadProbe>(timing, std::move(opener));
}

}  // namespace linkhealth
