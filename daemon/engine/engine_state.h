// The engine's state, and the three stages of a step. For the engine's own files.
//
//   1. features: each port by itself, from its history                    (engine.cpp)
//   2. shared:   what several ports have in common, and which causes
//                are reported once for all of them                        (engine_shared.cpp)
//   3. judge:    symptoms, differential, ledger, report, port by port     (engine_judge.cpp,
//                                                                          engine_report.cpp)
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/engine/engine.h"
#include "diagnosis/differential.h"
#include "diagnosis/ledger.h"
#include "diagnosis/repair_book.h"
#include "diagnosis/repair_watch.h"
#include "model/expected_ports.h"
#include "model/history/history.h"

namespace linkhealth {

/// The engine's state of a port, in addition to its history.
struct PortState {
  std::optional<SteadyTime> errors_since, errors_last;
  bool errors_ever = false;  ///< errors as old as the link's history
  std::optional<SteadyTime> supply_low_since;
  bool card_stopped = false;
  bool seen_before = false;  ///< in an earlier step
  RepairWatch repairs;
  ExpectedConfig config;
};

enum class SharedKind : std::uint8_t {
  kDriver,  ///< all ports of a driver disappeared at once: due to the driver or the monitor
  kRoom,    ///< modules heated up together: the room, its inlet or a fan
  kSupply,  ///< modules lost supply voltage together
  // What ports share that went down at the same moment, or that show the same fault.
  kLink,     ///< one cable, with several functions
  kModule,   ///< one module, in one cage, with several links
  kCard,     ///< one card with several modules
  kLeaf,     ///< one known switch
  kNode,     ///< only this node: they are connected to different switches
  kUnknown,  ///< this node, or an unknown switch
};
/// A cause that several ports share. One of them reports it for all.
struct SharedCause {
  SharedKind kind;
  std::vector<std::size_t> ports;  ///< indices of the step's ports
  FaultId fault;                   ///< the fault by which it shows on a port
  std::string name;                ///< the driver, or this node
  bool fell = false;       ///< their links went down at the same moment, whatever their faults
  std::size_t links = 0;   ///< functions of one cable are one link
  std::size_t leaves = 0;  ///< number of different known switches
  bool by_lanes = false;   ///< from lanes that cannot be attributed to a port: concerns all of them
};

/// One port in one step.
struct PortStep {
  PortStep(std::string key, const PortHistory& history, PortState& of_port, const Features& own)
      : stable(std::move(key)), port(history), state(of_port), features(own) {}
  std::string stable;
  const PortHistory& port;
  PortState& state;
  Features features;
  std::string exempt;  ///< why nothing is expected of the port; "" if it is judged
  std::string_view leaf;
  std::string far;       ///< switch and port, if both are known
  std::size_t link = 0;  ///< index of the first function of the same cable; usually its own
  bool first_of_link = true;
  bool counts_with_first = false;  ///< its bandwidth is counted with the first function
  std::string twins;               ///< keys of the other functions of the same cable; usually ""
  /// Its module relative to its own baseline; warm ones only.
  std::optional<double> temperature_drop_c;
  bool supply_low = false;          ///< of its module, read recently
  bool alone_without_link = false;  ///< never had a link, while all ports of its kind have one
  bool errors_began = false;        ///< in this step
  const Maintenance* work = nullptr;
  const SharedCause* shared = nullptr;  ///< what it showed in this step together with others
  Findings findings;
  std::optional<Differential> first, second;  ///< nullopt: not judged
  double wrong = 0;  ///< probability that something is wrong; includes an open fault's bonus
  PortVerdict verdict;
};

struct Engine::State {
  explicit State(EngineSettings given)
      : settings(std::move(given)), diagnosis(diagnosis_settings(settings.setting_table)) {}

  EngineSettings settings;
  DiagnosisSettings diagnosis;
  History history;
  Ledger ledger{settings.node, diagnosis};
  RepairBook repairs;
  std::map<std::string, PortState> ports;
  std::map<std::string, FaultReport>
      texts;                        ///< by fault id: its last report that was certain enough
  std::vector<FaultEvent> waiting;  ///< for the next step
  std::vector<Maintenance> maintenance, maintenance_files;
  std::vector<Maintenance> maintenance_log;  ///< recent ones, oldest first
  std::optional<SteadyTime> first_step, last_step;
  bool released_lost = false;
  std::vector<std::string> remarks;  ///< of this step
  bool expectations_changed = true;
  double step_s = 10;
  std::string idle_cards;  ///< cards on the PCI bus without a driver; "" none, or unknown
  WallTime wall;

