#include "probes/own_counters.h"

#include <cerrno>
#include <utility>

namespace linkhealth {

namespace {

constexpr Milliseconds kLidPeriod{60'000};

/// What the files of counters/ say (linux: drivers/infiniband/core/sysfs.c), for they stand in
/// while the link is down: one name has one width, also where the agent has its errors in 64 bits.
/// And PortXmitWait unasked, as the files say it: mlx5's kernel counts it and does not offer it
/// (drivers/infiniband/hw/mlx5/mad.c, process_pma_cmd()).
PerfCapabilities as_the_files(PerfCapabilities offered) {
  offered.extended_plain = offered.has_extended();
  offered.extended_errors = false;
  offered.xmit_wait = true;
  return offered;
}

}  // namespace

OwnCounters::OwnCounters(MadOpener opener, const PortId& id)
    : offered_(opener != nullptr && has_mads(id)), opener_(std::move(opener)), id_(id) {}

Result<Counters> OwnCounters::read(SteadyTime now) {
  if (!offered()) return Error{"no InfiniBand port that can be asked", EOPNOTSUPP};
  const auto opened = opener_(id_.device, id_.port);
  if (!opened) return opened.error();
  MadClient client(**opened, timeout_, transaction_);
  auto counters = read(client, now);
  mads_ += static_cast<std::uint64_t>(client.mads());
  if (counters) {
    last_ = *counters;
  } else {
    lid_ = 0;  // whatever failed: the next read begins anew
    agent_.reset();
    last_.reset();
  }
  return counters;
}

Result<Counters> OwnCounters::read(MadClient& client, SteadyTime now) {
  const bool lid_is_fresh = lid_ == 0 || now - lid_read_at_ >= kLidPeriod;
  if (lid_is_fresh) {
    if (const auto learned = update_lid(client, now); !learned) return learned.error();
  }
  if (!agent_) {
    const auto offered = client.get_perf(MadAttribute::kPerfClassPortInfo, lid_);
    if (!offered) return offered.error();
    agent_ = as_the_files(decode_perf_capabilities(*offered));
  }
  const auto port = static_cast<std::uint8_t>(id_.port);
  auto answer = get_counters(client, lid_, port, *agent_);
  if (answer && !lid_is_fresh && shows_new_errors(answer->counters)) {
    const auto moved = update_lid(client, now);
    if (!moved) return moved.error();
    if (*moved) answer = get_counters(client, lid_, port, *agent_);
  }
  if (!answer) return answer.error();
  if (answer->reason) return Error{*answer->reason, agent_->has_extended() ? EIO : EOPNOTSUPP};
  return std::move(answer->counters);
}

/// Whether it is another one than before.
Result<bool> OwnCounters::update_lid(MadClient& client, SteadyTime now) {
  const auto answer =
      client.get_directed(MadAttribute::kPortInfo, 0, static_cast<std::uint8_t>(id_.port));
  if (!answer) return answer.error();
  const IbPortInfo info = decode_port_info(*answer);
  if (!info.forwards || !is_unicast_lid(info.lid))
    return Error{"the port is " + info.link.state, ENOTCONN};
  const bool moved = info.lid != lid_;
  lid_ = info.lid;
  lid_read_at_ = now;
  return moved;
}

/// Any counter that went down, or a counter of damage that is another than before.
bool OwnCounters::shows_new_errors(const Counters& counters) const {
  if (!last_) return true;
  for (const auto& [id, value] : counters.known()) {
    const auto before = last_->get(id);
    const bool traffic = known_counters()[id].place == CounterPlace::kTraffic;
    if (!before || value < *before || (!traffic && value != *before)) return true;
  }
  return false;
}

}  // namespace linkhealth
