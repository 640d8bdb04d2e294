// Any bytes as answers of a far end: a whole round over them neither overruns nor sets anything,
// and its text stays printable.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "probes/peer/peer_mad.h"

namespace {

using namespace linkhealth;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Answers with the input piece by piece. A piece's first byte chooses whether the answer's header
/// is made valid: otherwise almost nothing gets past it.
class FuzzPort final : public MadPort {
 public:
  explicit FuzzPort(std::span<const std::uint8_t>& input) : input_(input) {}
  Result<std::vector<std::uint8_t>> exchange(std::uint16_t, const Mad& request, Milliseconds,
                                             int) override {
    require(request[3] == 0x01);
    if (input_.empty()) return errno_error("no answer", 110);
    const std::uint8_t how = input_.front();
    input_ = input_.subspan(1);
    const std::size_t size = std::min<std::size_t>(input_.size(), how % 4 == 3 ? how : kMadSize);
    std::vector<std::uint8_t> bytes(input_.begin(),
                                    input_.begin() + static_cast<std::ptrdiff_t>(size));
    input_ = input_.subspan(size);
    if (how % 4 == 3) return bytes;
    bytes.resize(kMadSize);
    const std::array<std::uint8_t, 2> status{bytes[4], bytes[5]};
    std::copy_n(request.begin(), 24, bytes.begin());
    if ((how & 0x40U) != 0) std::ranges::copy(status, bytes.begin() + 4);  // the other side's error
    bytes[3] = 0x81;
    if (how % 2 == 1) bytes[65] = request[65];
    return bytes;
  }

 private:
  std::span<const std::uint8_t>& input_;
};

void check(const PeerReading& reading) {
  if (!reading.peer) return require(!reading.gaps.empty());
  for (const char c : reading.peer->system) require(c >= ' ' && c <= '~');
  require(reading.peer->guid.size() == 19);
  if (!reading.peer->counters) return;
  require(reading.peer->counters->other().empty());
  require(reading.peer->counters->get("VL15_dropped").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> input(data, size);
  const auto probe = make_mad_probe(
      {}, [&](const std::string&, std::uint32_t) -> Result<std::unique_ptr<MadPort>> {
        return std::unique_ptr<MadPort>(std::make_unique<FuzzPort>(input));
      });
  InventoryPort port;
  port.id.device = "mlx5_0";
  port.id.port = 1;
  port.id.link_layer = "InfiniBand";
  SteadyTime now;
  for (int round = 0; round < 2; ++round) {
    now = std::max(now, probe->next_due(now));
    for (const PeerReading& reading : probe->read({&port, 1}, now)) check(reading);
  }
  return 0;
}
