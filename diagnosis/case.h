// A Case is how a symptom decides: the only way to compare a value is to record the comparison, so
// no verdict can forget its evidence. All comparisons must hold: then the symptom is present. One
// that fails makes it absent; one that can't be made (and none that fails) makes it unknown, with
// the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "diagnosis/static_text.h"

namespace linkhealth {

enum class Verdict : std::uint8_t { kAbsent, kPresent, kUnknown };

/// Who read the value.
enum class Reader : std::uint8_t {
  kLink,
  kFec,
  kCounters,
  kModule,
  kPeer,
  kPcie,
  kEvents,
  kPlan,
  kMonitor,
  kNode
};

struct Comparison {
  std::string_view what;
  double observed = 0;
  std::string_view op;
  double threshold = 0;
  std::string_view unit;
  int lane = -1;  ///< from 0; -1: the port as a whole
  Reader reader = Reader::kLink;
};

/// A few comparisons, in place. A port has some seventy lists of them, made anew each second, and
/// most are empty: only what is in a list is written and copied.
class Comparisons {
 public:
  static constexpr std::size_t kMax = 4;  ///< what comes after that is left out

  Comparisons() noexcept {
  }  // NOLINT(*-member-init,modernize-use-equals-default): what is not in it is not written
  Comparisons(const Comparisons& other) noexcept { *this = other; }  // NOLINT(*-member-init)
  Comparisons& operator=(const Comparisons& other) noexcept {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) std::construct_at(&items_[i], other.items_[i]);
    return *this;
  }
  ~Comparisons() = default;

  void add(const Comparison& comparison) {
    if (size_ < kMax) std::construct_at(&items_[size_++], comparison);
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Comparison* begin() const { return &items_[0]; }
  [[nodiscard]] const Comparison* end() const { return &items_[size_]; }
  [[nodiscard]] const Comparison& front() const { return items_[0]; }

 private:
  std::uint8_t size_ = 0;
  union {
    Comparison items_[kMax];
  };
  static_assert(std::is_trivially_copyable_v<Comparison>, "their lifetimes need no end");
};

/// A symptom's verdict with the comparisons behind it. Small: no heap.
struct Finding {
  Verdict verdict = Verdict::kUnknown;
  bool comes = false;  ///< unknown only until more readings are there, which come by themselves
  StaticText reason;   ///< why unknown
  Comparisons comparisons;
  [[nodiscard]] bool present() const { return verdict == Verdict::kPresent; }
  [[nodiscard]] bool absent() const { return verdict == Verdict::kAbsent; }
};

class Case {
 public:
  explicit Case(Reader reader) : reader_(reader) {}

  /// The following comparisons are of this lane (from 0).
  Case& lane(int index) {
    lane_ = index;
    return *this;
  }
  Case& at_least(StaticText what, std::optional<double> observed, double threshold,
                 std::string_view unit = "") {
    return compare(what, observed, ">=", threshold, unit, observed && *observed >= threshold);
  }
  Case& above(StaticText what, std::optional<double> observed, double threshold,
              std::string_view unit = "") {
    return compare(what, observed, ">", threshold, unit, observed && *observed > threshold);
  }
  Case& below(StaticText what, std::optional<double> observed, double threshold,
              std::string_view unit = "") {
    return compare(what, observed, "<", threshold, unit, observed && *observed < threshold);
  }
  Case& holds(StaticText what, std::optional<bool> observed) {
    return compare(what, observed ? std::optional<double>(*observed ? 1 : 0) : std::nullopt, "=", 1,
                   "", observed.value_or(false));
  }
  /// What must be known for the rest to mean something; else the verdict is unknown with this
  /// reason.
  Case& needs(bool known, StaticText reason) {
    if (!known && finding_.reason.empty()) {
      unknown_ = true;
      finding_.reason = reason;
    }
    return *this;
  }
  [[nodiscard]] Finding close() {
    finding_.verdict = failed_    ? Verdict::kAbsent
                       : unknown_ ? Verdict::kUnknown
                                  : Verdict::kPresent;
    if (failed_) finding_.reason = {};
    return finding_;
  }

 private:
  Case& compare(StaticText what, std::optional<double> observed, std::string_view op,
                double threshold, std::string_view unit, bool held) {
    if (!observed) return needs(false, what);
    finding_.comparisons.add({what, *observed, op, threshold, unit, lane_, reader_});
    if (!held) failed_ = true;
    return *this;
  }

  Finding finding_;
  Reader reader_;
  int lane_ = -1;
  bool failed_ = false;
  bool unknown_ = false;
};

inline Finding not_known(StaticText reason) {
  Finding finding;
  finding.reason = reason;
  return finding;
}

inline Finding not_known_yet(StaticText reason) {
  Finding finding = not_known(reason);
  finding.comes = true;
  return finding;
}

}  // namespace linkhealth
