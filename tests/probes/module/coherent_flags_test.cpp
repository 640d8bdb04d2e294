// C-CMIS page 33h: latched flags of a coherent media lane, as page 44h offers them.
#include <gmock/gmock.h>

#include <algorithm>

#include "probes/module/decode.h"
#include "probes/module/read_plan.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::Not;

using Flag = std::optional<bool> CoherentFlags::*;

CoherentFlags decode(const EepromBuilder& b) { return decode_module(b.image()).coherent_flags; }

/// All flags are offered, none is set.
EepromBuilder coherent() {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x14);
  b.page(0x44).byte(128, 0x3f).byte(129, 0xff);
  b.page(0x33).byte(128, 0);
  return b;
}

TEST(CoherentFlags, EachHasItsBit) {
  struct Row {
    unsigned byte, bit;
    Flag flag;
  };
  constexpr Row kRows[] = {
      {128, 5, &CoherentFlags::tx_loss_of_alignment},
      {128, 4, &CoherentFlags::tx_out_of_alignment},
      {128, 3, &CoherentFlags::tx_cmu_lol},
      {128, 2, &CoherentFlags::tx_reference_clock_lol},
      {128, 1, &CoherentFlags::tx_deskew_lol},
      {128, 0, &CoherentFlags::tx_fifo_error},
      {130, 7, &CoherentFlags::rx_loss_of_frame},
      {130, 6, &CoherentFlags::rx_loss_of_multi_frame},
      {130, 5, &CoherentFlags::rx_demodulator_lol},
      {130, 4, &CoherentFlags::rx_dispersion_lol},
      {130, 3, &CoherentFlags::rx_loss_of_alignment},
      {130, 2, &CoherentFlags::rx_out_of_alignment},
      {130, 1, &CoherentFlags::rx_deskew_lol},
      {130, 0, &CoherentFlags::rx_fifo_error},
  };
  for (const Row& set : kRows) {
    auto b = coherent();
    b.page(0x33).byte(set.byte, 1U << set.bit);
    for (const Row& row : kRows)
      EXPECT_EQ(decode(b).*row.flag, row.flag == set.flag) << set.byte << "." << set.bit;
  }
}

TEST(CoherentFlags, ThatAreNotOfferedAreUnknown) {
  auto b = coherent();
  b.page(0x33).byte(128, 0xff).byte(129, 0xff).byte(130, 0xff);
  b.page(0x44).byte(128, 0x08).byte(129, 0x20);
  const CoherentFlags flags = decode(b);
  EXPECT_EQ(flags.tx_cmu_lol, true);
  EXPECT_EQ(flags.rx_demodulator_lol, true);
  EXPECT_EQ(flags.tx_fifo_error, std::nullopt);
  EXPECT_EQ(flags.rx_loss_of_frame, std::nullopt);
  EXPECT_TRUE(decode(b.without(0x44)).empty());
  EXPECT_TRUE(decode(b.without(0x33)).empty());
}

/// A module gives page 00h for one that it does not have: no flags are made of its name.
TEST(CoherentFlags, AreNotReadFromACopyOfPage00h) {
  auto b = coherent();
  for (const std::uint8_t page : {std::uint8_t{0x33}, std::uint8_t{0x44}}) b.without(page);
  ModuleImage image = b.image();
  const auto copy = *image.whole({kModuleAddressA0, 0, 0x00, true});
  const std::vector<std::uint8_t> bytes(copy.begin(), copy.end());
  for (const std::uint8_t page : {std::uint8_t{0x33}, std::uint8_t{0x44}})
    image.store({kModuleAddressA0, 0, page, 128, 128}, bytes);
  EXPECT_TRUE(decode_module(image).coherent_flags.empty());
  image.forget({kModuleAddressA0, 0, 0x33, 128, 128});
  EXPECT_THAT(decode_module(image).warnings, Not(Contains(::testing::HasSubstr("44h"))))
      << "it may lack that page";
  EXPECT_FALSE(identity_is_doubtful(image)) << "nor is that a bad read, to be made again";
}

/// What is offered is read once and whole, so that a copy of another page shows; the flags in each
/// round, and no more than are decoded: a read clears them.
TEST(CoherentFlags, AreReadInEachRoundWhereOffered) {
  ModuleImage image = coherent().image();
  for (const std::uint8_t page : {std::uint8_t{0x33}, std::uint8_t{0x44}})
    image.forget({kModuleAddressA0, 0, page, 128, 128});
  const ModulePageRequest offered{kModuleAddressA0, 0, 0x44, 128, 128},
      flags{kModuleAddressA0, 0, 0x33, 128, 3};
  EXPECT_THAT(next_reads(image, ReadScope::kIdentity), Contains(offered));
  EXPECT_THAT(next_reads(image, ReadScope::kMonitors), Not(Contains(flags)))
      << "nothing is known to be offered";
  std::vector<std::uint8_t> page(128, 0);
  image.store(offered, page);
  EXPECT_THAT(next_reads(image, ReadScope::kMonitors), Not(Contains(flags))) << "none is offered";
  page[1] = 0x20;
  image.store(offered, page);
  EXPECT_THAT(next_reads(image, ReadScope::kMonitors), Contains(flags));
  image.store(flags, std::vector<std::uint8_t>{0, 0, 0x20});
  EXPECT_EQ(decode_module(image).coherent_flags.rx_demodulator_lol, true);
  const ModuleImage next = without_monitors(image);
  EXPECT_THAT(next_reads(next, ReadScope::kMonitors), Contains(flags));
  EXPECT_THAT(next_reads(next, ReadScope::kIdentity), Not(Contains(offered)));
  EXPECT_TRUE(decode_module(next).coherent_flags.empty());
}

TEST(CoherentFlags, OfAModuleThatIsNotCoherentAreNone) {
  auto b = coherent();
  b.page(1).byte(142, 0x04);
  EXPECT_TRUE(decode(b).empty());
  ModuleImage image = b.image();
  image.forget({kModuleAddressA0, 0, 0x44, 128, 128});
  for (const ModulePageRequest& request : next_reads(image, ReadScope::kIdentity))
    EXPECT_NE(request.page, 0x44);
}

}  // namespace
}  // namespace linkhealth
