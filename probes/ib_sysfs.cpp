#include "probes/ib_sysfs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "probes/sysfs_text.h"

namespace linkhealth {

namespace {

constexpr std::array kStateFiles = {"state", "phys_state", "rate"};
constexpr std::size_t kStateFile = 0, kPhysStateFile = 1, kRateFile = 2;
constexpr std::array kTwoStates = {kStateFile, kPhysStateFile};
constexpr unsigned kRateEach = 6;  // reads of the state: with the shipped periods a minute
constexpr unsigned kStateMaxSkip =
    7;  // the state comes back soon after a port has left switch mode

bool is_damage_counter(const std::string& name) {
  const auto id = find_counter(name);
  if (!id) return false;
  const CounterInfo& row = known_counters()[*id];
  return row.source == CounterSource::kIbPort && row.place != CounterPlace::kTraffic;
}

/// Files that a driver fills wrongly. Broadcom's of 2025 leaves `symbol_error` little-endian (one
/// error reads as 256) and cuts `link_downed` to eight bits (hw_counters.c,
/// bnxt_re_assign_pma_port_counters()); ethtool has both whole, as rx_pcs_symbol_err and
/// link_down_events.
bool is_wrong(std::string_view driver, std::string_view name) {
  return driver == "bnxt_en" && (name == "symbol_error" || name == "link_downed");
}

/// Drivers that answer as a performance management agent on every port (`process_mad`), of
/// whichever function.
bool has_agent(std::string_view driver) {
  return driver == "mlx5_core" || driver == "mlx4_core" || driver == "hfi1";
}

struct PmaPeriod {
  std::string_view counter;
  int seconds;
};
constexpr auto kPmaPeriods = std::to_array<PmaPeriod>({
    {"symbol_error", 20},
    {"link_downed", 30},
    {"link_error_recovery", 30},
    {"port_rcv_errors", 30},
    {"port_rcv_data", 30},
    {"port_xmit_data", 30},
    {"local_link_integrity_errors", 60},
    {"port_rcv_remote_physical_errors", 60},
    {"port_xmit_discards", 60},
    {"port_xmit_wait", 60},
});
constexpr int kOtherPmaPeriodS = 120;
constexpr double kDue = 0.9;  // a cycle that begins a little early does not cost a whole cycle more

std::optional<Result<std::string_view>> text_of(const DescriptorRead& read) {
  if (read.got < 0) return errno_error("read", static_cast<int>(-read.got));
  return trim({read.buffer.data(), static_cast<std::size_t>(read.got)});
}

/// One gap for a probe, also where its files are read in two parts: the second reason hides not the
/// first.
void add_gap(std::vector<Gap>& gaps, const PortKey& port, const char* probe, std::string reasons) {
  if (reasons.empty()) return;
  if (!gaps.empty() && gaps.back().port == port && gaps.back().probe == probe) {
    gaps.back().reason += "; " + reasons;
  } else {
    gaps.push_back({port, probe, std::move(reasons)});
  }
}

}  // namespace

Milliseconds pma_period(std::string_view counter) {
  for (const PmaPeriod& row : kPmaPeriods)
    if (row.counter == counter) return std::chrono::seconds(row.seconds);
  return std::chrono::seconds(kOtherPmaPeriodS);
}

std::optional<std::string> parse_state(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos || !parse_u64(text.substr(0, colon))) return std::nullopt;
  const auto name = trim(text.substr(colon + 2));
  if (name.empty() || name.starts_with('<')) return std::nullopt;  // "<unknown>"
  return printable(name);
}

std::optional<IbRate> parse_rate(std::string_view text) {
  // rate_show(): "%d%s Gb/sec (%dX%s)", with ".5" as the second and " NDR" or nothing as the last.
  constexpr std::string_view kUnit = " Gb/sec (";
  const auto unit = text.find(kUnit);
  if (unit == std::string_view::npos) return std::nullopt;
  const auto gbps = parse_double(text.substr(0, unit));
  const std::string_view rest = text.substr(unit + kUnit.size());
  const auto lanes = parse_u64(rest.substr(0, std::min(rest.find('X'), rest.size())));
  if (!gbps || !lanes || *gbps <= 0 || *gbps > 1e6 || *lanes == 0 || *lanes > 64 ||
      !rest.ends_with(')'))
    return std::nullopt;
  return IbRate{static_cast<std::uint32_t>(std::lround(*gbps * 1000)),
                static_cast<std::uint32_t>(*lanes)};
}

