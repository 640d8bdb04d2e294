// The joint row of the differential: where light is lost, and whether that goes with errors.
#pragma once

#include <array>
#include <optional>

#include "diagnosis/faults.h"

namespace linkhealth {

/// How well each place of loss fits the four measured drops. A reading that is not there fits
/// everything. `errors`, `far_errors`: whether light that is missing does harm; nullopt: not known.
std::array<double, kLightLossCount> light_likelihood(const LightStats& light,
                                                     std::optional<bool> errors_known,
                                                     std::optional<bool> far_errors);
/// Whether the measured loss of light is enough for the rise of the error rate: the least drop that
/// a receiver without an error floor needs (docs/physics.md 7b). 1 when one of them is not known.
double drop_suffices(const PortView& view);
/// Errors, no errors, or not known: pooled over the symptoms that count the same damage.
std::optional<bool> receive_errors(const Findings& findings);
double joint_log(const Cause& cause, const std::array<double, kLightLossCount>& fit,
                 std::optional<bool> errors, double suffices);

}  // namespace linkhealth
