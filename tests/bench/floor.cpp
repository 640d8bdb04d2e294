// The least that such an exporter can cost on this machine: files kept open, each read at each scrape, all of them in
// as few calls as the kernel takes and without a look at their access times, the text written by hand, compressed and
// sent. It judges nothing, remembers nothing and serves one connection at a time.
//   bench_floor PORT SYSROOT
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/gzip.h"
#include "probes/batched_reads.h"
#include "probes/live_host.h"

namespace linkhealth {
namespace {

struct Series {
  int file = -1;
  std::string name;  ///< with its labels and the blank before the value
};

constexpr std::size_t kLongest = 64;

std::vector<Series> find_series(const std::filesystem::path& sysroot) {
  std::vector<Series> found;
  const auto add = [&](const std::filesystem::path& file, const std::string& labels) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOATIME);  // as Sysroot does
    if (descriptor < 0) return;
    found.push_back({descriptor, "floor_total{" + labels + ",counter=\"" + file.filename().string() + "\"} "});
  };
  for (const auto& device : std::filesystem::directory_iterator(sysroot / "sys/class/infiniband"))
    for (const auto& port : std::filesystem::directory_iterator(device.path() / "ports")) {
      const std::string labels =
          "device=\"" + device.path().filename().string() + "\",port=\"" + port.path().filename().string() + "\"";
      for (const char* file : {"state", "phys_state", "rate"}) add(port.path() / file, labels);
      for (const auto& file : std::filesystem::directory_iterator(port.path() / "counters")) add(file.path(), labels);
    }
  return found;
}

/// The first kLongest bytes of each file, one behind the other.
void read_all(const std::vector<Series>& all, BatchedReads& batches, std::vector<char>& texts) {
  texts.resize(all.size() * kLongest);
  for (std::size_t done = 0; done < all.size();) {
    std::array<DescriptorRead, BatchedReads::kAtOnce> reads;
    const std::size_t count = std::min(reads.size(), all.size() - done);
    for (std::size_t i = 0; i < count; ++i)
      reads[i] = {all[done + i].file, std::span(texts).subspan((done + i) * kLongest, kLongest), 0};
    std::size_t made = batches.read(std::span(reads).first(count));
    if (made == 0) {
      reads[0].got = pread(reads[0].fd, reads[0].buffer.data(), kLongest, 0);
      made = 1;
    }
    for (std::size_t i = 0; i < made; ++i)
      reads[i].buffer[static_cast<std::size_t>(std::clamp<std::int64_t>(reads[i].got, 0, kLongest - 1))] = '\0';
    done += made;
  }
}

/// Numbers only, as both exporters give them: "4: ACTIVE" is 4.
void write_page(const std::vector<Series>& all, const std::vector<char>& texts, std::string& page) {
  page.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const char* const begin = texts.data() + i * kLongest;
    std::uint64_t value = 0;
    if (std::from_chars(begin, begin + kLongest, value).ec != std::errc()) continue;
    std::array<char, 24> digits;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    page.append(all[i].name).append(digits.data(), end).push_back('\n');
  }
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

int run(std::uint16_t port, const char* sysroot) {
  allow_many_open_files();
  const std::vector<Series> all = find_series(sysroot);
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(server, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 || listen(server, 4) != 0) {
    std::perror("bench_floor");
    return 1;
  }
  Gzip gzip;
  BatchedReads batches;
  std::vector<char> texts;
  std::string page;
  for (int connection = 0; (connection = accept(server, nullptr, nullptr)) >= 0; close(connection)) {
    char request[4096];  // one request at a time, in one piece
    while (recv(connection, request, sizeof request, 0) > 0) {
      read_all(all, batches, texts);
      write_page(all, texts, page);
      const std::string body = gzip.compress(page);
      if (!send_all(connection, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                                    std::to_string(body.size()) + "\r\n\r\n" + body))
        break;
    }
  }
  return 0;
}

}  // namespace
}  // namespace linkhealth

int main(int count, char** arguments) {
  if (count != 3) return 2;
  return linkhealth::run(static_cast<std::uint16_t>(std::atoi(arguments[1])), arguments[2]);
}
