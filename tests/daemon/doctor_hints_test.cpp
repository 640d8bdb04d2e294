// What the doctor says to do about each reason, and that every name which the sources give to gaps
// has its row.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "daemon/doctor.h"
#include "exporters/doctor.h"
#include "tests/daemon/doctor_node.h"

namespace linkhealth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::one_port;
using testing::source;

struct Refusal {
  const char* probe;
  const char* reason;
  SourceState state;
  const char* hint;  ///< part of it; "": none
};
class DoctorRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(DoctorRefusal, HasItsReasonAndItsHint) {
  Report report = one_port();
  const auto row =
      std::find_if(source_table().begin(), source_table().end(),
                   [](const SourceRow& each) { return each.probe == GetParam().probe; });
  ASSERT_NE(row, source_table().end());
  if (std::string(GetParam().probe).starts_with("peer_mad")) {
    report.ports[0].latest.id.link_layer = "InfiniBand";
    report.ports[0].latest.module.emplace().present = true;  // imported
  }
  (row->node ? report.gaps : report.ports[0].gaps)
      .push_back({row->node ? "" : "mlx5_0/1", GetParam().probe, GetParam().reason});
  const DoctorReport doctor = examine(report, {});
  const SourceSight& sight = source(doctor, GetParam().probe);
  EXPECT_EQ(sight.state, GetParam().state);
  EXPECT_EQ(sight.why, GetParam().reason);
  EXPECT_THAT(sight.hint, HasSubstr(GetParam().hint));
  const bool missing = sight.state != SourceState::kNotOffered;
  // What is asked of an interface is hidden with it.
  const auto likewise =
      std::ranges::count(doctor.ports.at(0).sources, sight.why, &SourceSight::why);
  EXPECT_EQ(doctor.hidden,
            missing ? std::max<std::size_t>(1, static_cast<std::size_t>(likewise)) : 0U);
  EXPECT_EQ(self_test_lines(doctor).size(), missing ? 1U : 0U) << "one clear line each";
}
INSTANTIATE_TEST_SUITE_P(
    Table, DoctorRefusal,
    ::testing::Values(
        Refusal{"module", "EPERM", SourceState::kHidden, "CAP_NET_ADMIN"},
        Refusal{"module", "EOPNOTSUPP: the driver does not offer it", SourceState::kNotOffered, ""},
        Refusal{"module", "no answer within 5 s", SourceState::kHidden, "the device hangs"},
        Refusal{"kernel_log", "/dev/kmsg: Operation not permitted", SourceState::kHidden,
                "CAP_SYSLOG"},
        Refusal{"verbs_events", "EACCES", SourceState::kHidden, "uverbs"},
        Refusal{"verbs_events", "the device does not answer", SourceState::kHidden,
                "the device hangs"},
        Refusal{"peer_mad", "ENOENT", SourceState::kHidden, "ib_umad"},
        // What is asked of another machine or program is not mended by a reset of ours.
        Refusal{"peer_mad", "the far end: no answer: Connection timed out", SourceState::kHidden,
                "only its subnet manager ask: name the far end by the cabling plan or an import"},
        Refusal{"peer_mad", "state of the far port: no answer: Connection timed out",
                SourceState::kHidden, "set peers.mad to 0"},
        Refusal{"import", "no answer within 30 s", SourceState::kHidden,
                "the directory hangs: bring the server"},
        Refusal{"peer_lldp", "no answer within 30 s", SourceState::kHidden,
                "lldpd hangs: restart it"},
        Refusal{"peer_mad", "no answer within 30 s", SourceState::kHidden, "the device hangs"},
        Refusal{"peer_lldp", "lldpd does not answer", SourceState::kHidden, "lldpd"},
        Refusal{"import", "late.json: stale", SourceState::kHidden, "rights"},
        Refusal{"devlink", "EPERM", SourceState::kHidden, "network namespace"},
        Refusal{"inventory", "/sys/class/infiniband: EMFILE", SourceState::kHidden, "LimitNOFILE"},
        Refusal{"module", "Too many open files", SourceState::kHidden, "LimitNOFILE"},
        Refusal{"driver_stats", "EPERM", SourceState::kHidden, "network namespace"},
        Refusal{"device_events", "EPERM", SourceState::kHidden, "network namespace"},
        Refusal{"inventory", "/sys/class/infiniband: Permission denied", SourceState::kHidden,
                "may not read"},
        // A right or a mount helps against a refusal, and not against what a device answers.
        Refusal{"module", "EIO", SourceState::kHidden, "reseat the module"},
        Refusal{"module", "the module answers only zeros", SourceState::kHidden,
                "reseat the module"},
        Refusal{"module", "the imported reading has ended, and ethtool gives none",
                SourceState::kHidden, "renew the import"},
        Refusal{"driver_stats", "EBUSY", SourceState::kHidden, "read again by itself"},
        Refusal{"hwmon", "temp1_input: EIO", SourceState::kHidden, "kernel log"},
        Refusal{"pcie", "current_link_speed: text \"Unknown\"", SourceState::kPartly, "kernel log"},
        Refusal{"link", "state: text \"garbage\"", SourceState::kPartly, "kernel log"},
        // What is refused is there: no mount brings it.
        Refusal{"link", "carrier: Permission denied", SourceState::kPartly, "may not read"},
        Refusal{"link", "net/ens1np0: EACCES", SourceState::kPartly, "may not read"},
        Refusal{"counters", "symbol_error: EACCES", SourceState::kPartly, "may not read"},
        Refusal{"hw_counters", "hw_counters: EPERM", SourceState::kHidden, "may not read"},
        Refusal{"netdev_stats", "statistics: EACCES", SourceState::kHidden, "may not read"},
        Refusal{"inventory",
                "mlx5_0 is its RDMA device, and /sys/class/infiniband does not list it",
                SourceState::kHidden, "mount the host's /sys"},
        Refusal{"inventory", "/sys/class/net: ENOENT", SourceState::kHidden,
                "mount the host's /sys"},
        Refusal{"counters", "symbol_error: ENOENT; VL15_dropped: EINVAL", SourceState::kPartly,
                "this kernel or card has no such file"},
        Refusal{"netdev_stats", "ib0 is in another network namespace than the monitor",
                SourceState::kHidden, "network namespace"},
        // "None there" is for who has none, and not for one file beside twenty that were read.
        Refusal{"counters", "symbol_error: Invalid argument", SourceState::kPartly,
                "the others are read"},
        Refusal{"counters", "link_downed: text \"N/A (no PMA)\"", SourceState::kPartly,
                "the others are read"},
        // A far end is not "not offered" by a driver: whoever asks is missing something.
        Refusal{"peer_mad", "EOPNOTSUPP", SourceState::kHidden, "ib_umad"},
        Refusal{"peer_mad",
                "the kernel offers no management interface for mlx5_0 port 1: load ib_umad",
                SourceState::kHidden, "ib_umad"},
        Refusal{"verbs_events", "EOPNOTSUPP", SourceState::kHidden, "uverbs"},
        Refusal{"link_events", "Operation not permitted", SourceState::kHidden,
                "network namespace"}),
    [](const auto& test) { return std::string(test.param.probe) + std::to_string(test.index); });

