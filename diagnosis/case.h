// A Case is how a symptom decides: the only way to compare a value is to record the comparison, so no verdict can
// forget its evidence. All comparisons must hold: then the symptom is present. One that fails makes it absent; one that
// can't be made (and none that fails) makes it unknown, with the reason.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace linkhealth {

enum class Verdict : std::uint8_t { kAbsent, kPresent, kUnknown };

/// Who read the value.
enum class Reader : std::uint8_t { kLink, kFec, kCounters, kModule, kPeer, kPcie, kEvents, kPlan, kMonitor, kNode };

struct Comparison {
  std::string_view what;
  double observed = 0;
  std::string_view op;
  double threshold = 0;
  std::string_view unit;
  int lane = -1;  ///< from 0; -1: the port as a whole
  Reader reader = Reader::kLink;
};

/// A symptom's verdict with the comparisons behind it. Small: no heap.
struct Finding {
  static constexpr std::size_t kMax = 4;
  Verdict verdict = Verdict::kUnknown;
  std::uint8_t count = 0;
  std::array<Comparison, kMax> comparisons{};
  std::string_view reason;  ///< why unknown
  bool comes = false;       ///< unknown only until more readings are there, which come by themselves
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
  Case& at_least(std::string_view what, std::optional<double> observed, double threshold, std::string_view unit = "") {
    return compare(what, observed, ">=", threshold, unit, observed && *observed >= threshold);
  }
  Case& above(std::string_view what, std::optional<double> observed, double threshold, std::string_view unit = "") {
    return compare(what, observed, ">", threshold, unit, observed && *observed > threshold);
  }
  Case& below(std::string_view what, std::optional<double> observed, double threshold, std::string_view unit = "") {
    return compare(what, observed, "<", threshold, unit, observed && *observed < threshold);
  }
  Case& holds(std::string_view what, std::optional<bool> observed) {
    return compare(what, observed ? std::optional<double>(*observed ? 1 : 0) : std::nullopt, "=", 1, "",
                   observed.value_or(false));
  }
  /// What must be known for the rest to mean something; else the verdict is unknown with this reason.
  Case& needs(bool known, std::string_view reason) {
    if (!known && finding_.reason.empty()) {
      unknown_ = true;
      finding_.reason = reason;
    }
    return *this;
  }
  [[nodiscard]] Finding close() {
    finding_.verdict = failed_ ? Verdict::kAbsent : unknown_ ? Verdict::kUnknown : Verdict::kPresent;
    if (failed_) finding_.reason = {};
    return finding_;
  }

 private:
  Case& compare(std::string_view what, std::optional<double> observed, std::string_view op, double threshold,
                std::string_view unit, bool held) {
    if (!observed) return needs(false, what);
    if (finding_.count < Finding::kMax)
      finding_.comparisons[finding_.count++] = {what, *observed, op, threshold, unit, lane_, reader_};
    if (!held) failed_ = true;
    return *this;
  }

  Finding finding_;
  Reader reader_;
  int lane_ = -1;
  bool failed_ = false;
  bool unknown_ = false;
};

inline Finding not_known(std::string_view reason) {
  Finding finding;
  finding.reason = reason;
  return finding;
}

inline Finding not_known_yet(std::string_view reason) {
  Finding finding = not_known(reason);
  finding.comes = true;
  return finding;
}

}  // namespace linkhealth
