// How much was read of what a healthy link is judged by.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/features.h"
#include "diagnosis/symptoms.h"

namespace linkhealth {

/// PortReport::partial. `link_events`: the kernel's notifications are received.
std::vector<std::string> missing_coverage(const Features& features, const Findings& findings,
                                          bool link_events);

}  // namespace linkhealth
