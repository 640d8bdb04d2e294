#include "exporters/explain_repairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/text_layout.h"

namespace linkhealth {

namespace {

/// ": Rx lane 2 -9.1 to -1.3 dBm, pre-FEC BER 3.4e-05 to 2.1e-08; it did not help"
std::string change_words(const RepairRecord& repair) {
  std::string change;
  const auto add = [&change](const std::string& part) {
    change += (change.empty() ? ": " : ", ") + part;
  };
  if (!repair.serial_before.empty() && !repair.serial_after.empty())
    add(fmt::format("{} by {}", repair.serial_before, repair.serial_after));
  if (repair.rx_power_before_dbm && repair.rx_power_after_dbm)
    add(fmt::format("Rx {}{} to {} dBm",
                    repair.rx_lane ? fmt::format("lane {} ", *repair.rx_lane) : "",
                    number_words(*repair.rx_power_before_dbm, "dBm"),
                    number_words(*repair.rx_power_after_dbm, "dBm")));
  if (repair.pre_fec_ber_before && repair.pre_fec_ber_after)
    add(fmt::format("pre-FEC BER {} to {}", ber_words(*repair.pre_fec_ber_before),
                    ber_words(*repair.pre_fec_ber_after)));
  const char* joint = change.empty() ? ": " : "; ";
  if (repair.outcome == RepairOutcome::kFailed) change += std::string(joint) + "it did not help";
  if (repair.outcome == RepairOutcome::kHeld) change += std::string(joint) + "it held";
  return change;
}

std::string tried_words(const RepairRecord& repair, WallTime now) {
  return fmt::format("{} {} ago{}", name_words(to_string(repair.action)),
                     duration_words(now - repair.at), change_words(repair));
}

std::string times_words(std::uint32_t times, std::string_view where) {
  return fmt::format("{} time{} {}", times, times == 1 ? "" : "s", where);
}

std::string until_words(const std::optional<WallTime>& until, std::string_view without) {
  return until ? ", until " + instant_words(*until) : std::string(without);
}

}  // namespace

std::string repair_words(const RepairRecord& repair) {
  return name_words(to_string(repair.action)) + change_words(repair);
}

std::string acknowledged_words(const Acknowledgement& acknowledged, WallTime now) {
  return fmt::format("acknowledged by {} {} ago{}{}{}", acknowledged.by,
                     duration_words(now - acknowledged.at),
                     until_words(acknowledged.until, ", until it closes"),
                     acknowledged.reason.empty() ? "" : ": ", acknowledged.reason);
}

std::string maintenance_begun_words(const Maintenance& maintenance) {
  return fmt::format("begun by {}{}{}{}{}", maintenance.by,
                     maintenance.file.empty() ? "" : " (" + maintenance.file + ")",
                     maintenance.port.empty() ? ", of all ports" : "",
                     until_words(maintenance.until, ""),
                     maintenance.reason.empty() ? "" : ": " + maintenance.reason);
}

std::string maintenance_words(const Maintenance& maintenance, WallTime now) {
  std::string by = maintenance.by;
  if (!maintenance.file.empty()) by += " (" + maintenance.file + ")";
  return fmt::format("in maintenance by {}, begun {} ago{}; nothing is raised meanwhile{}{}", by,
                     duration_words(now - maintenance.since),
                     until_words(maintenance.until, ", until it is ended"),
                     maintenance.reason.empty() ? "" : ": ", maintenance.reason);
}

std::vector<std::pair<std::string, std::string>> repair_rows(const FaultReport& fault,
                                                             WallTime now) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const RepairRecord& repair : fault.repairs)
    rows.emplace_back(rows.empty() ? "Tried" : "", tried_words(repair, now));
  if (fault.proof) {
    const Milliseconds done = std::max(now - fault.proof->since, Milliseconds(0));
    std::string text =
        fmt::format("{} of {} without a symptom, a drop or a lost block", duration_words(done),
                    duration_words(from_seconds(fault.proof->needed_s)));
    if (fault.proof->ber_bound)
      text += fmt::format("; then the BER after FEC is below {:.0e} with 95% confidence",
                          *fault.proof->ber_bound);
    rows.emplace_back("Proving", text);
  }
  if (!fault.past.empty()) {
    std::string text;
    const auto add = [&text](const std::string& part) {
      text += (text.empty() ? "" : ", ") + part;
    };
    if (fault.past.port_times > 0) add(times_words(fault.past.port_times, "on this port"));
    if (fault.past.module_times > 0) add(times_words(fault.past.module_times, "with this module"));
    if (fault.past.cable_times > 0) add(times_words(fault.past.cable_times, "on this cable"));
    if (fault.past.last_closed_at)
      text +=
          fmt::format("; the last ended {} ago", duration_words(now - *fault.past.last_closed_at));
    rows.emplace_back("Before", text);
  }
  return rows;
}

}  // namespace linkhealth
