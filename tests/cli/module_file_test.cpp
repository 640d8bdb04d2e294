// `linkhealth module --file`: the program without a daemon.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "cli/exit_codes.h"
#include "tests/cli/cli_harness.h"
#include "tests/support/eeprom_builder.h"
#include "tests/support/module_files.h"

namespace linkhealth::cli {
namespace {

using ::testing::AllOf;
using testing::dump_json;
using ::testing::EndsWith;
using testing::ethtool_hex;
using testing::ethtool_raw;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const ModulePageKey kLower{kModuleAddressA0, 0, 0, false};
ModulePageKey page(std::uint8_t number, std::uint8_t address = kModuleAddressA0) {
  return {address, 0, number, true};
}

/// One module's memory in the three forms.
struct Files {
  std::string raw, hex, json;
};

Files sfp_files(const EepromBuilder& module) {
  const std::string raw =
      ethtool_raw(module.image(),
                  {kLower, page(0), {kModuleAddressA2, 0, 0, false}, page(0, kModuleAddressA2)});
  return {raw, ethtool_hex(raw), dump_json({{"a0", raw.substr(0, 256)}, {"a2", raw.substr(256)}})};
}

Files qsfp_files(const EepromBuilder& module) {
  const std::string raw = ethtool_raw(module.image(), {kLower, page(0), page(1), page(2), page(3)});
  return {raw, ethtool_hex(raw),
          dump_json({{"lower", raw.substr(0, 128)},
                     {"00", raw.substr(128, 128)},
                     {"01", raw.substr(256, 128)},
                     {"02", raw.substr(384, 128)},
                     {"03", raw.substr(512)}})};
}

Files cmis_files(const EepromBuilder& module) {
  const std::string raw =
      ethtool_raw(module.image(), {kLower, page(0), page(1), page(2), page(0x10), page(0x11)});
  return {raw, ethtool_hex(raw),
          dump_json({{"lower", raw.substr(0, 128)},
                     {"00", raw.substr(128, 128)},
                     {"01", raw.substr(256, 128)},
                     {"02", raw.substr(384, 128)},
                     {"10", raw.substr(512, 128)},
                     {"11", raw.substr(640)}})};
}

class CliModuleFile : public CliTest {
 protected:
  Outcome show(const std::string& content, const std::string& options = "",
               const std::string& environment = "LANG=C.UTF-8 COLUMNS=100") const {
    std::ofstream(path(), std::ios::binary) << content;
    return run("module --file " + path() + " " + options, environment);
  }
  /// The same from all three forms, and a success; its standard output.
  std::string json_of(const Files& files) const {
    const Outcome raw = show(files.raw, "--json");
    EXPECT_EQ(raw.exit_code, kOk);
    EXPECT_EQ(raw.err, "");
    EXPECT_EQ(show(files.hex, "--json").out, raw.out);
    EXPECT_EQ(show(files.json, "--json").out, raw.out);
    return raw.out;
  }
  [[nodiscard]] std::string path() const { return directory + "/module"; }

