// Latched flags that no rule judges: a read clears them, so that they are kept by name.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/probes/module/planned_reads.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::string label(const std::string& name, const std::optional<std::uint32_t>& lane) {
  return lane ? name + " " + std::to_string(*lane) : name;
}

/// Those that are set.
std::vector<std::string> set_of(const ModuleImage& image) {
  const ModuleSample m = decode_module(image);
  std::vector<std::string> out;
  for (const OtherFlag& flag : m.other_flags) out.push_back(label(flag.name, flag.lane));
  return out;
}

/// All that are told of, set or not.
std::vector<std::string> told_of(const ModuleImage& image) {
  std::vector<std::string> out;
  for (const OtherFlag& flag : decode_with_unset_flags(image).other_flags)
    out.push_back(label(flag.name, flag.lane));
  return out;
}

TEST(OtherFlags, CdbCommandsThatEndedAreOfTheInstancesThatThereAre) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(8, 0xc0);
  EXPECT_THAT(set_of(b.image()), IsEmpty()) << "it has no CDB";
  b.page(1).byte(163, 0x40);
  EXPECT_THAT(set_of(b.image()), ElementsAre("cdb_1_complete"));
  b.page(1).byte(163, 0x80);
  EXPECT_THAT(set_of(b.image()), ElementsAre("cdb_1_complete", "cdb_2_complete"));
  b.lower().byte(8, 0x80);
  EXPECT_THAT(set_of(b.image()), ElementsAre("cdb_2_complete"));
  EXPECT_THAT(told_of(b.image()), Contains("cdb_1_complete")) << "not set, which is known";
}

TEST(OtherFlags, AMakersByteHasEightAndAllOnesAreNone) {
  auto cmis = EepromBuilder::cmis();
  cmis.lower().byte(13, 0x81);
  EXPECT_THAT(set_of(cmis.image()), ElementsAre("custom_flag_13_0", "custom_flag_13_7"));
  EXPECT_THAT(set_of(cmis.byte(13, 0xff).image()), IsEmpty());
  auto qsfp = EepromBuilder::sff8636();
  qsfp.lower().byte(8, 0x02).byte(19, 0x01).byte(20, 0x10).byte(21, 0x80);
  EXPECT_THAT(set_of(qsfp.image()), ElementsAre("custom_flag_8_1", "custom_flag_19_0",
                                                "custom_flag_20_4", "custom_flag_21_7"));
}

/// SFF-8636 table 6-6: each of the two where page 00h offers it.
TEST(OtherFlags, AQsfpSaysThatItHasStarted) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(6, 0x03);
  EXPECT_THAT(set_of(b.image()), IsEmpty());
  b.page(0).byte(221, 0x10);
  EXPECT_THAT(set_of(b.image()), ElementsAre("initialization_complete"));
  b.page(0).byte(221, 0x02);
  EXPECT_THAT(set_of(b.image()), ElementsAre("tc_ready"));
}

TEST(OtherFlags, ATunedLaserIsOfItsLaneAndALaneThatIsNotInUseHasNone) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(155, 0x40);
  b.page(0x12).u16(168, 193'100'000U >> 16U).fill(231, 8, 0x3e).byte(233, 0x01);
  EXPECT_THAT(set_of(b.image()), ElementsAre("laser_tuning_complete 3"));
  EXPECT_THAT(told_of(b.image()), Contains("laser_tuning_complete 4"));
  b.page(0x11).fill(206 + 4, 4, 0).byte(130, 0x11).byte(131, 0x11);
  EXPECT_THAT(told_of(b.image()), Not(Contains("laser_tuning_complete 3")))
      << "its other half is not used";
  EXPECT_THAT(set_of(b.image()), Contains("unused_laser_tuning_complete 3"));
  EXPECT_THAT(set_of(b.image()), Contains("unused_laser_channel_invalid 4"));
  EXPECT_THAT(told_of(b.image()), Contains("laser_tuning_complete 1"));
}

