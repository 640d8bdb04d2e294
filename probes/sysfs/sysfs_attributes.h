// Attributes of one sysfs directory: each read opens the file and evaluates the attribute again. A
// file that fails is read less and less often and never hides its neighbours; the failures of a
// group are reported in one sentence.
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

/// kGone: the device behind the files is not there any more. Its directory stays dead, also when a
/// device of the same name has come: take the inventory again and open new readers.
enum class ReadStatus : std::uint8_t { kOk, kGone };

class SysfsAttribute {
 public:
  /// `name`: of the file, below the directory that is read. While it fails 1, 2, 4, … reads are
  /// left out, at most `max_skip`.
  SysfsAttribute(std::string name, unsigned max_skip)
      : name_(std::move(name)), max_skip_(max_skip) {}

  /// What `parse` (text without white space around it -> optional) makes of the file. nullopt when
  /// the file can't be read or parsed, which is kept as its reason, and while it is left out.
  /// `absent_errnum`: an error that means that there is no value now, which is no failure.
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
  /// Why the last try failed; "" after a good one.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// The last try found no device behind the file: ENODEV, or ENOENT in a directory that is gone.
  [[nodiscard]] bool may_be_gone() const { return may_be_gone_; }
  /// Nothing is missing: its value is not needed now.
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
/// failed, those with the same reason together, at most four names each. "" when none did.
std::string join_reasons(std::span<const SysfsAttribute> attributes);

/// Files of one directory that each hold a number.
class SysfsCounters {
 public:
  SysfsCounters() = default;
  /// The counter of file "x" of the subdirectory is called `prefix`x.
  SysfsCounters(const std::string& subdirectory, std::string_view prefix,
                std::span<const std::string> names);

  [[nodiscard]] bool empty() const { return files_.empty(); }
  [[nodiscard]] bool has(std::string_view counter_name) const;
  /// Whether a counter's name begins so.
  [[nodiscard]] bool has_any(std::string_view beginning) const;
  /// Adds the numbers of all files that are not left out to `counters`. Whether one of them may
  /// belong to a device that is gone: a driver may answer so for one attribute alone.
  bool read(HostDir& dir, std::optional<Counters>& counters);
  [[nodiscard]] std::string reasons() const { return join_reasons(files_); }

 private:
  std::vector<std::string> names_;  ///< of the counters, by file
  std::vector<SysfsAttribute> files_;
};

}  // namespace linkhealth