IbPortReader::IbPortReader(Host& host, const InventoryPort& port)
    : host_(&host),
      infiniband_(port.id.link_layer == "InfiniBand"),
      without_interface_(port.id.link_layer == "Ethernet" && port.sysfs_netdev_dir.empty() &&
                         port.exempt_reason.empty()),
      state_files_(kStateFiles),
      key_(port.id.key()),
      dir_(port.sysfs_port_dir),
      driver_(port.id.driver),
      device_dir_(port.sysfs_device_dir),
      cabled_ports_(port.cabled_ports),
      exempt_(!port.exempt_reason.empty()) {
  find_counters(dir_ + "/counters");
  find_hw_counters();
  find_device_counters();
}

Result<IbPortReader> IbPortReader::open(Host& host, const InventoryPort& port) {
  if (port.sysfs_port_dir.empty()) return Error{port.id.key() + " is no verbs port", ENOENT};
  if (auto names = host.list_dir(port.sysfs_port_dir); !names) return names.error();
  return IbPortReader(host, port);
}

void IbPortReader::find_counters(const std::string& dir) {
  no_counters_.clear();
  auto names = host_->list_dir(dir);
  if (!names) {
    // A driver without a performance management agent has no such directory
    // (drivers/infiniband/core/sysfs.c makes it only with process_mad): nothing is missing then, as
    // with rxe, siw, irdma and efa.
    const bool not_offered = names.error().errnum == ENOENT && !has_agent(driver_);
    if (!not_offered) no_counters_ = "counters: " + errno_name(names.error().errnum);
    return;
  }
  std::erase_if(*names, [this](const std::string& name) { return is_wrong(driver_, name); });
  pma_ = CounterFiles(dir, "", *names);
  last_read_.resize(pma_.size());
  damage_.clear();
  for (const std::string& name : *names) damage_.push_back(is_damage_counter(name));
  if (pma_.empty()) no_counters_ = "the counters directory is empty";
}

void IbPortReader::find_hw_counters() {
  no_hw_counters_.clear();
  const std::string dir = dir_ + "/hw_counters";
  auto names = host_->list_dir(dir);
  if (!names) {
    if (names.error().errnum != ENOENT)
      no_hw_counters_ = "hw_counters: " + errno_name(names.error().errnum);
    return;
  }
  std::erase_if(*names, [this](const std::string& name) {
    return name == "lifespan"  // the cache's age limit, no counter
           || pma_.has(name);  // one name, one source
  });
  hw_ = CounterFiles(dir, "", *names);
}

void IbPortReader::find_device_counters() {
  no_device_counters_.clear();
  const std::string dir = device_dir_ + "/hw_counters";
  const bool lacking = no_hw_counters_.empty() && (hw_.empty() || hw_.has_any("vport_"));
  auto names = host_->list_dir(dir);
  device_failed_ = !names && names.error().errnum != ENOENT;
  if (!names) {  // few drivers have them
    if (lacking && names.error().errnum != ENOENT)
      no_device_counters_ = "hw_counters of the device: " + errno_name(names.error().errnum);
    return;
  }
  std::erase_if(*names, [this](const std::string& name) {
    return name == "lifespan" || pma_.has(name) || hw_.has(name);
  });
  if (cabled_ports_ <= 1) {
    device_ = CounterFiles(dir, "", *names);
  } else if (lacking && !exempt_ && !names->empty()) {
    no_device_counters_ =
        "counted for the whole device, which has " + std::to_string(cabled_ports_) + " ports";
  }
}

