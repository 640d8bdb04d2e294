// What a start needs before anything runs: whose ports these are, where the state goes, and whether
// what the configuration names exists.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/options.h"
#include "storage/recording/recording.h"

namespace linkhealth {

/// The first line of a recording of this node: its name, its boot, what is expected of its ports.
RecordingHeader this_nodes_header(const Config& config, const Clock& clock);

/// Where this run keeps its state. "": nowhere. A copied tree (--sysroot) and a recording (--play)
/// hold other ports than this node's: they neither read nor write this node's state (state_dir),
/// only a directory that --state-dir names.
std::string state_directory(const Config& config, const DaemonOptions& options);

/// Whether this run watches this node, so that its events go to the journal and its metrics to the
/// textfile. A played recording does not, nor does a copied tree without a state directory.
bool watches_this_node(const DaemonOptions& options);

/// An error for a directory that is no copy of /sys and has none: a mistyped path.
Result<void> check_sysroot(const std::string& directory);

/// What a start would refuse though the file is good: a group or the recording's directory does not
/// exist. Permissions and addresses in use are checked by the start itself.
Result<void> check_start(const Config& config, const DaemonOptions& options);

/// The state directory ("" for none) and that of the socket.
/// The directory is this daemon's as long as the descriptor is open (flock: it goes with the
/// process, however that ends). An error: another daemon has it. No directory: nothing to lock.
Result<OwnedFd> lock_state_directory(const std::string& directory);
Result<void> make_directories(const std::string& state_directory, const std::string& socket_path);

}  // namespace linkhealth
