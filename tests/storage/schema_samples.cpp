// Prints what this program writes, one document a line behind the name of its schema, for
// check_schema.py: the lines of the recordings named on the command line, read and written again,
// and a report, an event and a doctor's answer with every key.
#include <cstdio>

#include "cli/verify_text.h"
#include "daemon/api/api.h"
#include "daemon/api/cabling.h"
#include "exporters/json/doctor_json.h"
#include "exporters/json/json.h"
#include "exporters/json/timeline_json.h"
#include "exporters/text/check.h"
#include "exporters/text/ticket.h"
#include "model/json/sample_json.h"
#include "storage/recording/recording.h"
#include "tests/support/fake_actions.h"
#include "tests/support/report_builder.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

void print(const char* schema, const std::string& json) {
  std::printf("%s\t%s\n", schema, json.c_str());
}

int fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

FaultReport full_fault() {
  FaultReport fault;
  fault.id = "gpu:0000:1b:00.0/1:dirty_connector:1";
  fault.fault = "dirty_connector";
  fault.end = End::kPath;
  fault.confidence = 0.83;
  fault.lanes = {2};
  fault.evidence = {
      {"rx_power_low", -9.1, "<", -6.4, "dBm", "lane 2", "module", "low light", false}};
  fault.missing = {{"far_tx_low", "why", "how", "damaged fibre (4%)"}};
  fault.ruled_out = {fault.evidence[0]};
  fault.ruled_out[0].rules_out = "overheated module";
  fault.shares = EvidenceShares{"damaged_fiber", End::kPath, {{"rx_power_low", 1.5}}};
  fault.to_be_sure = "clean one fibre";
  fault.differential = {{"dirty_connector", End::kNone, 0.83}};
  fault.repair = {"clean"};
  fault.repairs = {{"0000:1b:00.0/1", fault.id, RepairAction::kModuleReplaced, WallTime(),
                    RepairOutcome::kFailed, -9.1, -8.9, 2, 1e-5, 1e-6, "A1", "B2"}};
  fault.past = {3, 2, 1, WallTime()};
  fault.proof = FaultProof{WallTime(), 7200, 1e-15};
  fault.acknowledged = Acknowledgement{"ann", "spare ordered", WallTime(), WallTime()};
  return fault;
}

void print_report(const PortSample& latest) {
  PortReport port;
  port.port = "mlx5_0/1";
  port.faults = {full_fault()};
  port.latest = latest;
  port.figures = {.pre_fec_ber = 1e-8,
                  .ber_window_s = 720,
                  .pre_fec_ber_low = 9e-9,
                  .pre_fec_ber_high = 2e-8,
                  .pre_fec_ber_normal = 1.1e-8,
                  .worst_rx_power_dbm = -9.1,
                  .worst_rx_lane = 2,
                  .rx_power_margin_db = 0.8,
                  .pre_fec_ber_limit = 2.4e-4,
                  .rx_power_lost_db = 8.1,
                  .far_rx_power_lost_db = 0.1,
                  .tx_power_lost_db = -0.1,
                  .far_tx_power_lost_db = 0.2,
                  .rx_power_lost_lane = 2,
                  .best_speed_mbps = 400000,
                  .involuntary_downs_24h = 1,
                  .involuntary_downs_total = 2,
                  .voluntary_downs_total = 3,
                  .involuntary_downs_told = 2,
                  .last_involuntary_down_at = WallTime(Milliseconds(1'795'175'969'250)),
                  .carrier_since = SteadyTime(Milliseconds(1500))};
  port.gaps = {{"mlx5_0/1", "module", "EBUSY"}};
  port.partial = {"errors", "fec", "optics", "events", "far_end"};
  port.checks = {"here: check that the cable is plugged in"};
  port.symptoms = {{"rx_power_low", "unknown", "EBUSY"}};
  port.expected = {400000, 4, "leaf-12", "Ethernet17/1", "r14", "40", "3", "30 m"};
  port.maintenance =
      Maintenance{"0000:1b:00.0/1", "ann", "new jumper", WallTime(), WallTime(), "/etc/m/mlx5_0"};
  Report report;
  report.node = "gpu";
  report.dry_run = true;
  report.site = SiteLabels{{"rack", "12"}};
  report.ports = {port, {}};
  report.gaps = {{"", "kernel_log", "EPERM"}};
  print("report", report_json(report));
  FaultEvent event;
  event.fault = port.faults[0];
  event.site = report.site;
  event.rail = "3";
  print("event", event_json_line(event));
}

