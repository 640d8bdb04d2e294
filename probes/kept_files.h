// Sysfs attributes kept open: each read evaluates the attribute anew. Files of one group are read
// together, in as few calls of the kernel as it takes. A file that fails is asked less and less
// often, and never hides its neighbours; what fails is told in one sentence for the whole group.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/counters.h"
#include "probes/host.h"

namespace linkhealth {

/// kGone: the device behind the files is not there any more (ENODEV). Every kept file stays dead,
/// also when a device of the same name has come: take the inventory again and open new readers.
enum class ReadStatus : std::uint8_t { kOk, kGone };

class KeptFile {
 public:
  /// `name` must outlive the file. Small, because 64 ports keep 7,000 of them.
  explicit KeptFile(std::string_view name) : name_(name) {}

  /// What is to be read: `dir`/name is opened the first time (and again later if that failed).
  /// nullopt: the file is left alone this time.
  std::optional<Result<HostFile*>> begin(Host& host, const std::string& dir);
  /// begin() and the read. nullopt while the file is left alone.
  std::optional<Result<std::string_view>> read(Host& host, const std::string& dir,
                                               std::span<char> buffer);
  /// The content was usable: the file is asked each time again.
  void accept() { trouble_.reset(); }
  /// The content or the read was not usable: 1, 2, 4, … reads are left out, at most `max_skip`.
  void reject(std::string reason, unsigned max_skip);

  [[nodiscard]] std::string_view name() const { return name_; }
  /// HostFile::descriptor(); -1 also while the file is not open.
  [[nodiscard]] int descriptor() const { return file_ ? file_->descriptor() : -1; }
  /// Why the last try failed; "" after a good one.
  [[nodiscard]] std::string_view reason() const {
    return trouble_ ? trouble_->reason : std::string_view();
  }

 private:
  struct Trouble {
    std::string reason;
    unsigned failures = 0;
    unsigned skip = 0;
  };

  std::string_view name_;
  std::unique_ptr<HostFile> file_;
  std::unique_ptr<Trouble> trouble_;  ///< none: the last try was good
};

/// A few files of one directory that are read each by itself.
class KeptFiles {
 public:
  /// `names` must outlive the files.
  explicit KeptFiles(std::span<const char* const> names) : files_(names.begin(), names.end()) {}

  KeptFile& operator[](std::size_t index) { return files_[index]; }
  /// KeptFile::accept().
  void accept(std::size_t index) {
    if (any_failed_) files_[index].accept();
  }
  /// KeptFile::reject().
  void reject(std::size_t index, std::string reason, unsigned max_skip) {
    files_[index].reject(std::move(reason), max_skip);
    any_failed_ = true;
  }
  /// join_reasons(), without a look at the files while none has failed: they lie in some cache
  /// lines for each port.
  std::string reasons();

 private:
  std::vector<KeptFile> files_;
  bool any_failed_ = false;  ///< of them may have
};

/// Reads of a few kept files, at most `kMost` of them, that are made together. A text that is
/// longer than `kLongest` is cut off.
template <std::size_t kMost, std::size_t kLongest>
class KeptReads {
 public:
  [[nodiscard]] bool has_room(std::size_t count) const { return kMost - size_ >= count; }
  /// Begins to read `file`. The number of its text.
  std::size_t add(Host& host, KeptFile& file, const std::string& dir);
  /// Reads all that were added.
  void read(Host& host) { host.read_together(std::span(reads_).first(size_)); }
  /// What KeptFile::read() gives.
  [[nodiscard]] std::optional<Result<std::string_view>> text(std::size_t number) const;

 private:
  std::size_t size_ = 0;
  std::array<bool, kMost> asked_;  // NOLINT(*-member-init): filled by add()
  std::array<FileRead, kMost> reads_;
  std::array<std::array<char, kLongest>, kMost>
      texts_;  // NOLINT(*-member-init): filled by the reads
};

/// Files of one directory that each hold a number.
class CounterFiles {
 public:
  CounterFiles() = default;
  /// The counter of file "x" is called `prefix`x.
  CounterFiles(std::string dir, std::string_view prefix, std::span<const std::string> names);

  [[nodiscard]] bool empty() const { return files_.empty(); }
  [[nodiscard]] bool has(std::string_view counter_name) const;
  /// Whether a counter's name begins so.
  [[nodiscard]] bool has_any(std::string_view beginning) const;

  /// Reads all files that are not left alone and calls `take(index, value)` for each number.
  /// kGone at the first ENODEV that `is_gone()` confirms: a driver may answer it for one attribute
  /// alone. `beside`: at most kBeside other reads, made in the same go as the first of these.
  template <typename Take, typename IsGone>
  ReadStatus read(Host& host, Take take, IsGone is_gone, std::span<DescriptorRead> beside = {});
  static constexpr std::size_t kBeside = 2;

  /// The same for one file alone, whose turn it is: turns come seldom, so fewer of them are left
  /// out while it fails.
  template <typename Take, typename IsGone>
  ReadStatus read_turn(std::size_t index, Host& host, Take take, IsGone is_gone);