/// A /sys in part lacks the same of each port: one is shown by name, the others are counted.
TEST(DoctorHints, OfANodesSourceTheGapsOfAllPortsCount) {
  Report report = one_port();
  for (const char* netdev : {"ens1", "ens2"}) {
    PortReport& port = report.ports.emplace_back(report.ports[0]);
    port.port = netdev;
    port.gaps.push_back({netdev, "inventory",
                         "mlx5_1 is its RDMA device, and /sys/class/infiniband does not list it"});
  }
  EXPECT_THAT(source(examine(report, {}), "inventory").why,
              AllOf(HasSubstr("ens1: mlx5_1 is its RDMA device"), HasSubstr("(and 1 more)")));
  report.gaps.push_back({"", "inventory", "default route: EIO"});
  EXPECT_THAT(source(examine(report, {}), "inventory").why,
              AllOf(HasSubstr("default route"), HasSubstr("(and 2 more)")));
}

TEST(DoctorHints, ACounterDirectoryThatHasNoneMeansThatThePortHasNone) {
  Report report = one_port();
  report.ports[0].latest.counters.reset();
  report.ports[0].gaps.push_back({"mlx5_0/1", "counters", "symbol_error: Invalid argument"});
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(source(doctor, "counters").state, SourceState::kHidden);
  EXPECT_THAT(source(doctor, "counters").hint, HasSubstr("switch mode"));
}

TEST(DoctorHints, AGapOfNoSourceOfTheTableIsSaidToo) {
  Report report = one_port();
  report.gaps.push_back({"", "a_new_one", "nobody has thought of it"});
  report.ports[0].gaps.push_back({"mlx5_0/1", "ethtool", "no answer within 5 s"});
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(doctor.hidden, 12U) << "with all that the port's reader reads";
  const auto of_the_hang = [](const char* how) {
    return AllOf(HasSubstr("mlx5_0/1: "), HasSubstr(how), HasSubstr("the device hangs"));
  };
  EXPECT_THAT(self_test_lines(doctor),
              ElementsAre("a_new_one can't be seen: nobody has thought of it",
                          of_the_hang("can be seen only in part"), of_the_hang("can't be seen")));
  EXPECT_THAT(doctor_text(doctor, {}),
              AllOf(HasSubstr("nobody has thought"), HasSubstr("no answer within 5 s")));
}

