#include "tests/sim/port.h"

#include <algorithm>
#include <cmath>

namespace linkhealth::sim {

void Tally::offer(std::string_view name, std::uint64_t start, std::uint64_t limit) {
  values_.emplace_back(name, limit > 0 ? std::min(start, limit) : start);
  limits_.push_back(limit);
}

void Tally::add(std::string_view name, double amount) {
  if (amount < 1.0) return;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].first != name) continue;
    values_[i].second += static_cast<std::uint64_t>(amount);
    if (limits_[i] > 0) values_[i].second = std::min(values_[i].second, limits_[i]);
    return;
  }
}

void Tally::reset() {
  for (auto& value : values_) value.second = 0;
}

PortSim::PortSim(PortSetup port_setup, std::uint64_t seed)
    : setup(std::move(port_setup)), rng(seed) {
  const Medium& medium = *setup.medium;
  link = LinkModel(medium, rng);
  // A link with less than 1.6 dB (copper: 1.3) would not be accepted at installation.
  for (int tries = 0; tries < 20; ++tries) {
    link.begin_step();
    double worst = 99;
    for (std::size_t lane = 0; lane < link.lanes(); ++lane) {
      worst = std::min({worst, link.margin_db(Way::kIn, lane, medium.temperature_c),
                        link.margin_db(Way::kOut, lane, medium.temperature_c)});
    }
    if (worst > (medium.bias_ma > 0 ? 1.6 : 1.3)) break;
    link = LinkModel(medium, rng);
  }
  ddm = draw_ddm(medium, setup.driver->flags, rng);
  far_ddm = draw_ddm(medium, 0.0, rng);
  far_ddm.power_hidden = ddm.power_hidden || medium.build == Build::kAoc;
  has_lanes_ = medium.fec != Fec::kNone && rng.chance(setup.driver->fec_lanes);
  has_bits_ = medium.fec != Fec::kNone && rng.chance(setup.driver->fec_bits);
  heat_offset_c = rng.normal_within(0, 1.5, 4.0);
  temperature_c = medium.temperature_c + heat_offset_c;
  far_temperature_c = medium.temperature_c + 2 + rng.normal_within(0, 1.5, 4.0);
  fall_tendency_ = rng.lognormal(0.05, 0.8);
  down_count_ = rng.below(6);
  up_count_ = down_count_ + 1;
  lane_bits_.assign(link.lanes(), 0);
  pcie.max_width = medium.speed_mbps >= 800000 ? 16 : 16;
  pcie.max_speed_gtps = medium.speed_mbps >= 400000 ? 32 : 16;
  pcie.aer_correctable = rng.chance(0.15) ? rng.below(40) : 0;
  pcie.aer_nonfatal = 0;
  pcie.aer_fatal = 0;
  far_link_downed_ = static_cast<double>(rng.below(5));
  far_rcv_errors_ = rng.chance(0.3) ? 2 : 0;
  far_symbol_errors_ = rng.chance(0.2) ? 3 : 0;
  const std::vector<std::string> vendors = {"Acme Photonics", "NordOptic", "Kestrel",
                                            "Helio Interconnect", "Lumera"};
  vendor_ = rng.pick(vendors);
  part_ = std::string(1, vendor_[0]) + "X-" + std::string(medium.name);
  serial_ = std::string(1, vendor_[0]) + "X" + std::to_string(10000000 + rng.below(89999999));
  revision_ = "A" + std::to_string(rng.below(5));
  firmware_ = "1." + std::to_string(rng.below(9)) + "." + std::to_string(rng.below(9));
  date_ = "2025-0" + std::to_string(1 + rng.below(9)) + "-1" + std::to_string(rng.below(9));
  length_m_ = medium.bias_ma <= 0 ? 1.0 + static_cast<double>(rng.below(3))
                                  : 5.0 * static_cast<double>(1 + rng.below(20));
  offer_counters();
}

