// The format of imported files, and which readings of it are used.
#include "probes/peer/import_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/peer/import_files.h"

namespace linkhealth {
namespace {

using testing::file_text;
using testing::kAt;
using testing::kPeer;

std::string why(const std::string& text) {
  const auto parsed = parse_import_file(text);
  return parsed ? "" : parsed.error().message;
}

/// The port's entry in a good file.
ImportedPort entry(const std::string& content) {
  const auto parsed = parse_import_file(
      file_text(kAt, R"("mlx5_0/1":{)" + content + R"(},"mlx5_1/1":{"module":{"serial":"A1"}})"));
  EXPECT_TRUE(parsed.ok()) << content << ": " << parsed.error().message;
  if (!parsed) return {};
  EXPECT_TRUE(parsed->ports.at("mlx5_1/1").module) << "the other entries are used";
  return parsed->ports.at("mlx5_0/1");
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
  EXPECT_EQ(entry(R"("peer":{"system":"leaf-12"})").peer->source, "telemetry") << "the default";
}

TEST(ImportFile, ABadFileIsOneClause) {
  const std::string head = R"({"schema":"linkhealth.import/1")";
  const std::string without_ports = head + R"(,"at":"2026-11-20T10:00:12Z","valid_for_s":60)";
  const std::string not_whole = "not whole or not the format";
  const std::pair<std::string, std::string> rows[] = {
      {"", not_whole},
      {file_text(kAt, kPeer).substr(0, 100), not_whole},
      {file_text("yesterday", ""), not_whole},
      {file_text(kAt, "") + "x", not_whole},
      {"{}", "schema is missing"},
      {R"({"schema":"linkhealth.import/2"})", "unsupported format"},
      {head + "}", "at is missing"},
      {head + R"(,"at":"2026-11-20T10:00:12Z"})", "valid_for_s is missing"},
      {file_text(kAt, "", 0), "valid_for_s must be more than 0 and at most a day"},
      {file_text(kAt, "", 90'000), "valid_for_s must be more than 0 and at most a day"},
      {without_ports + "}", "ports is missing"},
      {without_ports + ",\"ports\":null}", "ports is missing"}};
  for (const auto& [text, reason] : rows)
    EXPECT_THAT(why(text), ::testing::StartsWith(reason)) << text;
  EXPECT_EQ(why(without_ports + ",\"ports\":{}}"), "");
}

struct Implausible {
  const char* content;  ///< of an entry
  const char* flaw;
};
constexpr Implausible kImplausible[] = {
    {R"("module":{"temperature_c":4800})", "temperature_c of 4800 is out of range"},
    {R"("module":{"supply_v":3300})", "supply_v of 3300 is out of range"},
    {R"("module":{"lanes":[{"rx_power_mw":-3.5}]})", "rx_power_mw of -3.5 is out of range"},
    {R"("module":{"lanes":[{"tx_bias_ma":7000}]})", "tx_bias_ma of 7000 is out of range"},
    {R"("module":{"thresholds":{"rx_power_mw":{"low_alarm":-10}}})",
     "rx_power_mw of -10 is out of range"},
    {R"("module":{"vdm":{"media_pre_fec_ber":{"current":7}}})",
     "media_pre_fec_ber of 7 is out of range"},
    {R"("module":{"vdm":{"media_esnr_db":[22,-900]}})", "media_esnr_db of -900 is out of range"},
    {R"("module":{"coherent":{"osnr_db":1e300}})", "osnr_db of 1e+300 is out of range"},
    {R"("module":{"length_m":-3})", "length_m of -3 is out of range"},
    {R"("module":{"kind":"laser"})", "module kind is none of the schema's words"},
    {R"("module":{"serial":"A\u001b[2J"})", "serial is not plain text"},
    {R"("module":{"warnings":["\u001b[2J"]})", "warnings is not plain text"},
    {R"("peer":{"link":{"speed_mbps":4000000000}})", "speed_mbps of 4e+09 is out of range"},
    {R"("peer":{"link":{"state":"LinkUp"}})", "port state is none of the schema's words"},
    {R"("peer":{"link":{"phys_state":"linkup"}})",
     "physical port state is none of the schema's words"},
    {R"("peer":{"link":{"carrier_down_count":18446744073709551615}})",
     "carrier_down_count of all ones: no answer of the device"},
    {R"("peer":{"counters":{"symbol_error":18446744073709551615}})",
     "symbol_error of all ones: no answer of the device"},
    {R"("peer":{"counters":{"whatever":18446744073709551615}})",
     "counter of all ones: no answer of the device"},
    {R"("peer":{"counters":{"a\u0007b":1}})", "counter name is not plain text"},
    {R"("peer":{"source":"mad"})", "peer source is neither telemetry nor fleet"},
    {R"("peer":{"age_s":-1})", "peer age_s is not between 0 and a day"},
    {R"("peer":{"link_age_s":1})", "a part of peer has its own source or age"},
    {R"("peer":{"module":{"kind":"laser"}})", "module kind is none of the schema's words"},
};

TEST(ImportFile, AnImplausibleEntryIsNotUsed) {
  for (const Implausible& row : kImplausible) {
    const ImportedPort port = entry(row.content);
    EXPECT_EQ(port.flaw, row.flaw);
    EXPECT_FALSE(port.peer || port.module) << row.content;
  }
  std::string lanes = "{}";
  for (int i = 1; i < 33; ++i) lanes += ",{}";
  EXPECT_EQ(entry(R"("module":{"lanes":[)" + lanes + "]}").flaw, "a module with 33 lanes");
}

TEST(ImportFile, APlausibleEntryIsUsed) {
  for (
      const char* content :
      {R"("module":{"temperature_c":40,"length_m":30,"vdm":{"media_esnr_db":[22,0],"media_pre_fec_ber":{"min":1e-9}}})",
       R"("peer":{"link":{"state":"ACTIVE","phys_state":"LinkUp","speed_mbps":400000,"lanes":4}})",
       R"("peer":{"counters":{"link_downed":255,"port_xmit_wait":4294967295,"whatever":18446744073709551614}})"})
    EXPECT_EQ(entry(content).flaw, "") << content;
}

TEST(ImportFile, AnEmptyGroupIsNotUsed) {
  for (const char* nothing : {"", R"("source":"fleet")", R"("age_s":3)", R"("system":"")",
                              R"("link":{},"counters":{})"}) {
    const ImportedPort port =
        entry(fmt::format(R"("module":{{"serial":"A1"}},"peer":{{{}}})", nothing));
    EXPECT_FALSE(port.peer) << nothing;
    EXPECT_TRUE(port.module);
    EXPECT_EQ(port.flaw, "an empty peer is not used");
  }
  for (const char* name : {"system", "port", "guid", "description", "address"})
    EXPECT_TRUE(entry(fmt::format(R"("peer":{{"{}":"x"}})", name)).peer) << name;
  const ImportedPort port = entry(R"("module":{},"peer":{"system":"leaf-12","module":{}})");
  EXPECT_FALSE(port.module || port.peer->module);
  EXPECT_EQ(port.flaw, "an empty module is not used");
  EXPECT_TRUE(entry(R"("module":{"present":false})").module) << "an empty cage is a reading";
  EXPECT_EQ(entry(R"("module":null)").flaw, "");
}

/// Some telemetry writes 0 where a module has no limits. With limits out of order every reading
/// would be outside.
TEST(ImportFile, LimitsThatAreZeroOrOutOfOrderAreNotUsed) {
  const auto module = [](const std::string& limits) {
    return *entry(R"("module":{"temperature_c":51,"thresholds":{)" + limits + "}}").module;
  };
  for (const char* zero : {R"("low_alarm":0,"low_warn":0,"high_warn":0,"high_alarm":0)",
                           R"("low_alarm":0,"high_alarm":0)", R"("high_alarm":0)"}) {
    const ModuleSample m = module(fmt::format(R"("temperature_c":{{{}}})", zero));
    EXPECT_TRUE(m.thresholds.empty()) << zero;
    EXPECT_THAT(m.warnings,
                ::testing::ElementsAre("limits of temperature_c are all zero: not used"));
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
                ::testing::ElementsAre("limits of rx_power_mw are not in order: not used"));
  }
  const ModuleSample good =
      module(R"("temperature_c":{"low_alarm":0,"low_warn":0,"high_warn":70,"high_alarm":70},)"
             R"("laser_temperature_c":{"low_warn":0},"supply_v":{"high_warn":3.5})");
  EXPECT_EQ(good.thresholds.temperature_c, (Limits{0, 0, 70, 70}));
  EXPECT_EQ(good.thresholds.laser_temperature_c.low_warn, 0);
  EXPECT_EQ(good.thresholds.supply_v.high_warn, 3.5);
  EXPECT_THAT(good.warnings, ::testing::IsEmpty());
  const ImportedPort far =
      entry(R"("peer":{"module":{"thresholds":{"supply_v":{"high_alarm":0}}}})");
  EXPECT_TRUE(far.peer->module->thresholds.empty());
  EXPECT_THAT(far.peer->module->warnings,
              ::testing::ElementsAre("limits of supply_v are all zero: not used"));
}

}  // namespace
}  // namespace linkhealth
