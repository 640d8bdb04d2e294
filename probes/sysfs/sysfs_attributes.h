// Attributes of one sysfs directory: each read opens the file and evaluates the attribute again. A
// file that fails is read less and less often and never hides the others; the failures of a group
// are reported in one sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/counters.h"
#include "probes/host.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

/// kGone: the device behind the files no longer exists. Its directory stays dead even if a device
/// of the same name appears: take the inventory again and open new readers.
enum class ReadStatus : std::uint8_t { kOk, kGone };

class SysfsAttribute {
 public:
  /// `name`: the file, below the directory that is read. While it fails, 1, 2, 4, … reads are
  /// skipped, at most `max_skip`.
  SysfsAttribute(std::string name, unsigned max_skip)
      : name_(std::move(name)), max_skip_(max_skip) {}

  /// The result of `parse` (trimmed text -> optional). nullopt if the file cannot be read or
  /// parsed, which is kept as the reason, and while it is skipped. `absent_errnum`: an error that
  /// means "no value now", which is not a failure.
  template <typename Parse>
  auto read(HostDir& dir, Parse parse, int absent_errnum = 0) {
    using Value = decltype(parse(std::string_view()));
    if (skip_ > 0) {
      --skip_;
      return Value();
    }
    const auto text = dir.read_file(name_);
    if (!text) {
      note_error(text.error().errnum, absent_errnum);
      return Value();
    }
    Value value = parse(trim(*text));
    value ? accept() : reject(unexpected_text(trim(*text)).message);
    return value;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Why the last try failed; "" after success.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Whether the last try found no device behind the file: ENODEV, or ENOENT in a directory that is
  /// gone.
  [[nodiscard]] bool may_be_gone() const { return may_be_gone_; }
  /// Clears the failure: the value is not needed now.
  void accept();

 private:
  void note_error(int errnum, int absent_errnum);
  void reject(std::string reason);

  std::string name_;
  unsigned max_skip_;
  std::string reason_;
  unsigned failures_ = 0, skip_ = 0;
  bool may_be_gone_ = false;
};

/// "symbol_error, link_downed: EINVAL; VL15_dropped: text \"N/A (no PMA)\"": the attributes that
/// failed, grouped by reason, at most four names per reason. "" if none did.
std::string join_reasons(std::span<const SysfsAttribute> attributes);

/// Files of one directory that each hold a number.
class SysfsCounters {
 public:
  SysfsCounters() = default;
  /// File "x" of the subdirectory becomes the counter `prefix`x.
  SysfsCounters(const std::string& subdirectory, std::string_view prefix,
                std::span<const std::string> names);

  [[nodiscard]] bool empty() const { return files_.empty(); }
  [[nodiscard]] bool has(std::string_view counter_name) const;
  /// Whether a counter's name begins with this.
  [[nodiscard]] bool has_any(std::string_view beginning) const;
  /// Adds the numbers of all files that are not skipped to `counters`. Returns whether one of them
  /// may belong to a device that is gone: a driver may also return such an error for a single
  /// attribute.
  bool read(HostDir& dir, std::optional<Counters>& counters);
  [[nodiscard]] std::string reasons() const { return join_reasons(files_); }

 private:
  std::vector<std::string> names_;  ///< of the counters, by file
  std::vector<SysfsAttribute> files_;
};

}  // namespace linkhealth
