#include "model/history/identities.h"

namespace linkhealth {

std::vector<KeptIdentity> IdentityWatch::add(const Snapshot& snapshot) {
  constexpr Milliseconds kAgain = std::chrono::hours(1);
  constexpr std::size_t kMaxKnown = 4096;  // a faulty module may report a new serial at each read
  const WallTime now = snapshot.wall_time;
  std::vector<KeptIdentity> out;
  const auto note = [&](const ModuleSample& module, const char* end, const std::string& port,
                        const std::string& place) {
    if (!module.present || module.serial.empty()) return;
    if (reported_at_.size() >= kMaxKnown) reported_at_.clear();
    const auto [at, is_new] = reported_at_.try_emplace({module.serial, end, port, place}, now);
    const Milliseconds since = now - at->second;
    if (!is_new && since < kAgain && since >= Milliseconds(0)) return;
    at->second = now;
    out.push_back({module.serial, end, port, place, module.vendor, module.part_number, module.kind,
                   now, now});
  };
  for (const auto& [key, sample] : snapshot.ports) {
    const std::string stable = sample.id.stable_key();
    if (sample.module) note(*sample.module, "local", stable, key);
    if (const auto& peer = sample.peer; peer && peer->module)
      note(*peer->module, "far", stable,
           peer->system + (peer->port.empty() ? "" : " ") + peer->port);
  }
  return out;
}

}  // namespace linkhealth
