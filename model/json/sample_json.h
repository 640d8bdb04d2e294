// Samples as JSON and back: the lines of a recording (docs/recording.md). Pure functions; the only
// code that knows the format.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/history/engine_state.h"
#include "model/json/old_gaps.h"
#include "model/snapshot.h"

namespace linkhealth {

inline constexpr std::string_view kRecordingSchema = "linkhealth.recording/1";

/// The first line of a recording, without a line end. `known`: the recorder's state.
std::string recording_header_json(const RecordingHeader& header,
                                  const EngineState* known = nullptr);
/// One line of a recording, without a line end. `timings` are not recorded.
std::string snapshot_json(const Snapshot& snapshot);

/// Reads what recording_header_json writes. The error states that this is not a recording, or its
/// unsupported version.
Result<RecordingHeader> parse_recording_header(std::string_view line,
                                               std::optional<EngineState>* known = nullptr);
/// Reads what snapshot_json writes. Skips unknown keys and events of an unknown kind; events are
/// returned ordered by t. An error names the place: "ports > mlx5_0/1 > link > lanes: expected a
/// whole number, found "four" (column 211)". `old_gaps`: the converter of this recording.
Result<Snapshot> parse_snapshot(std::string_view line, OldGapConverter& old_gaps);

}  // namespace linkhealth
