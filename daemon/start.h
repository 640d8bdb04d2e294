// What a start needs before anything runs: where the state goes, and that what the configuration
// names is there.
#pragma once

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "daemon/options.h"

namespace linkhealth {

/// Where this run keeps its state. "": nowhere. A copied tree (--sysroot) and a recording (--play)
/// are other ports than this node's: what this node's daemon knows (state_dir) is neither theirs to
/// read nor to write, and only a directory that was named for them (--state-dir) is.
std::string state_directory(const Config& config, const DaemonOptions& options);

/// Whether what is seen concerns this node: its events go to the journal, its metrics to the
/// textfile. A played recording does not, nor does a copied tree without a state directory.
bool watches_this_node(const DaemonOptions& options);

/// A copy of /sys, or a directory with one: any other is a mistyped path.
Result<void> check_sysroot(const std::string& directory);

/// What a start would refuse though the file is good: a group or the recording's directory does not
/// exist. Permissions and addresses in use are checked by the start itself.
Result<void> check_start(const Config& config, const DaemonOptions& options);

/// The state directory ("" for none) and that of the socket.
Result<void> make_directories(const std::string& state_directory, const std::string& socket_path);

}  // namespace linkhealth