/// Nothing runs over it, so that no lane tells them; the read has cleared them.
TEST(OtherFlags, OfALaneThatIsNotInUseAreKeptAsSuch) {
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(135, 0x04).byte(147, 0x09).byte(148, 0x04).byte(139, 0x04).byte(144, 0x08).byte(
      152, 0x04);
  EXPECT_THAT(told_of(b.image()), Not(Contains(::testing::HasSubstr("unused"))));
  b.page(0x11).fill(206 + 4, 4, 0).byte(130, 0x11).byte(131, 0x11);
  const ModuleSample m = decode_module(b.image());
  EXPECT_EQ(m.lanes.at(2), ModuleLane{});
  EXPECT_EQ(m.lanes.at(0).rx_los, true);
  EXPECT_THAT(set_of(b.image()),
              UnorderedElementsAre("unused_tx_fault 3", "unused_rx_los 4", "unused_rx_lol 3",
                                   "unused_tx_power_high_alarm 3", "unused_tx_bias_low_alarm 4",
                                   "unused_rx_power_low_warn 3"));
}

/// SFF-8690 table 5-8, each where it means anything.
TEST(OtherFlags, OfATunableSfp) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0x14).byte(65, 0x5a).u16(60, 1548);
  b.a2_tunable().u16(132, 191).u16(134, 3500).u16(136, 196).u16(138, 1000).u16(140, 500).u16(144,
                                                                                             36);
  b.byte(128, 0x1f).byte(172, 0xff);
  EXPECT_THAT(set_of(b.image()), ElementsAre("laser_self_tuning 1", "laser_new_channel 1"));
  b.a2_tunable().byte(128, 0x00);
  EXPECT_THAT(set_of(b.image()), ElementsAre("laser_dither_not_supported 1"));
  b.a2_tunable().byte(172, 0x00);
  EXPECT_THAT(set_of(b.image()), IsEmpty());
}

/// CMIS 5.4 table 8-163, of each host lane; the daemon reads that page of a module that has it.
TEST(OtherFlags, NetworkPathsThatChangedAreReadWhereThereAreAny) {
  auto b = EepromBuilder::cmis();
  b.page(0x17).byte(128, 0x82).byte(192, 0xff);
  EXPECT_THAT(set_of(b.image()), IsEmpty()) << "it has no network paths";
  b.page(1).byte(142, 0x84);
  EXPECT_THAT(set_of(b.image()), IsEmpty()) << "the bit came with CMIS 5.1";
  b.lower().byte(1, 0x51);
  EXPECT_THAT(set_of(b.image()),
              ElementsAre("host_network_path_changed 2", "host_network_path_changed 8"));
  const ModuleImage memory = b.image();
  ModuleImage image;
  read_all(memory, image, ReadScope::kIdentity);
  EXPECT_THAT(read_all(memory, image, ReadScope::kMonitors),
              Contains(ModulePageRequest{kModuleAddressA0, 0, 0x17, 128, 128}));
  EXPECT_THAT(set_of(as_read(memory, 2)),
              ElementsAre("host_network_path_changed 2", "host_network_path_changed 8"));
}

/// CMIS 5.4 table 8-138, of a dump. The daemon's reads leave them in the module.
TEST(OtherFlags, OfPatternTestsAreOfADumpOnly) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x24);
  b.page(0x13).byte(128, 0x30).byte(131, 0x55);
  b.page(0x14).byte(128, 0x01).byte(132, 0x80).byte(134, 0x01).byte(135, 0x02).byte(136, 0x04).byte(
      137, 0x08);
  b.byte(138, 0x80).byte(139, 0x01);
  EXPECT_THAT(set_of(b.image()),
              UnorderedElementsAre("pattern_reference_clock_lost", "host_pattern_generator_lol 3",
                                   "media_pattern_generator_lol 4", "host_pattern_checker_lol 8",
                                   "media_pattern_checker_lol 1"));
  b.page(0x13).byte(129, 0x40);
  EXPECT_THAT(set_of(b.image()), Contains("host_pattern_gating_complete 1"));
  EXPECT_THAT(set_of(b.image()), Contains("media_pattern_gating_complete 2"));
  b.page(0x13).byte(131, 0x00);
  EXPECT_THAT(set_of(b.image()), ElementsAre("pattern_reference_clock_lost"));
  EXPECT_THAT(set_of(as_read(b.image(), 2)), IsEmpty());
}

/// A plug that sends back what comes has no media lanes for us, and its flags are cleared all the
/// same.
TEST(OtherFlags, OfAModuleWithoutMediaLanesAreKept) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(85, 0x04).byte(87, 0xbf);
  b.page(0x11).byte(135, 0x01).byte(147, 0x02).byte(148, 0x10);
  EXPECT_THAT(decode_module(b.image()).lanes, IsEmpty());
  EXPECT_THAT(set_of(b.image()),
              UnorderedElementsAre("media_tx_fault 1", "media_rx_los 2", "media_rx_lol 5"));
  b.page(1).byte(158, 0x00);
  EXPECT_THAT(set_of(b.image()), ElementsAre("media_tx_fault 1"));
}

