// Real modules' memory against what its source says of it. The dumps stay where they are
// (LINKHEALTH_SHARED/modules): only keys that the source states are compared, and a file without
// any still must not make us invent anything.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "probes/module/decode.h"
#include "probes/module/dump_file.h"
#include "probes/module/screen.h"
#include "probes/peer/import_check.h"
#include "tests/probes/module/corpus_files.h"

namespace linkhealth {
namespace {

using nlohmann::json;

bool near(double a, double b) {
  return std::fabs(a - b) <= 1e-6 * std::max({std::fabs(a), std::fabs(b), 1e-3});
}

/// Counts what was compared, so that a test that compares nothing fails.
struct Comparison {
  std::string file;
  ModuleImage image;
  int compared = 0;

  void text(const std::string& key, const std::string& got, const json& want) {
    ++compared;
    EXPECT_EQ(got, want.get<std::string>()) << file << " " << key;
  }
  void number(const std::string& key, std::optional<double> got, const json& want) {
    ++compared;
    ASSERT_TRUE(got) << file << " " << key;
    EXPECT_TRUE(near(*got, want.get<double>()))
        << file << " " << key << ": " << *got << " for " << want;
  }
  void flag(const std::string& key, std::optional<bool> got, const json& want) {
    ++compared;
    ASSERT_TRUE(got) << file << " " << key;
    EXPECT_EQ(*got, want.is_boolean() ? want.get<bool>() : want.get<int>() != 0)
        << file << " " << key;
  }
};

/// "FR4_2x400G" of the source is our "2x400G-FR4"; "LITE" is a part number's word, no code.
std::string type_of(std::string name) {
  if (const auto lite = name.find("_LITE"); lite != std::string::npos) name.erase(lite, 5);
  // 68h has two owners (see codes.cpp); the source's name has both.
  constexpr std::string_view kOpenRoadm = "_OROADM_FLEXO_8E_DPO";
  if (const auto at = name.find(kOpenRoadm); at != std::string::npos)
    name.erase(at, kOpenRoadm.size());
  const auto cut = name.rfind('_');
  return name.substr(cut + 1) + "-" + name.substr(0, cut);
}

/// "SFP/SFP+/SFP28": all that the identifier may be, of which we say the first.
std::string form_factor_of(const std::string& identifier) {
  return identifier.substr(0, identifier.find('/'));
}

void compare_identity(const ModuleSample& m, const json& want, Comparison& c) {
  if (want.contains("vendor_name")) c.text("vendor_name", m.vendor, want["vendor_name"]);
  if (want.contains("vendor_pn")) c.text("vendor_pn", m.part_number, want["vendor_pn"]);
  if (want.contains("vendor_sn")) c.text("vendor_sn", m.serial, want["vendor_sn"]);
  if (want.contains("vendor_rev")) c.text("vendor_rev", m.revision, want["vendor_rev"]);
  if (want.contains("date_code")) {
    const std::string code = want["date_code"];
    c.text("date_code", m.date,
           "20" + code.substr(0, 2) + "-" + code.substr(2, 2) + "-" + code.substr(4, 2));
  }
  if (want.contains("date_code_as_printed")) c.text("date that is none", m.date, "");
  if (want.contains("identifier"))
    c.text("identifier", m.form_factor, form_factor_of(want["identifier"]));
  if (want.contains("connector"))
    c.text("connector", m.connector,
           want["connector"] == "Copper Pigtail" ? json("copper pigtail") : want["connector"]);
}

/// "2x400G-FR4" without its "2x".
std::string without_count(const std::string& type) {
  const auto x = type.find('x');
  return x != std::string::npos && type.find_first_not_of("0123456789") == x ? type.substr(x + 1)
                                                                             : type;
}

void compare_form(const ModuleSample& m, const json& want, Comparison& c) {
  const bool flat = cmis_is_flat(c.image);
  const double groups = vdm_group_count(c.image);
  if (want.contains("media_lanes")) {
    ++c.compared;
    EXPECT_EQ(m.media_lane_count.value_or(0), want["media_lanes"].get<unsigned>()) << c.file;
  }
  if (want.contains("banks")) c.number("banks", m.bank_count, want["banks"]);
  if (want.contains("media_interface") && m.kind != "acc")
    c.text("media_interface", m.type, type_of(want["media_interface"]));
  if (want.contains("media_interface") && m.kind == "acc") c.text("kind", m.kind, "acc");
  if (want.contains("length_m")) c.number("length_m", m.length_m, want["length_m"]);
  if (want.contains("length_smf_m")) c.number("length_smf_m", m.reach_m, want["length_smf_m"]);
  // This source prints 1.5 W where byte 64 says power level 1, which is 1.0 W (SFF-8472 table 8-3).
  const bool printed_wrongly = c.file == "sfp-10g-bidi-flexoptix.json";
  if (want.contains("max_power_w"))
    c.number("max_power_w", m.max_power_w, printed_wrongly ? json(1.0) : want["max_power_w"]);
  if (want.contains("wavelength_nm") && want["wavelength_nm"] == 0)
    c.flag("no wavelength", !m.wavelength_nm, true);
  else if (want.contains("wavelength_nm"))
    c.number("wavelength_nm", m.wavelength_nm, want["wavelength_nm"]);
  if (want.contains("source_class")) {
    const std::string form = want["source_class"]["form_factor"];
    c.flag("source_class.form_factor " + form + " for " + m.form_factor,
           form.starts_with(m.form_factor.substr(0, 4)) ||
               (m.form_factor == "SFP" && form.starts_with("SFP")),
           true);
    const bool copper = m.kind == "dac" || m.kind == "acc";
    c.flag("source_class.media is copper", copper, want["source_class"]["media"] == "Copper");
  }
  if (want.contains("optical"))
    c.flag("optical", m.kind == "optical" || m.kind == "aoc", want["optical"]);
  // A flat module's state byte means nothing: there is none then, whatever the source says.
  if (want.contains("module_state")) c.text("module_state", m.state, flat ? "" : "ModuleReady");
  if (want.contains("smf_media_code"))
    c.text("smf_media_code", without_count(m.type), type_of(want["smf_media_code"]));
  if (want.contains("ext_spec_compliance"))
    c.text("ext_spec_compliance", m.type, type_of(want["ext_spec_compliance"]));
  if (want.contains("length_om3_m")) c.number("length_om3_m", m.reach_m, want["length_om3_m"]);
  if (want.contains("vdm_groups")) c.number("vdm_groups", groups, want["vdm_groups"]);
  if (want.contains("firmware")) c.text("firmware", m.firmware, want["firmware"]["version"]);
  if (want.contains("checksum_ok")) c.flag("checksum_ok", m.checksums_ok, want["checksum_ok"]);
}

using LaneValue = std::optional<double> ModuleLane::*;
using LaneBit = std::optional<bool> ModuleLane::*;

void compare_monitors(const ModuleSample& m, const json& want, Comparison& c) {
  const auto rounded = [&](const char* key, std::optional<double> got) {
    if (want.contains(key))
      c.number(key, got ? std::optional(std::round(*got * 1e4) / 1e4) : got,
               std::round(want[key].get<double>() * 1e4) / 1e4);
  };
  rounded("temperature_c", m.temperature_c);
  rounded("vcc_v", m.supply_v);
  for (const auto& [key, field] :
       {std::pair<const char*, LaneValue>{"rx_power_mw", &ModuleLane::rx_power_mw},
        {"tx_power_mw", &ModuleLane::tx_power_mw},
        {"tx_bias_ma", &ModuleLane::tx_bias_ma}}) {
    if (!want.contains(key)) continue;
    ASSERT_GE(m.lanes.size(), want[key].size()) << c.file;
    for (std::size_t i = 0; i < want[key].size(); ++i)
      if (!want[key][i].is_null()) c.number(key, m.lanes[i].*field, want[key][i]);
  }
  if (want.contains("monitoring"))
    c.flag("monitoring", m.temperature_c || !m.lanes.empty(), want["monitoring"]);
}

void compare_quad(const std::string& name, const Limits& got, const json& want, Comparison& c) {
  const bool whole = want.size() == 4;
  if (whole && !(want["high_alarm"] >= want["high_warn"] && want["high_warn"] >= want["low_warn"] &&
                 want["low_warn"] >= want["low_alarm"])) {
    ++c.compared;
    EXPECT_TRUE(got.empty()) << c.file << " unordered " << name;
    return;
  }
  for (const auto& [key, value] : {std::pair{"high_alarm", got.high_alarm},
                                   {"low_alarm", got.low_alarm},
                                   {"high_warn", got.high_warn},
                                   {"low_warn", got.low_warn}})
    if (want.contains(key))
      c.number(name + "." + key, value ? std::optional(std::round(*value * 1e4) / 1e4) : value,
               want[key]);
}

void compare_thresholds(const ModuleSample& m, const json& want, Comparison& c) {
  if (!want.contains("thresholds")) return;
  const json& t = want["thresholds"];
  for (const auto& [key, got] :
       {std::pair<const char*, const Limits*>{"temp", &m.thresholds.temperature_c},
        {"vcc", &m.thresholds.supply_v},
        {"rxPwr", &m.thresholds.rx_power_mw},
        {"txPwr", &m.thresholds.tx_power_mw},
        {"txBias", &m.thresholds.tx_bias_ma}})
    if (t.contains(key)) compare_quad(key, *got, t[key], c);
}

void compare_flags(const ModuleSample& m, const json& want, Comparison& c) {
  const json flags = want.value("lane_flags", json::object());
  for (const auto& [key, field] : {std::pair<const char*, LaneBit>{"tx_los", &ModuleLane::tx_los},
                                   {"rx_los", &ModuleLane::rx_los},
                                   {"tx_lol", &ModuleLane::tx_lol},
                                   {"rx_lol", &ModuleLane::rx_lol},
                                   {"tx_fault", &ModuleLane::tx_fault},
                                   {"tx_adaptfault", &ModuleLane::tx_eq_fault}})
    if (flags.contains(key))
      for (std::size_t i = 0; i < flags[key].size(); ++i)
        c.flag(key, m.lanes.at(i).*field, flags[key][i]);
  const json controls = want.value("lane_controls", json::object());
  if (controls.contains("TxDisable"))
    for (std::size_t i = 0; i < controls["TxDisable"].size(); ++i)
      c.flag("TxDisable", m.lanes.at(i).tx_disabled, controls["TxDisable"][i]);
  const json alarms = want.value("lane_alarm_flags", json::object());
  for (const auto& [group, field] : {std::pair{"TxPwr", &ModuleLane::tx_power_flags},
                                     {"RxPwr", &ModuleLane::rx_power_flags},
                                     {"TxBias", &ModuleLane::tx_bias_flags}})
    for (const auto& [name, level] : {std::pair{"HighAlarm", &AlarmFlags::high_alarm},
                                      {"LowAlarm", &AlarmFlags::low_alarm},
                                      {"HighWarn", &AlarmFlags::high_warn},
                                      {"LowWarn", &AlarmFlags::low_warn}}) {
      const std::string key = std::string(group) + name;
      if (!alarms.contains(key)) continue;
      for (std::size_t i = 0; i < alarms[key].size(); ++i)
        c.flag(key, m.lanes.at(i).*field.*level, alarms[key][i]);
    }
  const json module = want.value("module_flags", json::object());
  for (const auto& [key, got] :
       {std::pair{"temp", &m.temperature_flags}, {"vcc", &m.supply_flags}}) {
    if (!module.contains(key)) continue;
    c.flag("high_alarm", got->high_alarm, module[key]["high_alarm"]);
    c.flag("low_alarm", got->low_alarm, module[key]["low_alarm"]);
    c.flag("high_warn", got->high_warn, module[key]["high_warn"]);
    c.flag("low_warn", got->low_warn, module[key]["low_warn"]);
  }
}

void compare_coherent(const ModuleSample& m, const json& want, Comparison& c) {
  if (!want.contains("vdm_coherent")) return;
  const json& v = want["vdm_coherent"];
  // The stated one is coarse, in steps of 20; this module gives the fine one too.
  ASSERT_TRUE(m.coherent.chromatic_dispersion_ps_per_nm) << c.file;
  ++c.compared;
  EXPECT_NEAR(*m.coherent.chromatic_dispersion_ps_per_nm,
              v["cd_low_granularity_ps_nm"].get<double>(), 20)
      << c.file;
}

/// A synthetic dump states flags and Tx power that its page 00h says it does not have (its source's
/// decoder does not look): the advertisement is put right, so that the positions are compared.
void advertise_all(ModuleImage& image) {
  const std::uint8_t options[] = {0x08, 0x34, 0xda};
  const std::uint8_t monitoring[] = {0x0e};
  image.store({kModuleAddressA0, 0, 0, 193, 3}, options);
  image.store({kModuleAddressA0, 0, 0, 220, 1}, monitoring);
}

/// As above, of CMIS: this scrubbed dump states equalizer faults and does not advertise them
/// (01h:157.3).
void advertise_equalizer(ModuleImage& image) {
  const std::uint8_t flags[] = {
      static_cast<std::uint8_t>(upper_page(image, 1).byte(157).value_or(0) | 0x08U)};
  image.store({kModuleAddressA0, 0, 1, 157, 1}, flags);
}

/// What is compared, and how much of it the dumps state: a comparison that is dropped makes the
/// count fall.
struct Group {
  const char* name;
  void (*compare)(const ModuleSample&, const json&, Comparison&);
  int at_least;
};
constexpr Group kGroups[] = {
    {"identity", compare_identity, 138}, {"form", compare_form, 110},
    {"monitors", compare_monitors, 39},  {"thresholds", compare_thresholds, 13},
    {"flags", compare_flags, 171},       {"coherent", compare_coherent, 1},
};

TEST(ModuleCorpus, AgreesWithEverythingThatTheSourcesState) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  std::map<std::string, int> compared;
  for (const auto& file : files) {
    const json dump = json::parse(std::ifstream(file));
    auto image = read_module_dump(file.string());
    ASSERT_TRUE(image) << image.error().message;
    if (file.filename() == "qsfp-100g-cwdm4-synthetic-monitors.json") advertise_all(*image);
    if (file.filename() == "qsfpdd-200g-fr4-cmis.json") advertise_equalizer(*image);
    const ModuleSample module = decode_module(*image);
    for (const Group& group : kGroups) {
      Comparison comparison{file.filename().string(), *image};
      group.compare(module, dump["expected"], comparison);
      compared[group.name] += comparison.compared;
    }
  }
  for (const Group& group : kGroups) EXPECT_GE(compared[group.name], group.at_least) << group.name;
}

TEST(ModuleCorpus, InventsNothing) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  for (const auto& file : files) {
    const json dump = json::parse(std::ifstream(file));
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    const json& pages = dump["pages"];
    if (m.kind == "dac") {
      EXPECT_TRUE(m.lanes.empty()) << file;
    }
    for (const ModuleLane& lane : m.lanes)
      EXPECT_FALSE(m.kind == "acc" && (lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma))
          << file;
    if (dump["kind"] == "sff8472" && !pages.contains("a2")) {
      EXPECT_FALSE(m.temperature_c) << file;
    }
    if (dump["kind"] == "cmis" && !pages.contains("11")) {
      EXPECT_TRUE(m.lanes.empty()) << file;
    }
    if (!pages.contains("24")) {
      EXPECT_TRUE(m.vdm.media_pre_fec_ber.empty()) << file;
    }
    const bool has_limits = pages.contains("a2") || pages.contains("02") || pages.contains("03");
    if (!has_limits) {
      EXPECT_TRUE(m.thresholds.empty()) << file;
    }
  }
}

