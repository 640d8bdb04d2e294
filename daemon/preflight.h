// Checks before a start: whose ports these are, where the state is stored, and whether what the
// configuration names exists.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/options.h"
#include "storage/recording/recording.h"

namespace linkhealth {

/// The header of a recording of this node: its name, its boot, what is expected of its ports.
RecordingHeader this_nodes_header(const Config& config, const Clock& clock);

/// Where this run stores its state; "": nowhere. A copied tree (--sysroot) and a recording (--play)
/// have ports of other nodes: they do not use this node's state (state_dir), only a directory given
/// by --state-dir.
std::string state_directory(const Config& config, const DaemonOptions& options);

/// Whether this run watches this node, so that its events are written to the journal and its
/// metrics to the textfile. Not for a played recording, nor for a copied tree without a state
/// directory.
bool watches_this_node(const DaemonOptions& options);

/// An error if the directory neither is nor contains a copy of /sys: a mistyped path.
Result<void> check_sysroot(const std::string& directory);

/// What would fail at the start although the file is valid: a group or the recording's directory
/// does not exist. Permissions and addresses in use are checked by the start itself.
Result<void> check_start(const Config& config, const DaemonOptions& options);

/// make_directories() creates the state directory ("" for none) and the socket's.
/// lock_state_directory() locks the former: it is this daemon's while the descriptor is open
/// (flock: released when the process ends, however it ends). An error: another daemon has it. "":
/// nothing to lock.
Result<OwnedFd> lock_state_directory(const std::string& directory);
Result<void> make_directories(const std::string& state_directory, const std::string& socket_path);

}  // namespace linkhealth
