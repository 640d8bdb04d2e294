// Real modules' memory against the values that its source states. The dumps stay where they are
// (LINKHEALTH_SHARED/modules).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "probes/module/decode.h"
#include "probes/module/dump_file.h"
#include "probes/module/screen.h"
#include "probes/peer/import_file.h"
#include "tests/probes/module/planned_reads.h"

namespace linkhealth {
namespace {

using nlohmann::json;

std::vector<std::filesystem::path> dumps() {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(LINKHEALTH_SHARED "/modules", error))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class ModuleCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  }
  const std::vector<std::filesystem::path> files = dumps();
};

bool near(double a, double b) {
  return std::fabs(a - b) <= 1e-6 * std::max({std::fabs(a), std::fabs(b), 1e-3});
}

/// What a source states of one module. Counts what is compared, so that a test that compares
/// nothing fails, and collects the keys.
struct Comparison {
  std::string file;
  ModuleImage image;
  json expected;
  int compared = 0;
  std::set<std::string> keys = {};

  /// The value of `key` ("group.key"); nullptr: the source does not state it.
  const json* stated(const std::string& key) {
    keys.insert(key);
    const json* at = &expected;
    for (std::size_t begin = 0; begin <= key.size();) {
      const std::size_t end = std::min(key.find('.', begin), key.size());
      const auto found = at->find(key.substr(begin, end - begin));
      if (found == at->end()) return nullptr;
      at = &*found;
      begin = end + 1;
    }
    return at;
  }
  void equal(const std::string& key, const auto& got, const auto& want) {
    ++compared;
    EXPECT_EQ(got, want) << file << " " << key;
  }
  void number(const std::string& key, std::optional<double> got, double want) {
    ++compared;
    ASSERT_TRUE(got) << file << " " << key;
    EXPECT_TRUE(near(*got, want)) << file << " " << key << ": " << *got << " for " << want;
  }
  void flag(const std::string& key, std::optional<bool> got, const json& want) {
    // One memory was made up with limits that are not in order: their flags are none.
    if (!got && file.starts_with("qsfp-100g-cwdm4-synthetic")) return;
    ASSERT_TRUE(got) << file << " " << key;
    equal(key, *got, want.is_boolean() ? want.get<bool>() : want.get<int>() != 0);
  }
  void flags(const std::string& key, const ModuleSample& module, const auto& bit) {
    const json* want = stated(key);
    for (std::size_t i = 0; want != nullptr && i < want->size(); ++i)
      flag(key, bit(module.lanes.at(i)), (*want)[i]);
  }

  // As above, where the source states it.
  void text(const std::string& key, const std::string& got,
            std::string (*ours)(std::string) = nullptr) {
    const json* want = stated(key);
    if (want == nullptr) return;
    const std::string theirs = want->get<std::string>();
    equal(key, got, ours != nullptr ? ours(theirs) : theirs);
  }
  void number(const std::string& key, std::optional<double> got) {
    if (const json* want = stated(key)) number(key, got, want->get<double>());
  }
  void flag(const std::string& key, std::optional<bool> got) {
    if (const json* want = stated(key)) flag(key, got, *want);
  }
};

double rounded(double value) { return std::round(value * 1e4) / 1e4; }
std::optional<double> rounded(std::optional<double> value) {
  return value ? std::optional(rounded(*value)) : value;
}

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

/// "SFP/SFP+/SFP28": all that the identifier may be; we name the first.
std::string form_factor_of(std::string identifier) {
  return identifier.substr(0, identifier.find('/'));
}

std::string connector_of(std::string name) {
  return name == "Copper Pigtail" ? "copper pigtail" : name;
}

/// "240131" is "2024-01-31".
std::string date_of(std::string code) {
  return "20" + code.substr(0, 2) + "-" + code.substr(2, 2) + "-" + code.substr(4, 2);
}

void compare_identity(const ModuleSample& m, Comparison& c) {
  c.text("vendor_name", m.vendor);
  c.text("vendor_pn", m.part_number);
  c.text("vendor_sn", m.serial);
  c.text("vendor_rev", m.revision);
  c.text("date_code", m.date, date_of);
  c.text("date_code_as_printed", m.date, [](std::string) { return std::string(); });  // no date
  c.text("identifier", m.form_factor, form_factor_of);
  c.text("connector", m.connector, connector_of);
}

