// What a round says when files run out: each part of a port that was said and is not said any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "probes/peer_import.h"
#include "tests/probes/import_files.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::file_text;
using testing::ManualClock;

/// Files in memory.
class Files final : public ImportDirectory {
 public:
  explicit Files(const std::map<std::string, std::string>& texts) : texts_(texts) {}
  Result<std::vector<std::string>> names() override {
    std::vector<std::string> all;
    for (const auto& [name, text] : texts_) all.push_back(name);
    return all;
  }
  Result<std::string> read(const std::string& name) override { return texts_.at(name); }

 private:
  const std::map<std::string, std::string>& texts_;
};

constexpr const char* kLeafNames = R"("system":"leaf-2","port":"3")";

class ImportExpiry : public ::testing::Test {
 protected:
  void SetUp() override {
    port.id.device = "mlx5_0";
    probe = make_import_probe(std::make_unique<Files>(texts), clock, {});
  }
  /// A file of this port, written now.
  void write(const std::string& name, const std::string& entry, double valid_for_s) {
    texts[name] =
        file_text(format_rfc3339(clock.wall()), "\"mlx5_0/1\":{" + entry + "}", valid_for_s);
  }
  void write_peer(const std::string& name, const std::string& peer, double valid_for_s) {
    write(name, R"("peer":{)" + peer + "}", valid_for_s);
  }
  PeerReading read() { return probe->read({&port, 1}, clock.steady()).back(); }
  std::vector<std::string> gaps() {
    std::vector<std::string> reasons;
    for (const Gap& gap : read().gaps) reasons.push_back(gap.reason);
    return reasons;
  }

  ManualClock clock;
  InventoryPort port;
  std::map<std::string, std::string> texts;
  std::unique_ptr<PeerProbe> probe;
};

/// A part of the far end, beside its names.
struct FarPart {
  const char* name;
  const char* text;
};
class ImportExpiryOf : public ImportExpiry, public ::testing::WithParamInterface<FarPart> {};

TEST_P(ImportExpiryOf, ThePartIsTold) {
  write_peer("names.json", kLeafNames, 600);
  clock.advance(Milliseconds(60'000));
  write_peer("switch.json", kLeafNames + std::string(",") + GetParam().text, 30);
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
  clock.advance(Milliseconds(30'000));
  EXPECT_TRUE(read().peer) << "the names stand";
  EXPECT_THAT(gaps(), ::testing::ElementsAre("switch.json: over its time of validity"));
  write_peer("again.json", kLeafNames + std::string(",") + GetParam().text, 30);
  EXPECT_THAT(gaps(), ::testing::IsEmpty()) << "another file says the same";
}
INSTANTIATE_TEST_SUITE_P(Table, ImportExpiryOf,
                         ::testing::Values(FarPart{"Link", R"("link":{"carrier":true})"},
                                           FarPart{"Counters", R"("counters":{"symbol_error":1})"},
                                           FarPart{"Module",
                                                   R"("module":{"lanes":[{"rx_power_mw":0.5}]})"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(ImportExpiry, NamesThatNobodySaysAnyMoreAreTold) {
  write_peer("link.json", R"("link":{"carrier":true})", 600);
  clock.advance(Milliseconds(1'000));
  write_peer("names.json", kLeafNames, 30);
  clock.advance(Milliseconds(30'000));
  EXPECT_THAT(gaps(), ::testing::ElementsAre("names.json: over its time of validity"));
}

/// The newest that is over said less than the one before it.
TEST_F(ImportExpiry, EachPartHasItsFile) {
  write_peer("light.json", kLeafNames + std::string(R"(,"module":{"temperature_c":48})"), 30);
  clock.advance(Milliseconds(1'000));
  write_peer("names.json", kLeafNames, 30);
  write("own.json", R"("module":{"serial":"A1"})", 30);
  clock.advance(Milliseconds(60'000));
  EXPECT_THAT(gaps(), ::testing::ElementsAre("light.json: over its time of validity",
                                             "names.json: over its time of validity",
                                             "own.json: over its time of validity"));
  write_peer("new.json", kLeafNames, 30);
  EXPECT_THAT(gaps(), ::testing::ElementsAre("light.json: over its time of validity",
                                             "own.json: over its time of validity"));
}

TEST_F(ImportExpiry, AnEmptyPeerSilencesNothing) {
  write_peer("switch.json", kLeafNames, 30);
  clock.advance(Milliseconds(60'000));
  write_peer("empty.json", "", 600);
  EXPECT_FALSE(read().peer);
  EXPECT_THAT(gaps(),
              ::testing::ElementsAre("empty.json: an empty peer says nothing, and is not taken",
                                     "switch.json: over its time of validity"));
}

TEST_F(ImportExpiry, AnEmptyPeerTakesNoReadingAway) {
  write_peer("switch.json", kLeafNames, 600);
  clock.advance(Milliseconds(1'000));
  write_peer("empty.json", R"("source":"fleet","age_s":3)", 600);
  ASSERT_TRUE(read().peer);
  EXPECT_EQ(read().peer->system, "leaf-2");
}

}  // namespace
}  // namespace linkhealth
