// Which of the expectations beside the module dumps corpus_test.cpp compares, and why it leaves
// some out.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/probes/module/corpus_files.h"

namespace linkhealth {
namespace {

using nlohmann::json;

/// Keys of `expected` that nothing is compared with, and why.
const std::map<std::string, std::string>& not_compared() {
  static const std::map<std::string, std::string> kKeys = {
      {"firmware.dsp",
       "page 01h bytes 194, 195 are a custom area: that source's convention, not CMIS"},
      {"firmware.build", "page 01h bytes 196, 197: as firmware.dsp"},
      {"source_class.module_type",
       "the nearest class that a switch library has, not always the module's"},
      {"module_type", "the source's own words for what connector, encoding and rate say"},
      {"diagnostic_monitoring_type",
       "a raw register; what it says is compared as the monitors that are there"},
      {"rx_snr_page14_raw", "page 14h holds ratios only while a program has selected them"},
      {"rx_snr_db", "as rx_snr_page14_raw"},
      {"vendor_oui", "not decoded"},
      {"encoding", "not decoded"},
      {"signaling_rate_bd", "not decoded"},
      {"host_lanes", "not decoded; the host lanes' states are"},
      {"copper_attenuation_db.*", "not decoded"},
      {"vdm_coherent.page", "where the source found it, not a value"},
      {"lane_controls.*",
       "settings of the host, which we do not decode; TxDisable is, and is compared"},
  };
  return kKeys;
}

/// Keys that the functions above look at.
const std::set<std::string>& compared_keys() {
  static const std::set<std::string> kKeys = {"vendor_name",
                                              "vendor_pn",
                                              "vendor_sn",
                                              "vendor_rev",
                                              "date_code",
                                              "date_code_as_printed",
                                              "identifier",
                                              "connector",
                                              "media_lanes",
                                              "banks",
                                              "media_interface",
                                              "length_m",
                                              "length_smf_m",
                                              "length_om3_m",
                                              "max_power_w",
                                              "wavelength_nm",
                                              "optical",
                                              "module_state",
                                              "checksum_ok",
                                              "smf_media_code",
                                              "ext_spec_compliance",
                                              "vdm_groups",
                                              "temperature_c",
                                              "vcc_v",
                                              "tx_bias_ma",
                                              "tx_power_mw",
                                              "rx_power_mw",
                                              "monitoring",
                                              "firmware.version",
                                              "source_class.form_factor",
                                              "source_class.media",
                                              "lane_controls.TxDisable"};
  return kKeys;
}

/// A source that states something new must be compared with, or the test says why not.
TEST(ModuleCorpus, EveryKeyOfTheExpectationsIsComparedOrNamed) {
  const auto files = dumps();
  if (files.empty()) GTEST_SKIP() << "no module dumps in " LINKHEALTH_SHARED "/modules";
  const std::set<std::string> whole = {"thresholds", "lane_flags", "lane_alarm_flags",
                                       "module_flags"};
  const auto check = [&](const std::string& file, const std::string& key) {
    const std::string group = key.substr(0, key.find('.'));
    EXPECT_TRUE(compared_keys().contains(key) || not_compared().contains(key) ||
                not_compared().contains(group + ".*") || group == "vdm_coherent")
        << file << ": " << key;
  };
  for (const auto& file : files) {
    const json expected = json::parse(std::ifstream(file))["expected"];
    for (const auto& [key, value] : expected.items()) {
      if (whole.contains(key)) continue;
      if (!value.is_object())
        check(file.filename(), key);
      else
        for (const auto& [part, unused] : value.items()) check(file.filename(), key + "." + part);
    }
  }
}

}  // namespace
}  // namespace linkhealth