void PortSim::offer_counters() {
  const auto small = [this] {
    const std::vector<std::uint64_t> starts = {0, 0, 0, 0, 1, 2, 12, 140, 900, 3000};
    return rng.pick(starts);
  };
  const auto large = [this] { return static_cast<std::uint64_t>(rng.lognormal(1e14, 1.0)); };
  const auto any = [this] { return static_cast<std::uint64_t>(rng.uniform(0, 1e6)); };
  const bool ib = infiniband();
  tally_.offer("port_xmit_data", large());
  tally_.offer("port_rcv_data", large());
  tally_.offer("port_xmit_packets", large() / 1000);
  tally_.offer("port_rcv_packets", large() / 1000);
  // On RoCE ports the InfiniBand error files exist but do not change.
  tally_.offer("symbol_error", ib && rng.chance(0.2) ? small() : 0, ib ? 65535 : 0);
  tally_.offer("link_error_recovery", 0, 255);
  tally_.offer("link_downed", ib ? rng.below(5) : 0, 255);
  tally_.offer("port_rcv_errors", 0, 65535);
  tally_.offer("port_rcv_remote_physical_errors", ib && rng.chance(0.2) ? small() : 0, 65535);
  tally_.offer("port_xmit_discards", ib && rng.chance(0.3) ? small() : 0, 65535);
  tally_.offer("local_link_integrity_errors", 0, 15);
  tally_.offer("excessive_buffer_overrun_errors", 0, 15);
  tally_.offer("VL15_dropped", 0, 65535);
  tally_.offer("port_xmit_wait", ib ? large() / 10 : 0);
  for (const std::string_view name : {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err",
                                      "out_of_buffer", "duplicate_request"}) {
    tally_.offer(name, small());
  }
  if (setup.driver->rich_counters) {
    for (const std::string_view name :
         {"implied_nak_seq_err", "rnr_nak_retry_err", "req_transport_retries_exceeded",
          "roce_adp_retrans", "rx_icrc_encapsulated"}) {
      tally_.offer(name, 0);
    }
    tally_.offer("rx_discards_phy", 0);
    tally_.offer("link_down_events_phy", down_count_);
    tally_.offer("outbound_pci_stalled_wr_events", 0);
  }
  if (!ib) {
    tally_.offer("np_cnp_sent", any());
    tally_.offer("np_ecn_marked_roce_packets", any());
    tally_.offer("rp_cnp_handled", any());
    tally_.offer("phy_SymbolErrorDuringCarrier", 0);
    tally_.offer("mac_FrameCheckSequenceErrors", rng.chance(0.3) ? 1 : 0);
    tally_.offer("pause_rx_pause_frames", rng.below(600));
    tally_.offer("pause_tx_pause_frames", rng.below(600));
  }
  if (setup.medium->fec == Fec::kNone) return;
  tally_.offer("fec_corrected_blocks",
               rng.chance(0.5) ? static_cast<std::uint64_t>(rng.uniform(0, 1e7)) : 0);
  tally_.offer("fec_uncorrectable_blocks", small() % 150);
  if (has_bits_)
    tally_.offer("fec_corrected_bits",
                 rng.chance(0.5) ? static_cast<std::uint64_t>(rng.uniform(0, 1e7)) : 0);
}

bool PortSim::powers_readable() const {
  return (setup.medium->build == Build::kOptical || setup.medium->build == Build::kAoc) &&
         !ddm.power_hidden;
}

void PortSim::emit(double t, PortEventKind kind, std::string text) {
  events_.push_back({steady_from_seconds(t), setup.id.key(), kind, std::move(text)});
}

void PortSim::swap_module(double) {
  link.replace_module(true, rng);
  ddm = draw_ddm(*setup.medium, setup.driver->flags, rng);
  serial_ = std::string(1, vendor_[0]) + "X" + std::to_string(10000000 + rng.below(89999999));
}

void PortSim::reset_counters() {
  tally_.reset();
  std::fill(lane_bits_.begin(), lane_bits_.end(), 0.0);
}

void PortSim::begin(double load, double room_c) {
  advance(-900, 0, load, room_c);
  events_.clear();
  if (!carrier_) changed_at_ = -1e6;
}

void PortSim::reload_driver() {
  reset_counters();
  up_count_ = 0;
  down_count_ = 0;
}

void PortSim::settle(double t) {
  link.begin_step();
  now = Conditions{};
  for (const Effect& effect : effects_) {
    if (t < effect.start_s || t >= effect.end_s) continue;
    const double strength =
        effect.ramp_s > 0 ? std::min(1.0, (t - effect.start_s) / effect.ramp_s) : 1.0;
    effect.apply(*this, strength, t);
  }
  apply_light();
}

void PortSim::apply_light() {
  const bool local_laser = now.admin_up && now.nic_ok && now.module_present && !now.too_hot &&
                           now.powered && !now.rebooting && !now.held_low && !now.held_dark;
  const bool far_laser =
      now.far_module_present && (now.far_admin_up || !now.laser_follows_far_admin);
  for (std::size_t lane = 0; lane < link.lanes(); ++lane) {
    LaneNow& out = link.direction(Way::kOut).now[lane];
    if (!local_laser) {
      out.tx_dark = out.tx_disabled = true;
      out.bias_factor = 0;
    }
    LaneNow& in = link.direction(Way::kIn).now[lane];
    if (!far_laser) {
      in.tx_dark = in.tx_disabled = true;
      in.bias_factor = 0;
    }
  }
}