ReadStatus IbPortReader::read(IbGroup group, PortSample& sample, std::vector<Gap>& gaps) {
  if (gone_) return ReadStatus::kGone;
  switch (group) {
    case IbGroup::kPma:
      return read_counters(pma_, "counters", no_counters_, sample, gaps);
    case IbGroup::kHw:
      if (!no_hw_counters_.empty()) {
        find_hw_counters();
        if (no_hw_counters_.empty())
          find_device_counters();  // without the names that the port has itself
      }
      return read_counters(hw_, "hw_counters", no_hw_counters_, sample, gaps);
    case IbGroup::kDevice:
      if (device_failed_) find_device_counters();
      return read_counters(device_, "hw_counters", no_device_counters_, sample, gaps);
    case IbGroup::kState:
      break;
  }
  return read_state({}, sample, gaps);
}

/// The file's text; nullopt with a reason kept in the file otherwise.
std::optional<std::string_view> IbPortReader::take_state_text(
    std::size_t file, const std::optional<Result<std::string_view>>& text) {
  if (!text) return std::nullopt;
  if (*text) return **text;
  gone_ = gone_ || (text->error().errnum == ENODEV && file == kStateFile);
  reject_state(file, errno_name(text->error().errnum));
  return std::nullopt;
}

bool IbPortReader::is_gone() {
  std::array<char, StateReads::kLongest> buffer;  // NOLINT(*-member-init): filled by the read
  if (!gone_) take_state_text(kStateFile, state_files_[kStateFile].read(*host_, dir_, buffer));
  return gone_;
}

/// The value of a state file; nullopt with a reason kept in the file otherwise.
template <typename Parse>
auto IbPortReader::take_state(std::size_t file, const std::optional<Result<std::string_view>>& read,
                              Parse parse) {
  const auto text = take_state_text(file, read);
  auto value = text ? parse(*text) : decltype(parse(*text))();
  if (value) state_files_.accept(file);
  if (text && !value) reject_state(file, unexpected_text(*text).message);
  return value;
}

/// Whether both can be read beside the counters: open, and good at the last try.
bool IbPortReader::begin_state(StateReads& state) const {
  for (const std::size_t file : kTwoStates) {
    if (state_descriptors_[file] < 0) return false;
    state.reads[file] = {state_descriptors_[file], state.texts[file], 0};
  }
  return true;
}

void IbPortReader::reject_state(std::size_t file, std::string reason) {
  state_files_.reject(file, std::move(reason), kStateMaxSkip);
  if (file < state_descriptors_.size()) state_descriptors_[file] = -1;
}

ReadStatus IbPortReader::read_state(const StateReads& ahead, PortSample& sample,
                                    std::vector<Gap>& gaps) {
  if (gone_) return ReadStatus::kGone;
  KeptReads<kTwoStates.size(), StateReads::kLongest> reads;
  if (!ahead.made) {
    for (const std::size_t file : kTwoStates) reads.add(*host_, state_files_[file], dir_);
    reads.read(*host_);
  }
  const auto text = [&](std::size_t file) {
    return ahead.made ? text_of(ahead.reads[file]) : reads.text(file);
  };
  auto state = take_state(kStateFile, text(kStateFile), parse_state);
  if (gone_) return ReadStatus::kGone;
  finish_state(std::move(state), take_state(kPhysStateFile, text(kPhysStateFile), parse_state),
               sample, gaps);
  if (!ahead.made)
    for (const std::size_t file : kTwoStates)
      state_descriptors_[file] =
          state_files_[file].reason().empty() ? state_files_[file].descriptor() : -1;
  return ReadStatus::kOk;
}

void IbPortReader::put_state(std::string state, std::string phys_state, PortSample& sample,
                             std::vector<Gap>& gaps) {
  for (const std::size_t file : kTwoStates)
    state_files_.accept(file);  // nothing is missed that they lacked
  finish_state(std::move(state), std::move(phys_state), sample, gaps);
}

