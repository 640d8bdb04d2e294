#include "exporters/text/explain_repairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

/// ": Rx lane 2 -9.1 to -1.3 dBm, pre-FEC BER 3.4e-05 to 2.1e-08; did not help"
std::string format_change(const RepairRecord& repair) {
  std::vector<std::string> parts;
  if (!repair.serial_before.empty() && !repair.serial_after.empty())
    parts.push_back(fmt::format("{} to {}", repair.serial_before, repair.serial_after));
  if (repair.rx_power_before_dbm && repair.rx_power_after_dbm)
    parts.push_back(fmt::format("Rx {}{} to {} dBm",
                                repair.rx_lane ? fmt::format("lane {} ", *repair.rx_lane) : "",
                                format_quantity_value(*repair.rx_power_before_dbm, "dBm"),
                                format_quantity_value(*repair.rx_power_after_dbm, "dBm")));
  if (repair.pre_fec_ber_before && repair.pre_fec_ber_after)
    parts.push_back(fmt::format("pre-FEC BER {} to {}", format_ber(*repair.pre_fec_ber_before),
                                format_ber(*repair.pre_fec_ber_after)));
  const std::string outcome = repair.outcome == RepairOutcome::kFailed ? "did not help"
                              : repair.outcome == RepairOutcome::kHeld ? "held"
                                                                       : "";
  const std::string text = join_parts({join_parts(parts, ", "), outcome}, "; ");
  return text.empty() ? "" : ": " + text;
}

std::string format_reason(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

std::string format_until(const std::optional<WallTime>& until, std::string_view open_end) {
  return until ? ", until " + format_instant(*until) : std::string(open_end);
}

std::string format_person(const Maintenance& maintenance) {
  return maintenance.file.empty() ? maintenance.by
                                  : fmt::format("{} ({})", maintenance.by, maintenance.file);
}

std::string format_verifying(const FaultProof& proof, WallTime now) {
  std::string text = fmt::format("{} of {} without a symptom, carrier loss or uncorrectable block",
                                 format_duration(std::max(now - proof.since, Milliseconds(0))),
                                 format_duration(from_seconds(proof.needed_s)));
  if (proof.ber_bound)
    text +=
        fmt::format("; then the BER after FEC is below {:.0e} (95% confidence)", *proof.ber_bound);
  return text;
}

std::string format_earlier(const FaultPast& past, WallTime now) {
  const auto times = [](std::uint32_t number, std::string_view where) {
    return number > 0 ? fmt::format("{} {}", count_of(number, "time"), where) : std::string();
  };
  std::string text = join_parts(
      {times(past.port_times, "on this port"), times(past.module_times, "with this module"),
       times(past.cable_times, "on this cable")},
      ", ");
  if (past.last_closed_at)
    text += fmt::format("; the last closed {} ago", format_duration(now - *past.last_closed_at));
  return text;
}

}  // namespace

std::string format_repair(const RepairRecord& repair) {
  return format_name(to_string(repair.action)) + format_change(repair);
}

std::string format_acknowledged(const Acknowledgement& acknowledged, WallTime now) {
  return fmt::format("by {} {} ago{}{}", acknowledged.by, format_duration(now - acknowledged.at),
                     format_until(acknowledged.until, ", until the fault closes"),
                     format_reason(acknowledged.reason));
}

std::string format_maintenance_begun(const Maintenance& maintenance) {
  return fmt::format("started by {}{}{}{}", format_person(maintenance),
                     maintenance.port.empty() ? ", all ports" : "",
                     format_until(maintenance.until, ""), format_reason(maintenance.reason));
}

std::string format_maintenance(const Maintenance& maintenance, WallTime now) {
  return fmt::format("by {} since {}{}{}. No fault is raised meanwhile.",
                     format_person(maintenance), format_duration(now - maintenance.since),
                     format_until(maintenance.until, ""), format_reason(maintenance.reason));
}

std::vector<std::pair<std::string, std::string>> repair_rows(const FaultReport& fault,
                                                             WallTime now) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const RepairRecord& repair : fault.repairs)
    rows.emplace_back(rows.empty() ? "Tried" : "",
                      fmt::format("{} {} ago{}", format_name(to_string(repair.action)),
                                  format_duration(now - repair.at), format_change(repair)));
  if (fault.proof) rows.emplace_back("Verifying", format_verifying(*fault.proof, now));
  if (!fault.past.empty()) rows.emplace_back("Earlier", format_earlier(fault.past, now));
  return rows;
}

}  // namespace linkhealth