void print_history() {
  PortTimeline past;
  past.port = "mlx5_0/1";
  past.at = {WallTime(), WallTime(Milliseconds(10'000))};
  past.to = past.at[1];
  for (std::size_t i = 0; i < kSignalCount; ++i)
    past.signals.push_back({static_cast<Signal>(i), {kUnknownValue, 0.01}});
  FaultEvent event;
  event.fault = full_fault();
  event.kind = FaultEventKind::kAcknowledged;
  past.events = {event};
  past.repairs = full_fault().repairs;
  past.maintenance = {{"", "ann", "new jumper", WallTime(), WallTime(), "/etc/m/all", WallTime()}};
  past.identities = {{"S1", "far", "0000:1b:00.0/1", "leaf-12 Ethernet17/1", "ACME", "P1", "dac",
                      WallTime(), WallTime()}};
  print("history", timeline_json(past));
}

void print_doctor() {
  const SourceSight seen{"link", "carrier", Visibility::kSeen, "", ""};
  const SourceSight hidden{"module", "the module", Visibility::kHidden, "EPERM",
                           "give it CAP_NET_ADMIN"};
  DoctorReport doctor;
  doctor.node = "gpu";
  doctor.version = "1";
  doctor.kernel = "6.1.0";
  doctor.capabilities = {"CAP_SYSLOG"};
  doctor.node_sources = {seen};
  doctor.ports = {{"mlx5_0/1",
                   "ens1",
                   "0000:1b:00.0",
                   "mlx5_core",
                   "24.01",
                   "28.39.1002",
                   "",
                   {seen, hidden},
                   {"bad_module from faulty_cable (needs the module)"},
                   {"pcie_degraded (needs PCIe)"}},
                  {"mlx5_1/1", "", "", "", "", "", "virtual function", {}, {}, {}}};
  doctor.hidden = 1;
  print("doctor", doctor_json(doctor));
}

void print_desk() {
  Report report = test::example_report();
  report.site = SiteLabels{{"rack", "12"}};
  const CheckView view{report.at, Milliseconds(60'000)};
  print("check", check_json(check(report, nullptr, view)));
  print("check", check_json(check(report, nullptr,
                                  {report.at + std::chrono::hours(1), Milliseconds(60'000)})));
  print("cabling", cabling_json(report, compare_cabling(report)));
  for (const PortReport& port : report.ports)
    print("ticket", ticket_json(make_ticket(report, port)));
}

void print_verifications() {
  for (const PortReport& port : test::example_report().ports) {
    cli::RepairVerifier verifier({.ber = 1e-13, .least_s = 60, .link_wait_s = 30});
    for (int i = 0; i < 30; ++i) {
      const SteadyTime t(std::chrono::seconds(10 * i));
      print("verify", cli::verify_json(port, verifier.add(port, t, WallTime(t.time_since_epoch())),
                                       WallTime()));
    }
  }
}

/// Through the API, as the program gives them.
void print_actions() {
  test::FakeActions actions;
  actions.not_stored = "disk full";
  test::FixedClock clock;
  clock.wall_now = test::example_now();
  ReportStore reports;
  RecordingBroadcaster recordings;
  reports.publish(std::make_shared<const Report>(test::example_report()), {}, {});
  ApiContext context{reports, recordings, clock, SteadyTime()};
  context.actions = &actions;
  for (const char* path : {"/api/v1/ports/mlx5_3/ack", "/api/v1/maintenance"})
    for (const char* end : {"0", "1"}) {
      HttpRequest request;
      request.method = "POST";
      request.path = path;
      request.caller.transport = Caller::Transport::kUnix;
      request.caller.may_act = true;
      request.params = {
          {"by", "ann"}, {"for", "60"}, {"reason", "jumper"}, {"port", "mlx5_3"}, {"end", end}};
      const std::string body = handle_api(request, context).body;
      print("action", body.substr(0, body.find('\n')));
    }
}

int print_recording(const char* path) {
  auto recording = RecordingReader::open(path);
  if (!recording) return fail(recording.error().message);
  auto header = recording->header();
  if (!header) return fail(header.error().message);
  print("recording", recording_header_json(*header));
  for (;;) {
    auto snapshot = recording->next();
    if (!snapshot) return fail(snapshot.error().message);
    if (!*snapshot) return 0;
    print("recording", snapshot_json(**snapshot));
    if (!(*snapshot)->ports.empty()) print_report((*snapshot)->ports.begin()->second);
  }
}

}  // namespace
}  // namespace linkhealth

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const int code = linkhealth::print_recording(argv[i]); code != 0) return code;
  linkhealth::print_doctor();
  linkhealth::print_history();
  linkhealth::print_actions();
  linkhealth::print_desk();
  linkhealth::print_verifications();
  return 0;
}