/// Byte `offset` (from 128) of page 01h, by hand from the file's hex.
unsigned advertised(const json& dump, unsigned offset) {
  return static_cast<unsigned>(std::stoul(
      dump["pages"]["01"].get<std::string>().substr((offset - 128) * 2, 2), nullptr, 16));
}

/// CMIS 8.4.4: a monitor that page 01h does not advertise has neither a value nor limits, whatever
/// its bytes hold.
TEST(ModuleCorpus, WhatACmisModuleDoesNotAdvertiseHasNeitherValueNorLimits) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  unsigned monitors = 0, without = 0;
  for (const auto& file : files) {
    const json dump = json::parse(std::ifstream(file));
    if (dump["kind"] != "cmis" || !dump["pages"].contains("01") || !dump["pages"]["01"].is_string())
      continue;
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    const auto holds = [&](unsigned offset, unsigned bit, bool value, bool limits) {
      ++monitors;
      if ((advertised(dump, offset) >> bit & 1U) != 0) return;
      ++without;
      EXPECT_FALSE(value) << file << ": " << offset << " bit " << bit;
      EXPECT_FALSE(limits) << file << ": " << offset << " bit " << bit;
    };
    const auto any_lane = [&](auto member) {
      return std::ranges::any_of(
          m.lanes, [member](const ModuleLane& lane) { return (lane.*member).has_value(); });
    };
    holds(159, 0, m.temperature_c.has_value(), !m.thresholds.temperature_c.empty());
    holds(159, 1, m.supply_v.has_value(), !m.thresholds.supply_v.empty());
    holds(160, 0, any_lane(&ModuleLane::tx_bias_ma), !m.thresholds.tx_bias_ma.empty());
    holds(160, 1, any_lane(&ModuleLane::tx_power_mw), !m.thresholds.tx_power_mw.empty());
    holds(160, 2, any_lane(&ModuleLane::rx_power_mw), !m.thresholds.rx_power_mw.empty());
  }
  EXPECT_GT(without, 0U) << "of " << monitors << ": nothing was tried";
}

/// A real module as we decode it is plausible when another program imports it.
TEST(ModuleCorpus, NoRealModuleIsImplausible) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  for (const auto& file : files)
    EXPECT_EQ(find_implausible({.peer = std::nullopt,
                                .module = decode_module(*read_module_dump(file.string())),
                                .flaw = {}}),
              "")
        << file;
}

/// Every checksum of a module that was really read holds, but for one whose vendor name was
/// overwritten.
TEST(ModuleCorpus, RealModulesHaveRightChecksums) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  std::set<std::string> wrong;
  for (const auto& file : files) {
    const json dump = json::parse(std::ifstream(file));
    if (dump["provenance"] != "real") continue;
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    ASSERT_TRUE(m.checksums_ok) << file;
    if (!*m.checksums_ok) wrong.insert(file.filename().string());
  }
  EXPECT_EQ(wrong, std::set<std::string>{"sfp-10g-sr-oem-dpdk.json"});
}

}  // namespace
}  // namespace linkhealth
