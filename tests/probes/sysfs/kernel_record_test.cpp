#include "probes/sysfs/kernel_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KernelRecord, HasTimeTextAndDevice) {
  const auto record = parse_kernel_record(
      "4,1234,5678901,-;mlx5_core 0000:1b:00.0: Port module event: module 0, Cable unplugged\n "
      "SUBSYSTEM=pci\n "
      "DEVICE=+pci:0000:1b:00.0\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->facility, 0U);
  EXPECT_EQ(record->t, SteadyTime(Milliseconds(5678)));
  EXPECT_EQ(record->text, "mlx5_core 0000:1b:00.0: Port module event: module 0, Cable unplugged");
  EXPECT_EQ(record->device, "+pci:0000:1b:00.0");
  const auto newer = parse_kernel_record("12,7,99,c,caller=T1;newer kernels append fields");
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->facility, 1U);
  EXPECT_EQ(newer->text, "newer kernels append fields");
}

TEST(KernelRecord, TextIsMadeHarmless) {
  const auto record = parse_kernel_record("6,1,1,-;a\\x5cb \\x1b[31m \xff \\xzz \\x4\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "a\\b ?[31m ? \\xzz \\x4");
  EXPECT_LE(parse_kernel_record("6,1,1,-;" + std::string(9000, 'x'))->text.size(), 1000U);
}

TEST(KernelRecord, DamageIsRefused) {
  for (const char* bytes :
       {"", ";", "6,1,1;x", "x,1,1,-;x", "6,x,1,-;x", "6,1,x,-;x", "6,1,1,-", "-1,1,1,-;x",
        "6,1,99999999999999999999,-;x", "6,1,9999999999999999,-;x", "99999999,1,1,-;x"})
    EXPECT_FALSE(parse_kernel_record(bytes)) << bytes;
}

TEST(KernelRecord, PciAddressesAreFoundAsWords) {
  EXPECT_THAT(
      pci_addresses_in("pcieport 0000:00:1c.0: AER: Corrected error received: 10000:1b:00.7"),
      ElementsAre("0000:00:1c.0", "10000:1b:00.7"));
  EXPECT_THAT(pci_addresses_in("/sys/devices/pci0000:00/0000:00:1c.0/0000:1b:00.0"),
              ElementsAre("0000:00:1c.0", "0000:1b:00.0"));
  EXPECT_THAT(pci_addresses_in("0000:1b:00.8 x0000:1b:00.0 000:1b:00.0 0000:1b:00 0000:1b:00."),
              IsEmpty());
}

TEST(KernelRecord, AWordIsNotPartOfAnother) {
  EXPECT_TRUE(has_word("mlx5_core 0000:1b:00.0 so1: Link down", "so1"));
  EXPECT_TRUE(has_word("NETDEV WATCHDOG: eth0 (mlx5_core): transmit", "eth0"));
  EXPECT_TRUE(has_word("so1", "so1"));
  EXPECT_FALSE(has_word("so10: Link down, so1.5 and xso1", "so1"));
  EXPECT_FALSE(has_word("anything", ""));
}

}  // namespace
}  // namespace linkhealth
