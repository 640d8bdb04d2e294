// status and doctor of this node, or of a copy of a node's /sys, without a daemon.
#pragma once

#include "cli/commands.h"
#include "model/doctor.h"

namespace linkhealth::cli {

/// Reads every source once. What needs two readings (rates, flaps) stays unknown.
int status_once(const Context& context, const StatusOptions& options);
/// What this command can read with its own permissions.
int doctor_once(const Context& context, const DoctorOptions& options);
int print_doctor(const DoctorReport& doctor, const Context& context, const DoctorOptions& options);

}  // namespace linkhealth::cli