/// "2x400G-FR4" without its "2x".
std::string without_count(const std::string& type) {
  const auto x = type.find('x');
  return x != std::string::npos && type.find_first_not_of("0123456789") == x ? type.substr(x + 1)
                                                                             : type;
}

void compare_form(const ModuleSample& m, Comparison& c) {
  c.number("media_lanes", m.media_lane_count.value_or(0));
  c.number("banks", m.bank_count);
  if (m.kind != "acc") c.text("media_interface", m.type, type_of);
  if (m.kind == "acc")
    c.text("media_interface", m.kind, [](std::string) { return std::string("acc"); });
  c.number("length_m", m.length_m);
  c.number("length_smf_m", m.reach_m);
  c.number("length_om3_m", m.reach_m);
  c.number("max_power_w", m.max_power_w);
  c.number("wavelength_nm", m.wavelength_nm.value_or(0));
  if (const json* form = c.stated("source_class.form_factor")) {
    const std::string name = *form;
    c.equal("source_class.form_factor " + name + " for " + m.form_factor,
            name.starts_with(m.form_factor.substr(0, m.form_factor == "SFP" ? 3 : 4)), true);
  }
  if (const json* media = c.stated("source_class.media"))
    c.equal("source_class.media", m.kind == "dac" || m.kind == "acc", *media == "Copper");
  c.flag("optical", m.kind == "optical" || m.kind == "aoc");
  // A flat module's state byte means nothing: there is none then.
  if (c.stated("module_state"))
    c.equal("module_state", m.state, cmis_is_flat(c.image) ? "" : "ModuleReady");
  c.text("smf_media_code", without_count(m.type), type_of);
  c.text("ext_spec_compliance", m.type, type_of);
  c.number("vdm_groups", vdm_group_count(c.image));
  c.text("firmware.version", m.firmware);
  c.flag("checksum_ok", m.checksums_ok);
}

void compare_monitors(const ModuleSample& m, Comparison& c) {
  for (const auto& [key, got] :
       {std::pair{"temperature_c", m.temperature_c}, {"vcc_v", m.supply_v}})
    if (const json* want = c.stated(key)) c.number(key, rounded(got), rounded(want->get<double>()));
  for (const auto& [key, field] : {std::pair{"rx_power_mw", &ModuleLane::rx_power_mw},
                                   {"tx_power_mw", &ModuleLane::tx_power_mw},
                                   {"tx_bias_ma", &ModuleLane::tx_bias_ma}}) {
    const json* want = c.stated(key);
    for (std::size_t i = 0; want != nullptr && i < want->size(); ++i)
      if (!(*want)[i].is_null()) c.number(key, m.lanes.at(i).*field, (*want)[i].get<double>());
  }
  c.flag("monitoring", m.temperature_c || !m.lanes.empty());
}

void compare_limits(const std::string& name, const Limits& got, const json& want, Comparison& c) {
  if (want.size() == 4 &&
      !(want["high_alarm"] >= want["high_warn"] && want["high_warn"] >= want["low_warn"] &&
        want["low_warn"] >= want["low_alarm"])) {
    c.equal("unordered " + name, got.empty(), true);
    return;
  }
  for (const auto& [key, value] : {std::pair{"high_alarm", got.high_alarm},
                                   {"low_alarm", got.low_alarm},
                                   {"high_warn", got.high_warn},
                                   {"low_warn", got.low_warn}})
    if (want.contains(key)) c.number(name + "." + key, rounded(value), want[key].get<double>());
}

void compare_thresholds(const ModuleSample& m, Comparison& c) {
  for (const auto& [key, got] : {std::pair{"thresholds.temp", &m.thresholds.temperature_c},
                                 {"thresholds.vcc", &m.thresholds.supply_v},
                                 {"thresholds.rxPwr", &m.thresholds.rx_power_mw},
                                 {"thresholds.txPwr", &m.thresholds.tx_power_mw},
                                 {"thresholds.txBias", &m.thresholds.tx_bias_ma}})
    if (const json* want = c.stated(key)) compare_limits(key, *got, *want, c);
}

