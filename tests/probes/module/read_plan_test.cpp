#include "probes/module/read_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/probes/module/planned_reads.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

bool asks_for(const std::vector<ModulePageRequest>& made, std::uint8_t page,
              std::uint8_t bank = 0) {
  return std::any_of(made.begin(), made.end(), [&](const auto& r) {
    return r.page == page && r.bank == bank && r.offset >= 128 && r.i2c_address == kModuleAddressA0;
  });
}

TEST(ReadPlan, BeginsWithTheLowerPage) {
  const auto first = next_reads(ModuleImage{}, ReadScope::kIdentity);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0], (ModulePageRequest{kModuleAddressA0, 0, 0, 0, 128}));
}

TEST(ReadPlan, AnEmptyCageIsAskedOnce) {
  ModuleImage image;
  EXPECT_EQ(read_all(ModuleImage{}, image, ReadScope::kIdentity).size(), 1U);
  ModuleImage floating;
  const std::vector<std::uint8_t> ones(128, 0xff);
  ModuleImage bus;
  bus.store({kModuleAddressA0, 0, 0, 0, 128}, ones);
  EXPECT_EQ(read_all(bus, floating, ReadScope::kIdentity).size(), 1U);
}

TEST(ReadPlan, CmisIdentityThenMonitorsAndNothingTwice) {
  const ModuleImage memory = EepromBuilder::cmis().image();
  ModuleImage image;
  const auto identity = read_all(memory, image, ReadScope::kIdentity);
  EXPECT_EQ(identity.size(), 4U) << "lower, 00h, 01h, 02h";
  const auto monitors = read_all(memory, image, ReadScope::kMonitors);
  EXPECT_TRUE(asks_for(monitors, 0x11));
  EXPECT_FALSE(asks_for(monitors, 0x01));
  EXPECT_TRUE(read_all(memory, image, ReadScope::kMonitors).empty());
  image = without_monitors(image);
  const auto again = read_all(memory, image, ReadScope::kMonitors);
  EXPECT_TRUE(asks_for(again, 0x11));
  EXPECT_FALSE(asks_for(again, 0x00));
  EXPECT_EQ(again.front().length, 48) << "only the part that moves, in one firmware access";
}

TEST(ReadPlan, AFlatModuleIsReadTwicePagesAndNeverAgain) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(2, 0x80);
  ModuleImage image;
  EXPECT_EQ(read_all(b.image(), image, ReadScope::kIdentity).size(), 2U);
  EXPECT_TRUE(next_reads(image, ReadScope::kMonitors).empty());
}

TEST(ReadPlan, VdmOnlyWhereAdvertisedAndUsed) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x44);
  b.page(0x2f).byte(128, 0x01);
  b.page(0x20).byte(128, 0x00).byte(129, 5);
  b.page(0x21).byte(128, 0);
  b.page(0x24).u16(128, 0x1600);
  ModuleImage image;
  read_all(b.image(), image, ReadScope::kIdentity);
  const auto monitors = read_all(b.image(), image, ReadScope::kMonitors);
  EXPECT_TRUE(asks_for(monitors, 0x24));
  EXPECT_FALSE(asks_for(monitors, 0x25)) << "group 2 has no descriptor";
  EXPECT_FALSE(asks_for(monitors, 0x26));
}

TEST(ReadPlan, ThePageOfTunableLasersOnlyWhereThereAreSome) {
  for (const unsigned controls : {0x00U, 0x40U}) {
    auto b = EepromBuilder::cmis();
    b.page(1).byte(155, controls);
    b.page(0x12).byte(231, 0);
    ModuleImage image;
    EXPECT_FALSE(asks_for(read_all(b.image(), image, ReadScope::kIdentity), 0x12));
    EXPECT_EQ(asks_for(read_all(b.image(), image, ReadScope::kMonitors), 0x12), controls != 0);
  }
}

