#include "probes/module/observables.h"

#include <algorithm>
#include <cmath>

#include "probes/module/values.h"

namespace linkhealth {

namespace {

using Coding = ObservableCoding;
using Part = ObservablePart;
using Sink = ObservableSink;
using Worst = ObservableWorst;

double from_f16(std::uint16_t raw) {
  const int exponent = static_cast<int>(raw >> 11U) - 24;
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? (raw & 0x7ffU) / power : (raw & 0x7ffU) * power;
}

/// Of FFFEh.
constexpr double kMostLtpDb = 0xfffe / 256.0;

double decoded(const Observable& row, std::uint16_t raw) {
  switch (row.coding) {
    case Coding::kU16:
      return row.scale.of(raw);
    case Coding::kS16:
      return row.scale.of(static_cast<std::int16_t>(raw));
    case Coding::kF16:
      return from_f16(raw);
  }
  return 0;
}

std::optional<double> value_of(const Observable& row, std::uint16_t raw) {
  // CMIS 5.4 7.1.4.2: nothing lies between the levels, the best that there is; FFFEh: more than can
  // be said.
  if (row.sink == Sink::kLtp && raw == 0xffff) return kMostLtpDb;
  if (raw == 0xffff && row.coding != Coding::kS16) return std::nullopt;
  if (raw == row.not_available) return std::nullopt;
  return decoded(row, raw);
}

/// A limit at the end of the scale never trips: it is none (CMIS 5.4 7.1.3.2). A low one of all
/// ones is none either: modules have it where they mean that.
std::optional<double> limit_of(const Observable& row, std::uint16_t raw, bool high) {
  const bool is_signed = row.coding == Coding::kS16;
  const std::uint16_t end = high ? (is_signed ? 0x7fff : 0xffff) : (is_signed ? 0x8000 : 0x0000);
  if (raw == end || (!is_signed && raw == 0xffff)) return std::nullopt;
  return decoded(row, raw);
}

bool in_order(const Limits& l) {
  const auto below = [](const std::optional<double>& a, const std::optional<double>& b) {
    return !a || !b || *a <= *b;
  };
  return below(l.low_alarm, l.low_warn) && below(l.low_warn, l.high_warn) &&
         below(l.low_warn, l.high_alarm) && below(l.high_warn, l.high_alarm) &&
         below(l.low_alarm, l.high_warn) && below(l.low_alarm, l.high_alarm);
}

/// A BER is a probability; 0.5 is CMIS's "no value". 0 may be true of a perfect link;
/// forget_idle_statistics() knows when it is not.
bool is_plausible_ber(double ber) { return ber >= 0 && ber < 0.5; }
/// CMIS 5.4 7.10.2: the largest F16 is the "no value".
bool is_plausible_count(double frames) { return frames >= 0 && frames < 2.047e10; }

bool is_worse(double value, double than, Worst worst) {
  switch (worst) {
    case Worst::kLargest:
      return value > than;
    case Worst::kSmallest:
      return value < than;
    case Worst::kMagnitude:
      return std::abs(value) > std::abs(than);
    case Worst::kNearestEnd:
      return std::abs(value - 50) > std::abs(than - 50);
  }
  return false;
}

void put_worst(std::optional<double>& slot, double value, Worst worst = Worst::kLargest) {
  if (!slot || is_worse(value, *slot, worst)) slot = value;
}

template <typename Statistics>
void put(Statistics& out, Part part, double value) {
  switch (part) {
    case Part::kMin:
      return put_worst(out.min, value, Worst::kSmallest);
    case Part::kMax:
      return put_worst(out.max, value);
    case Part::kAvg:
      return put_worst(out.avg, value);
    case Part::kCurrent:
      return put_worst(out.current, value);
    default:
      break;
  }
  if constexpr (requires { out.total; }) put_worst(out.total, value);
}

void put_lane(std::vector<double>& lanes, unsigned lane, double value) {
  if (lanes.size() <= lane) lanes.resize(lane + 1, 0.0);
  lanes[lane] = value;
}

void warn_once(ModuleWarnings& warnings, std::string warning) {
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
    warnings.push_back(std::move(warning));
}

void drop_single(std::vector<BerStatistics>& lanes) {
  const auto filled =
      std::count_if(lanes.begin(), lanes.end(), [](const BerStatistics& b) { return !b.empty(); });
  if (filled <= 1) lanes.clear();
}

std::optional<std::uint32_t> number_of(const std::optional<unsigned>& lane) {
  return lane ? std::optional<std::uint32_t>(*lane + 1) : std::nullopt;
}

}  // namespace

bool is_of_data_path(const Observable& row) {
  return row.sink == Sink::kBer || row.sink == Sink::kErroredFrames || row.sink == Sink::kTail;
}

const Observable* find_observable(std::span<const Observable> table, std::uint8_t type) {
  const auto row = std::ranges::lower_bound(table, type, {}, &Observable::type);
  return row == table.end() || row->type != type ? nullptr : &*row;
}

void ObservableCollector::take(const ObservableInstance& instance) {
  const Observable* row = find_observable(table_, instance.type);
  const std::string name =
      row != nullptr ? std::string(row->name) : "type_" + std::to_string(instance.type);
  for (unsigned i = 0; i < instance.lanes; ++i)
    take_flags(name, instance.lane ? std::optional(*instance.lane + i) : std::nullopt,
               instance.flags);
  if (row == nullptr) return;  // a maker's own quantity
  if (instance.limits) take_limits(*row, instance.lane, *instance.limits);
  if (!instance.value) return;
  if (const auto value = value_of(*row, *instance.value)) take_value(*row, instance.lane, *value);
}

/// One entry for each name and lane, whatever the number of descriptors: who remembers flags knows
/// them by these.
void ObservableCollector::take_flags(const std::string& name, const std::optional<unsigned>& lane,
                                     const AlarmFlags& flags) {
  auto& all = sample_.vdm.flags;
  const auto entry = std::find_if(all.begin(), all.end(), [&](const VdmFlags& other) {
    return other.name == name && other.lane == number_of(lane);
  });
  if (entry == all.end()) {
    all.push_back({name, number_of(lane), flags});
    return;
  }
  for (const auto flag : {&AlarmFlags::low_alarm, &AlarmFlags::low_warn, &AlarmFlags::high_warn,
                          &AlarmFlags::high_alarm}) {
    std::optional<bool>& here = entry->flags.*flag;
    const std::optional<bool>& there = flags.*flag;
    if (here.value_or(false) || there.value_or(false))
      here = true;
    else if (!there)
      here.reset();
  }
}

void ObservableCollector::take_value(const Observable& row, const std::optional<unsigned>& lane,
                                     double value) {
  ModuleVdm& vdm = sample_.vdm;
  switch (row.sink) {
    case Sink::kEsnr:
      if (believed_snr_db(value, sample_.warnings))
        take_lane(row, lane, value, row.host ? vdm.host_esnr_db : vdm.media_esnr_db);
      return;
    case Sink::kLtp:
      return take_lane(row, lane, value, row.host ? vdm.host_ltp_db : vdm.media_ltp_db);
    case Sink::kBer:
      return take_ber(row, lane, value);
    case Sink::kErroredFrames:
      if (is_plausible_count(value))
        put(row.host ? vdm.host_errored_frames : vdm.media_errored_frames, row.part, value);
      return;
    case Sink::kTail:
      return put(row.host ? vdm.host_fec_tail_symbols : vdm.media_fec_tail_symbols, row.part,
                 value);
    case Sink::kScalar:
      return put_worst(vdm.*row.scalar, value, row.worst);
    case Sink::kModule:
      return put_worst(sample_.*row.module, value, row.worst);
    case Sink::kCoherent:
      coherent_.push_back({&row, lane, value, {}});
      return;
    case Sink::kFlagsOnly:
      return;
  }
}

/// CMIS has these by lane only. One of the whole module is that of its only lane; else nobody can
/// say whose it is.
void ObservableCollector::take_lane(const Observable& row, const std::optional<unsigned>& lane,
                                    double value, std::vector<double>& lanes) {
  if (lane) return put_lane(lanes, *lane, value);
  if ((row.host ? sample_.host_lane_count : sample_.media_lane_count) != 1U)
    return warn_once(sample_.warnings,
                     std::string(row.name) + " is of the whole module, not of a lane: left out");
  if (lanes.empty()) put_lane(lanes, 0, value);
}

void ObservableCollector::take_ber(const Observable& row, const std::optional<unsigned>& lane,
                                   double value) {
  ModuleVdm& vdm = sample_.vdm;
  if (!is_plausible_ber(value)) return;
  put(row.host ? vdm.host_pre_fec_ber : vdm.media_pre_fec_ber, row.part, value);
  if (!lane) return;
  auto& lanes = row.host ? vdm.host_pre_fec_ber_by_lane : vdm.media_pre_fec_ber_by_lane;
  if (lanes.size() <= *lane) lanes.resize(*lane + 1);
  put(lanes[*lane], row.part, value);
}

void ObservableCollector::take_limits(const Observable& row, const std::optional<unsigned>& lane,
                                      const std::array<std::uint16_t, 4>& raw) {
  if (row.sink == Sink::kFlagsOnly) return;
  const bool all_zero = std::all_of(raw.begin(), raw.end(), [](std::uint16_t r) { return r == 0; });
  if (all_zero && row.sink != Sink::kErroredFrames)
    return;  // not in use; frames may be meant so: none may be lost
  const Limits limits{limit_of(row, raw[1], false), limit_of(row, raw[3], false),
                      limit_of(row, raw[2], true), limit_of(row, raw[0], true)};
  if (limits.empty()) return;
  if (in_order(limits)) {
    limits_.push_back({&row, lane, 0, limits});
    return;
  }
  warn_once(sample_.warnings, "limits of " + std::string(row.name) + " are not in order: left out");
}

bool ObservableCollector::gives_way(const Taken& taken, const std::vector<Taken>& all) {
  return taken.row->coarse && std::any_of(all.begin(), all.end(), [&](const Taken& other) {
           return !other.row->coarse && other.row->name == taken.row->name &&
                  (other.lane == taken.lane || !other.lane || !taken.lane);
         });
}

void ObservableCollector::finish() {
  for (const Taken& taken : coherent_)
    if (!gives_way(taken, coherent_))
      put_worst(sample_.coherent.*taken.row->coherent, taken.value, taken.row->worst);
  for (const Taken& taken : limits_)
    if (!gives_way(taken, limits_))
      sample_.vdm.thresholds.push_back(
          {std::string(taken.row->name), number_of(taken.lane), taken.limits});
  drop_single(sample_.vdm.media_pre_fec_ber_by_lane);
  drop_single(sample_.vdm.host_pre_fec_ber_by_lane);
  std::vector<VdmLimits> once;
  auto& all = sample_.vdm.thresholds;
  for (const VdmLimits& entry : all) {
    const bool alike = std::all_of(all.begin(), all.end(), [&](const VdmLimits& other) {
      return other.name != entry.name || other.limits == entry.limits;
    });
    VdmLimits kept = entry;
    if (alike) kept.lane.reset();
    if (std::find(once.begin(), once.end(), kept) == once.end()) once.push_back(std::move(kept));
  }
  all = std::move(once);
}

}  // namespace linkhealth
