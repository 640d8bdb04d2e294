// Scenes: what several ports of a node share (a module, a card, a cable, a trunk, the node), the
// faults of that, and situations that only look like one.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tests/sim/fault_planner.h"

namespace linkhealth::sim {

enum class Parts : std::uint8_t {
  kOwn,      ///< each port has its own card and module
  kCards,    ///< two ports on each card
  kModules,  ///< two ports on each module
  kModulesOfFour,
};

/// The ports of a scene, and the truth of each.
struct Stage {
  const FaultPlan& plan;
  std::vector<PortSim*> ports;  ///< those in use
  Rng& rng;
  std::function<Truth&(const PortSim&)> truth_of;

  /// The other ports with this one's module or card.
  [[nodiscard]] std::vector<PortSim*> sharing(Parts parts) const;
  /// One fault of all of them: the same thing happens to each, and each shows it in its own way.
  void share(const std::vector<PortSim*>& members, void (*plan_one)(Planner&),
             std::string_view fault, End end) const;
  /// A fault of one of them.
  void single(PortSim& port, std::string_view fault, double onset_s) const;
};

struct Scene {
  std::string_view name;
  double weight;
  Parts parts;
  std::size_t ports;  ///< minimum
  bool optical;
  void (*play)(Stage&);
};

std::span<const Scene> scenes();
/// Assigns the ports to cards and modules.
void share_parts(const std::vector<std::unique_ptr<PortSim>>& ports, Parts parts, Rng& rng);
/// Makes the ports of one module share one set of meters; call after a module was drawn or swapped.
void share_meters(PortSim& port);
/// This port and the others of its module.
std::vector<PortSim*> cage_of(PortSim& port);

}  // namespace linkhealth::sim