void compare_flags(const ModuleSample& m, Comparison& c) {
  for (const auto& [key, field] : {std::pair{"lane_flags.tx_los", &ModuleLane::tx_los},
                                   {"lane_flags.rx_los", &ModuleLane::rx_los},
                                   {"lane_flags.tx_lol", &ModuleLane::tx_lol},
                                   {"lane_flags.rx_lol", &ModuleLane::rx_lol},
                                   {"lane_flags.tx_fault", &ModuleLane::tx_fault},
                                   {"lane_flags.tx_adaptfault", &ModuleLane::tx_eq_fault},
                                   {"lane_controls.TxDisable", &ModuleLane::tx_disabled}})
    c.flags(key, m, [flag = field](const ModuleLane& lane) { return lane.*flag; });
  constexpr std::pair<const char*, std::optional<bool> AlarmFlags::*> kLevels[] = {
      {"HighAlarm", &AlarmFlags::high_alarm},
      {"LowAlarm", &AlarmFlags::low_alarm},
      {"HighWarn", &AlarmFlags::high_warn},
      {"LowWarn", &AlarmFlags::low_warn}};
  for (const auto& [group, field] : {std::pair{"TxPwr", &ModuleLane::tx_power_flags},
                                     {"RxPwr", &ModuleLane::rx_power_flags},
                                     {"TxBias", &ModuleLane::tx_bias_flags}})
    for (const auto& [name, level] : kLevels)
      c.flags(std::string("lane_alarm_flags.") + group + name, m,
              [flags = field, one = level](const ModuleLane& lane) { return lane.*flags.*one; });
  for (const auto& [group, got] : {std::pair{"module_flags.temp", &m.temperature_flags},
                                   {"module_flags.vcc", &m.supply_flags}})
    if (const json* want = c.stated(group)) {
      c.flag("high_alarm", got->high_alarm, (*want)["high_alarm"]);
      c.flag("low_alarm", got->low_alarm, (*want)["low_alarm"]);
      c.flag("high_warn", got->high_warn, (*want)["high_warn"]);
      c.flag("low_warn", got->low_warn, (*want)["low_warn"]);
    }
}

void compare_coherent(const ModuleSample& m, Comparison& c) {
  // The stated one is coarse, in steps of 20; this module gives the fine one too.
  const json* coarse = c.stated("vdm_coherent.cd_low_granularity_ps_nm");
  if (coarse == nullptr) return;
  ++c.compared;
  EXPECT_NEAR(m.coherent.chromatic_dispersion_ps_per_nm.value_or(NAN), coarse->get<double>(), 20)
      << c.file;
}

/// A synthetic dump states flags and Tx power that its page 00h does not advertise (its source's
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
  void (*compare)(const ModuleSample&, Comparison&);
  int at_least;
};
constexpr Group kGroups[] = {
    {"identity", compare_identity, 137}, {"form", compare_form, 108},
    {"monitors", compare_monitors, 34},  {"thresholds", compare_thresholds, 13},
    {"flags", compare_flags, 120},       {"coherent", compare_coherent, 1},
};

/// Keys that are compared with nothing.
const std::set<std::string> kNotCompared = {
    // Page 01h, bytes 194 to 197 are a custom area: that source's convention, not CMIS.
    "firmware.dsp", "firmware.build",
    // The nearest class that a switch library has, not always the module's.
    "source_class.module_type",
    // The source's own text for connector, encoding and rate.
    "module_type",
    // A raw register; the monitors themselves are compared.
    "diagnostic_monitoring_type",
    // Page 14h holds ratios only while a program has selected them.
    "rx_snr_page14_raw", "rx_snr_db",
    // Not decoded; the host lanes' states are.
    "host_lanes", "vendor_oui", "encoding", "signaling_rate_bd", "copper_attenuation_db",
    // Settings of the host; TxDisable is compared.
    "lane_controls",
    // The fine value of each is compared, or where the source found it.
    "vdm_coherent"};

/// A key that a source newly states is compared, or is listed with the reason.
void expect_all_keys_compared(const Comparison& c) {
  for (const auto& [group, value] : c.expected.items()) {
    if (c.keys.contains(group) || kNotCompared.contains(group)) continue;
    EXPECT_TRUE(value.is_object()) << c.file << ": " << group;
    for (const auto& [name, unused] : value.items()) {
      const std::string key = group + "." + name;
      EXPECT_TRUE(c.keys.contains(key) || kNotCompared.contains(key)) << c.file << ": " << key;
    }
  }
}

