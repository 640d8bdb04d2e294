// Reads this node, or a copy of a node's /sys, without a daemon.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth::cli {

struct NodeReading {
  std::shared_ptr<const Report> report;  ///< null: nothing could be read
  std::set<std::string> sources;         ///< Sampler::sources()
};
/// Reads every source once and diagnoses. What only time shows (rates, flaps) stays unknown.
/// Complains when nothing could be read.
NodeReading read_once(const std::string& sysroot, const Clock& clock);

}  // namespace linkhealth::cli
