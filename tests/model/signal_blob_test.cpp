#include "model/signal_blob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace linkhealth {
namespace {

using testing::HasSubstr;
using enum Signal;

/// Any row that can be: signals here and not, small and huge, whole and not.
SignalValues random_values(std::mt19937_64& random) {
  SignalValues values;
  const unsigned density = 1 + random() % 4;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (random() % 4 >= density) continue;
    const bool ratio = signal_info(i).scale == SignalScale::kErrorRatio;
    const double unit = static_cast<double>(random() >> 11) / 9007199254740992.0;
    const double size = std::pow(10, static_cast<double>(random() % 11));
    const bool counted = signal_info(i).fold == SignalFold::kSum;
    values[i] = ratio     ? std::pow(10, -30 * unit)
                : counted ? std::floor(unit * size)
                          : (unit - 0.5) * size;
  }
  return values;
}

void expect_same_kept(const SignalValues& seen, const SignalValues& back) {
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    const double kept = kept_value(i, seen[i]);
    EXPECT_EQ(std::isnan(kept), std::isnan(back[i])) << signal_info(i).name << " " << seen[i];
    if (std::isnan(kept)) continue;
    EXPECT_EQ(kept, back[i]) << signal_info(i).name;
  }
}

TEST(SignalBlobTest, WhatIsKeptComesBackAndWhatIsAbsentStaysAbsent) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const SignalValues values = random_values(random);
    const std::string blob = signal_blob(values);
    const auto back = parse_signal_blob(blob);
    ASSERT_TRUE(back.ok()) << back.error().message;
    expect_same_kept(values, *back);
    EXPECT_EQ(signal_blob(*back), blob) << "what came back is kept as the same bytes";
  }
}

TEST(SignalBlobTest, KeepsEachValueToItsQuantum) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 500; ++round) {
    const SignalValues values = random_values(random);
    for (std::size_t i = 0; i < kSignalCount; ++i) {
      if (std::isnan(values[i])) continue;
      const SignalInfo& info = signal_info(i);
      const bool ratio = info.scale == SignalScale::kErrorRatio;
      const double kept = ratio ? std::log10(kept_value(i, values[i])) : kept_value(i, values[i]);
      EXPECT_NEAR(kept, ratio ? std::log10(values[i]) : values[i], info.quantum * 0.51)
          << info.name;
    }
  }
}

TEST(SignalBlobTest, AValueThatCannotBeKeptIsAbsentNotWrong) {
  SignalValues values;
  values[kTemperature] = INFINITY;
  values[kCarrierDowns] = -1;
  values[kPreFecBer] = 1.5;
  values[kCorrectedBits] = 1e30;
  const auto back = parse_signal_blob(signal_blob(values));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(back->empty());
}

TEST(SignalBlobTest, ZeroIsAValue) {
  SignalValues values;
  values[kCarrierDowns] = 0;
  values[kPreFecBer] = 0;
  const auto back = parse_signal_blob(signal_blob(values));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)[kCarrierDowns], 0);
  EXPECT_EQ((*back)[kPreFecBer], 0);
  EXPECT_TRUE(std::isnan((*back)[kSymbolErrors]));
}

/// A 400G-DR4 port that carries: what most rows of a node are.
SignalValues usual_values() {
  SignalValues values;
  values[kCarrierUp] = 1;
  values[kSpeed] = 400000;
  values[kPreFecBer] = 2.1e-8;
  values[kCorrectedBits] = 89250;
  for (std::size_t i = static_cast<std::size_t>(kCarrierDowns);
       i < static_cast<std::size_t>(kRxTraffic); ++i)
    if (std::isnan(values[i])) values[i] = 0;
  values[kRxTraffic] = 312000;
  values[kTxTraffic] = 298123;
  values[kRxPower] = -1.31;
  values[kTxPower] = 1.02;
  values[kTxBias] = 74.2;
  values[kTemperature] = 51.3;
  values[kSupply] = 3.291;
  values[kMediaEsnr] = 22.1;
  values[kNicTemperature] = 62;
  values[kPcieErrors] = 0;
  for (std::size_t lane = 0; lane < 4; ++lane) {
    const auto at = static_cast<double>(lane);
    values[static_cast<std::size_t>(kRxPowerLane1) + lane] = -1.31 + at * 0.3;
    values[static_cast<std::size_t>(kTxPowerLane1) + lane] = 1.02 + at * 0.21;
    values[static_cast<std::size_t>(kTxBiasLane1) + lane] = 74.2 - at * 0.7;
  }
  return values;
}

