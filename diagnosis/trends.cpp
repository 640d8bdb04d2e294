#include "diagnosis/trends.h"

#include <cmath>

namespace linkhealth {

namespace {

constexpr double kRxFloorDbm = -10;  // if the module gives no limit (docs/physics.md 3e)
constexpr double kBiasEnd = 1.5;  // this multiple of the present level is a laser's end, likewise

/// Adds the trend towards `limit`, if it goes there and arrives in time.
void add(std::vector<Trend>& out, std::string_view what, std::string_view unit, const Drift& drift,
         double limit, bool falling, double scale, double within_days) {
  const auto slope = drift.slope();
  if (!slope) return;
  if (falling ? slope->high_per_day >= 0 : slope->low_per_day <= 0) return;
  const double way = limit - slope->level;
  if (falling ? way >= 0 : way <= 0) return;  // already reached: that is a fault
  Trend trend;
  trend.days_left = way / slope->per_day;
  if (trend.days_left > within_days) return;
  trend.what = std::string(what);
  trend.unit = std::string(unit);
  trend.per_day = slope->per_day * scale;
  trend.low_per_day = slope->low_per_day * scale;
  trend.high_per_day = slope->high_per_day * scale;
  trend.level = slope->level;
  trend.limit = limit;
  trend.days_left_low = way / (falling ? slope->low_per_day : slope->high_per_day);
  trend.days_left_high = way / (falling ? slope->high_per_day : slope->low_per_day);
  trend.over_days = slope->over_days;
  out.push_back(std::move(trend));
}

}  // namespace

std::vector<Trend> trends_of(const Features& f) {
  std::vector<Trend> out;
  const Drifts& drifts = f.port.drifts;
  Limits rx, bias, temperature;
  if (f.port.latest.module) {
    const auto& thresholds = f.port.latest.module->thresholds;
    rx = thresholds.rx_power_mw;
    bias = thresholds.tx_bias_ma;
    temperature = thresholds.temperature_c;
  }
  const auto usable = [](const std::optional<double>& limit) { return limit && *limit > 0; };
  if (f.medium == Medium::kOptical)
    add(out, "rx_power", "dBm", drifts.rx_dbm,
        usable(rx.low_alarm) ? to_dbm(*rx.low_alarm) : kRxFloorDbm, true, 1, f.settings.trend_days);
  if (const auto slope = drifts.bias_ma.slope(); slope && slope->level > 0) {
    const double limit = usable(bias.high_alarm) ? *bias.high_alarm : kBiasEnd * slope->level;
    add(out, "tx_bias", "mA", drifts.bias_ma, limit, false, 100 / slope->level,
        f.settings.trend_days);
  }
  if (const auto limit = ber_limit(f.port.fec(), f.medium))
    add(out, "pre_fec_ber", "decades", drifts.ber_log10, std::log10(*limit), false, 1,
        f.settings.trend_days);
  add(out, "temperature", "C", drifts.temperature_c,
      usable(temperature.high_warn) ? *temperature.high_warn : f.settings.module_warn_c, false, 1,
      f.settings.trend_days);
  return out;
}

}  // namespace linkhealth