/// The kernel's SFP code, and mlx5 of some kernels, refuse A2h's pages: they are asked once then.
TEST(ReadPlan, ThePageOfATunableSfpOnlyWhereItIsOneAndInEachRoundThatAnswers) {
  constexpr ModulePageRequest kTuning{kModuleAddressA2, 0, 0x02, 128, 45};
  const auto asked = [&kTuning](const ModuleImage& memory, ModuleImage& image) {
    const auto made = read_all(memory, image, ReadScope::kMonitors);
    return std::ranges::count(made, kTuning) != 0;
  };
  for (const bool tunable : {false, true}) {
    for (const bool answers : {false, true}) {
      auto b = EepromBuilder::sff8472();
      b.lower().byte(65, tunable ? 0x5a : 0x1a);
      if (answers) b.a2_tunable().byte(128, 0x02);
      ModuleImage image;
      const auto identity = read_all(b.image(), image, ReadScope::kIdentity);
      EXPECT_EQ(std::ranges::count(identity, kTuning), 0);
      EXPECT_EQ(asked(b.image(), image), tunable);
      image = without_monitors(image);
      EXPECT_EQ(asked(b.image(), image), tunable && answers);
    }
  }
  auto empty = EepromBuilder::sff8472();
  empty.lower().byte(65, 0x5a);
  empty.a2_tunable().fill(128, 128, 0xff);
  EXPECT_FALSE(identity_is_doubtful(empty.image())) << "what moves is no part of who it is";
}

/// Every page that the plan knows: what never moves is read once, however many rounds follow.
TEST(ReadPlan, WhatDoesNotMoveIsReadOnceAndWhatMovesOnceARound) {
  auto cmis = EepromBuilder::cmis();
  cmis.page(1).byte(142, 0x74).byte(155, 0x40);
  cmis.page(0x12).byte(231, 0x02);
  cmis.page(0x2f).byte(128, 0x00);
  cmis.page(0x20).byte(128, 0x00).byte(129, 5);
  cmis.page(0x24).u16(128, 0x1600);
  cmis.page(0x28).limits(128, 0x3000, 0x1000, 0x2800, 0x1200);
  cmis.page(0x2c).byte(128, 0);
  cmis.page(0x33).byte(128, 0);
  cmis.page(0x34).byte(128, 0);
  cmis.page(0x35).byte(128, 1);
  cmis.page(0x44).byte(128, 0x3f);
  auto qsfp = EepromBuilder::sff8636();
  qsfp.lower().byte(2, 0);
  qsfp.page(0).byte(195, 0x0b);
  qsfp.page(0x03).byte(128, 1);
  qsfp.page(0x20).byte(128, 1);
  qsfp.page(0x21).byte(128, 1);
  struct Case {
    EepromBuilder memory;
    std::set<std::uint8_t> still, moving;
  };
  for (const auto& [memory, still, moving] :
       {Case{cmis,
             {0x00, 0x01, 0x02, 0x20, 0x28, 0x44},
             {0x10, 0x11, 0x12, 0x24, 0x2c, 0x33, 0x34, 0x35}},
        Case{qsfp, {0x00, 0x03, 0x21}, {0x20}}}) {
    const ModuleImage bytes = memory.image();
    ModuleImage image;
    const auto identity = read_all(bytes, image, ReadScope::kIdentity);
    for (const std::uint8_t page : still) EXPECT_TRUE(asks_for(identity, page)) << unsigned{page};
    for (int round = 0; round < 5; ++round) {
      const auto made = read_all(bytes, image, ReadScope::kMonitors);
      for (const std::uint8_t page : still) EXPECT_FALSE(asks_for(made, page)) << unsigned{page};
      for (const std::uint8_t page : moving)
        EXPECT_EQ(std::count_if(made.begin(), made.end(),
                                [&](const auto& r) { return r.offset >= 128 && r.page == page; }),
                  1)
            << "page " << unsigned{page} << ", round " << round;
      EXPECT_TRUE(read_all(bytes, image, ReadScope::kIdentity).empty());
      image = without_monitors(image);
    }
  }
}

TEST(ReadPlan, AVdmControlPageThatIsPage00StartsNoVdm) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x44);
  ModuleImage memory = b.image();
  memory.store({kModuleAddressA0, 0, 0x2f, 128, 128},
               *memory.whole({kModuleAddressA0, 0, 0, true}));
  ModuleImage image;
  const auto made = read_all(memory, image, ReadScope::kIdentity);
  EXPECT_TRUE(asks_for(made, 0x2f));
  EXPECT_FALSE(asks_for(made, 0x20));
}

TEST(ReadPlan, EveryBankOfLanes) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x06);
  ModuleImage image;
  read_all(b.image(), image, ReadScope::kIdentity);
  const auto monitors = read_all(b.image(), image, ReadScope::kMonitors);
  for (std::uint8_t bank = 0; bank < 4; ++bank) EXPECT_TRUE(asks_for(monitors, 0x11, bank));
  EXPECT_FALSE(asks_for(monitors, 0x11, 4));
}

