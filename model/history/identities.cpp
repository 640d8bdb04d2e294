#include "model/history/identities.h"

namespace linkhealth {

namespace {

constexpr Milliseconds kAgain = std::chrono::hours(1);
/// So that a module with a new serial at each read fills no memory.
constexpr std::size_t kMaxKnown = 4096;

KeptIdentity identity_of(const ModuleSample& module, const char* end, const std::string& port,
                         std::string place, WallTime now) {
  return {module.serial, end, port, std::move(place), module.vendor, module.part_number,
          module.kind,   now, now};
}

}  // namespace

void IdentityWatch::note(KeptIdentity identity, std::vector<KeptIdentity>& out) {
  if (identity.serial.empty()) return;
  if (noted_at_.size() >= kMaxKnown) noted_at_.clear();
  const auto [noted, is_new] = noted_at_.try_emplace(
      {identity.serial, identity.end, identity.port, identity.place}, identity.last_seen_at);
  const Milliseconds since = identity.last_seen_at - noted->second;
  if (!is_new && since < kAgain && since >= Milliseconds(0)) return;
  noted->second = identity.last_seen_at;
  out.push_back(std::move(identity));
}

std::vector<KeptIdentity> IdentityWatch::add(const Snapshot& snapshot) {
  std::vector<KeptIdentity> out;
  for (const auto& [key, sample] : snapshot.ports) {
    if (sample.module && sample.module->present)
      note(identity_of(*sample.module, "local", sample.id.stable_key(), key, snapshot.wall_time),
           out);
    if (sample.peer && sample.peer->module && sample.peer->module->present)
      note(identity_of(
               *sample.peer->module, "far", sample.id.stable_key(),
               sample.peer->system + (sample.peer->port.empty() ? "" : " ") + sample.peer->port,
               snapshot.wall_time),
           out);
  }
  return out;
}

}  // namespace linkhealth
