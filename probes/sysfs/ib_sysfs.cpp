#include "probes/sysfs/ib_sysfs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

// The state must be read again soon after a port has left switch mode.
constexpr unsigned kStateMaxSkip = 7;

/// Files that a driver fills incorrectly. Broadcom's driver of 2025 leaves `symbol_error`
/// little-endian (one error reads as 256) and truncates `link_downed` to eight bits (hw_counters.c,
/// bnxt_re_assign_pma_port_counters()); ethtool has both in full, as rx_pcs_symbol_err and
/// link_down_events.
bool is_wrong(std::string_view driver, std::string_view name) {
  return driver == "bnxt_en" && (name == "symbol_error" || name == "link_downed");
}

/// Drivers that act as a performance management agent on every port (`process_mad`), whatever its
/// function.
bool has_agent(std::string_view driver) {
  return driver == "mlx5_core" || driver == "mlx4_core" || driver == "hfi1";
}

bool knows_any(const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [](const std::string& name) { return find_counter(name).has_value(); });
}

void add_reason(std::string& reasons, const std::string& reason) {
  if (!reason.empty()) reasons += (reasons.empty() ? "" : "; ") + reason;
}

}  // namespace

std::optional<std::string> parse_state(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos || !parse_u64(text.substr(0, colon))) return std::nullopt;
  const auto name = trim(text.substr(colon + 2));
  if (name.empty() || name.starts_with('<')) return std::nullopt;  // "<unknown>"
  return printable(name);
}

