// Prints what this program writes, one document a line behind the name of its schema, for check_schema.py: the lines of
// the recordings named on the command line, read and written again, and a report, an event and a
// doctor's answer with every key.
#include <cstdio>

#include "exporters/doctor.h"
#include "exporters/json.h"
#include "exporters/past_json.h"
#include "model/sample_json.h"
#include "storage/recording.h"

namespace linkhealth {
namespace {

void print(const char* schema, const std::string& json) { std::printf("%s\t%s\n", schema, json.c_str()); }

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
  fault.evidence = {{"rx_power_low", -9.1, "<", -6.4, "dBm", "lane 2", "module", "low light", false}};
  fault.missing = {{"far_tx_low", "why", "how"}};
  fault.differential = {{"dirty_connector", End::kNone, 0.83}};
  fault.repair = {"clean"};
  fault.repairs = {{"0000:1b:00.0/1", fault.id, RepairAction::kModuleReplaced, WallTime(), RepairOutcome::kFailed, -9.1,
                    -8.9, 2, 1e-5, 1e-6, "A1", "B2"}};
  fault.past = {3, 2, 1, WallTime()};
  fault.proof = FaultProof{WallTime(), 7200, 1e-15};
  return fault;
}

void print_report(const PortSample& latest) {
  PortReport port;
  port.port = "mlx5_0/1";
  port.faults = {full_fault()};
  port.latest = latest;
  port.figures = {1e-8, 720, -9.1, 2, 0.8, 2.4e-4, 8.1, 0.1, -0.1, 0.2, 1, 2, 3, SteadyTime(Milliseconds(1500))};
  port.gaps = {{"mlx5_0/1", "module", "EBUSY"}};
  port.symptoms = {{"rx_power_low", "unknown", "EBUSY"}};
  port.expected = {400000, 4, "leaf-12", "Ethernet17/1"};
  Report report;
  report.node = "gpu";
  report.ports = {port, {}};
  report.gaps = {{"", "kernel_log", "EPERM"}};
  print("report", report_json(report));
  FaultEvent event;
  event.fault = port.faults[0];
  print("event", event_json_line(event));
}

void print_history() {
  PortPast past;
  past.port = "mlx5_0/1";
  past.at = {WallTime(), WallTime(Milliseconds(10'000))};
  past.to = past.at[1];
  for (std::size_t i = 0; i < kSignalCount; ++i)
    past.signals.push_back({static_cast<Signal>(i), {kUnknownValue, 0.01}});
  FaultEvent event;
  event.fault = full_fault();
  past.events = {kept_event(event, "0000:1b:00.0/1", "{}")};
  past.repairs = full_fault().repairs;
  past.identities = {
      {"S1", "far", "0000:1b:00.0/1", "leaf-12 Ethernet17/1", "ACME", "P1", "dac", WallTime(), WallTime()}};
  print("history", past_json(past, {}));
}

void print_doctor() {
  const SourceSight seen{"link", "carrier", SourceState::kSeen, "", ""};
  const SourceSight hidden{"module", "the module", SourceState::kHidden, "EPERM", "give it CAP_NET_ADMIN"};
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
  doctor.costs = {"module: 12.0 ms in its last cycle"};
  doctor.hidden = 1;
  print("doctor", doctor_json(doctor));
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
  return 0;
}
