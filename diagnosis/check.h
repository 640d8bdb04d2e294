// Checks are how a symptom decides. A value can only be compared by recording the comparison, so
// that no verdict lacks its evidence. If all comparisons hold, the symptom is present. If one
// fails, it is absent. If one cannot be made (and none fails), it is unknown, with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace linkhealth {

/// Where a value was read.
enum class EvidenceSource : std::uint8_t {
  kLink,
  kDownReason,
  kFec,
  kCounters,
  kModule,
  kPcie,
  kEvents,
  kFarLink,
  kFarCounters,
  kFarModule,
  kPlan,
  kMonitor,    ///< the monitor's own reads
  kNodePorts,  ///< the other ports of this node
};
inline constexpr std::size_t kEvidenceSourceCount =
    static_cast<std::size_t>(EvidenceSource::kNodePorts) + 1;
/// "the far module".
std::string_view to_string(EvidenceSource kind);

class EvidenceSources {
 public:
  constexpr EvidenceSources() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): one kind is a set of one
  constexpr EvidenceSources(EvidenceSource kind) : bits_(1U << static_cast<unsigned>(kind)) {}
  constexpr void add(EvidenceSources others) { bits_ |= others.bits_; }
  [[nodiscard]] constexpr bool has(EvidenceSource kind) const {
    return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool has_any(EvidenceSources others) const {
    return (bits_ & others.bits_) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

 private:
  std::uint32_t bits_ = 0;
};
constexpr EvidenceSources operator|(EvidenceSource a, EvidenceSource b) {
  EvidenceSources both = a;
  both.add(b);
  return both;
}

enum class Verdict : std::uint8_t { kAbsent, kPresent, kUnknown };
/// "absent", "present", "unknown".
std::string_view to_string(Verdict verdict);

/// The texts are string literals.
struct Comparison {
  std::string_view what;
  double observed = 0;
  std::string_view op;
  double threshold = 0;
  std::string_view unit;
  int lane = -1;  ///< from 0; -1: the port as a whole
  EvidenceSource source = EvidenceSource::kLink;
  bool held = false;
};

/// A symptom's verdict with the comparisons behind it.
struct Finding {
  Verdict verdict = Verdict::kUnknown;
  bool pending = false;     ///< unknown only until more readings have arrived
  bool applicable = true;   ///< false: no reading can show it on this link as it is
  std::string_view reason;  ///< why unknown: a string literal
  bool unread = false;      ///< the reason is what a comparison had no reading of
  std::vector<Comparison> comparisons;
  [[nodiscard]] bool present() const { return verdict == Verdict::kPresent; }
  [[nodiscard]] bool absent() const { return verdict == Verdict::kAbsent; }
  [[nodiscard]] bool unknown() const { return verdict == Verdict::kUnknown; }
};

class Checks {
 public:
  explicit Checks(EvidenceSource source) : source_(source) {}

  /// The following comparisons are about this lane (from 0).
  Checks& lane(int index) {
    lane_ = index;
    return *this;
  }
  Checks& at_least(std::string_view what, std::optional<double> observed, double threshold,
                   std::string_view unit = "") {
    return compare(what, observed, ">=", threshold, unit, observed && *observed >= threshold);
  }
  Checks& above(std::string_view what, std::optional<double> observed, double threshold,
                std::string_view unit = "") {
    return compare(what, observed, ">", threshold, unit, observed && *observed > threshold);
  }
  Checks& below(std::string_view what, std::optional<double> observed, double threshold,
                std::string_view unit = "") {
    return compare(what, observed, "<", threshold, unit, observed && *observed < threshold);
  }
  Checks& holds(std::string_view what, std::optional<bool> observed) {
    return compare(what, observed ? std::optional<double>(*observed ? 1 : 0) : std::nullopt, "=", 1,
                   "", observed.value_or(false));
  }
  // NOLINTNEXTLINE(google-explicit-constructor): checks that are complete are a finding
  operator Finding() const {
    Finding finding = finding_;
    if (failed_) {
      finding.reason = {};
      finding.unread = false;
    }
    finding.verdict = failed_                  ? Verdict::kAbsent
                      : finding.reason.empty() ? Verdict::kPresent
                                               : Verdict::kUnknown;
    return finding;
  }

 private:
  Checks& compare(std::string_view what, std::optional<double> observed, std::string_view op,
                  double threshold, std::string_view unit, bool held) {
    if (!observed) {
      if (finding_.reason.empty()) {
        finding_.reason = what;
        finding_.unread = true;
      }
      return *this;
    }
    finding_.comparisons.push_back({what, *observed, op, threshold, unit, lane_, source_, held});
    if (!held) failed_ = true;
    return *this;
  }

  Finding finding_;
  EvidenceSource source_;
  int lane_ = -1;
  bool failed_ = false;
};

inline Finding unknown(std::string_view reason) {
  Finding finding;
  finding.reason = reason;
  return finding;
}
inline Finding unknown_yet(std::string_view reason) {
  Finding finding = unknown(reason);
  finding.pending = true;
  return finding;
}
inline Finding not_applicable(std::string_view reason) {
  Finding finding = unknown(reason);
  finding.applicable = false;
  return finding;
}

}  // namespace linkhealth