TEST_F(ModuleCorpus, AgreesWithAllThatTheSourcesState) {
  std::map<std::string, int> compared;
  for (const auto& file : files) {
    json dump = json::parse(std::ifstream(file));
    auto image = read_module_dump(file.string());
    ASSERT_TRUE(image) << image.error().message;
    // Made up: its A2h is an A0h with numbers behind it, which is left out.
    if (file.filename() == "sfp-10g-lr-fixture.json") continue;
    if (file.filename() == "qsfp-100g-cwdm4-synthetic-monitors.json") advertise_all(*image);
    if (file.filename() == "qsfpdd-200g-fr4-cmis.json") advertise_equalizer(*image);
    // This source prints 1.5 W where byte 64 has power level 1: 1.0 W (SFF-8472 table 8-3).
    if (file.filename() == "sfp-10g-bidi-flexoptix.json") dump["expected"]["max_power_w"] = 1.0;
    const ModuleSample module = decode_module(*image);
    Comparison comparison{file.filename().string(), *image, dump["expected"]};
    for (const Group& group : kGroups) {
      const int before = comparison.compared;
      group.compare(module, comparison);
      compared[group.name] += comparison.compared - before;
    }
    expect_all_keys_compared(comparison);
  }
  for (const Group& group : kGroups) EXPECT_GE(compared[group.name], group.at_least) << group.name;
}

TEST_F(ModuleCorpus, InventsNothing) {
  for (const auto& file : files) {
    const json dump = json::parse(std::ifstream(file));
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    const json& pages = dump["pages"];
    const auto only_if = [&file](bool may_be, bool is) { EXPECT_TRUE(may_be || !is) << file; };
    only_if(m.kind != "dac", !m.lanes.empty());
    for (const ModuleLane& lane : m.lanes)
      only_if(m.kind != "acc", lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma);
    only_if(dump["kind"] != "sff8472" || pages.contains("a2"), m.temperature_c.has_value());
    only_if(dump["kind"] != "cmis" || pages.contains("11"), !m.lanes.empty());
    only_if(pages.contains("24"), !m.vdm.media_pre_fec_ber.empty());
    only_if(pages.contains("a2") || pages.contains("02") || pages.contains("03"),
            !m.thresholds.empty());
  }
}

/// Byte `offset` (from 128) of page 01h, by hand from the file's hex.
unsigned advertised(const json& dump, unsigned offset) {
  return static_cast<unsigned>(std::stoul(
      dump["pages"]["01"].get<std::string>().substr((offset - 128) * 2, 2), nullptr, 16));
}

/// CMIS 8.4.4: a monitor that page 01h does not advertise has neither a value nor limits, whatever
/// its bytes hold.
TEST_F(ModuleCorpus, AMonitorThatIsNotAdvertisedHasNeitherValueNorLimits) {
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
TEST_F(ModuleCorpus, NoRealModuleIsImplausible) {
  for (const auto& file : files)
    EXPECT_EQ(find_implausible({.peer = std::nullopt,
                                .module = decode_module(*read_module_dump(file.string())),
                                .flaw = {}}),
              "")
        << file;
}

/// Every checksum of a module that was really read holds, but for one whose vendor name was
/// overwritten.
TEST_F(ModuleCorpus, RealModulesHaveRightChecksums) {
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

TEST_F(ModuleCorpus, ThePlanReadsAllThatTheWholeMemoryHolds) {
  for (const auto& file : files) {
    const ModuleImage memory = *read_module_dump(file.string());
    const ModuleSample whole = decode_module(memory);
    for (const int rounds : {1, 2}) {
      const ModuleSample read = decode_module(as_read(memory, rounds));
      EXPECT_EQ(read.warnings, whole.warnings) << file << ", " << rounds << " rounds";
      EXPECT_TRUE(read == whole) << file << ", " << rounds << " rounds";
    }
  }
}

/// No power of any lane and no supply: such a module has no meters.
TEST_F(ModuleCorpus, NoLanesAreDarkWhereNothingIsMeasured) {
  for (const auto& file : files) {
    const ModuleSample m = decode_module(*read_module_dump(file.string()));
    if (m.temperature_c || m.supply_v) continue;
    for (const ModuleLane& lane : m.lanes)
      EXPECT_FALSE(lane.rx_power_mw == 0.0 && lane.tx_bias_ma == 0.0) << file;
  }
}

}  // namespace
}  // namespace linkhealth
