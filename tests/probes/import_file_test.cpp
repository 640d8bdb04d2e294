// The format of imported files, and what of it is believed.
#include "probes/import_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/import_files.h"

namespace linkhealth {
namespace {

using testing::file_text;
using testing::kAt;
using testing::kPeer;

std::string why(const std::string& text) {
  const auto parsed = parse_import_file(text);
  return parsed ? "" : parsed.error().message;
}

TEST(ImportFile, ReadsPeerAndModuleInTheFormsOfARecording) {
  const auto parsed = parse_import_file(file_text(
      kAt,
      std::string(kPeer) + R"(,"mlx5_1/1":{"module":{"serial":"A1","kind":"optical"},"later":1})"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(format_rfc3339(parsed->at), kAt);
  EXPECT_EQ(parsed->valid_for_s, 120);
  ASSERT_EQ(parsed->ports.size(), 2U);
  EXPECT_EQ(parsed->ports.at("mlx5_0/1").peer->module->lanes.at(0).tx_power_mw, 1.1);
  EXPECT_EQ(parsed->ports.at("mlx5_1/1").module->serial, "A1");
}

TEST(ImportFile, ASourceThatIsLeftOutIsTelemetry) {
  const auto parsed =
      parse_import_file(file_text(kAt, R"("mlx5_0/1":{"peer":{"system":"leaf-12"}})"));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->ports.at("mlx5_0/1").peer->source, "telemetry");
}

TEST(ImportFile, ABadFileIsOneClause) {
  EXPECT_THAT(why(""), ::testing::StartsWith("not whole or not the format"));
  EXPECT_THAT(why(file_text(kAt, kPeer).substr(0, 100)),
              ::testing::StartsWith("not whole or not the format"));
  EXPECT_THAT(why("{}"), ::testing::HasSubstr("schema is missing"));
  EXPECT_THAT(why(R"({"schema":"linkhealth.import/2"})"), ::testing::HasSubstr("its format is"));
  EXPECT_THAT(why(R"({"schema":"linkhealth.import/1"})"), ::testing::HasSubstr("at is missing"));
  EXPECT_THAT(why(R"({"schema":"linkhealth.import/1","at":"2026-11-20T10:00:12Z"})"),
              ::testing::HasSubstr("valid_for_s is missing"));
  EXPECT_THAT(why(file_text(kAt, "", 0)), ::testing::HasSubstr("at most a day"));
  EXPECT_THAT(why(file_text(kAt, "", 90'000)), ::testing::HasSubstr("at most a day"));
  EXPECT_THAT(why(file_text("yesterday", "")),
              ::testing::StartsWith("not whole or not the format"));
  EXPECT_THAT(why(file_text(kAt, "") + "x"), ::testing::StartsWith("not whole or not the format"));
}

TEST(ImportFile, AValueThatCannotBeMakesTheFileUnbelievable) {
  const auto module = [](const std::string& fields) {
    return why(file_text(kAt, R"("mlx5_0/1":{"module":{)" + fields + "}}"));
  };
  EXPECT_EQ(module(R"("temperature_c":48)"), "");
  EXPECT_EQ(module(R"("temperature_c":4800)"), "ports > mlx5_0/1: a temperature of 4800 °C");
  EXPECT_EQ(module(R"("supply_v":3300)"), "ports > mlx5_0/1: a supply of 3300 V");
  EXPECT_EQ(module(R"("lanes":[{"rx_power_mw":-3.5}])"), "ports > mlx5_0/1: a power of -3.5 mW")
      << "somebody wrote dBm";
  EXPECT_EQ(module(R"("lanes":[{"tx_bias_ma":7000}])"), "ports > mlx5_0/1: a bias of 7000 mA");
  EXPECT_EQ(module(R"("thresholds":{"rx_power_mw":{"low_alarm":-10}})"),
            "ports > mlx5_0/1: a power of -10 mW");
  EXPECT_EQ(module(R"("kind":"laser")"), "ports > mlx5_0/1: a module kind that there is not");
  EXPECT_EQ(module(R"("serial":"A\u001b[2J")"), "ports > mlx5_0/1: a serial that is no plain text");
  EXPECT_THAT(
      module(
          R"("lanes":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},)"
          R"({},{},{},{}])"),
      ::testing::HasSubstr("33 lanes"));
}

TEST(ImportFile, EveryTextAndEveryNumberIsLookedAt) {
  const auto module = [](const std::string& fields) {
    return why(file_text(kAt, R"("mlx5_0/1":{"module":{)" + fields + "}}"));
  };
  const auto peer = [](const std::string& fields) {
    return why(file_text(kAt, R"("mlx5_0/1":{"peer":{)" + fields + "}}"));
  };
  EXPECT_EQ(module(R"("revision":"\u001b[31mX")"),
            "ports > mlx5_0/1: a revision that is no plain text");
  EXPECT_EQ(module(R"("connector":"\u001b[2J")"),
            "ports > mlx5_0/1: a connector that is no plain text");
  EXPECT_EQ(module(R"("warnings":["\u001b[2J"])"),
            "ports > mlx5_0/1: a warning that is no plain text");
  EXPECT_EQ(module(R"("vdm":{"media_pre_fec_ber":{"current":7}})"), "ports > mlx5_0/1: a BER of 7");
  EXPECT_EQ(module(R"("vdm":{"media_esnr_db":[22,-900]})"), "ports > mlx5_0/1: a ratio of -900 dB");
  EXPECT_EQ(module(R"("coherent":{"osnr_db":1e300})"), "ports > mlx5_0/1: a ratio of 1e+300 dB");
  EXPECT_EQ(module(R"("coherent":{"rx_total_power_dbm":900})"),
            "ports > mlx5_0/1: a power of 900 dBm");
  EXPECT_EQ(module(R"("length_m":-3)"), "ports > mlx5_0/1: a length of -3 m");
  EXPECT_EQ(peer(R"("link":{"state":"\u001b[2J"})"),
            "ports > mlx5_0/1: a state that is no plain text");
  EXPECT_EQ(peer(R"("link":{"speed_mbps":4000000000})"), "ports > mlx5_0/1: a speed of 4e+09 Mb/s");
  EXPECT_EQ(peer(R"("counters":{"a\u0007b":1})"),
            "ports > mlx5_0/1: a counter name that is no plain text");
  EXPECT_EQ(
      peer(
          R"("link":{"state":"ACTIVE","speed_mbps":400000,"lanes":4},"counters":{"symbol_error":1})"),
      "");
  EXPECT_EQ(
      module(
          R"("temperature_c":40,"length_m":30,"vdm":{"media_esnr_db":[22,0],"media_pre_fec_ber":{"min":1e-9}})"),
      "");
}

/// The words of docs/schema: another one is not a state that nobody knows yet but somebody's
/// mistake.
TEST(ImportFile, AWordThatTheFormatDoesNotHaveIsRefused) {
  const auto link = [](std::string_view key, std::string_view word) {
    return why(file_text(
        kAt, fmt::format(R"("mlx5_0/1":{{"peer":{{"link":{{"{}":"{}"}}}}}})", key, word)));
  };
  for (const char* word : {"", "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"})
    EXPECT_EQ(link("state", word), "") << word;
  for (const char* word : {"", "Sleep", "Polling", "Disabled", "PortConfigurationTraining",
                           "LinkUp", "LinkErrorRecovery", "Phy Test"})
    EXPECT_EQ(link("phys_state", word), "") << word;
  for (const char* word : {"BOGUS", "active", "4: ACTIVE", "LinkUp"})
    EXPECT_EQ(link("state", word), "ports > mlx5_0/1: a port state that there is not") << word;
  for (const char* word : {"BOGUS", "linkup", "<unknown>", "ACTIVE"})
    EXPECT_EQ(link("phys_state", word), "ports > mlx5_0/1: a physical port state that there is not")
        << word;
  for (const bool far : {false, true}) {
    const auto module = [far](std::string_view fields) {
      const std::string group = fmt::format(R"("module":{{{}}})", fields);
      return why(file_text(
          kAt, fmt::format(R"("mlx5_0/1":{{{}}})", far ? "\"peer\":{" + group + "}" : group)));
    };
    EXPECT_EQ(module(R"("fibre_face":"APC","loopbacks":[{"side":"host","at":"output"}])"), "");
    EXPECT_EQ(module(R"("fibre_face":"FC")"), "ports > mlx5_0/1: a fibre face that there is not");
    EXPECT_EQ(module(R"("loopbacks":[{},{"side":"left"}])"),
              "ports > mlx5_0/1: a loopback side that there is not");
    EXPECT_EQ(module(R"("loopbacks":[{"at":"end"}])"),
              "ports > mlx5_0/1: a loopback place that there is not");
  }
}

/// What a bus or a register file gives that nobody answers at: of one port, and the file's others
/// stand.
TEST(ImportFile, ACountOfAllOnesIsNobodysAnswer) {
  const auto flaw = [](std::string_view fields, std::uint64_t count) {
    const auto file = parse_import_file(file_text(
        kAt,
        fmt::format(R"("mlx5_0/1":{{"peer":{{{}{}}}}}}},"mlx5_1/1":{{"peer":{{"system":"leaf"}}}})",
                    fields, count)));
    EXPECT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->ports.at("mlx5_1/1").peer);
    const ImportedPort& port = file->ports.at("mlx5_0/1");
    EXPECT_EQ(port.peer.has_value(), port.flaw.empty());
    return port.flaw;
  };
  for (const char* name : {"symbol_error", "whatever"}) {
    EXPECT_EQ(flaw(fmt::format(R"("counters":{{"{}":)", name), ~std::uint64_t{0}),
              fmt::format("a {} of all ones: nobody answered, and the entry is not taken", name));
    EXPECT_EQ(flaw(fmt::format(R"("counters":{{"{}":)", name), ~std::uint64_t{1}), "");
  }
  EXPECT_EQ(flaw(R"("counters":{"link_downed":255,"port_xmit_wait":)", 0xffffffff), "")
      << "full, which is a reading";
  EXPECT_EQ(flaw(R"("link":{"carrier_down_count":)", ~std::uint64_t{0}),
            "a carrier_down_count of all ones: nobody answered, and the entry is not taken");
}

TEST(ImportFile, ASourceThatOnlyTheDaemonItselfHasIsRefused) {
  for (const char* source : {"mad", "lldp", "plan", "hearsay"})
    EXPECT_THAT(
        why(file_text(kAt, fmt::format(R"("mlx5_0/1":{{"peer":{{"source":"{}"}}}})", source))),
        ::testing::HasSubstr("neither telemetry nor fleet"));
  EXPECT_THAT(why(file_text(kAt, R"("mlx5_0/1":{"peer":{"age_s":-1}})")),
              ::testing::HasSubstr("age"));
  for (const char* part : {"module_age_s", "link_age_s", "counters_age_s"})
    EXPECT_THAT(why(file_text(kAt, fmt::format(R"("mlx5_0/1":{{"peer":{{"{}":1}}}})", part))),
                ::testing::HasSubstr("source of"));
}

/// What was said of the port's entry; the file itself is believed.
ImportedPort entry(const std::string& ports) {
  const auto parsed = parse_import_file(file_text(kAt, ports));
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed && parsed->ports.contains("mlx5_0/1") ? parsed->ports.at("mlx5_0/1")
                                                      : ImportedPort{};
}

TEST(ImportFile, OnlyPortsThatAreAskedForAreKept) {
  std::vector<std::string> named;
  const auto parsed = parse_import_file(
      file_text(kAt,
                R"("x0":{"module":{"serial":"A1"}},"ours":{"module":{"serial":"A2"}},"x1":{})"),
      [&](std::string_view name) {
        named.emplace_back(name);
        return name == "ours" ? std::optional<PortKey>("mlx5_0/1") : std::nullopt;
      });
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(named, (std::vector<std::string>{"ours", "x0", "x1"}));
  EXPECT_EQ(parsed->named, 3U);
  ASSERT_EQ(parsed->ports.size(), 1U);
  EXPECT_EQ(parsed->ports.at("mlx5_0/1").module->serial, "A2");
}

TEST(ImportFile, APortThatIsNotKeptIsJudgedAllTheSame) {
  const auto parsed = parse_import_file(file_text(kAt, R"("x0":{"module":{"temperature_c":4800}})"),
                                        [](std::string_view) { return std::optional<PortKey>(); });
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "ports > x0: a temperature of 4800 °C");
}

TEST(ImportFile, TooManyPortsAreRefused) {
  std::string ports = "\"p\":{}";
  for (std::size_t i = 1; i < kMaxImportPorts; ++i) ports += fmt::format(",\"p{}\":{{}}", i);
  EXPECT_EQ(why(file_text(kAt, ports)), "");
  EXPECT_EQ(why(file_text(kAt, ports + ",\"q\":{}")), "more than 1024 ports");
}

TEST(ImportFile, WithoutPortsItSaysNothing) {
  const std::string head =
      R"({"schema":"linkhealth.import/1","at":"2026-11-20T10:00:12Z","valid_for_s":60)";
  EXPECT_THAT(why(head + "}"), ::testing::StartsWith("ports is missing"));
  EXPECT_THAT(why(head + ",\"ports\":null}"), ::testing::StartsWith("ports is missing"));
  EXPECT_EQ(why(head + ",\"ports\":{}}"), "");
}

TEST(ImportFile, AnEmptyModuleIsNotTaken) {
  const ImportedPort port = entry(R"("mlx5_0/1":{"module":{},"peer":{"system":"leaf-12"}})");
  EXPECT_FALSE(port.module);
  EXPECT_TRUE(port.peer);
  EXPECT_EQ(port.flaw, "an empty module says nothing, and is not taken");
  EXPECT_TRUE(entry(R"("mlx5_0/1":{"module":{"present":false}})").module)
      << "an empty cage is a reading";
  EXPECT_EQ(entry(R"("mlx5_0/1":{"module":null})").flaw, "");
}

TEST(ImportFile, AnEmptyPeerIsNotTaken) {
  for (const char* nothing : {"", R"("source":"fleet")", R"("age_s":3)", R"("system":"")",
                              R"("link":{},"counters":{})"}) {
    const ImportedPort port =
        entry(fmt::format(R"("mlx5_0/1":{{"module":{{"serial":"A1"}},"peer":{{{}}}}})", nothing));
    EXPECT_FALSE(port.peer) << nothing;
    EXPECT_TRUE(port.module);
    EXPECT_EQ(port.flaw, "an empty peer says nothing, and is not taken");
  }
  for (const char* name : {"system", "port", "guid", "description", "address"})
    EXPECT_TRUE(entry(fmt::format(R"("mlx5_0/1":{{"peer":{{"{}":"x"}}}})", name)).peer) << name;
}

TEST(ImportFile, AnEmptyFarModuleIsNotTaken) {
  const ImportedPort port = entry(R"("mlx5_0/1":{"peer":{"system":"leaf-12","module":{}}})");
  ASSERT_TRUE(port.peer);
  EXPECT_FALSE(port.peer->module);
  EXPECT_EQ(port.flaw, "an empty module says nothing, and is not taken");
  EXPECT_TRUE(entry(R"("mlx5_0/1":{"peer":{"module":{"present":false}}})").peer->module);
}

/// Some telemetry writes 0 where a module gives no limits. Upside down, every reading would be
/// outside.
TEST(ImportFile, LimitsThatAreZeroOrUpsideDownAreLeftOut) {
  const auto module = [](const std::string& limits) {
    return *entry(R"("mlx5_0/1":{"module":{"temperature_c":51,"thresholds":{)" + limits + "}}}")
                .module;
  };
  for (const char* zero : {R"("low_alarm":0,"low_warn":0,"high_warn":0,"high_alarm":0)",
                           R"("low_alarm":0,"high_alarm":0)", R"("high_alarm":0)"}) {
    const ModuleSample m = module(fmt::format(R"("temperature_c":{{{}}})", zero));
    EXPECT_TRUE(m.thresholds.empty()) << zero;
    EXPECT_THAT(m.warnings,
                ::testing::ElementsAre("limits of temperature_c are all zero: left out"));
    EXPECT_EQ(m.temperature_c, 51) << "the readings stand";
  }
  for (const char* unordered :
       {R"("low_alarm":2,"high_alarm":0.5)", R"("low_warn":6,"high_warn":6)",
        R"("low_alarm":1,"low_warn":0.5)", R"("high_warn":3,"high_alarm":2)",
        R"("low_alarm":1,"high_warn":0.5,"high_alarm":2)"}) {
    const ModuleSample m =
        module(fmt::format(R"("rx_power_mw":{{{}}},"supply_v":{{"low_alarm":3}})", unordered));
    EXPECT_TRUE(m.thresholds.rx_power_mw.empty()) << unordered;
    EXPECT_EQ(m.thresholds.supply_v.low_alarm, 3);
    EXPECT_THAT(m.warnings,
                ::testing::ElementsAre("limits of rx_power_mw are not in order: left out"));
  }
  const ModuleSample good =
      module(R"("temperature_c":{"low_alarm":0,"low_warn":0,"high_warn":70,"high_alarm":70},)"
             R"("laser_temperature_c":{"low_warn":0},"supply_v":{"high_warn":3.5})");
  EXPECT_EQ(good.thresholds.temperature_c, (Limits{0, 0, 70, 70}));
  EXPECT_EQ(good.thresholds.laser_temperature_c.low_warn, 0);
  EXPECT_EQ(good.thresholds.supply_v.high_warn, 3.5);
  EXPECT_THAT(good.warnings, ::testing::IsEmpty());
}

TEST(ImportFile, LimitsOfTheFarModuleToo) {
  const ImportedPort port =
      entry(R"("mlx5_0/1":{"peer":{"module":{"thresholds":{"supply_v":{"high_alarm":0}}}}})");
  EXPECT_TRUE(port.peer->module->thresholds.empty());
  EXPECT_THAT(port.peer->module->warnings,
              ::testing::ElementsAre("limits of supply_v are all zero: left out"));
}

TEST(ImportFile, OfTwoEntriesOfOnePortNeitherIsTaken) {
  const std::string entries =
      R"("mlx5_0/1":{"module":{"serial":"A1"}},"ens1np0":{"module":{"serial":"A1"}},"0000:1b:00.0":{})";
  const auto parsed = parse_import_file(
      file_text(kAt, entries), [](std::string_view) { return std::optional<PortKey>("mlx5_0/1"); });
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->ports.at("mlx5_0/1").module);
  EXPECT_EQ(parsed->ports.at("mlx5_0/1").flaw, "two entries are of one port, and neither is taken");
}

/// Of a key that an object has twice the last value counts, as in most JSON readers.
TEST(ImportFile, OfAKeyThatIsThereTwiceTheLastValueCounts) {
  EXPECT_EQ(entry(R"("mlx5_0/1":{"module":{"serial":"A1","serial":"A2"}})").module->serial, "A2");
}

}  // namespace
}  // namespace linkhealth