  // Before the stages.
  void begin_step(const Snapshot& snapshot);
  void follow_cards();
  void update_expectations();
  void release(const std::string& stable, const PortKey& port, const std::string& why);
  void release_lost();
  void end_old_maintenance();
  void log_maintenance();

  [[nodiscard]] bool was_in_use(const std::string& stable, const PortHistory& port) const;

  // The stages.
  std::vector<PortStep> collect_features();
  std::vector<SharedCause> find_shared(std::vector<PortStep>& all) const;
  void judge(PortStep& step);
  void report_once(std::vector<SharedCause>& causes, std::vector<PortStep>& all) const;
  void settle_shared(std::vector<PortStep>& all) const;
  void leave_to_other(PortStep& step) const;
  /// Adds the faults that ports share to each of them.
  void share_faults(std::vector<PortReport>& reports) const;
  void update_ledger(PortStep& step, std::vector<FaultEvent>& events);
  void report_on(PortReport& report, const PortStep& step);

  [[nodiscard]] Severity severity_of(const RankedFault& ranked, const PortStep& step) const;
  PortVerdict verdict_of(PortStep& step) const;
  const RankedFault* explain_now(FaultReport& report, const LedgerEntry& entry,
                                 const PortStep& step) const;
  [[nodiscard]] bool describes(const RankedFault& shown, const LedgerEntry& entry,
                               const PortStep& step) const;
  FaultReport fault_report(const LedgerEntry& entry, const PortStep& step);
  [[nodiscard]] std::vector<PortKey> keys_of(const std::vector<std::string>& ports) const;
  FaultEvent event_of(FaultEventKind kind, const PortKey& port) const;
  FaultReport report_later(const LedgerChange& change, const PortKey& port);
  /// The stable key of the port with this label.
  [[nodiscard]] Result<std::string> stable_of(const PortKey& key) const;
  /// The port that reports its fault: for a shared one, another port.
  [[nodiscard]] Result<std::string> teller_of(const PortKey& key) const;
  /// If there are several, the one that lasts longest.
  [[nodiscard]] const Maintenance* maintenance_of(const PortHistory& port,
                                                  const std::string& stable) const;
  /// Whether maintenance of the port forbids reading its module.
  [[nodiscard]] bool leaves_module(const PortHistory& port, const std::string& stable) const;
};

/// A module's rise in temperature: jobs cause less than this (docs/physics.md 7d).
inline constexpr double kSharedRiseC = 6;
/// Links train for one or two minutes after their driver was loaded (docs/physics.md 7d): during
/// that time all ports of the node are down.
bool is_starting(const Features& features, std::optional<double> uptime_s);
/// A symptom must support the fault: missing knowledge alone opens nothing.
bool is_supported(const Cause& cause, const Findings& findings);
/// nullopt when the fault is not acknowledged, or no longer.
std::optional<Acknowledgement> acknowledgement_of(const LedgerFault& fault, WallTime now);
/// Copies the ledger's data about a fault to its report.
void copy_kept(const LedgerFault& kept, FaultReport& report);
/// Natural order: mlx5_2 before mlx5_10.
bool by_number(const std::string& a, const std::string& b);
/// Adds causes that show as the same fault on several ports of one link, module, card or switch.
void add_named_alike(const std::vector<PortStep>& all, std::vector<SharedCause>& causes);
/// Describes a shared cause in the report of the port that reports it: what is shared, and where to
/// look first.
void tell_shared(FaultReport& report, const SharedCause& cause, const PortStep& step);
/// Sets the order of the faults and the port's health. REQUIRES: its faults are filled in.
void finish_report(PortReport& report, const PortStep& step);
/// Fills in the impact of the faults of each port and of the node. `twins`: ports whose link is
/// already counted.
void weigh_impact(Report& report, const History& history, const std::set<PortKey>& twins);

}  // namespace linkhealth
