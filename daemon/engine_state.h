// The engine's state, and what it does with one port. For the engine's own files.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/engine.h"
#include "diagnosis/differential.h"
#include "diagnosis/explain.h"
#include "diagnosis/ledger.h"
#include "diagnosis/repair_book.h"
#include "diagnosis/repair_watch.h"
#include "diagnosis/symptoms.h"
#include "diagnosis/trends.h"
#include "model/asked.h"
#include "model/history.h"

namespace linkhealth {

/// What the tables say of one port in one step. 20 kB, and of no use after it: one for all ports.
struct Opinion {
  Findings findings;
  const Differential* differential = nullptr;  ///< Judged keeps it; null: not judged
  Differential second;
};

/// What the engine keeps of a port beside its history.
struct Judged {
  std::shared_ptr<const SymptomsTold> symptoms;  ///< null: none yet
  std::optional<SteadyTime> errors_since;
  std::optional<SteadyTime> errors_last;
  bool errors_ever =
      false;  ///< they are as old as what is known of the link: nobody saw them begin
  std::optional<double> ber;  ///< before FEC, when it was looked at last
  bool begun = false;         ///< it was looked at in a step
  bool judged = false;
  std::size_t gone_with = 0;  ///< so many ports went at once, this one among them; 0: no such thing
  bool all_gone = false;      ///< and these are all that the node has
  std::size_t hot_with = 0;   ///< so many modules got hot together
  std::size_t low_with = 0;   ///< so many modules lost supply voltage together
  RepairWatch repairs;
  RememberedDifferential differential;
  std::string exempt;
  AskedOfPort asked;  ///< of `asked_id`, by the settings of `asked_by`
  PortId asked_id;
  std::uint64_t asked_by = 0;  ///< 0: not yet
};

struct Subject {
  std::string stable;
  const PortHistory* port;
  const ExpectedPort* expected;
  std::string_view leaf;
  Judged* judged;
  std::optional<double>
      temperature_drop_c;   ///< its module against its own past; nullopt: not known now
  bool supply_low = false;  ///< of its module, read lately
};

inline constexpr double kSharedRiseC =
    -6;  ///< a module's drop of temperature: more is more than jobs do (docs/physics.md 7d)
inline constexpr double kWarmUpS =
    900;  ///< ten time constants of a module's temperature (docs/physics.md 7d)
/// When something opens, and when two names stand side by side.
std::span<const Knob> judge_knobs();

struct Engine::State {
  explicit State(EngineSettings given)
      : settings(std::move(given)),
        history(intent_times(values("intent"))),
        ledger(settings.node, values("ledger")),
        repairs(values("repairs")),
        watch_values(values("repair_watch")),
        differential_values(values("differential")),
        judge_values(values("judge")),
        window_values(values("windows")),
        trend_values(values("trends")) {
    const auto table = symptom_table();
    for (std::size_t i = 0; i < kSymptomCount; ++i)
      if (!table[i].knobs.empty()) symptom_values[i] = values(table[i].name);
  }

  /// A table without our groups (a test's) means the defaults.
  KnobValues values(std::string_view group) {
    for (const KnobGroup& row : settings.knobs.groups())
      if (row.name == group) return settings.knobs.values(group);
    return defaults.values(group);
  }

  static IntentTimes intent_times(KnobValues k) { return {k[0], k[1], k[2], k[3], k[4], k[5]}; }

  EngineSettings settings;
  KnobTable defaults{engine_knob_groups()};
  History history;
  Ledger ledger;
  RepairBook repairs;
  KnobValues watch_values;
  KnobValues differential_values;
  KnobValues judge_values;
  KnobValues window_values;
  KnobValues trend_values;
  std::array<KnobValues, kSymptomCount> symptom_values{};
  std::map<std::string, Judged> judged;
  Opinion opinion;                               ///< of the port that is being judged
  std::shared_ptr<const SymptomsTold> symptoms;  ///< of the port that was reported last
  std::map<std::string, FaultReport> texts;      ///< by fault id: what was last said of it
  std::vector<FaultEvent> waiting;
  std::vector<Maintenance> maintenance, maintenance_files;
  std::vector<Maintenance> maintenance_log;  ///< all of late, oldest first
  std::optional<SteadyTime> first_step;
  bool looked_for_lost = false;
  std::shared_ptr<const RuleUse> rule_use = std::make_shared<const RuleUse>();
  std::uint64_t settings_made = 1;   ///< so many settings were in force
  std::vector<std::string> remarks;  ///< of this step
  bool expects_anew = true;          ///< what is expected of this node is new with the next step
  std::optional<SteadyTime> last_step;
  double step_s = 10;
  std::string
      idle_cards;  ///< cards that the PCI bus shows and that have no driver; "" none, or not known
  WallTime wall;

  /// What is asked of a port, made anew when its names or the settings are others.
  const AskedOfPort& asked_of_port(const PortHistory& port, Judged& own);
  std::vector<Subject> subjects();
  void follow_cards();
  void expect_anew();
  void release(const std::string& stable, const PortKey& port, const std::string& why);
  void release_left_out(const std::vector<Subject>& all);
  void note_idle_cards(const std::vector<Gap>& gaps);
  /// The stable key of a port that is known by this label.
  Result<std::string> stable_of(const PortKey& key) const;
  void tell_place(FaultEvent& event, const PortKey& port) const;
  FaultReport wait_with(const LedgerChange& change, const PortKey& port);
  void end_old_maintenance();
  void log_maintenance();
  void release_lost(SteadyTime now);
  const Maintenance* maintenance_of(const PortHistory& port, const std::string& stable) const;
  /// Whether somebody who works on the port wants its module left alone.
  [[nodiscard]] bool leaves_module(const PortHistory& port, const std::string& stable) const;
  void fill_group(PortView& view, const Subject& subject, const std::vector<Subject>& all);
  void note_repair(const Subject& subject, const PortView& view, Judged& judged, WallTime now);
  PortVerdict verdict_of(const PortView& view, Judged& own, const Fault* incumbent);
  void note_errors(Judged& port, SteadyTime now) const;
  Severity severity_of(const RankedFault& ranked, const PortView& view,
                       const Findings& findings) const;
  /// What is told of `subject`, into `report`, which is empty.
  void report_on(PortReport& report, const Subject& subject, const PortView& view, Judged& judged,
                 const Snapshot& snapshot);
  FaultReport fault_report(const LedgerEntry& entry, const PortView& view, const Judged& judged);
  void emit(const LedgerChange& change, const Subject& subject, const PortView& view,
            const Judged& judged, const Snapshot& snapshot, std::vector<FaultEvent>& events);
};

}  // namespace linkhealth
