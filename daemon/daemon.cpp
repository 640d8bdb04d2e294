#include "daemon/daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/api/api_server.h"
#include "daemon/api/engine_actions.h"
#include "daemon/api/report_store.h"
#include "daemon/history_keeper.h"
#include "daemon/loop.h"
#include "daemon/preflight.h"
#include "daemon/reload.h"
#include "daemon/sampling/maintenance_reader.h"
#include "daemon/sampling/peer_sources.h"
#include "daemon/sampling/play_source.h"
#include "daemon/sampling/sampler.h"
#include "daemon/selfcheck/doctor.h"
#include "daemon/startup_log.h"
#include "daemon/textfile_writer.h"
#include "exporters/journal.h"
#include "exporters/json/json.h"
#include "exporters/text/text_layout.h"
#include "model/history/engine_state.h"
#include "model/json/sample_json.h"
#include "probes/live_host.h"
#include "probes/verbs/verbs_events.h"
#include "storage/recording/recording.h"

namespace linkhealth {

namespace {

constexpr Milliseconds kSelfTestPatience{30'000};
constexpr Milliseconds kHeaderPeriod{60'000};  // of the first snapshot of a recording

/// "ledger.quiet_s": those that differ from their defaults.
std::map<std::string, double> changed_settings(const SettingTable& table) {
  std::map<std::string, double> changed;
  for (const SettingGroup& group : table.groups())
    for (std::size_t i = 0; i < group.settings.size(); ++i)
      if (const double value = table.values(group.name)[i]; value != group.settings[i].value)
        changed[fmt::format("{}.{}", group.name, group.settings[i].name)] = value;
  return changed;
}

/// Limit for reading the maintenance files before the first step; a local directory answers at
/// once.
constexpr Milliseconds kMaintenancePatience{1'000};

/// One daemon from start to end.
class Daemon {
 public:
  Daemon(Config config, const DaemonOptions& options, const Clock& clock, Log& log)
      : config_(std::move(config)),
        options_(options),
        clock_(clock),
        log_(log),
        state_dir_(state_directory(config_, options)),
        report_clock_(clock, reports_, !options.play_file.empty()),
        started_at_(clock.wall()) {}

  Result<void> run();

 private:
  Result<void> make_source();
  Result<void> start_outputs();
  [[nodiscard]] EngineSettings settings_for(const Config& config) const;
  /// REQUIRES: the deciding thread, or its lock.
  [[nodiscard]] EngineState known_now() const;
  /// REQUIRES: as known_now().
  void renew_recording_header();
  void on_step(const Snapshot& snapshot, const Engine::Step& step, double lateness_s);
  void self_test(const Report& report);
  void start_history(const std::string& node);
  void accept_maintenance(MaintenanceReader::News news);
  void set_reload_note(const std::string& note);
  void reload();
  void record(const Snapshot& snapshot, const std::shared_ptr<const Report>& report,
              std::size_t events);
  void announce(const FaultEvent& event, const std::string& node);
  void log_once(bool& logged, const Error& error, const std::string& consequence);
  [[nodiscard]] std::string status() const;

  Config config_;
  const DaemonOptions& options_;
  std::optional<Config> started_;  ///< at the start: a reload lists differences that need a restart
  const Clock& clock_;
  Log& log_;
  const std::string state_dir_;  ///< "": nothing is stored
  OwnedFd state_lock_;
  std::unique_ptr<MaintenanceReader> maintenance_;
  ReportStore reports_;
  ReportClock report_clock_;
  const WallTime started_at_;
  RecordingBroadcaster recordings_;
  std::unique_ptr<Source> source_;
  Sampler* sampler_ = nullptr;  // nullptr for a recording
  std::unique_ptr<Engine> engine_;
  std::atomic<bool> writes_journal_ = false;  // read by the database's thread
  std::unique_ptr<HistoryKeeper> history_;
  std::mutex deciding_;  // held while the engine is used
  std::unique_ptr<EngineActions> actions_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<TextfileWriter> textfile_;
  std::optional<RecordingWriter> recorder_;
  std::optional<EngineState> recorded_;  ///< the state of the played recording's recorder
  bool recorder_failed_ = false;
  bool journal_failed_ = false;  // used by the database's thread
  WallTime last_step_at_;
  SteadyTime header_at_;  ///< time of the snapshot with which the recordings' header was last made
  bool introduced_ = false;
  bool tested_ = false;
  std::optional<SteadyTime> first_step_;
  std::size_t port_count_ = 0, fault_count_ = 0;
};

Result<void> Daemon::make_source() {
  if (!options_.play_file.empty()) {
    auto play = PlaySource::open(options_.play_file, options_.play_speed, clock_);
    if (!play) return play.error();
    auto source = std::make_unique<PlaySource>(*std::move(play));
    recorded_ = source->known();
    source->control(options_.play_control_fd);
    source->on_end([this](const std::string& sentence) { log_.info(sentence); });
    source_ = std::move(source);
    return {};
  }
  allow_many_open_files();
  const SamplerSettings settings = sampler_settings(config_.setting_table);
  std::unique_ptr<ModuleReader> modules;
  // A copied /sys tree has no kernel that reads modules.
  if (options_.sysroot.empty())
    modules = std::make_unique<ModuleReader>(std::make_unique<LiveHost>(), clock_,
                                             module_timing(settings));
  const auto hosts = [root = options_.sysroot] { return std::make_unique<LiveHost>(root); };
  std::vector<std::unique_ptr<EventFeed>> feeds;
  if (options_.sysroot.empty() && settings.verbs_events)
    feeds.push_back(std::make_unique<VerbsEvents>(live_verbs(), settings.read_patience));
  auto source = std::make_unique<Sampler>(hosts, std::move(modules), clock_, settings,
                                          this_nodes_header(config_, clock_), std::move(feeds));
  if (options_.sysroot.empty()) source->watch_far_ends(make_far_ends(config_, clock_));
  sampler_ = source.get();
  source_ = std::move(source);
  return {};
}

Result<void> Daemon::start_outputs() {
  renew_recording_header();
  const std::string record_path =
      options_.record_file.empty() ? config_.record_path : options_.record_file;
  if (!record_path.empty()) {
    const EngineState known = known_now();
    auto recorder = RecordingWriter::create(record_path, source_->header(), &known);
    if (!recorder) return recorder.error();
    recorder_.emplace(*std::move(recorder));
  }
  ApiServerSettings settings;
  settings.listen = config_.listen;
  settings.socket = {config_.socket_path,
                     static_cast<unsigned>(std::stoul(config_.socket_mode, nullptr, 8)),
                     config_.socket_group};
  settings.control_group = config_.control_group;
  settings.web_config_file = config_.web_config_file;
  ApiContext context{reports_, recordings_, report_clock_, clock_.steady()};
  context.history = &history_->store();
  context.actions = actions_.get();
  auto server = ApiServer::start(settings, std::move(context), log_);
  if (!server) return server.error();
  server_ = *std::move(server);
  if (watches_this_node(options_) && !config_.textfile.path.empty())
    textfile_ = std::make_unique<TextfileWriter>(config_.textfile, reports_, log_);
  return {};
}

/// Shown by `status`.
void Daemon::set_reload_note(const std::string& note) {
  reports_.set_configuration({note, clock_.wall()});
}

/// An invalid file changes nothing, nor does a file with which the next start would fail.
void Daemon::reload() {
  server_->reload_web_config();
  if (options_.config_file.empty())
    return log_.warning("reload: there is no configuration file (--config)");
  auto config = complete_config(options_, source_->header().node);
  if (const auto starts = config ? check_start(*config, options_) : config.error(); !starts) {
    const std::string note = starts.error().message + ": the previous configuration stays in force";
    set_reload_note(note);
    return log_.error("reload: " + note);
  }
  const std::string changes =
      describe_reload(config_changes(config_, *config), config_changes(*started_, *config));
  {
    const std::lock_guard lock(deciding_);
    engine_->reconfigure(settings_for(*config));
  }
  const bool other_maintenance = config_.maintenance_dir != config->maintenance_dir;
  config_ = *std::move(config);
  if (sampler_ != nullptr)
    sampler_->expect(with_plan(config_), planned_names(started_->setting_table, config_));
  {
    const std::lock_guard lock(deciding_);
    renew_recording_header();
  }
  writes_journal_ = watches_this_node(options_) && !config_.dry_run;
  log_.set_level(config_.log_level);
  if (other_maintenance) {
    engine_->set_maintenance_files({});
    maintenance_ = std::make_unique<MaintenanceReader>(config_.maintenance_dir, clock_);
  }
  set_reload_note("reloaded: " + changes);  // before the log line: its reader runs `status` next
  log_.info("reload: " + options_.config_file + " is in force: " + changes);
}

EngineState Daemon::known_now() const {
  return {engine_->ledger_state(), engine_->references(), changed_settings(config_.setting_table)};
}

/// Makes the header for all recordings that begin from now on, so that a replay begins in the
/// daemon's state.
void Daemon::renew_recording_header() {
  recordings_.set_header([header = source_->header(), known = known_now()] {
    return recording_header_json(header, &known);
  });
}

/// The header of a played recording adds expectations to those of the configuration.
EngineSettings Daemon::settings_for(const Config& config) const {
  const RecordingHeader header = source_->header();
  return engine_settings(config, header.node,
                         sampler_ == nullptr ? header.expected : std::map<PortKey, ExpectedPort>());
}

Result<void> Daemon::run() {
  if (!options_.sysroot.empty())
    if (auto copy = check_sysroot(options_.sysroot); !copy) return copy;
  if (!config_.plan_path.empty()) {
    auto planned = complete_config(options_, this_nodes_header(config_, clock_).node);
    if (!planned) return planned.error();
    config_ = *std::move(planned);
  }
  if (auto made = make_directories(state_dir_, config_.socket_path); !made) return made;
  if (options_.play_file.empty()) {
    auto lock = lock_state_directory(state_dir_);
    if (!lock) return lock.error();
    state_lock_ = *std::move(lock);
  }
  if (auto made = make_source(); !made) return made;
  const std::string node = source_->header().node;
  engine_ = std::make_unique<Engine>(settings_for(config_));
  start_history(node);
  maintenance_ = std::make_unique<MaintenanceReader>(config_.maintenance_dir, clock_);
  accept_maintenance(maintenance_->wait(kMaintenancePatience));
  actions_ = std::make_unique<EngineActions>(
      *engine_, deciding_,
      EngineActions::Hooks{
          [this](const LedgerState& state) { return history_->save(state, clock_.wall()); },
          [this](const std::string& line) { log_.info(line); }});
  LiveHost host(options_.sysroot);
  reports_.set_node_facts(sampler_ == nullptr
                              ? played_node_facts()
                              : gather_node_facts(host, true, !options_.sysroot.empty(),
                                                  sampler_->sources(), config_.lldpd_socket));
  started_ = config_;
  if (auto started = start_outputs(); !started) return started;
  log_.info(fmt::format("linkhealthd {} on {}", LINKHEALTH_VERSION, node));
  if (server_->tcp_port() != 0) {
    ListenAddress bound = config_.listen;
    bound.port = static_cast<std::uint16_t>(server_->tcp_port());
    log_.info(fmt::format("metrics at {}://{}/metrics", server_->scheme(), to_string(bound)));
  }
  log_.info(fmt::format("status: linkhealth --socket {} status", config_.socket_path));
  if (config_.dry_run)
    log_.info("dry run: faults are diagnosed and shown; no event is written to the journal");
  if (sampler_ != nullptr && state_dir_.empty())
    log_.info(
        "copied tree (--sysroot): no state is kept and nothing is sent (--state-dir DIR keeps "
        "state)");
  LoopHooks hooks;
  hooks.deciding = &deciding_;
  hooks.on_step = std::bind_front(&Daemon::on_step, this);
  hooks.on_reload = [this] { reload(); };
  hooks.status = [this] { return status(); };
  auto ended = run_loop(*source_, *engine_, clock_, hooks);
  recordings_.close();
  if (introduced_) history_->finish(engine_->references(), last_step_at_);
  if (recorder_) {
    if (const auto closed = recorder_->close(); !closed) log_.error(closed.error().message);
  }
  return ended;
}

void Daemon::on_step(const Snapshot& snapshot, const Engine::Step& step, double lateness_s) {
  accept_maintenance(maintenance_->poll());
  record(snapshot, step.report, step.events.size());
  last_step_at_ = snapshot.wall_time;
  const auto references = [this] { return engine_->references(); };
  history_->add_step(snapshot, *step.report, step.events, engine_->ledger_state(), references,
                     step.moves);
  if (sampler_ != nullptr) {
    sampler_->leave_modules(modules_left(*step.report));
    sampler_->read_modules_now(step.unread_modules);
  }
  reports_.publish(step.report, step.events,
                   {LINKHEALTH_VERSION, lateness_s, started_at_, history_->health(),
                    metric_groups(config_.setting_table)});
  for (const std::string& remark : step.remarks) log_.warning(remark);
  if (!step.events.empty() || recordings_.has_listeners()) server_->wake_streams();
  port_count_ = step.report->ports.size();
  fault_count_ = 0;
  for (const PortReport& port : step.report->ports)
    for (const FaultReport& fault : port.faults) fault_count_ += is_told_on(fault, port.port);
  if (!std::exchange(introduced_, true))
    for (const std::string& line :
         sampler_ ? introduce_node(sampler_->inventory(), step.report->sources)
                  : introduce_recording(options_.play_file, options_.play_speed, *step.report))
      log_.info(line);
  self_test(*step.report);
}

void Daemon::self_test(const Report& report) {
  if (sampler_ == nullptr || tested_) return;
  if (!first_step_) first_step_ = report.t;
  // A hung read must not delay the report of the others.
  if (!sampler_->settled() && report.t - *first_step_ < kSelfTestPatience) return;
  tested_ = true;
  const DoctorReport doctor = examine(report, reports_.node_facts());
  for (const std::string& line : self_test_lines(doctor)) log_.warning(line);
  log_.info(doctor.hidden == 0
                ? "self-test: all sources readable"
                : fmt::format("self-test: {} unavailable or partial (linkhealth doctor lists them)",
                              count_of(doctor.hidden, "source")));
}

void Daemon::start_history(const std::string& node) {
  const bool played = !options_.play_file.empty();
  history_ = std::make_unique<HistoryKeeper>(
      history_settings(config_.setting_table, played ? "" : state_dir_), clock_.wall(), log_);
  const SavedState& known = history_->saved();
  if (!known.ledger.faults.empty())
    log_.info("restored: " + count_of(known.ledger.faults.size(), "open fault"));
  engine_->restore(known.references);
  if (sampler_ != nullptr) {
    sampler_->remember(ports_to_miss(known.references, clock_.wall()));
    sampler_->remember_modules(modules_before(known.references));
  }
  engine_->restore(known.ledger);
  if (recorded_) {
    engine_->restore(recorded_->references);
    engine_->restore(recorded_->ledger);
  }
  reports_.restore_events(history_->earlier_events(ReportStore::kMaxEvents));
  writes_journal_ = watches_this_node(options_) && !config_.dry_run;
  history_->start([this, node](const FaultEvent& event) { announce(event, node); });
}

void Daemon::accept_maintenance(MaintenanceReader::News news) {
  for (const std::string& line : news.complaints) log_.error(line);
  if (news.maintenance) engine_->set_maintenance_files(*std::move(news.maintenance));
}

void Daemon::record(const Snapshot& snapshot, const std::shared_ptr<const Report>& report,
                    std::size_t events) {
  if (recorder_ && !recorder_failed_) {
    if (const auto written = recorder_->write(snapshot); !written)
      log_once(recorder_failed_, written.error(), "the recording ends here; monitoring continues");
  }
  // A recording that begins later starts with values that are at most a minute old.
  if (events > 0 || snapshot.taken_at - header_at_ >= kHeaderPeriod) {
    header_at_ = snapshot.taken_at;
    renew_recording_header();
  }
  recordings_.publish(
      snapshot.taken_at,
      [snapshot, report] { return snapshot_json(with_all_groups(snapshot, *report)); },
      [&snapshot] { return snapshot_json(snapshot); });
}

/// Runs on the database's thread, after its attempt to write the event.
void Daemon::announce(const FaultEvent& event, const std::string& node) {
  const FaultReport& fault = event.fault;
  log_.info(fmt::format("{} {}: {} {} ({}, {:.0f}%): {}", format_rfc3339(event.at), event.port,
                        fault.fault, to_string(event.kind), to_string(fault.severity),
                        std::min(fault.confidence * 100, 99.0), fault.summary));
  if (!writes_journal_) return;
  if (const auto sent = send_to_journal(journal_fields(event, node)); !sent)
    log_once(journal_failed_, sent.error(), "its events are missing; monitoring continues");
}

void Daemon::log_once(bool& logged, const Error& error, const std::string& consequence) {
  if (!std::exchange(logged, true)) log_.error(error.message + ": " + consequence);
}

std::string Daemon::status() const {
  return count_of(port_count_, "port") + ", " + count_of(fault_count_, "fault");
}

}  // namespace

Result<void> run_daemon(Config config, const DaemonOptions& options, const Clock& clock, Log& log) {
  return Daemon(std::move(config), options, clock, log).run();
}

}  // namespace linkhealth
