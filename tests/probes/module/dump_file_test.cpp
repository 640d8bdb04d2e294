#include "probes/module/dump_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/text.h"
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

/// What a shell and a driver print before the dump.
TEST(DumpFile, LinesBeforeTheDumpArePassedOver) {
  const std::string hex =
      ethtool_hex(ethtool_raw(EepromBuilder::sff8636().image(), {kLower, page(0)}));
  for (const std::string_view before :
       {"netlink warning: mlx5_core: Query module eeprom by page failed, read 0 bytes, err -5\n",
        "$ ethtool -m eth0 hex on\n\n", "* a note\n"}) {
    const auto image = parse_module_dump(std::string(before) + hex);
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(decode_module(*image).serial, "AC0002");
  }
}

std::string hexdump(const std::string& raw, bool with_text, std::string_view after_offset) {
  std::string out, last;
  bool star = false;
  for (std::size_t at = 0; at < raw.size(); at += 16) {
    const std::string line = raw.substr(at, 16);
    if (with_text && line == last) {
      if (!std::exchange(star, true)) out += "*\n";
      continue;
    }
    last = line, star = false;
    out += fmt::format("{:08x}{}", at, after_offset);
    for (std::size_t i = 0; i < line.size(); ++i)
      out += fmt::format("{}{:02x}", i == 8 || !with_text ? (i % 2 == 0 ? " " : "") : " ",
                         static_cast<unsigned char>(line[i]));
    std::string text = printable(line);
    out += with_text ? "  |" + text + "|\n" : "  " + text + "\n";
  }
  return out + (with_text ? fmt::format("{:08x}\n", raw.size()) : "");
}

TEST(DumpFile, HexdumpAndXxd) {
  const std::string raw =
      ethtool_raw(EepromBuilder::sff8636().image(), {kLower, page(0), page(1), page(2), page(3)});
  for (const std::string& text : {hexdump(raw, true, " "), hexdump(raw, false, ":")}) {
    const auto image = parse_module_dump(text);
    ASSERT_TRUE(image) << image.error().message << text.substr(0, 400);
    EXPECT_EQ(decode_module(*image).serial, "AC0002");
    EXPECT_FALSE(decode_module(*image).thresholds.rx_power_mw.empty());
  }
}

TEST(DumpFile, SonicsSfputil) {
  const auto pages = [](const ModuleImage& image,
                        std::initializer_list<std::pair<std::string_view, ModulePageKey>> keys) {
    std::string out = "EEPROM hexdump for port Ethernet0\n";
    for (const auto& [name, key] : keys) {
      out += fmt::format("        {}\n", name);
      const auto bytes = *image.whole(key);
      for (std::size_t at = 0; at < 128; ++at)
        out += at % 16 == 0
                   ? fmt::format("\n        {:08x} {:02x}", at + (key.upper ? 128 : 0), bytes[at])
                   : fmt::format("{}{:02x}", at % 16 == 8 ? "  " : " ", bytes[at]);
      out += " |................|\n\n";
    }
    return out;
  };
  const ModuleImage cmis = EepromBuilder::cmis().image();
  const auto a = parse_module_dump(pages(cmis, {{"Lower page 0h", kLower},
                                                {"Upper page 0h", page(0)},
                                                {"Upper page 1h", page(1)},
                                                {"Upper page 2h", page(2)},
                                                {"Upper page 10h", page(0x10)},
                                                {"Upper page 11h", page(0x11)}}));
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(decode_module(*a).lanes.size(), 4U);
  const ModuleImage sfp = EepromBuilder::sff8472().image();
  const auto b = parse_module_dump(pages(sfp, {{"A0h dump", kLower}, {"A2h dump", kA2Page}}));
  ASSERT_TRUE(b) << b.error().message;
  EXPECT_TRUE(decode_module(*b).temperature_c);
  const std::string two = pages(sfp, {{"A0h dump", kLower}}) + pages(sfp, {{"A0h dump", kLower}});
  EXPECT_FALSE(parse_module_dump(two)) << "whose module would it be?";
}

}  // namespace
}  // namespace linkhealth
