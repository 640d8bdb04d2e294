// What to do about an unreadable source: a permission or a mount helps if access was refused, but
// not if a device or a driver returns an error.
#include <algorithm>
#include <span>

#include "daemon/selfcheck/doctor.h"

namespace linkhealth {

namespace {

using Words = std::span<const std::string_view>;

// In a reason: access was refused, or the source does not exist where the daemon looks.
constexpr std::string_view kRefused[] = {
    "EPERM",     "EACCES",      "ENOENT",          "ENODEV", "Operation not permitted",
    "namespace", "copied /sys", "does not list it"};
constexpr std::string_view kMissing[] = {"Permission denied", "No such file"};
// The file exists, and only rights are missing: a mount or a namespace does not help.
constexpr std::string_view kNoAccess[] = {"EACCES", "Permission denied"};
constexpr std::string_view kNotPermitted[] = {"EPERM", "Operation not permitted"};
constexpr std::string_view kNotOffered[] = {"EOPNOTSUPP", "Operation not supported", "load ib_u"};
constexpr std::string_view kNoDescriptors[] = {"EMFILE", "ENFILE", "Too many open files"};
constexpr std::string_view kNoLibrary[] = {"cannot load lib"};
constexpr std::string_view kBusy[] = {"EBUSY", "EAGAIN", "Device or resource busy"};

bool has_any(std::string_view reason, Words words) {
  return std::ranges::any_of(words, [reason](std::string_view word) {
    return reason.find(word) != std::string_view::npos;
  });
}

/// A hung read ends only when what it waits for does.
std::string hang_hint(SourceId source) {
  if (source == SourceId::kImport)
    return "the directory hangs: restore the server of its mount, or unmount it (umount -f -l)";
  if (source == SourceId::kPeerLldp) return "lldpd hangs: restart it (systemctl restart lldpd)";
  return "the device hangs: see the kernel log; a reset of the device or a reboot ends it";
}

/// For a library that the package only recommends.
std::string library_hint(SourceId source) {
  if (source == SourceId::kPeerLldp) return "install lldpd: it brings the library that asks it";
  if (source == SourceId::kPeerMad) return "install libibumad (Debian: libibumad3)";
  return "install libibverbs (Debian: libibverbs1 and ibverbs-providers)";
}

/// For a file below /sys.
std::string sys_hint(const SourceInfo& row, std::string_view reason, bool seen) {
  const SourceInfo& inventory = source_info(SourceId::kInventory);
  const bool of_mount = row.hint == inventory.hint || row.id == SourceId::kCounters;
  if (has_any(reason, kNoAccess) || (of_mount && has_any(reason, kNotPermitted)))
    return "the daemon may not read this file: run it as root, or find what forbids it (the mount "
           "of /sys, AppArmor, SELinux)";
  const bool missing = reason.find("ENOENT") != std::string_view::npos ||
                       reason.find("No such file") != std::string_view::npos;
  if (seen && missing && !has_any(reason, kNotPermitted))
    return "this kernel or card has no such file";
  if (row.id != SourceId::kCounters) return "";
  if (has_any(reason, kRefused) || has_any(reason, kMissing)) return std::string(inventory.hint);
  return seen ? "the driver returns this error for this file; the others are read" : "";
}

std::string module_hint(std::string_view reason) {
  if (reason.starts_with("EIO"))  // linux: mlx5_query_mcia() before 6.19
    return "the module or its bus returns this error, or the cage is empty (mlx5 before Linux 6.19 "
           "reports no more): see the kernel log, and reseat the module if present";
  return "the module or its bus returns this error: see the kernel log, and reseat the module";
}

}  // namespace

std::string hint_for(SourceId source, const SourceStatus& status, bool seen) {
  const SourceInfo& row = source_info(source);
  const std::string_view reason = status.reason;
  if (status.state == SourceState::kHung) return hang_hint(source);
  if (has_any(reason, kNoDescriptors))
    return "the daemon, or the system, has no file descriptors left: raise LimitNOFILE of its unit "
           "(docker: --ulimit nofile=)";
  if (has_any(reason, kNoLibrary)) return library_hint(source);
  if (reason.starts_with(kImportEnded))
    return "renew the import: check the program that writes it (docs/import.md)";
  if (reason.starts_with(kModuleLeft)) return "reads resume when the maintenance ends";
  if (row.in_sys)
    if (std::string hint = sys_hint(row, reason, seen); !hint.empty()) return hint;
  const bool refused = has_any(reason, kRefused) || has_any(reason, kMissing);
  // Events and far ends do not depend on a driver: the kernel module or device file is missing.
  const bool of_device_file = row.kind != SourceKind::kRead && has_any(reason, kNotOffered);
  if (refused || of_device_file || !row.only_if_refused) return std::string(row.hint);
  if (has_any(reason, kBusy)) return "another reader holds it: reads are retried automatically";
  if (source == SourceId::kModule) return module_hint(reason);
  if (row.kind == SourceKind::kRead)
    return "the driver or the device returns this error: see the kernel log";
  // A refused SMP is not answered (docs/adr/0004-mads.md). Counters are not read by SMPs.
  if (source == SourceId::kPeerMad && reason.find("no answer") != std::string_view::npos &&
      !reason.starts_with("counters"))
    return "the fabric may answer only its subnet manager: name the far end in the cabling plan or "
           "by an import (docs/import.md), and set peers.mad to 0";
  return "";  // lost events, or a far end that refused
}

}  // namespace linkhealth
