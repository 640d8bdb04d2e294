// truth.json next to a folder of recordings: what was wrong in each of them.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "tests/sim/faults.h"

namespace linkhealth::sim {

using TruthFile =
    std::map<std::string, std::map<PortKey, Truth>>;  ///< by the recording's file name

Result<TruthFile> read_truth_file(const std::string& path);
Result<void> write_truth_file(const std::string& path, const TruthFile& truth);

}  // namespace linkhealth::sim