void IbPortReader::finish_state(std::optional<std::string> state,
                                std::optional<std::string> phys_state, PortSample& sample,
                                std::vector<Gap>& gaps) {
  const bool same = state == state_ && phys_state == phys_state_;
  const bool up = phys_state ? has_link(*phys_state) : state == "ACTIVE";
  if (state || phys_state) {
    LinkSample& link = sample.link ? *sample.link : sample.link.emplace();
    if (state) link.state = *state;
    if (phys_state) link.phys_state = *phys_state;
    if ((infiniband_ && phys_state) || without_interface_) link.carrier = up;
  }
  if (up && (infiniband_ || !sample.link->speed_mbps)) {
    read_rate(same);
    put_rate(*sample.link);
  } else {
    rate_.reset();
    state_files_.accept(kRateFile);  // nothing of it is missed
  }
  state_ = std::move(state);
  phys_state_ = std::move(phys_state);
  add_gap(gaps, key_, "link", state_files_.reasons());
}

void IbPortReader::read_rate(bool same_state) {
  if (same_state && rate_ && rate_rests_-- > 0) return;
  std::array<char, StateReads::kLongest> buffer;  // NOLINT(*-member-init): filled by the read
  rate_ = take_state(kRateFile, state_files_[kRateFile].read(*host_, dir_, buffer), parse_rate);
  rate_rests_ = kRateEach - 1;
}

void IbPortReader::put_rate(LinkSample& link) const {
  if (!rate_) return;
  link.speed_mbps = rate_->speed_mbps;
  if (infiniband_ || !link.lanes) link.lanes = rate_->lanes;
}

ReadStatus IbPortReader::read_counters(CounterFiles& files, const char* probe,
                                       const std::string& why_none, PortSample& sample,
                                       std::vector<Gap>& gaps, StateReads* state) {
  if (!why_none.empty()) {
    gaps.push_back({key_, probe, why_none});
    return is_gone() ? ReadStatus::kGone : ReadStatus::kOk;
  }
  const auto take = [&](std::size_t index, std::uint64_t value) {
    if (!sample.counters) sample.counters.emplace();
    files.put(index, value, *sample.counters);
  };
  std::span<DescriptorRead> beside;
  if (state != nullptr && !files.empty() && begin_state(*state)) beside = state->reads;
  const auto gone = [this] { return is_gone(); };
  if (files.read(*host_, take, gone, beside) == ReadStatus::kGone) return ReadStatus::kGone;
  if (!beside.empty()) state->made = true;
  add_gap(gaps, key_, probe, files.reasons());
  return ReadStatus::kOk;
}

std::vector<IbPortReader::Turn> IbPortReader::due_turns(SteadyTime now) {
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < pma_.size(); ++i) {
    const auto& last = last_read_[i];
    const double overdue =
        last ? in_seconds(now - *last) / in_seconds(pma_period(pma_.counter_name(i)))
             : std::numeric_limits<double>::infinity();
    if (overdue >= kDue) turns.push_back({i, overdue});
  }
  std::stable_sort(turns.begin(), turns.end(), [this](const Turn& a, const Turn& b) {
    return a.overdue != b.overdue ? a.overdue > b.overdue : damage_[a.index] && !damage_[b.index];
  });
  return turns;
}

ReadStatus IbPortReader::read_due(std::size_t budget, SteadyTime now, PortSample& sample,
                                  std::vector<Gap>& gaps, StateReads* state) {
  if (gone_) return ReadStatus::kGone;
  if (!no_counters_.empty()) find_counters(dir_ + "/counters");
  if (!no_counters_.empty()) {
    gaps.push_back({key_, "counters", no_counters_});
    return is_gone() ? ReadStatus::kGone : ReadStatus::kOk;
  }
  if (budget == 0) return read_counters(pma_, "counters", no_counters_, sample, gaps, state);
  std::vector<Turn> turns = due_turns(now);
  if (std::exchange(read_once_, true) && turns.size() > budget)
    turns.erase(turns.begin() + static_cast<std::ptrdiff_t>(budget), turns.end());
  const auto take = [&](std::size_t index, std::uint64_t value) {
    if (!sample.counters) sample.counters.emplace();
    pma_.put(index, value, *sample.counters);
  };
  for (const Turn& turn : turns) {
    last_read_[turn.index] = now;
    if (pma_.read_turn(turn.index, *host_, take, [this] { return is_gone(); }) == ReadStatus::kGone)
      return ReadStatus::kGone;
  }
  add_gap(gaps, key_, "counters", pma_.reasons());
  return ReadStatus::kOk;
}

}  // namespace linkhealth
