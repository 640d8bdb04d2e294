// The faults: their effects on a link, a module, a host or its operators, and what can be diagnosed
// from what the node can read (the truth with which an answer is compared).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "tests/sim/port.h"

namespace linkhealth::sim {

/// An answer that counts as right. End::kNone: any end.
struct Answer {
  std::string fault;
  End end = End::kNone;
};

/// What is wrong with one port at the end of a case, and which answers were acceptable before.
struct Truth {
  std::string fault = "healthy";
  End end = End::kNone;
  std::optional<double> onset_s;
  std::vector<Answer> also_accept;
  std::vector<std::string> tolerate;
  std::string exempt;    ///< "vf", "unused"
  std::string repaired;  ///< the fault that existed before
  std::optional<double> repaired_s;
  std::string severity, medium, note;
  std::string second;  ///< another fault on the same port
  std::string shared;  ///< the same for ports that share one fault; "" for its own
  int far_level = 0;
  bool link_down = false;  ///< the fault takes the link down permanently
};

enum class Strength : std::uint8_t { kWeak, kMid, kStrong };

struct FaultPlan {
  std::string_view name;
  Strength strength = Strength::kMid;
  double onset_s = 0;
  double until_s = 0;   ///< repeated events occur until then
  double repair_s = 0;  ///< 0: not repaired
  bool drift = false;
};

/// The names of docs/recording.md that have a model here: all of them.
std::span<const std::string_view> fault_names();
/// Whether the fault can happen to this port (a copper cable has no dirty connector).
bool fault_fits(std::string_view name, const PortSim& port, std::size_t ports_on_leaf);
/// Sets up the fault and determines the truth. `mates`: the other ports of the same far switch, for
/// faults that they share.
void plan_fault(const FaultPlan& plan, PortSim& port, const std::vector<PortSim*>& mates, Rng& rng,
                Truth& truth);

}  // namespace linkhealth::sim
