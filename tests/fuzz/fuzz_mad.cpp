// Any bytes as answers of a far end: the checks and decoders neither overrun nor give a number that
// its field cannot hold, text stays printable, and a whole round over such answers never sets
// anything.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "probes/mad_questions.h"

namespace {

using namespace linkhealth;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Hands out the input piece by piece; by its first byte, an answer's header is put right:
/// otherwise almost nothing gets past it.
class FuzzPort final : public MadPort {
 public:
  explicit FuzzPort(std::span<const std::uint8_t> input) : input_(input) {}
  Result<std::vector<std::uint8_t>> ask(std::uint16_t, const Mad& request, Milliseconds,
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
  std::span<const std::uint8_t> input_;
};

void check(const PeerAnswer& answer) {
  if (!answer.peer) return require(!answer.reasons.empty());
  for (const char c : answer.peer->system) require(c >= ' ' && c <= '~');
  require(answer.peer->guid.size() == 19);
  if (!answer.peer->counters) return;
  require(answer.peer->counters->other().empty());
  require(answer.peer->counters->get("VL15_dropped").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzPort port({data, size});
  const MadTiming timing;
  std::uint32_t transaction = 0;
  KnownPeer known;
  for (int round = 0; round < 2; ++round) {
    MadTalk talk(port, timing, transaction);
    check(ask_peer(talk, 1, timing, known, SteadyTime()));
    require(talk.mads() <= 8);
  }
  return 0;
}
