#include "probes/sysfs/sysfs_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace linkhealth {

void SysfsAttribute::accept() {
  reason_.clear();
  failures_ = skip_ = 0;
  may_be_gone_ = false;
}

void SysfsAttribute::reject(std::string reason) {
  constexpr unsigned kMaxDoublings = 16;
  reason_ = std::move(reason);
  skip_ = std::min(max_skip_, 1U << std::min(failures_, kMaxDoublings));
  ++failures_;
  may_be_gone_ = false;
}

void SysfsAttribute::note_error(int errnum, int absent_errnum) {
  if (errnum == absent_errnum) return accept();
  reject(errno_name(errnum));
  may_be_gone_ = errnum == ENODEV || errnum == ENOENT;
}

std::string join_reasons(std::span<const SysfsAttribute> attributes) {
  constexpr std::size_t kNames = 4;
  std::string joined;
  for (auto first = attributes.begin(); first != attributes.end(); ++first) {
    const std::string& reason = first->reason();
    const auto same = [&](const SysfsAttribute& other) { return other.reason() == reason; };
    if (reason.empty() || std::any_of(attributes.begin(), first, same)) continue;
    if (!joined.empty()) joined += "; ";
    std::size_t names = 0;
    for (auto file = first; file != attributes.end(); ++file)
      if (same(*file) && ++names <= kNames) {
        const std::string& path = file->name();
        joined += (names > 1 ? ", " : "") + path.substr(path.rfind('/') + 1);
      }
    if (names > kNames) joined += " and " + std::to_string(names - kNames) + " more";
    joined += ": " + reason;
  }
  return joined;
}

SysfsCounters::SysfsCounters(const std::string& subdirectory, std::string_view prefix,
                             std::span<const std::string> names) {
  constexpr unsigned kMaxSkippedReads = 63;
  for (const std::string& file : names) {
    names_.push_back(std::string(prefix) + file);
    files_.emplace_back(fmt::format("{}/{}", subdirectory, file), kMaxSkippedReads);
  }
}

bool SysfsCounters::has(std::string_view counter_name) const {
  return std::ranges::find(names_, counter_name) != names_.end();
}

bool SysfsCounters::has_any(std::string_view beginning) const {
  return std::ranges::any_of(
      names_, [beginning](const std::string& name) { return name.starts_with(beginning); });
}

bool SysfsCounters::read(HostDir& dir, std::optional<Counters>& counters) {
  bool may_be_gone = false;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto value = files_[i].read(dir, parse_u64);
    may_be_gone = may_be_gone || files_[i].may_be_gone();
    if (!value) continue;
    if (!counters) counters.emplace();
    counters->set(names_[i], *value);
  }
  return may_be_gone;
}

}  // namespace linkhealth