std::optional<std::string> parse_phys_state(std::string_view text) {
  // The kernel names only InfiniBand's states; Omni-Path has two more (linux:
  // include/rdma/opa_port_info.h OPA_PORTPHYSSTATE_OFFLINE, _TEST). Neither is a link.
  if (text.starts_with("9: ")) return "Offline";
  if (text.starts_with("11: ")) return "Test";
  return parse_state(text);
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

IbPortReader::IbPortReader(Host& host, std::unique_ptr<HostDir> dir, const InventoryPort& port)
    : host_(&host),
      dir_(std::move(dir)),
      port_(port),
      key_(port.id.key()),
      state_("state", kStateMaxSkip),
      phys_state_("phys_state", kStateMaxSkip),
      rate_("rate", kStateMaxSkip) {
  find_counters();
  find_hw_counters();
}

Result<IbPortReader> IbPortReader::open(Host& host, const InventoryPort& port) {
  if (port.sysfs_port_dir.empty()) return Error{port.id.key() + " is no verbs port", ENOENT};
  auto dir = host.open_dir(port.sysfs_port_dir);
  if (!dir) return dir.error();
  return IbPortReader(host, *std::move(dir), port);
}

void IbPortReader::find_counters() {
  no_counters_.clear();
  auto names = host_->list_dir(port_.sysfs_port_dir + "/counters");
  if (!names) {
    // A driver without a performance management agent has no such directory
    // (drivers/infiniband/core/sysfs.c creates it only with process_mad): then nothing is missing,
    // as with rxe, siw, irdma and efa.
    const bool not_offered = names.error().errnum == ENOENT && !has_agent(port_.id.driver);
    if (!not_offered) no_counters_ = "counters: " + errno_name(names.error().errnum);
    return;
  }
  std::erase_if(*names,
                [this](const std::string& name) { return is_wrong(port_.id.driver, name); });
  pma_ = SysfsCounters("counters", "", *names);
  // ionic has an empty directory (seen in ROCm/omnistat 301): not offered either.
  if (names->empty() && has_agent(port_.id.driver))
    no_counters_ = "the counters directory is empty";
}

void IbPortReader::find_hw_counters() {
  no_hw_counters_.clear();
  list_again_ = false;
  auto names = host_->list_dir(port_.sysfs_port_dir + "/hw_counters");
  if (!names && names.error().errnum != ENOENT) {
    no_hw_counters_ = "hw_counters: " + errno_name(names.error().errnum);
    list_again_ = true;
  }
  if (names) {
    std::erase_if(*names, [this](const std::string& name) {
      return name == "lifespan"  // the cache's age limit, not a counter
             || pma_.has(name);  // one name, one source
    });
    hw_ = SysfsCounters("hw_counters", "", *names);
  }
  const bool knows_none = names && !names->empty() && !knows_any(*names);
  meaningless_ = knows_none ? "none of the driver's " + std::to_string(names->size()) +
                                  " counters is known to linkhealth: they are shown but not judged"
                            : "";
  find_device_counters();
}

/// Without the names that the port itself has.
void IbPortReader::find_device_counters() {
  no_device_counters_.clear();
  const bool lacking = no_hw_counters_.empty() && (hw_.empty() || hw_.has_any("vport_"));
  auto names = host_->list_dir(port_.sysfs_device_dir + "/hw_counters");
  auto dir = names ? host_->open_dir(port_.sysfs_device_dir)
                   : Result<std::unique_ptr<HostDir>>(names.error());
  if (!names || !dir) {  // few drivers have them
    const int errnum = names ? dir.error().errnum : names.error().errnum;
    list_again_ = list_again_ || errnum != ENOENT;
    if (lacking && errnum != ENOENT)
      no_device_counters_ = "hw_counters of the device: " + errno_name(errnum);
    return;
  }
  std::erase_if(*names, [this](const std::string& name) {
    return name == "lifespan" || pma_.has(name) || hw_.has(name);
  });
  if (port_.cabled_ports <= 1) {
    device_dir_ = *std::move(dir);
    device_ = SysfsCounters("hw_counters", "", *names);
    if (knows_any(*names)) meaningless_.clear();
  } else if (lacking && port_.exempt_reason.empty() && !names->empty()) {
    no_device_counters_ =
        "counted for the whole device, which has " + std::to_string(port_.cabled_ports) + " ports";
  }
}

bool IbPortReader::is_gone() {
  state_.read(*dir_, parse_state);
  return host_->has_kernel() && state_.may_be_gone();
}

ReadStatus IbPortReader::read_state(PortSample& sample, std::vector<Gap>& gaps) {
  const auto state = state_.read(*dir_, parse_state);
  if (host_->has_kernel() && state_.may_be_gone()) return ReadStatus::kGone;
  const auto phys_state = phys_state_.read(*dir_, parse_phys_state);
  const bool up = phys_state ? has_link(*phys_state) : state == "ACTIVE";
  const bool infiniband = port_.id.link_layer == "InfiniBand";
  // A watched Ethernet port whose netdev is not visible.
  const bool without_netdev = port_.id.link_layer == "Ethernet" && port_.sysfs_netdev_dir.empty() &&
                              port_.exempt_reason.empty();
  if (state || phys_state) {
    LinkSample& link = sample.link ? *sample.link : sample.link.emplace();
    if (state) link.state = *state;
    if (phys_state) link.phys_state = *phys_state;
    if ((infiniband && phys_state) || without_netdev) link.carrier = up;
  }
  if (!up || (!infiniband && sample.link->speed_mbps)) {
    rate_.accept();
  } else if (const auto rate = rate_.read(*dir_, parse_rate)) {
    sample.link->speed_mbps = rate->speed_mbps;
    if (infiniband || !sample.link->lanes) sample.link->lanes = rate->lanes;
  }
  std::string reasons = join_reasons(std::array{state_, phys_state_, rate_});
  if (!reasons.empty()) gaps.push_back({key_, "link", std::move(reasons)});
  return ReadStatus::kOk;
}

ReadStatus IbPortReader::read_port_counters(PortSample& sample, std::vector<Gap>& gaps) {
  if (!no_counters_.empty()) find_counters();
  const bool may_be_gone = !no_counters_.empty() || pma_.read(*dir_, sample.counters);
  if (may_be_gone && is_gone()) return ReadStatus::kGone;
  std::string reasons = no_counters_.empty() ? pma_.reasons() : no_counters_;
  if (!reasons.empty()) gaps.push_back({key_, "counters", std::move(reasons)});
  return ReadStatus::kOk;
}

ReadStatus IbPortReader::read_hw_counters(PortSample& sample, std::vector<Gap>& gaps) {
  if (list_again_) find_hw_counters();
  bool may_be_gone = !no_hw_counters_.empty();
  may_be_gone = hw_.read(*dir_, sample.counters) || may_be_gone;
  if (device_dir_) may_be_gone = device_.read(*device_dir_, sample.counters) || may_be_gone;
  if (may_be_gone && is_gone()) return ReadStatus::kGone;
  std::string reasons = no_hw_counters_;
  for (const std::string& more :
       {hw_.reasons(), no_device_counters_, device_.reasons(), meaningless_})
    add_reason(reasons, more);
  if (!reasons.empty()) gaps.push_back({key_, "hw_counters", std::move(reasons)});
  return ReadStatus::kOk;
}

}  // namespace linkhealth
