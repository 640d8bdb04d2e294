// An Engine that concludes nothing: its report repeats what it was told, and a carrier loss opens a
// fault. With it the tests of replay see what replay hands in and out, and nothing of the
// diagnosis.
#include <array>

#include "daemon/engine.h"

namespace linkhealth {

namespace {
constexpr std::array<Knob, 1> kKnobs = {{{"hold_s", 30, 0, 3600, "s", "before a fault opens"}}};
constexpr std::array<KnobGroup, 1> kGroups = {{{"", "ledger", kKnobs}}};
}  // namespace

struct Engine::State {
  EngineSettings settings;
};

std::span<const KnobGroup> engine_knob_groups() { return kGroups; }

Engine::Engine(EngineSettings settings)
    : state_(std::make_unique<State>(State{std::move(settings)})) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Engine::Step Engine::step(const Snapshot& snapshot) {
  Step step;
  auto report = std::make_shared<Report>();
  report->node = state_->settings.node;
  report->at = snapshot.wall_time;
  report->t = snapshot.taken_at;
  auto names = state_->settings.planned;
  names.insert(state_->settings.expected.begin(), state_->settings.expected.end());
  for (const auto& [key, any] : names) {
    PortReport& port = report->ports.emplace_back();
    port.port = key;
    port.expected = *expected_for(state_->settings, key, {}).expected;
    port.figures.ber_window_s = state_->settings.knobs.values("ledger")[0];
    if (state_->settings.exempt.contains(key)) port.exempt = state_->settings.exempt.at(key);
  }
  for (const PortEvent& event : snapshot.events) {
    FaultEvent& opened = step.events.emplace_back();
    opened.t = event.t;
    opened.port = event.port;
    opened.fault.fault = "unplugged";
  }
  step.report = std::move(report);
  return step;
}

}  // namespace linkhealth
