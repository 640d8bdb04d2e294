// What the memory answers about a port.
#include <algorithm>
#include <cmath>

#include "storage/memory.h"

namespace linkhealth {

namespace tables = memory_tables;

namespace {

std::int64_t in_whole_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

/// The finest step with few enough of them that reaches back to `from_s`, where it is still kept.
std::uint32_t fitting_step(std::int64_t from_s, std::int64_t to_s,
                           const std::array<double, 3>& keep_s) {
  for (std::size_t i = 0; i + 1 < kSignalSteps_s.size(); ++i)
    if ((to_s - from_s) / kSignalSteps_s[i] <= static_cast<std::int64_t>(kMaxPastSteps) &&
        static_cast<double>(to_s - from_s) <= keep_s[i])
      return kSignalSteps_s[i];
  return kSignalSteps_s.back();
}

/// The rows as one list a signal; a step without a row is unknown.
void fill(PortPast& past, const std::vector<SignalRow>& rows, std::int64_t from_s,
          std::int64_t to_s) {
  const std::int64_t step_s = past.step_s;
  for (std::int64_t at_s = from_s; at_s < to_s; at_s += step_s)
    past.at.emplace_back(std::chrono::duration_cast<Milliseconds>(std::chrono::seconds(at_s)));
  std::array<std::vector<double>, kSignalCount> values;
  for (const SignalRow& row : rows) {
    const auto place = static_cast<std::size_t>((row.at_s - from_s) / step_s);
    if (row.at_s < from_s || place >= past.at.size()) continue;
    for (std::size_t i = 0; i < kSignalCount; ++i) {
      if (std::isnan(row.values[i])) continue;
      if (values[i].empty()) values[i].assign(past.at.size(), kUnknownValue);
      values[i][place] = row.values[i];
    }
  }
  for (std::size_t i = 0; i < kSignalCount; ++i)
    if (!values[i].empty()) past.signals.push_back({static_cast<Signal>(i), std::move(values[i])});
}

}  // namespace

Result<void> Memory::fill_signals(const PastQuery& query, PortPast& past) {
  const std::int64_t to_s = in_whole_seconds(query.now) + 1;
  std::int64_t from_s = in_whole_seconds(past.from);
  std::optional<std::int64_t> first_s;
  for (const std::uint32_t step_s : kSignalSteps_s) {
    const auto first = tables::first_row_s(*database_, query.port, step_s);
    if (!first) return first.error();
    if (*first) first_s = std::min(first_s.value_or(**first), **first);
  }
  from_s = std::clamp(first_s.value_or(to_s), from_s, to_s);
  const std::int64_t step_s = query.step_s.value_or(fitting_step(from_s, to_s, settings_.keep_s));
  from_s -= from_s % step_s;
  past.step_s = static_cast<std::uint32_t>(step_s);
  past.from = WallTime(std::chrono::seconds(from_s));
  auto rows =
      tables::read_rows(*database_, query.port, past.step_s, from_s, to_s, past.damaged_rows);
  if (!rows) return rows.error();
  // The longer step that is not over yet is not stored: it is shown as far as it got.
  for (SignalRow row : folder_.unfinished()) {
    if (row.port != query.port || row.step_s != past.step_s || row.at_s < from_s) continue;
    for (std::size_t i = 0; i < kSignalCount; ++i) row.values[i] = kept_value(i, row.values[i]);
    rows->push_back(std::move(row));
  }
  if (first_s) fill(past, *rows, from_s, to_s);
  return {};
}

Result<std::vector<KeptEvent>> Memory::newest_events(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  if (!database_) return std::vector<KeptEvent>();
  return tables::newest_events(*database_, limit);
}

void Memory::before_past(std::function<void()> call) {
  const std::lock_guard lock(before_past_mutex_);
  before_past_ = std::move(call);
}

Result<PortPast> Memory::past(const PastQuery& query) {
  {
    const std::lock_guard lock(before_past_mutex_);
    if (before_past_) before_past_();
  }
  const std::lock_guard lock(mutex_);
  if (!database_) return Error{"nothing is remembered now: " + figures_.error};
  PortPast past;
  past.to = query.now;
  past.from = query.now - from_seconds(query.since_s);
  auto events = tables::events_of(*database_, query.port, past.from, past.to);
  if (!events) return events.error();
  auto repairs = tables::repairs_of(*database_, query.port, past.from, past.to);
  if (!repairs) return repairs.error();
  auto maintenance = tables::read_maintenance_log(*database_);
  if (!maintenance) return maintenance.error();
  std::erase_if(*maintenance, [&past](const Maintenance& one) {
    return one.since > past.to || (one.ended_at && *one.ended_at < past.from);
  });
  auto identities = tables::identities_of_port(*database_, query.port);
  if (!identities) return identities.error();
  if (auto filled = fill_signals(query, past); !filled) return filled.error();
  past.events = *std::move(events);
  past.repairs = *std::move(repairs);
  past.maintenance = *std::move(maintenance);
  past.identities = *std::move(identities);
  return past;
}

}  // namespace linkhealth
