// Compares the engine's answers with the truth: right at the top, among the first three, the end,
// false diagnoses, delay and calibration. The rule is that of the labelled recordings: the
// diagnosis of a port is the first fault of its last report; right is the truth, or what is
// indistinguishable from it in the recording.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/engine.h"
#include "tests/sim/faults.h"

namespace linkhealth::sim {

/// The result for one faulty port.
struct Outcome {
  std::string case_name;
  PortKey port;
  Truth truth;
  std::string said = "nothing";
  End said_end = End::kNone;
  double confidence = 0;
  bool right = false;
  bool in_first_three = false;
  bool end_right = false;
  bool second_found = false;
  std::optional<double> delay_s;  ///< from the onset to the first fault that was opened on the port
  std::string first_said;         ///< the name under which that fault opened; "": none opened
  bool first_right = false;  ///< it is the truth, or indistinguishable from it in the recording
  /// Names that replaced an open one, and were not among those listed as indistinguishable from it
  /// when it opened.
  std::size_t renames = 0;
  bool very_name = false;  ///< `said` at `said_end` is exactly the truth
  std::string said_id;     ///< of that fault
};

struct FalseDiagnosis {
  std::string case_name;
  PortKey port;
  Truth truth;
  double t = 0;
  std::string said;
  double confidence = 0;
  std::string summary;
};

struct Bin {
  std::size_t count = 0, right = 0;
  double confidence = 0;  ///< sum
};

class Score {
 public:
  void begin_case(std::string name, const std::map<PortKey, Truth>& truth);
  void step(const Engine::Step& step, double t);
  /// REQUIRES: at least one step since begin_case().
  void end_case();

  [[nodiscard]] const std::vector<Outcome>& outcomes() const { return outcomes_; }
  [[nodiscard]] const std::vector<FalseDiagnosis>& false_diagnoses() const { return false_; }
  [[nodiscard]] double healthy_port_days() const { return healthy_port_s_ / 86400.0; }
  [[nodiscard]] double false_per_1000_port_days() const;
  [[nodiscard]] double share(bool Outcome::*what) const;
  /// Expected calibration error over ten bins of the confidence. Strict: only the exact truth is
  /// right, not an indistinguishable fault.
  [[nodiscard]] double calibration_error() const { return calibration_error(bins_); }
  [[nodiscard]] double strict_calibration_error() const { return calibration_error(strict_bins_); }
  [[nodiscard]] const std::array<Bin, 10>& bins() const { return bins_; }
  /// Share of the faulty ports with an opened fault whose first name was right.
  [[nodiscard]] double first_name_right() const;
  /// Renames per opened fault.
  [[nodiscard]] double renamed() const;
  /// Seconds at the given quantile of the delays of links that went down, or of those that only got
  /// worse.
  [[nodiscard]] std::optional<double> delay_s(bool down, double quantile) const;
  /// Wrong, with a confidence of at least 0.8: worse than no answer.
  [[nodiscard]] std::size_t confidently_wrong() const;
  /// Faults that several ports share and that are reported once for all of them; and the total.
  [[nodiscard]] std::pair<std::size_t, std::size_t> shared_told_once() const;
  /// Cases in which ports with separate faults are reported as one.
  [[nodiscard]] std::size_t wrongly_shared() const;
  /// Everything as a text for people; `examples`: names of wrong cases for each confusion.
  [[nodiscard]] std::string text(std::size_t examples) const;

 private:
  struct First {
    double t = 0;
    std::string fault;
    End end = End::kNone;
    std::size_t renames = 0;
    /// The names that opened, and those indistinguishable from them.
    std::vector<Candidate> told{};
  };
  using Bins = std::array<Bin, 10>;
  static double calibration_error(const Bins& bins);
  static void note_rename(const std::vector<FaultEvent>& events, const FaultEvent& closed,
                          First& first);
  void note_event(const FaultEvent& event, const Truth& truth, double t);
  void judge(const PortReport& report, const Truth& truth);

  std::string name_;
  std::map<PortKey, Truth> truth_;
  std::map<PortKey, First> first_opened_;
  std::shared_ptr<const Report> last_;
  double first_t_ = -1, last_t_ = 0;
  std::vector<Outcome> outcomes_;
  std::vector<FalseDiagnosis> false_;
  double healthy_port_s_ = 0;
  Bins bins_{}, strict_bins_{};
};

/// An engine with the default settings.
inline Engine engine_for(const RecordingHeader& header) {
  EngineSettings settings;
  settings.node = header.node;
  settings.setting_table = SettingTable(diagnosis_setting_groups());
  settings.expected = header.expected;
  return Engine(std::move(settings));
}

/// Whether an answer counts as right.
bool is_right(const Truth& truth, std::string_view fault, End end);

}  // namespace linkhealth::sim
