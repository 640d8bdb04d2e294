#include "model/signals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace linkhealth {
namespace {

using enum Signal;

TEST(Signals, NamesAreFoundAndUnique) {
  for (const SignalInfo& info : signal_table())
    EXPECT_EQ(find_signal(info.name), info.signal) << info.name;
  EXPECT_EQ(find_signal("rx_power_dbm.9"), std::nullopt);
}

TEST(Signals, AStoredRowIsReadBack) {
  SignalValues values;
  values[kCarrierDowns] = 0;
  values[kPreFecBer] = 2.137e-8;
  values[kRxPower] = -1.234;
  values[kTemperature] = INFINITY;
  values[kRxTraffic] = 1e300;
  values[Signal(kSignalCount - 1)] = 7.25;
  const SignalValues read = unpacked_signals(packed_signals(values));
  const auto shown = [&read](Signal signal) { return rounded(signal_info(signal), read[signal]); };
  EXPECT_EQ(shown(kCarrierDowns), 0) << "zero is a value";
  EXPECT_EQ(shown(kPreFecBer), 2.14e-8);
  EXPECT_EQ(shown(kRxPower), -1.23);
  EXPECT_EQ(shown(Signal(kSignalCount - 1)), 7.25);
  EXPECT_TRUE(std::isnan(shown(kTemperature)));
  EXPECT_TRUE(std::isnan(shown(kRxTraffic)));
  EXPECT_TRUE(std::isnan(shown(kSupply)));
  EXPECT_TRUE(unpacked_signals(packed_signals(SignalValues())).empty());
}

TEST(Signals, InvalidBytesAreAnEmptyRow) {
  SignalValues values;
  values[kTemperature] = 50;
  const std::string row = packed_signals(values);
  for (std::size_t size = 0; size < row.size(); ++size)
    EXPECT_TRUE(unpacked_signals(row.substr(0, size)).empty()) << size;
  EXPECT_TRUE(unpacked_signals(row + "x").empty());
  EXPECT_TRUE(unpacked_signals(std::string(8 + 4 * 64, '\xff')).empty()) << "unknown signals";
}

}  // namespace
}  // namespace linkhealth
