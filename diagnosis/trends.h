// Slow changes of a link: which limit will be reached, and when.
#pragma once

#include <vector>

#include "diagnosis/features.h"
#include "model/report.h"

namespace linkhealth {

/// Only trends with 99 % confidence that reach their limit within `trend_days`.
std::vector<Trend> trends_of(const Features& features);

}  // namespace linkhealth