/// What a copper cable means by light its maker knows.
TEST(OtherFlags, OfLightThatACopperCableHasNot) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(85, 0x03);
  b.page(0).byte(212, 0x0c);
  b.page(0x11).byte(140, 0x01).byte(143, 0x02).byte(152, 0x08);
  EXPECT_THAT(set_of(b.image()),
              ElementsAre("media_tx_power_low_alarm 1", "media_tx_bias_high_alarm 2",
                          "media_rx_power_low_warn 4"));
  b.page(1).byte(160, 0x00);
  EXPECT_THAT(set_of(b.image()), IsEmpty());
  auto optical = EepromBuilder::cmis();
  optical.page(0x11).byte(140, 0x01);
  EXPECT_THAT(set_of(optical.image()), IsEmpty()) << "its lanes say that";
}

/// A cable that measures its temperature is read each round.
TEST(OtherFlags, OfAPassiveCable) {
  auto b = EepromBuilder::sff8636();
  b.page(0).byte(130, 0x21).byte(147, 0xa0).byte(220, 0x20).byte(221, 0x10);
  b.lower().byte(6, 0x01).byte(8, 0x04).byte(3, 0x24).byte(5, 0x08).byte(10, 0x81).byte(14, 0x40);
  EXPECT_THAT(
      set_of(b.image()),
      ElementsAre("initialization_complete", "custom_flag_8_2", "media_rx_los 3", "host_tx_los 2",
                  "media_rx_lol 4", "media_rx_power_high_alarm 3", "media_rx_power_low_warn 4"));
  b.page(0).byte(130, 0x23).byte(147, 0xc0).byte(220, 0x24);
  EXPECT_THAT(
      set_of(b.image()),
      ElementsAre("initialization_complete", "custom_flag_8_2", "media_rx_power_high_alarm 3",
                  "media_rx_power_low_warn 4", "media_tx_power_low_alarm 3"))
      << "an active cable's lanes say the losses";
  EXPECT_EQ(decode_module(b.image()).lanes.at(2).rx_los, true);
}

/// Lanes' flags are asked for when the lanes' states are there, and stay in the module else.
TEST(OtherFlags, OfLanesWhoseStatesDoNotAnswerAreNotRead) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(1, 0x51);
  b.page(1).byte(142, 0x84).byte(155, 0x40);
  b.page(0x12).byte(231, 0x03);
  b.page(0x17).byte(128, 0x01);
  const auto pages = [](const std::vector<ModulePageRequest>& requests) {
    std::vector<unsigned> out;
    for (const ModulePageRequest& request : requests) out.push_back(request.page);
    return out;
  };
  ModuleImage image;
  read_all(b.image(), image, ReadScope::kIdentity);
  EXPECT_THAT(pages(read_all(b.image(), image, ReadScope::kMonitors)),
              AllOf(Contains(0x12U), Contains(0x17U)));
  b.without(0x11);
  ModuleImage silent;
  read_all(b.image(), silent, ReadScope::kIdentity);
  EXPECT_THAT(pages(read_all(b.image(), silent, ReadScope::kMonitors)),
              AllOf(Contains(0x11U), Not(Contains(0x12U)), Not(Contains(0x17U))));
}

/// A monitor of VDM whose type stands in no table: its value says nothing to us, its flags are
/// cleared by our read.
TEST(OtherFlags, OfAMonitorThatIsNotKnownAreKeptByItsNumber) {
  auto b = EepromBuilder::cmis_with_vdm({{0x00, 100, 1}, {0x01, 148, 1}, {0x02, 153, 1}});
  b.page(0x2c).byte(128, 0x21).byte(129, 0x04);
  const ModuleSample m = decode_module(b.image());
  std::vector<std::string> names;
  for (const VdmFlags& entry : m.vdm.flags) names.push_back(label(entry.name, entry.lane));
  EXPECT_THAT(names, ElementsAre("type_100 1", "coherent_clock_recovery 2",
                                 "coherent_carrier_frequency_offset_mhz 3"));
  EXPECT_EQ(m.vdm.flags[0].flags.high_alarm, true);
  EXPECT_EQ(m.vdm.flags[1].flags.low_alarm, true);
  EXPECT_EQ(m.vdm.flags[2].flags.high_warn, true);
}

}  // namespace
}  // namespace linkhealth