  [[nodiscard]] std::size_t size() const { return files_.size(); }
  /// A file's name is the end of its counter's.
  [[nodiscard]] std::string_view counter_name(std::size_t index) const {
    const std::string_view name = files_[index].name();
    return {name.data() - prefix_size_, prefix_size_ + name.size()};
  }
  /// Puts the value of file `index` into `counters`; its row in the counter table is looked up only
  /// once.
  void put(std::size_t index, std::uint64_t value, Counters& counters) const {
    if (counter_ids_[index] != kOdd) {
      counters.set(counter_ids_[index], value);
    } else {
      counters.set(counter_name(index), value);
    }
  }
  /// "symbol_error, link_downed: EINVAL; VL15_dropped: text \"N/A (no PMA)\""; "" when all is well.
  [[nodiscard]] std::string reasons() const;
  /// How many reads went to the kernel so far: on mlx5 each one of counters/ costs a firmware
  /// command.
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  static constexpr std::size_t kTogether = 32;
  static constexpr std::size_t kLongest = 64;  ///< a counter has 21 characters
  /// What was read of at most kTogether of the files.
  struct Reads {
    std::array<DescriptorRead, kTogether + kBeside> reads;
    std::array<std::array<char, kLongest>, kTogether>
        texts;              // NOLINT(*-member-init): filled by the reads
    std::size_t taken = 0;  ///< of `reads`
  };
  /// Reads those of the `count` files from `first` on that have a descriptor, and those beside, in
  /// one go.
  void read_descriptors(std::size_t first, std::size_t count, Host& host, Reads& reads,
                        std::span<DescriptorRead> beside) const;
  /// The number in file `index`, of which `read` was read; null: it is read alone. nullopt while
  /// the file is left alone.
  std::optional<Result<std::uint64_t>> number(std::size_t index, Host& host,
                                              const DescriptorRead* read);
  /// "" of a read that failed.
  static std::string_view text_of(const DescriptorRead& read) {
    return {read.buffer.data(), static_cast<std::size_t>(std::max<std::int64_t>(read.got, 0))};
  }
  void accept(std::size_t index);
  void reject(std::size_t index, const Error& error, unsigned max_skip);
  template <typename Take, typename IsGone>
  ReadStatus read_some(std::size_t first, std::size_t count, Host& host, Take take, IsGone is_gone,
                       unsigned max_skip, std::span<DescriptorRead> beside = {});

  static constexpr unsigned kMaxSkip = 63;
  static constexpr unsigned kMaxTurnsLeftOut =
      4;                                     ///< the longest period between turns is two minutes
  static constexpr CounterId kOdd = 0xffff;  ///< the counter table does not know it
  std::string dir_;
  std::size_t prefix_size_ = 0;
  std::vector<KeptFile> files_;
  /// By file: where its number can be read; -1: the file must be looked at, because it is not open,
  /// or gave no number at the last try, or has no descriptor. Side by side: the files themselves
  /// lie in some hundred cache lines for ten ports, all of them cold after a second.
  std::vector<int> descriptors_;
  std::size_t looked_at_ = 0;           ///< so many have none
  std::vector<CounterId> counter_ids_;  ///< by file
  std::vector<std::unique_ptr<const std::string>>
      odd_names_;  ///< of counters, what `files_` has no row for
  std::uint64_t reads_ = 0;
};

/// An Error that quotes what stood where something else was expected: "text \"N/A (no PMA)\"",
/// "empty".
Error unexpected_text(std::string_view text);
/// A counter's text: a whole number. An Error that says what stood there instead.
Result<std::uint64_t> parse_counter(std::string_view text);
/// One sentence for files that failed, those with the same reason together, at most four names
/// each.
std::string join_reasons(std::span<const KeptFile> files);

template <std::size_t kMost, std::size_t kLongest>
std::size_t KeptReads<kMost, kLongest>::add(Host& host, KeptFile& file, const std::string& dir) {
  const std::size_t number = size_++;
  const auto begun = file.begin(host, dir);
  asked_[number] = begun.has_value();
  reads_[number].buffer = texts_[number];
  if (begun && *begun) reads_[number].file = **begun;
  if (begun && !*begun) reads_[number].got = begun->error();
  return number;
}

template <std::size_t kMost, std::size_t kLongest>
std::optional<Result<std::string_view>> KeptReads<kMost, kLongest>::text(std::size_t number) const {
  if (!asked_[number]) return std::nullopt;
  const FileRead& read = reads_[number];
  if (!read.got) return read.got.error();
  return trim(std::string_view(read.buffer.data(), *read.got));
}

template <typename Take, typename IsGone>
ReadStatus CounterFiles::read(Host& host, Take take, IsGone is_gone,
                              std::span<DescriptorRead> beside) {
  for (std::size_t first = 0; first < files_.size(); first += kTogether)
    if (read_some(first, std::min(kTogether, files_.size() - first), host, take, is_gone, kMaxSkip,
                  std::exchange(beside, {})) == ReadStatus::kGone)
      return ReadStatus::kGone;
  return ReadStatus::kOk;
}

template <typename Take, typename IsGone>
ReadStatus CounterFiles::read_turn(std::size_t index, Host& host, Take take, IsGone is_gone) {
  return read_some(index, 1, host, take, is_gone, kMaxTurnsLeftOut);
}

template <typename Take, typename IsGone>
ReadStatus CounterFiles::read_some(std::size_t first, std::size_t count, Host& host, Take take,
                                   IsGone is_gone, unsigned max_skip,
                                   std::span<DescriptorRead> beside) {
  Reads reads;
  read_descriptors(first, count, host, reads, beside);
  for (std::size_t i = first; i < first + count; ++i) {
    const DescriptorRead* const read = descriptors_[i] >= 0 ? &reads.reads[reads.taken++] : nullptr;
    // Nearly always: without an Error at hand.
    if (const auto value = read != nullptr ? parse_u64(trim(text_of(*read))) : std::nullopt) {
      ++reads_;
      take(i, *value);
      continue;
    }
    const auto value = number(i, host, read);
    if (!value) continue;
    ++reads_;
    if (*value) {
      if (descriptors_[i] < 0) accept(i);
      take(i, **value);
      continue;
    }
    reject(i, value->error(), max_skip);
    if (value->error().errnum == ENODEV && is_gone()) return ReadStatus::kGone;
  }
  return ReadStatus::kOk;
}

}  // namespace linkhealth
