// `verify` and `qualify`: ask the daemon again and again, fold what it says, show how far the proof
// has come.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "base/time.h"
#include "cli/arguments.h"
#include "cli/proof.h"

namespace linkhealth::cli {

/// What the world does, so that a test can be it.
struct ProofWorld {
  const Clock& clock;
  /// Waits; false: somebody wants to end.
  std::function<bool(Milliseconds)> wait;
  std::ostream& out;
  bool is_terminal = false;  ///< one line is drawn over and over; else a line a minute
};

/// Exit code 0 PASS, 1 FAIL, 2 usage, 3 no daemon, 4 it could not be told (also when it was ended).
int verify(const Client& client, const VerifyOptions& options, const TextStyle& style,
           const ProofWorld& world);
/// As verify(), of all ports that are not exempt; 1 when one failed.
int qualify(const Client& client, const VerifyOptions& options, const TextStyle& style,
            const ProofWorld& world);

}  // namespace linkhealth::cli