bool PortSim::possible() const {
  return !unused && now.admin_up && now.far_admin_up && now.nic_ok && !now.device_gone &&
         !now.rebooting && now.module_present && now.far_module_present && now.module_accepted &&
         now.settings_match && now.module_managed && !now.too_hot && now.powered && !now.held_low &&
         !now.held_dark && !now.host_silent;
}

double PortSim::next_cut(double t, double to) const {
  bool fine = !carrier_ && !unused;
  fine = fine || t - changed_at_ < 60.0;
  double cut = to;
  for (const Effect& effect : effects_) {
    if (effect.start_s > t) cut = std::min(cut, effect.start_s);
    if (t >= effect.start_s && t < effect.end_s) {
      cut = std::min(cut, effect.end_s);
      fine = fine || effect.fine;
    }
  }
  for (const Action& action : actions_)
    if (action.t > t) cut = std::min(cut, action.t);
  return fine ? std::min(cut, t + 2.0) : cut;
}

void PortSim::advance(double from, double to, double load, double room_c) {
  double t = from;
  while (t < to - 1e-6) {
    for (const Action& action : actions_)
      if (action.t >= t - 1e-9 && action.t < t + 1e-6) action.run(*this);
    std::erase_if(actions_, [t](const Action& action) { return action.t < t + 1e-6; });
    const double next = std::max(t + 1e-3, next_cut(t, to));
    step(t, next - t, load, room_c);
    t = next;
  }
}

void PortSim::step(double t, double step_s, double load, double room_c) {
  settle(t + std::min(1e-3, step_s));
  const Medium& medium = *setup.medium;
  const double share = 1.0 - std::exp(-step_s / 90.0);
  const double used =
      carrier_ ? std::clamp(load * now.load_factor + now.load_added, 0.0, 0.97) : 0.0;
  const double cool = now.admin_up && now.powered && !now.too_hot ? 0.0 : -14.0;
  const double target =
      medium.temperature_c + heat_offset_c + room_c + 4.0 * (used - 0.5) + now.heat_c + cool;
  temperature_c += share * (target - temperature_c);
  far_temperature_c += share * (medium.temperature_c + 2 + 0.3 * room_c + 3.0 * (used - 0.5) +
                                now.far_heat_c - far_temperature_c);
  move_carrier(t, step_s);
  count(step_s, used);
}

void PortSim::move_carrier(double t, double step_s) {
  const bool can = possible();
  if (carrier_) {
    bool drop = !can || !link.can_lock(temperature_c, far_temperature_c);
    if (!drop) {
      double hazard = now.flap_per_s;
      for (const Way way : {Way::kIn, Way::kOut}) {
        const double mean = link.mean_ber(way, way == Way::kIn ? temperature_c : far_temperature_c);
        const double lost = std::pow(10.0, log10_uncorrectable(setup.medium->fec, mean));
        // Alignment is lost after three consecutive lost codewords (IEEE 802.3 clause 91/119).
        if (setup.medium->fec != Fec::kNone) {
          hazard += fall_tendency_ * codewords_per_s(setup.medium->fec, setup.medium->speed_mbps) *
                    lost * lost * lost;
        }
      }
      drop = rng.chance(-std::expm1(-hazard * step_s));
    }
    if (drop) fall(t);
    return;
  }
  if (!can || !link.can_lock(temperature_c, far_temperature_c)) {
    ready_at_ = t + step_s + retrain_s_;
  } else if (t >= ready_at_) {
    rise(t);
  }
}

void PortSim::fall(double t) {
  carrier_ = false;
  changed_at_ = t;
  ++down_count_;
  const double median = now.flap_down_s > 0 ? now.flap_down_s : setup.medium->retrain_s;
  retrain_s_ = rng.lognormal(median, 0.5);
  ready_at_ = t + retrain_s_;
  far_link_downed_ += 1;
  tally_.add("link_down_events_phy", 1);
  if (now.device_gone || now.rebooting) return;
  emit(t + 0.01, PortEventKind::kCarrierDown);
  if (infiniband()) {
    tally_.add("link_downed", 1);
    emit(t + 0.02, PortEventKind::kPortError);
  }
}

void PortSim::rise(double t) {
  carrier_ = true;
  changed_at_ = t;
  ++up_count_;
  tally_.add("fec_uncorrectable_blocks", static_cast<double>(rng.poisson(25)));
  emit(t + 0.01, PortEventKind::kCarrierUp);
  if (infiniband()) emit(t + 0.8, PortEventKind::kPortActive);
}