TEST(SignalBlobTest, TakesLessThanThreeBytesAValue) {
  const SignalValues values = usual_values();
  std::size_t count = 0;
  for (std::size_t i = 0; i < kSignalCount; ++i) count += std::isnan(values[i]) ? 0 : 1;
  const std::size_t bytes = signal_blob(values).size();
  EXPECT_EQ(count, 39U);
  EXPECT_LE(static_cast<double>(bytes), 2.0 * static_cast<double>(count)) << bytes << " bytes";
}

TEST(SignalBlobTest, EverySingleDamageIsAnError) {
  const std::string blob = signal_blob(usual_values());
  for (std::size_t at = 0; at < blob.size(); ++at) {
    EXPECT_FALSE(parse_signal_blob(std::string_view(blob).substr(0, at)).ok()) << "cut at " << at;
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = blob;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
      EXPECT_FALSE(parse_signal_blob(damaged).ok()) << "byte " << at << " bit " << bit;
    }
  }
  EXPECT_FALSE(parse_signal_blob(blob + '\0').ok());
  EXPECT_FALSE(parse_signal_blob(std::string(64, '\0')).ok()) << "a page of zeros";
}

/// CRC-16/CCITT-FALSE, written down again: bit by bit.
std::string with_checksum(std::string bytes) {
  unsigned crc = 0xffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8U;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000U) != 0 ? ((crc << 1U) ^ 0x1021U) & 0xffffU : (crc << 1U) & 0xffffU;
  }
  bytes.push_back(static_cast<char>(crc & 0xffU));
  bytes.push_back(static_cast<char>(crc >> 8U));
  return bytes;
}

struct Malformed {
  std::string bytes;
  const char* error;
};

TEST(SignalBlobTest, ARightChecksumDoesNotMakeARow) {
  using namespace std::string_literals;
  const std::vector<Malformed> rows = {
      {"\x02\x00"s, "format"},
      {"\x01\x07"s, "map is too long"},
      {"\x01\xff"s, "map is too long"},
      {"\x01\x02\x01\x00\x02"s, "shortest form"},
      {"\x01\x07\x01\x00\x00\x00\x00\x00\x40\x02\x02"s, "unknown signal"},
      {"\x01\x01\x01"s, "cut off"},
      {"\x01\x01\x01\x80"s, "cut off"},
      {"\x01\x01\x01\x82\x00"s, "cut off"},
      {"\x01\x01\x01\x02\x02"s, "more bytes"},
      {"\x01\x01\x04\x01"s, "out of range"},      // -1 carrier losses
      {"\x01\x01\x10\xff\x7f"s, "out of range"},  // an error ratio below 0
      {"\x01\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f"s, "out of range"},
  };
  for (const Malformed& row : rows) {
    const auto parsed = parse_signal_blob(with_checksum(row.bytes));
    ASSERT_FALSE(parsed.ok()) << row.error;
    EXPECT_THAT(parsed.error().message, HasSubstr(row.error));
  }
  EXPECT_TRUE(parse_signal_blob(with_checksum("\x01\x01\x01\x02")).ok())
      << "the checksum of this test is the right one";
}

TEST(SignalsTest, NamesAreFoundAndUnique) {
  for (const SignalInfo& info : signal_table())
    EXPECT_EQ(find_signal(info.name), info.signal) << info.name;
  EXPECT_EQ(find_signal("rx_power_dbm.9"), std::nullopt);
}

}  // namespace
}  // namespace linkhealth
