// What modules read, and what they say of the host: dumps and recordings from public reports.
#include "tests/cases/cases.h"

namespace linkhealth::cases {
namespace {

std::string module_of(const std::string& file) {
  return run_linkhealth("module --file " + shared_case(file).string()).text;
}
nlohmann::json module_json(const std::string& file) {
  const std::string text =
      run_linkhealth("module --json --file " + shared_case(file).string()).text;
  auto json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  return json;
}
nlohmann::json flags_of(const nlohmann::json& module) {
  return module.value("flags", nlohmann::json::array());
}
bool says_replace_first(const PortReport& port) {
  return !port.faults.empty() && !port.faults.front().repair.empty() &&
         contains(port.faults.front().repair.front(), "replace this module") &&
         !contains(port.faults.front().repair.front(), "do not replace");
}

TEST(ModuleCases, A0hThatIsAnA2hNamesNothing) {
  const std::string file = "03-bnxt-a0-is-a2/dump.hex";
  SKIP_WITHOUT(shared_case(file));
  const std::string text = module_of(file);
  for (const char* wrong : {"1000BASE-T", "BASE-T", "at most", "offers no monitors", "up to"})
    EXPECT_FALSE(contains(text, wrong)) << text;
  EXPECT_TRUE(contains(text, "read it again")) << text;
  EXPECT_TRUE(contains(module_of("03-bnxt-a0-is-a2/same-kind-read-rightly.hex"), "10G-SR"));
}

TEST(ModuleCases, DwdmSfpWithRightSumsIsRead) {
  const std::string file = "04-dwdm-0b-with-ddm/dump.hex";
  SKIP_WITHOUT(shared_case(file));
  const std::string text = module_of(file);
  for (const char* right : {"31.2 C", "3.36 V", "-15.5", "87.1", "80 km", "1544"})
    EXPECT_TRUE(contains(text, right)) << right << "\n" << text;
}

TEST(ModuleCases, TwistedPairIsNotOptical) {
  SKIP_WITHOUT(shared_case("06-tplink-2g5-t"));
  for (const char* file : {"06-tplink-2g5-t/dump.hex", "06-tplink-2g5-t/with-ddm-temp-only.hex"}) {
    const std::string text = module_of(file);
    EXPECT_FALSE(contains(text, "optical")) << text;
    EXPECT_FALSE(contains(text, "no light")) << text;
  }
}

TEST(ModuleCases, AnA2hThatIsA0hHasNoReadings) {
  SKIP_WITHOUT(shared_case("08-a2-is-a0"));
  for (const char* file :
       {"08-a2-is-a0/corundum111.hex", "08-a2-is-a0/draw1.hex", "08-a2-is-a0/sonic213-coded.hex"}) {
    const std::string text = module_of(file);
    EXPECT_TRUE(contains(text, "A2h is a")) << text;
    for (const char* wrong : {"alarm", " mA", "Rx dBm", "Tx fault", "Rx LOS", "temperature "})
      EXPECT_FALSE(contains(text, wrong)) << wrong << "\n" << text;
  }
}

TEST(ModuleCases, AnA2hOfABusThatFloatsIsNotBelieved) {
  SKIP_WITHOUT(shared_case("15-cumulus-ones"));
  const std::string text = module_of("15-cumulus-ones/good-a0-floating-a2.hex");
  EXPECT_TRUE(contains(text, "10G-SR")) << text;
  for (const char* wrong : {"Rx LOS", "Tx fault", "Tx off", "alarm"})
    EXPECT_FALSE(contains(text, wrong)) << wrong << "\n" << text;
  EXPECT_NE(
      run_linkhealth("module --file " + shared_case("15-cumulus-ones/dump.hex").string()).exit_code,
      0);
}

TEST(ModuleCases, NetlinkAttributesAreNoModule) {
  SKIP_WITHOUT(shared_case("13-mlx5-netlink-garbage"));
  for (const char* file :
       {"13-mlx5-netlink-garbage/dump.hex", "13-mlx5-netlink-garbage/with-warning-lines.hex"}) {
    const Output output = run_linkhealth("module --file " + shared_case(file).string());
    EXPECT_NE(output.exit_code, 0);
    EXPECT_TRUE(contains(output.text, "not a module's memory")) << output.text;
  }
}

TEST(ModuleCases, ACablesBytesOfOnesAreNoFlags) {
  const std::string file = "23-dac-lower-page-ones/dump.hex";
  SKIP_WITHOUT(shared_case(file));
  EXPECT_TRUE(flags_of(module_json(file)).empty());
  EXPECT_FALSE(contains(module_of(file), "alarm")) << module_of(file);
}

TEST(ModuleCases, AnOsfpHasEightLanes) {
  SKIP_WITHOUT(shared_case("25-cmis-two-banks-of-eight-lanes"));
  for (const char* file : {"25-cmis-two-banks-of-eight-lanes/osfp-2x400g-dr4-down.json",
                           "25-cmis-two-banks-of-eight-lanes/osfp-2x400g-dr4-lit.json"}) {
    const std::string text = module_of(file);
    EXPECT_FALSE(contains(text, "16")) << text;
    EXPECT_TRUE(contains(text, "\n     8  ")) << text;
    EXPECT_FALSE(contains(text, "\n     9  ")) << text;
  }
}

TEST(ModuleCases, AnAlarmWithoutALimitIsNone) {
  SKIP_WITHOUT(shared_case("27-zero-limits-high-alarms"));
  for (const char* file :
       {"27-zero-limits-high-alarms/optical.hex", "27-zero-limits-high-alarms/rj45.hex"}) {
    EXPECT_TRUE(flags_of(module_json(file)).empty());
    EXPECT_FALSE(contains(module_of(file), "high alarm")) << module_of(file);
  }
}

TEST(ModuleCases, LowPowerByTheHostIsASetting) {
  for (const auto& [file, undo] :
       {std::pair("module-low-power-forced.jsonl.gz", "power-mode-policy high"),
        {"module-tx-disabled-by-host.jsonl.gz", "enable the port"}}) {
    const Replayed told = replay(fixture(file));
    const PortReport& port = told.port("mlx5_0/1");
    ASSERT_FALSE(port.faults.empty()) << file;
    const FaultReport& fault = port.faults.front();
    EXPECT_EQ(fault.fault, "settings_mismatch") << file;
    EXPECT_TRUE(contains(fault.summary, "this host")) << fault.summary;
    ASSERT_FALSE(fault.repair.empty());
    EXPECT_TRUE(contains(fault.repair.front(), undo)) << fault.repair.front();
    EXPECT_FALSE(says_replace_first(port));
    EXPECT_EQ(told.opened("mlx5_0/1").size(), 1U) << file;
    EXPECT_TRUE(told.port("mlx5_1/1").faults.empty());
  }
}

TEST(ModuleCases, AModuleWithoutTheHostsSignalPointsAtThisNode) {
  const Replayed told = replay(fixture("module-host-side-only.jsonl.gz"));
  const PortReport& port = told.port("mlx5_0/1");
  ASSERT_FALSE(port.faults.empty());
  EXPECT_EQ(port.faults.front().end, End::kNode) << port.faults.front().fault;
  for (const FaultEvent* event : told.opened("mlx5_0/1"))
    EXPECT_NE(event->fault.end, End::kFar) << event->fault.fault;
  EXPECT_FALSE(says_replace_first(port));
  EXPECT_TRUE(told.port("mlx5_1/1").faults.empty());
}

TEST(ModuleCases, AModuleThatDropsOutIsLoose) {
  const Replayed told = replay(fixture("module-drops-out.jsonl.gz"));
  const PortReport& port = told.port("mlx5_0/1");
  ASSERT_FALSE(port.faults.empty());
  EXPECT_EQ(port.faults.front().fault, "bad_module");
  EXPECT_EQ(port.faults.front().end, End::kLocal);
  ASSERT_FALSE(port.faults.front().repair.empty());
  EXPECT_TRUE(contains(port.faults.front().repair.front(), "reseat this module"))
      << port.faults.front().repair.front();
  const auto opened = told.opened("mlx5_0/1");
  ASSERT_FALSE(opened.empty());
  EXPECT_EQ(opened.front()->fault.fault, "bad_module");
  EXPECT_TRUE(told.port("mlx5_1/1").faults.empty());
}

TEST(ModuleCases, AnotherCagesModuleSaysNothingOfThisPort) {
  const Replayed told = replay(fixture("module-of-the-other-port.jsonl.gz"));
  const PortReport& port = told.port("mlx4_0/2");
  for (const FaultEvent* event : told.opened("mlx4_0/2"))
    for (const char* wrong : {"bad_module", "dirty_connector", "failing_transmitter"})
      EXPECT_NE(event->fault.fault, wrong);
  const bool doubted = std::ranges::any_of(port.gaps, [](const Gap& gap) {
    return contains(gap.reason, "the driver returns the module of mlx4_0/1");
  });
  EXPECT_TRUE(doubted);
  EXPECT_TRUE(told.port("mlx4_0/1").faults.empty());
}

TEST(ModuleCases, AnA2hThatIsA0hMakesNoFault) {
  const std::string file = "08-a2-is-a0/replay-213-link-up.jsonl.gz";
  SKIP_WITHOUT(shared_case(file));
  // Recorded with what was decoded of it then: a laser's fault on a link that carries.
  const Replayed told = replay(shared_case(file));
  EXPECT_TRUE(told.events.empty());
}

}  // namespace
}  // namespace linkhealth::cases