  static void expect_refused(const Outcome& outcome, const std::string& why) {
    EXPECT_EQ(outcome.exit_code, kBadInput) << why;
    EXPECT_EQ(outcome.out, "") << why;
    EXPECT_THAT(outcome.err, StartsWith("linkhealth: "));
    EXPECT_THAT(outcome.err, EndsWith(why + "\n"));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
};

TEST_F(CliModuleFile, EveryFormOfAnSfpIsDecodedAlike) {
  const std::string json = json_of(sfp_files(EepromBuilder::sff8472()));
  EXPECT_THAT(json, StartsWith("{\"present\":true,"));
  EXPECT_THAT(json, EndsWith("}\n"));
  EXPECT_THAT(json, HasSubstr("\"vendor\":\"ACME OPTICS\""));
  EXPECT_THAT(json, HasSubstr("\"serial\":\"AC0001\""));
  EXPECT_THAT(json, HasSubstr("\"temperature_c\":40.0,"));
  EXPECT_THAT(json, HasSubstr("\"supply_v\":3.3"));
  EXPECT_THAT(json, Not(HasSubstr("\"warnings\"")));
}

// `ethtool … | head -14`: a 100G-CR4 was called 40G-CR4, because the byte that says so was not
// there.
TEST_F(CliModuleFile, ATruncatedDumpHasAWarningAndNoWrongType) {
  EepromBuilder module = EepromBuilder::sff8636();
  module.page(0x00).byte(131, 0x88).byte(192, 0x0b).byte(147,
                                                         0xa0);  // 100G-CR4, by the extended code
  const std::string raw = qsfp_files(module).raw;
  EXPECT_THAT(show(raw, "--json").out,
              AllOf(HasSubstr("\"type\":\"100G-CR4\""), HasSubstr("\"kind\":\"dac\"")));
  const Outcome cut = show(ethtool_hex(raw.substr(0, 192)), "--json");
  EXPECT_EQ(cut.exit_code, kOk);
  EXPECT_THAT(cut.out, AllOf(HasSubstr("\"kind\":\"dac\""), Not(HasSubstr("G-CR4"))));
  EXPECT_THAT(cut.out, HasSubstr("page 00h ends after 64 of 128 bytes: the rest is not known"));
  EXPECT_THAT(show(raw.substr(0, 135), "--json").out, HasSubstr("\"kind\":\"unknown\""));
}

TEST_F(CliModuleFile, AnSfpHasNoPagesToBreakOff) {
  const std::string raw = sfp_files(EepromBuilder::sff8472()).raw;
  EXPECT_THAT(show(raw.substr(0, 192), "--json").out,
              HasSubstr("A0h, upper half ends after 64 of 128 bytes: the rest is not known"));
}

TEST_F(CliModuleFile, EveryFormOfAQsfpIsDecodedAlike) {
  const std::string json = json_of(qsfp_files(EepromBuilder::sff8636()));
  EXPECT_THAT(json, HasSubstr("\"part_number\":\"ACME-100G-SR4\""));
  EXPECT_THAT(json, HasSubstr("\"serial\":\"AC0002\""));
  EXPECT_THAT(json, HasSubstr("\"temperature_c\":45.0,"));
  EXPECT_THAT(json, HasSubstr("\"tx_bias_ma\":7.0,")) << "the last lane's too";
  EXPECT_THAT(json, HasSubstr("\"high_alarm\":2.1878")) << "limits are on page 03h";
}

TEST_F(CliModuleFile, EveryFormOfACmisModuleIsDecodedAlike) {
  const std::string json = json_of(cmis_files(EepromBuilder::cmis()));
  EXPECT_THAT(json, HasSubstr("\"serial\":\"AC0003\""));
  EXPECT_THAT(json, HasSubstr("\"state\":\"ModuleReady\""));
  EXPECT_THAT(json, HasSubstr("\"rx_power_mw\":0.8003")) << "the fourth lane is on page 11h";
  EXPECT_THAT(json, HasSubstr("\"high_alarm\":3.5481")) << "limits are on page 02h";
}

TEST_F(CliModuleFile, WhatCannotBeTrueIsAWarningAndNoReading) {
  auto odd = EepromBuilder::cmis();
  odd.lower().u16(14, 0x7e00).u16(16, 60000);
  const std::string json = json_of(cmis_files(odd));
  EXPECT_THAT(json, HasSubstr("\"temperature_c\":126.0,")) << "hot, and possible";
  EXPECT_THAT(json, HasSubstr("\"warnings\":[\"supply of 6 V cannot be true\"]"));
  EXPECT_THAT(json, Not(HasSubstr("\"supply_v\":6")));
  EXPECT_THAT(show(cmis_files(odd).raw).out,
              HasSubstr("Not read or implausible\n    supply of 6 V cannot be true\n"));
}

TEST_F(CliModuleFile, AWrongChecksumIsAWarning) {
  Files files = qsfp_files(EepromBuilder::sff8636());
  files.raw[200] = static_cast<char>(files.raw[200] + 1);
  const Outcome shown = show(files.raw, "--json");
  EXPECT_EQ(shown.exit_code, kOk);
  EXPECT_THAT(shown.out, HasSubstr("\"checksum of page 00h bytes 192-222 is wrong\"]"));
}

TEST_F(CliModuleFile, APageThatWasNotReadIsUnknownAndNotZero) {
  const std::string raw = cmis_files(EepromBuilder::cmis()).raw;
  const std::string json =
      show(dump_json({{"lower", raw.substr(0, 128)}, {"00", raw.substr(128, 128)}}), "--json").out;
  EXPECT_THAT(json, HasSubstr("\"serial\":\"AC0003\""));
  EXPECT_THAT(json, HasSubstr("page 01h was not read"));
  EXPECT_THAT(json, Not(HasSubstr("\"rx_power_mw\"")));
}

TEST_F(CliModuleFile, TextIsForAnyReader) {
  const Files files = cmis_files(EepromBuilder::cmis());
  const Outcome shown = show(files.raw, "", "LANG=C.UTF-8 COLUMNS=100 TERM=xterm-256color");
  EXPECT_EQ(shown.exit_code, kOk);
  EXPECT_EQ(shown.err, "");
  EXPECT_THAT(shown.out, HasSubstr("  serial       AC0003\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\x1b"))) << "standard output is no terminal";
  EXPECT_EQ(show(files.hex).out, shown.out);
  EXPECT_EQ(show(files.json).out, shown.out);
  const std::string ascii = show(files.raw, "", "LANG=C").out;
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(),
                          [](char c) { return c == '\n' || (c >= 0x20 && c <= 0x7e); }));
}

