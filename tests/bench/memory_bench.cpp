// What the memory costs: a day of a node with ten ports of four lanes, written as the daemon writes it.
//   bench_memory [PORTS]      prints ms and CPU a transaction, bytes a value, size of a day, RSS
// Goals (docs/adr/0007-memory.md): 0.2 ms a transaction and 3 bytes a value at ten ports, 100 MB for all that is kept.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "model/signal_blob.h"
#include "storage/memory.h"

namespace {

using namespace linkhealth;
namespace fs = std::filesystem;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double rss_mb() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// All that a 400G-DR4 port with a telling far end gives, moving as it moves.
SignalValues values_of(std::mt19937& random, std::int64_t at_s) {
  const auto noise = [&random](double size) { return size * (static_cast<double>(random() % 2001) / 1000 - 1); };
  SignalValues values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Signal::kRxPowerLane1); ++i) values[i] = 0;
  values[Signal::kCarrierUp] = 1;
  values[Signal::kSpeed] = 400'000;
  values[Signal::kPreFecBer] = 2e-8 * std::exp(noise(0.1));
  values[Signal::kCorrectedBits] = std::floor(85'000 + noise(2000));
  values[Signal::kRxTraffic] = 300'000 + noise(50'000);
  values[Signal::kTxTraffic] = 300'000 + noise(50'000);
  values[Signal::kCongestionMarks] = std::floor(2000 + noise(1900));
  values[Signal::kNicTemperature] = 62 + noise(1);
  if (at_s % 30 != 0) {  // modules are read each 30 s
    for (std::size_t i = static_cast<std::size_t>(Signal::kRxPower);
         i <= static_cast<std::size_t>(Signal::kFarTemperature); ++i)
      values[i] = kUnknownValue;
    return values;
  }
  for (std::size_t lane = 0; lane < 4; ++lane) {
    values[static_cast<std::size_t>(Signal::kRxPowerLane1) + lane] =
        -1.2 - 0.3 * static_cast<double>(lane) + noise(0.05);
    values[static_cast<std::size_t>(Signal::kTxPowerLane1) + lane] =
        1.1 + 0.2 * static_cast<double>(lane) + noise(0.03);
    values[static_cast<std::size_t>(Signal::kTxBiasLane1) + lane] = 74 - static_cast<double>(lane) + noise(0.1);
  }
  values[Signal::kRxPower] = -2.1 + noise(0.05);
  values[Signal::kTxPower] = 1.1 + noise(0.03);
  values[Signal::kTxBias] = 74 + noise(0.1);
  values[Signal::kTemperature] = 51 + noise(1);
  values[Signal::kSupply] = 3.29 + noise(0.005);
  values[Signal::kMediaEsnr] = 22 + noise(0.3);
  values[Signal::kFarRxPower] = -1.9 + noise(0.05);
  values[Signal::kFarTxPower] = 1.2 + noise(0.03);
  values[Signal::kFarTemperature] = 48 + noise(1);
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  const int ports = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  constexpr std::int64_t kStart_s = 1'763'640'000;
  constexpr int kSteps = 8640;
  std::string folder = (fs::temp_directory_path() / "linkhealth-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  MemorySettings settings;
  settings.directory = folder;
  settings.max_bytes = 1'000'000'000;
  const double rss_before = rss_mb();
  auto memory = Memory::open(settings, WallTime(std::chrono::seconds(kStart_s)));
  std::mt19937 random(1);
  std::vector<double> ms;
  std::uint64_t value_count = 0, row_bytes = 0;
  double cpu_s = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t at_s = kStart_s + step * 10;
    MemoryBatch batch;
    batch.now = WallTime(std::chrono::seconds(at_s));
    for (int port = 0; port < ports; ++port) {
      batch.rows.push_back({"0000:" + std::to_string(port) + ":00.0/1", 10, at_s, values_of(random, at_s)});
      row_bytes += signal_blob(batch.rows.back().values).size();
      for (std::size_t i = 0; i < kSignalCount; ++i) value_count += std::isnan(batch.rows.back().values[i]) ? 0 : 1;
    }
    const double cpu_before = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    if (const auto written = memory->write(std::move(batch)); !written) {
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 1;
    }
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    cpu_s += cpu_seconds() - cpu_before;
  }
  const double rss_after = rss_mb();
  const auto begin = std::chrono::steady_clock::now();
  const auto past =
      memory->past({"0000:0:00.0/1", WallTime(std::chrono::seconds(kStart_s + kSteps * 10 - 1)), 20'000, 10U});
  const double query_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  memory->close();
  const auto size = static_cast<double>(fs::file_size(folder + "/linkhealth.db"));
  const auto check = std::chrono::steady_clock::now();
  const auto again = Memory::open(settings, WallTime(std::chrono::seconds(kStart_s + kSteps * 10)));
  const double open_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - check).count();
  std::sort(ms.begin(), ms.end());
  double sum = 0;
  for (const double each : ms) sum += each;
  std::printf("%d ports, %d transactions: mean %.3f ms, median %.3f, p99 %.2f, worst %.1f; CPU %.0f us each\n", ports,
              kSteps, sum / kSteps, ms[kSteps / 2], ms[kSteps * 99 / 100], ms.back(), cpu_s / kSteps * 1e6);
  std::printf(
      "a day: %.1f MB in the file (with its 60 s and 10 min steps), %.1f values a row, packed %.2f bytes a value, "
      "in the file %.2f\n",
      size / 1e6, static_cast<double>(value_count) / (static_cast<double>(kSteps) * ports),
      static_cast<double>(row_bytes) / static_cast<double>(value_count), size / static_cast<double>(value_count));
  std::printf(
      "RSS %+.1f MB for the open database; %zu steps of a port read in %.1f ms; opened and checked in %.0f ms\n",
      rss_after - rss_before, past ? past->at.size() : 0, query_ms, open_ms);
  fs::remove_all(folder);
  return 0;
}