/// Each of ethtool's counters is of the request that brings it.
TEST(DoctorHints, PauseFramesAreSeenAndNoOtherCounterForThem) {
  Report report = one_port();
  report.ports[0].latest.counters.emplace().set("pause_tx_pause_frames", 1);
  const DoctorReport paused = examine(report, {});
  EXPECT_EQ(source(paused, "pause").state, SourceState::kSeen);
  EXPECT_NE(source(paused, "ethtool_stats").state, SourceState::kSeen);
  report.ports[0].gaps.push_back({"mlx5_0/1", "ethtool_stats", "EIO"});
  EXPECT_EQ(source(examine(report, {}), "ethtool_stats").state, SourceState::kHidden);
}

TEST(DoctorHints, WhatHangsHidesAllThatIsReadWithIt) {
  Report report = one_port();
  report.ports[0].latest.counters.emplace().set("fec_corrected_bits", 1);
  report.ports[0].gaps.push_back({"mlx5_0/1", "ethtool", "no answer within 5 s"});
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(source(doctor, "fec").state, SourceState::kPartly) << "it was read before";
  EXPECT_THAT(source(doctor, "fec").hint, HasSubstr("the device hangs"));
  EXPECT_EQ(source(doctor, "pause").state, SourceState::kHidden);
  EXPECT_NE(source(doctor, "netdev_stats").state, SourceState::kHidden)
      << "that is read for the whole node";
}

TEST(DoctorHints, TenCardsWithoutADriverAreOneLine) {
  Report report = one_port();
  for (int card = 0; card < 10; ++card)
    report.gaps.push_back(
        {"", "pci_bus",
         "0000:1" + std::to_string(card) + ":00.0 is on the PCI bus without a driver"});
  const DoctorReport doctor = examine(report, {});
  EXPECT_EQ(doctor.hidden, 1U);
  EXPECT_EQ(source(doctor, "pci_bus").why,
            "0000:10:00.0 is on the PCI bus without a driver (and 9 more)");
  EXPECT_THAT(source(doctor, "pci_bus").hint, HasSubstr("load the driver"));
  EXPECT_NE(source(doctor, "pci_bus").what, "pci_bus");
}

/// The first literal of small letters between `from` and the next ';' or '{': a name and no
/// sentence.
std::string name_behind(std::string_view text, std::size_t from) {
  const std::string_view rest = text.substr(from, text.find_first_of(";{", from) - from);
  std::size_t at = rest.find('"');
  while (at != std::string_view::npos) {
    const std::size_t end = rest.find('"', at + 1);
    if (end == std::string_view::npos) return {};
    const std::string_view literal = rest.substr(at + 1, end - at - 1);
    const bool compared = rest.substr(0, at).ends_with("== ");
    if (!compared && !literal.empty() &&
        literal.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos)
      return std::string(literal);
    at = rest.find('"', end + 1);
  }
  return {};
}

/// The names that probes and the daemon give to gaps, as they stand in the sources behind these
/// words.
std::set<std::string> names_of_gaps() {
  constexpr std::string_view kBefore[] = {"gaps.push_back({",
                                          "gaps_.push_back({",
                                          "Gap{",
                                          "return {port, \"",
                                          "ask(k",
                                          "add_gap(gaps, ",
                                          "read_counters(",
                                          "kProbe = ",
                                          "kName = ",
                                          "name() const override { return "};
  std::set<std::string> names;
  for (const char* folder : {"/probes", "/daemon"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(
             std::string(LINKHEALTH_SOURCE_DIR) + folder)) {
      if (file.path().extension() != ".cpp" && file.path().extension() != ".h") continue;
      std::ifstream stream(file.path());
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      for (const std::string_view before : kBefore)
        for (std::size_t at = text.find(before); at != std::string::npos;
             at = text.find(before, at + 1)) {
          const bool in_literal = before.ends_with('"');
          const std::string name = name_behind(text, at + before.size() - (in_literal ? 1 : 0));
          if (!name.empty()) names.insert(name);
        }
    }
  return names;
}

TEST(DoctorHints, EveryNameThatTheSourcesGiveToGapsHasItsRow) {
  const std::set<std::string> names = names_of_gaps();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"counters", "hw_counters", "inventory", "link",
                                              "link_modes", "module", "netdev_stats", "peer_mad",
                                              "peer_lldp", "import", "pcie", "hwmon", "kernel_log",
                                              "verbs_events", "ethtool", "fec"}))
      << "the test no longer finds them";
  for (const std::string& name : names) {
    const auto is_it = [&name](const SourceRow& row) { return row.probe == name; };
    EXPECT_TRUE(std::ranges::any_of(source_table(), is_it) ||
                std::ranges::any_of(trouble_table(), is_it))
        << name << " has no row in daemon/doctor_sources.cpp";
  }
}

TEST(DoctorHints, EverySourceHasAHintAndIsListedOnce) {
  std::vector<std::string_view> probes;
  for (const auto table : {source_table(), trouble_table()})
    for (const SourceRow& row : table) {
      EXPECT_FALSE(row.hint.empty()) << row.probe;
      EXPECT_EQ(std::count(probes.begin(), probes.end(), row.probe), 0) << row.probe;
      probes.push_back(row.probe);
    }
}

}  // namespace
}  // namespace linkhealth
