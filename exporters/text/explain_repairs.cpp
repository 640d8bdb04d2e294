#include "exporters/text/explain_repairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/text/text_layout.h"

namespace linkhealth {

namespace {

/// ": Rx lane 2 -9.1 to -1.3 dBm, pre-FEC BER 3.4e-05 to 2.1e-08; did not help"
std::string change_words(const RepairRecord& repair) {
  std::vector<std::string> parts;
  if (!repair.serial_before.empty() && !repair.serial_after.empty())
    parts.push_back(fmt::format("{} to {}", repair.serial_before, repair.serial_after));
  if (repair.rx_power_before_dbm && repair.rx_power_after_dbm)
    parts.push_back(fmt::format("Rx {}{} to {} dBm",
                                repair.rx_lane ? fmt::format("lane {} ", *repair.rx_lane) : "",
                                number_words(*repair.rx_power_before_dbm, "dBm"),
                                number_words(*repair.rx_power_after_dbm, "dBm")));
  if (repair.pre_fec_ber_before && repair.pre_fec_ber_after)
    parts.push_back(fmt::format("pre-FEC BER {} to {}", ber_words(*repair.pre_fec_ber_before),
                                ber_words(*repair.pre_fec_ber_after)));
  const std::string outcome = repair.outcome == RepairOutcome::kFailed ? "did not help"
                              : repair.outcome == RepairOutcome::kHeld ? "held"
                                                                       : "";
  const std::string text = join_parts({join_parts(parts, ", "), outcome}, "; ");
  return text.empty() ? "" : ": " + text;
}

std::string reason_words(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

std::string until_words(const std::optional<WallTime>& until, std::string_view open_end) {
  return until ? ", until " + instant_words(*until) : std::string(open_end);
}

std::string person_words(const Maintenance& maintenance) {
  return maintenance.file.empty() ? maintenance.by
                                  : fmt::format("{} ({})", maintenance.by, maintenance.file);
}

std::string verifying_words(const FaultProof& proof, WallTime now) {
  std::string text = fmt::format("{} of {} without a symptom, carrier loss or uncorrectable block",
                                 duration_words(std::max(now - proof.since, Milliseconds(0))),
                                 duration_words(from_seconds(proof.needed_s)));
  if (proof.ber_bound)
    text +=
        fmt::format("; then the BER after FEC is below {:.0e} (95 % confidence)", *proof.ber_bound);
  return text;
}

std::string earlier_words(const FaultPast& past, WallTime now) {
  const auto times = [](std::uint32_t number, std::string_view where) {
    return number > 0 ? fmt::format("{} {}", count_of(number, "time"), where) : std::string();
  };
  std::string text = join_parts(
      {times(past.port_times, "on this port"), times(past.module_times, "with this module"),
       times(past.cable_times, "on this cable")},
      ", ");
  if (past.last_closed_at)
    text += fmt::format("; the last closed {} ago", duration_words(now - *past.last_closed_at));
  return text;
}

}  // namespace

std::string repair_words(const RepairRecord& repair) {
  return name_words(to_string(repair.action)) + change_words(repair);
}

std::string acknowledged_words(const Acknowledgement& acknowledged, WallTime now) {
  return fmt::format("by {} {} ago{}{}", acknowledged.by, duration_words(now - acknowledged.at),
                     until_words(acknowledged.until, ", until the fault closes"),
                     reason_words(acknowledged.reason));
}

std::string maintenance_begun_words(const Maintenance& maintenance) {
  return fmt::format("started by {}{}{}{}", person_words(maintenance),
                     maintenance.port.empty() ? ", all ports" : "",
                     until_words(maintenance.until, ""), reason_words(maintenance.reason));
}

std::string maintenance_words(const Maintenance& maintenance, WallTime now) {
  return fmt::format("by {} since {}{}{}. No fault is raised meanwhile.", person_words(maintenance),
                     duration_words(now - maintenance.since), until_words(maintenance.until, ""),
                     reason_words(maintenance.reason));
}

std::vector<std::pair<std::string, std::string>> repair_rows(const FaultReport& fault,
                                                             WallTime now) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const RepairRecord& repair : fault.repairs)
    rows.emplace_back(rows.empty() ? "Tried" : "",
                      fmt::format("{} {} ago{}", name_words(to_string(repair.action)),
                                  duration_words(now - repair.at), change_words(repair)));
  if (fault.proof) rows.emplace_back("Verifying", verifying_words(*fault.proof, now));
  if (!fault.past.empty()) rows.emplace_back("Earlier", earlier_words(fault.past, now));
  return rows;
}

}  // namespace linkhealth
