// A module in memory that the module schedule reads, with time from outside.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "probes/module/module_schedule.h"

namespace linkhealth::testing {

/// A QSFP28 SR4 (SFF-8636) in memory: flags clear on read, reads can fail or be short, and take
/// time.
struct FakeModule {
  std::array<std::uint8_t, 128> lower{};
  std::array<std::uint8_t, 128> page00{};
  std::array<std::uint8_t, 128> page03{};
  std::map<std::uint8_t, int> page_errno;  // by page; 0xff: the lower page
  int all_errno = 0;
  std::string kernel_words;  // with all_errno
  std::size_t longest = 128;
  Milliseconds delay{5};
  std::vector<ModulePageRequest> reads;
  std::function<void(std::size_t)> before_read;  // with the number of reads made

  FakeModule() {
    lower[0] = page00[0] = 0x11;
    lower[1] = 0x08;
    lower[22] = 35;
    lower[26] = 0x80;
    lower[27] = 0xe8;
    for (std::size_t i = 34; i < 58; i += 2) lower[i] = 0x1f;
    page00[192 - 128] = 0x02;
    page00[220 - 128] = 0x3c;
    page00[194 - 128] = 0x30;
    page00[195 - 128] = 0x0a;
    set_serial("SN000001");
    const std::array<std::uint8_t, 8> temperature = {75, 0, 0xfb, 0,
                                                     70, 0, 0,    0};  // 75, -5, 70 and 0 degrees
    std::copy(temperature.begin(), temperature.end(), page03.begin());
  }
  void set_serial(const std::string& text) {
    for (std::size_t i = 0; i < 16; ++i)
      page00[196 - 128 + i] = static_cast<std::uint8_t>(i < text.size() ? text[i] : ' ');
    sign();
  }
  void sign() {
    for (const auto& [first, at] : {std::pair(128U, 191U), std::pair(192U, 223U)}) {
      unsigned sum = 0;
      for (std::size_t i = first - 128; i < at - 128; ++i) sum += page00[i];
      page00[at - 128] = static_cast<std::uint8_t>(sum);
    }
  }

  Result<std::vector<std::uint8_t>> read(const ModulePageRequest& page) {
    if (before_read) before_read(reads.size());
    reads.push_back(page);
    const auto failure = page_errno.find(page.offset < 128 ? 0xff : page.page);
    const int errnum = all_errno != 0                ? all_errno
                       : failure != page_errno.end() ? failure->second
                                                     : 0;
    if (errnum != 0) return Error{"as ordered", errnum, kernel_words};
    auto& half = page.offset < 128 ? lower : page.page == 0 ? page00 : page03;
    const std::size_t first = page.offset % 128;
    const std::size_t size = std::min<std::size_t>(page.length, longest);
    std::vector<std::uint8_t> bytes(half.begin() + static_cast<std::ptrdiff_t>(first),
                                    half.begin() + static_cast<std::ptrdiff_t>(first + size));
    if (page.offset < 128)
      for (std::size_t i = std::max<std::size_t>(first, 3);
           i < std::min<std::size_t>(first + size, 15); ++i)
        half[i] = 0;
    return bytes;
  }
};

class ModuleScheduleTest : public ::testing::Test {
 protected:
  ModuleScheduleTest() { schedule_.set_ports({{"mlx5_0/1", 7}}, now_); }

  /// Makes all reads that are due until `until`.
  void run_until(SteadyTime until) {
    while (now_ <= until) {
      if (const auto read = schedule_.next(now_)) {
        const SteadyTime started = now_;
        const auto answer = modules_[read->port].read(read->page);
        now_ += modules_[read->port].delay;
        schedule_.done(*read, answer, now_ - started, now_, wall());
        continue;
      }
      const auto wake = schedule_.wake_at();
      now_ = wake ? std::max(*wake, now_ + Milliseconds{1}) : until + Milliseconds{1};
    }
    now_ = until;
  }
  /// The first rounds of a module, whose latched flags are not valid yet.
  void run_first_rounds() {
    run_for(5);
    schedule_.collect_rounds();
  }
  /// A new port with a new module.
  void restart() {
    schedule_.set_ports({}, now_);
    schedule_.set_ports({{"mlx5_0/1", 7}}, now_);
    module() = FakeModule();
  }
  void run_for(double seconds) { run_until(now_ + from_seconds(seconds)); }
  ModuleRound only_round() {
    const auto rounds = schedule_.collect_rounds();
    EXPECT_EQ(rounds.size(), 1U);
    return rounds.empty() ? ModuleRound() : rounds.front();
  }
  [[nodiscard]] WallTime wall() const { return WallTime(now_.time_since_epoch()); }
  FakeModule& module() { return modules_["mlx5_0/1"]; }
  std::size_t reads() { return module().reads.size(); }
  std::size_t reads_of(std::uint8_t page) {
    return static_cast<std::size_t>(
        std::count_if(module().reads.begin(), module().reads.end(),
                      [&](const auto& read) { return read.offset >= 128 && read.page == page; }));
  }

  SteadyTime now_ = steady_from_seconds(1000);
  ModuleSchedule schedule_{ModuleTiming{}};
  std::map<PortKey, FakeModule> modules_;
};

}  // namespace linkhealth::testing