TEST_F(CliModuleFile, ModuleTextCannotControlTheTerminal) {
  auto rude = EepromBuilder::cmis();
  rude.page(0).text(129, 16, "\x1b[31mACME OPTICS");
  const Files files = cmis_files(rude);
  EXPECT_THAT(show(files.raw).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(json_of(files), HasSubstr("vendor name has bytes that are not text"));
}

TEST_F(CliModuleFile, WhatIsNoModuleIsOneLineAndExitCodeTwo) {
  expect_refused(show("", "--json"), "/module: the file is empty");
  expect_refused(show("garbage\nof several\nlines\n"), "nor `sfputil show eeprom-hexdump`");
  expect_refused(show(std::string(512, '\xee')),
                 "/module: its first byte, eeh, names no form factor: not a module's memory");
  expect_refused(show("\x18\x50\x01"), "/module: only 3 bytes: a module's memory has at least 128");
  expect_refused(show("{\"pages\":"), "/module: not valid JSON");
  expect_refused(show("{\"pages\":{\"\\u001b\\n[31m\":\"00\"}}"), "or two hex digits");
  expect_refused(show("0x0000:\t\t18 zz\n"), "/module: line 1: \"zz\" is no hex byte");
  expect_refused(show(std::string((1U << 20U) + 1, ' ')),
                 "/module: larger than 1 MiB: not a module dump");
  Files files = qsfp_files(EepromBuilder::sff8636());
  files.hex.replace(files.hex.find("0x0010"), 6, "0x0020");
  expect_refused(show(files.hex), "/module: line 4: offset 32 where 16 should follow");
}

// JSON of a module that did not answer was accepted, while the same bytes as `raw on` were refused.
TEST_F(CliModuleFile, BytesThatAreNoModuleAreRefusedInEachForm) {
  const auto expect_all_refused = [&](const std::string& bytes, const std::string& why) {
    expect_refused(show(bytes), why);
    expect_refused(show(ethtool_hex(bytes)), why);
    expect_refused(
        show(dump_json({{"lower", bytes.substr(0, 128)}, {"00", bytes.substr(128)}}), "--json"),
        why);
    expect_refused(show(dump_json({{"a0", bytes}, {"a2", bytes}})), why);
  };
  expect_all_refused(std::string(256, '\xff'),
                     "the lower page is all ones: no answer: not a module's memory");
  expect_all_refused(std::string(256, '\0'), "the lower page is all zeros: not a module's memory");
  for (const char identifier : {'\x03', '\x11', '\x18'})  // a bus that floats after the first byte
    expect_all_refused(identifier + std::string(255, '\xff'),
                       std::string(identifier == '\x03' ? "A0h" : "the lower page") +
                           " is all ones behind its first byte: no answer: not a module's memory");
  expect_refused(show(dump_json({{"lower", "\x0d"}})), "only 1 of the 128 bytes of the lower page");
  expect_refused(show(dump_json({{"a2", std::string(256, '\1')}})),
                 "neither the lower page nor page 00h is in it");
}

TEST_F(CliModuleFile, WhatIsNoFileIsOneLineAndExitCodeTwo) {
  expect_refused(run("module --file " + directory), directory + ": Is a directory");
  expect_refused(run("module --json --file " + directory + "/nothing"),
                 "/nothing: No such file or directory");
  expect_refused(run(R"sh(module --file "$(printf '/no\nsuch\033[31m')")sh"),
                 "/no?such?[31m: No such file or directory");
  expect_refused(run("module --file ''"),
                 "give a PORT or --file FILE (linkhealth status lists the ports)");
}

}  // namespace
}  // namespace linkhealth::cli
