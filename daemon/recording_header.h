// The first line of a recording of this node: its name, its boot, what is expected of its ports.
#pragma once

#include "base/time.h"
#include "config/config.h"
#include "storage/recording/recording.h"

namespace linkhealth {

RecordingHeader this_nodes_header(const Config& config, const Clock& clock);

}  // namespace linkhealth