void PortSim::count(double step_s, double load) {
  if (now.aer_per_s > 0) *pcie.aer_correctable += rng.poisson(now.aer_per_s * step_s);
  if (!carrier_) {
    if (!now.admin_up || !now.nic_ok || unused) return;
    // Queue pairs time out, fail, and are retried by their applications.
    tally_.add("local_ack_timeout_err", static_cast<double>(rng.poisson(1.0 * step_s)));
    tally_.add("req_transport_retries_exceeded", static_cast<double>(rng.poisson(0.002 * step_s)));
    return;
  }
  const double share = now.speed_factor;
  const ErrorCount in = link.count(Way::kIn, step_s * share, temperature_c, rng);
  tally_.add("fec_corrected_blocks", in.corrected_blocks);
  tally_.add("fec_uncorrectable_blocks", in.uncorrectable_blocks);
  tally_.add("fec_corrected_bits", in.corrected_bits);
  for (std::size_t lane = 0; lane < in.lane_bits.size(); ++lane)
    lane_bits_[lane] += in.lane_bits[lane];
  tally_.add(infiniband() ? "symbol_error" : "phy_SymbolErrorDuringCarrier", in.symbol_errors);
  const double words =
      std::max(in.uncorrectable_blocks, setup.medium->fec == Fec::kNone ? in.symbol_errors : 0.0);
  const double lost_in = static_cast<double>(rng.poisson(words * load));
  tally_.add(infiniband() ? "port_rcv_errors" : "mac_FrameCheckSequenceErrors", lost_in);
  const ErrorCount out = link.count(Way::kOut, step_s * share, far_temperature_c, rng);
  far_symbol_errors_ += out.symbol_errors;
  const double words_out =
      std::max(out.uncorrectable_blocks, setup.medium->fec == Fec::kNone ? out.symbol_errors : 0.0);
  const double lost_out = static_cast<double>(rng.poisson(words_out * load));
  far_rcv_errors_ += lost_out;
  lost_packets_ += static_cast<std::uint64_t>(lost_in + lost_out);
  tally_.add("out_of_sequence", lost_in * 0.6);
  tally_.add("duplicate_request", static_cast<double>(rng.poisson(lost_in * 0.14)));
  tally_.add("local_ack_timeout_err",
             static_cast<double>(rng.poisson(lost_in * 0.05 + lost_out * 0.15)));
  tally_.add("packet_seq_err", static_cast<double>(rng.poisson(lost_out * 0.6)));
  tally_.add("roce_adp_retrans", static_cast<double>(rng.poisson(lost_out * 0.3)));
  count_traffic(step_s, load * share);
}

void PortSim::count_traffic(double step_s, double load) {
  const auto some = [this](double mean) { return static_cast<double>(rng.poisson(mean)); };
  const double words = load * static_cast<double>(setup.medium->speed_mbps) * 1e6 / 32.0 * step_s;
  const double skew = rng.uniform(0.85, 1.05);
  tally_.add("port_xmit_data", words);
  tally_.add("port_rcv_data", words * skew);
  tally_.add("port_xmit_packets", words / 900);
  tally_.add("port_rcv_packets", words * skew / 900);
  const double busy = load * step_s;
  const double marks = now.congestion * busy;
  tally_.add("np_cnp_sent", some(0.6 * busy + marks * 0.1));
  tally_.add("np_ecn_marked_roce_packets", some(1.8 * busy + marks * 0.3));
  tally_.add("rp_cnp_handled", some(0.6 * busy + marks));
  tally_.add("pause_rx_pause_frames", some(0.006 * busy + marks * 0.03));
  tally_.add("pause_tx_pause_frames", some(0.004 * busy + now.host_pause_per_s * busy));
  tally_.add("port_xmit_wait",
             1e9 * busy * std::min(0.95, rng.uniform(0.01, 0.05) + now.wait_share));
  tally_.add("packet_seq_err", some(marks * 2e-6 + now.remote_loss_per_s * busy * 0.7));
  tally_.add("roce_adp_retrans", some(marks * 1e-6 + now.remote_loss_per_s * busy * 0.4));
  tally_.add("out_of_sequence",
             some(0.002 * busy + now.reorder_per_s * busy + now.remote_loss_per_s * busy * 0.8));
  const double timeouts = some(now.remote_loss_per_s * busy * 0.2);
  tally_.add("local_ack_timeout_err", timeouts);
  if (now.slow_restarts) {
    tally_.add("rp_cnp_handled", 2 * timeouts);
    tally_.add("roce_slow_restart_cnps", 2 * timeouts);
  }
  tally_.add("duplicate_request", some(now.remote_loss_per_s * busy * 0.2));
  if (now.remote_marked)
    tally_.add("port_rcv_remote_physical_errors", some(now.remote_loss_per_s * busy));
  tally_.add("out_of_buffer", some(now.host_drops_per_s * busy));
  tally_.add("rx_discards_phy", some(now.host_drops_per_s * busy * 0.4));
  tally_.add("outbound_pci_stalled_wr_events",
             some(std::min(1.0, now.pci_stalls_per_s) * busy));  // seconds
}

}  // namespace linkhealth::sim
