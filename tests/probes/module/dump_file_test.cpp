#include "probes/module/dump_file.h"

#include <gtest/gtest.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"
#include "tests/support/module_files.h"

namespace linkhealth {
namespace {

using testing::dump_json;
using testing::ethtool_hex;
using testing::ethtool_raw;

const ModulePageKey kLower{kModuleAddressA0, 0, 0, false};
ModulePageKey page(std::uint8_t number) { return {kModuleAddressA0, 0, number, true}; }

TEST(DumpFile, EthtoolRawOfEveryMap) {
  const ModuleImage qsfp = EepromBuilder::sff8636().image();
  const auto a = parse_module_dump(ethtool_raw(qsfp, {kLower, page(0), page(1), page(2), page(3)}));
  ASSERT_TRUE(a);
  EXPECT_EQ(decode_module(*a).lanes.size(), 4U);
  EXPECT_FALSE(decode_module(*a).thresholds.rx_power_mw.empty());
  const ModuleImage cmis = EepromBuilder::cmis().image();
  const auto b = parse_module_dump(
      ethtool_raw(cmis, {kLower, page(0), page(1), page(2), page(0x10), page(0x11)}));
  ASSERT_TRUE(b);
  EXPECT_EQ(decode_module(*b).lanes.size(), 4U);
  const ModuleImage sfp = EepromBuilder::sff8472().image();
  const ModulePageKey a2{kModuleAddressA2, 0, 0, false};
  const auto c = parse_module_dump(ethtool_raw(sfp, {kLower, page(0), a2, page(9)}));
  ASSERT_TRUE(c);
  EXPECT_TRUE(decode_module(*c).temperature_c);
}

TEST(DumpFile, JsonWithBanks) {
  // Page A2h of CMIS is no address.
  const auto image = parse_module_dump(dump_json(
      {{"lower", "\x18\x50" + std::string(126, '\0')}, {"11.1", "\x44"}, {"a2.02", "\x44"}}));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(lower_page(*image).byte(1), 0x50);
  EXPECT_FALSE(upper_page(*image, 0x11, 1).byte(129));
  EXPECT_EQ(upper_page(*image, 0x11, 1).byte(128), 0x44);
  EXPECT_EQ(upper_page(*image, 0xa2, 2).byte(128), 0x44);
}

TEST(DumpFile, JsonIsUtf8PerhapsBehindAByteOrderMark) {
  const std::string pages = dump_json({{"lower", "\x18" + std::string(127, '\0')}});
  for (const std::string& text :
       {R"({"note":"Länge 2 µm",)" + pages.substr(1), "\xef\xbb\xbf \n" + pages}) {
    const auto image = parse_module_dump(text);
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(lower_page(*image).byte(0), 0x18);
  }
}

/// What editors and terminals make of it.
TEST(DumpFile, HexTextMayHaveAByteOrderMarkAndTabs) {
  const std::string hex =
      ethtool_hex(ethtool_raw(EepromBuilder::sff8636().image(), {kLower, page(0)}));
  std::string tabs = hex;
  for (std::size_t i = tabs.find("0x"); i < tabs.size(); ++i)
    if (tabs[i] == ' ') tabs[i] = '\t';
  std::string crlf;
  for (const char c : hex) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& text : {hex, "\xef\xbb\xbf" + hex, tabs, "\xef\xbb\xbf" + crlf}) {
    const auto image = parse_module_dump(text);
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(decode_module(*image).serial, "AC0002");
  }
}

TEST(DumpFile, AMakersOwnIdentifierWithTheMapOfCmisIsAModule) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(0, 0x80);
  b.page(0).byte(128, 0x80);
  const auto image = parse_module_dump(
      ethtool_raw(b.image(), {kLower, page(0), page(1), page(2), page(0x10), page(0x11)}));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(decode_module(*image).lanes.size(), 4U);
}

TEST(DumpFile, ABadFileIsOneClearLine) {
  const auto why = [](std::string_view content) {
    const auto image = parse_module_dump(content);
    EXPECT_FALSE(image) << content.substr(0, 40);
    return image ? std::string() : image.error().message;
  };
  EXPECT_EQ(why(""), "the file is empty");
  EXPECT_EQ(why("{\"pages\":"), "not valid JSON");
  EXPECT_EQ(why("{}"), "JSON without a \"pages\" object: not a module dump");
  EXPECT_EQ(why(R"({"pages":{}})"), "\"pages\" is empty: no module memory in it");
  EXPECT_EQ(why(R"({"pages":{"00":"zz"}})"), "page \"00\" is not a string of hex digits");
  EXPECT_EQ(why(R"({"pages":{"00":7}})"), "page \"00\" is not a string of hex digits");
  EXPECT_EQ(why(R"({"pages":{"x":"00"}})"),
            "\"x\" is no page: \"a0\", \"a2\", \"lower\" or two hex digits");
  EXPECT_EQ(why(R"({"pages":{"00":")" + std::string(258, '0') + "\"}}"),
            "page \"00\" has 129 bytes: a page has 128");
  EXPECT_EQ(why(std::string(10, '\1')), "only 10 bytes: a module's memory has at least 128");
  EXPECT_EQ(why(std::string(5000, '\1')),
            "5000 bytes: more than any module's memory image, so not one");
  EXPECT_EQ(why("0x0000: 0d zz\n"), "line 1: \"zz\" is no hex byte");
  EXPECT_EQ(why("0x0000: 0d\t0d0d\t0d\n"), "line 1: \"0d0d\" is no hex byte");
  EXPECT_EQ(why("\xef\xbb\xbf"), "the file is empty");
  EXPECT_EQ(why("0x0010: 0d\n"), "line 1: offset 16 where 0 should follow");
  EXPECT_EQ(why("0x0000: 0d\nnetlink error\n"), "line 2: not a line of `ethtool -m DEV hex on`");
  EXPECT_EQ(why(std::string(512, '\xee')),
            "its first byte, eeh, names no form factor: not a module's memory");
  EXPECT_EQ(why(std::string(512, '\0')), "the lower page is all zeros: not a module's memory");
  EXPECT_EQ(why("hello").substr(0, 17), "not a module dump");
  EXPECT_EQ(read_module_dump("/nonexistent/dump.bin").error().message,
            "/nonexistent/dump.bin: No such file or directory");
}

}  // namespace
}  // namespace linkhealth