TEST(ReadPlan, APageThatIsNotThereStaysNotThereInTheNextRound) {
  auto b = EepromBuilder::cmis();
  const ModuleImage memory = b.without(0x10).image();
  ModuleImage image;
  read_all(memory, image, ReadScope::kIdentity);
  EXPECT_TRUE(asks_for(read_all(memory, image, ReadScope::kMonitors), 0x10));
  image = without_monitors(image);
  EXPECT_FALSE(asks_for(read_all(memory, image, ReadScope::kMonitors), 0x10));
}

/// 14h:132 to 149 are cleared by reading and belong to who tests the line; 192 to 255 hold ratios
/// only while somebody has selected them.
TEST(ReadPlan, FlagsOfPatternTestsAreLeftToWhoRunsThem) {
  for (const unsigned selector : {0x00U, 0x01U, 0x06U}) {
    auto b = EepromBuilder::cmis();
    b.page(1).byte(142, 0x25);
    for (const std::uint8_t bank : {std::uint8_t{0}, std::uint8_t{1}})
      b.page(0x14, bank).byte(128, selector).byte(132, 0xff).byte(255, 1);
    ModuleImage image;
    read_all(b.image(), image, ReadScope::kIdentity);
    for (int round = 0; round < 2; ++round) {
      std::vector<ModulePageRequest> made;
      for (const ModulePageRequest& request : read_all(b.image(), image, ReadScope::kMonitors))
        if (request.page == 0x14) made.push_back(request);
      for (const ModulePageRequest& request : made)
        EXPECT_TRUE(request.offset + request.length <= 132 || request.offset >= 150)
            << unsigned{request.offset};
      EXPECT_EQ(made.size(), selector == 0x06 ? 4U : 2U) << "of two banks";
      image = without_monitors(image);
    }
  }
}

TEST(ReadPlan, A2OnlyWhereDdmIsImplemented) {
  auto with = EepromBuilder::sff8472();
  ModuleImage image;
  const auto identity = read_all(with.image(), image, ReadScope::kIdentity);
  ASSERT_EQ(identity.size(), 2U);
  EXPECT_EQ(identity[1], (ModulePageRequest{kModuleAddressA2, 0, 0, 0, 96}));
  const auto monitors = read_all(with.image(), image, ReadScope::kMonitors);
  ASSERT_EQ(monitors.size(), 1U);
  EXPECT_EQ(monitors[0].offset, 96);
  for (const unsigned type : {0x00U, 0x6cU}) {  // none; address change required
    auto none = EepromBuilder::sff8472();
    none.lower().byte(92, type);
    ModuleImage bare;
    EXPECT_EQ(read_all(none.image(), bare, ReadScope::kIdentity).size(), 1U);
    EXPECT_TRUE(next_reads(bare, ReadScope::kMonitors).empty());
  }
}

TEST(ReadPlan, NoLimitsOfFlatOrCopperQsfp) {
  auto flat = EepromBuilder::sff8636();
  flat.lower().byte(2, 0x04);
  ModuleImage image;
  EXPECT_FALSE(asks_for(read_all(flat.image(), image, ReadScope::kIdentity), 0x03));
  auto copper = EepromBuilder::sff8636();
  copper.page(0).byte(147, 0xa0).byte(220, 0);
  ModuleImage cable;
  EXPECT_FALSE(asks_for(read_all(copper.image(), cable, ReadScope::kIdentity), 0x03));
  EXPECT_TRUE(next_reads(cable, ReadScope::kMonitors).empty());
}

TEST(ReadPlan, KnowsWhatTellsOneModuleFromTheNext) {
  EXPECT_FALSE(proof_request(ModuleImage{}));
  const auto sees = [](const ModuleImage& image, unsigned first, unsigned last) {
    const auto proof = proof_request(image);
    return proof && proof->length <= 48 && proof->offset <= first &&
           proof->offset + proof->length > last;
  };
  EXPECT_TRUE(sees(EepromBuilder::cmis().image(), 148, 181));
  EXPECT_TRUE(sees(EepromBuilder::sff8636().image(), 168, 211));
  EXPECT_TRUE(sees(EepromBuilder::sff8472().image(), 40, 83));
  ModuleImage unread;
  unread.store({kModuleAddressA0, 0, 0, 0, 128}, std::vector<std::uint8_t>(128, 0x11));
  EXPECT_EQ(proof_request(unread), (ModulePageRequest{kModuleAddressA0, 0, 0, 0, 2}));
}

}  // namespace
}  // namespace linkhealth
