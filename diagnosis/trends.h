// Where slow changes of a link lead: which limit is reached when.
#pragma once

#include <vector>

#include "diagnosis/features.h"
#include "model/report.h"

namespace linkhealth {

/// Only what is sure (99 %) and reaches its limit within `trend_days`.
std::vector<Trend> trends_of(const Features& features);

}  // namespace linkhealth
