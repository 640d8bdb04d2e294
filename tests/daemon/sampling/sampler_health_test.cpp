// What the sampler makes of devlink's health reporters.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/daemon/sampling/sampler_fixture.h"
#include "tests/probes/netlink/devlink_answers.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using testing::DevlinkAnswers;
using ::testing::ElementsAre;
using testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SamplerHealth : public testing::SamplerFixture {
 protected:
  void SetUp() override {
    SamplerFixture::SetUp();
    change([&](FakeHost& host) {
      host.set_responder([this](int protocol, std::span<const std::byte> request) {
        return devlink.answer(protocol, request);
      });
    });
  }
  void driver(const std::string& name) {
    change([&](FakeHost& host) {
      host.make_dir("/sys/bus/pci/drivers/" + name);
      host.link(first.pci_dir() + "/driver", "/sys/bus/pci/drivers/" + name);
    });
  }
  /// Changes the first card's reporters, and samples a minute later.
  void next(const DevlinkAnswers::Reporters& reporters) {
    change([&](FakeHost&) { devlink.reporters[{"pci", first.pci}] = reporters; });
    if (sampler == nullptr) start();
    settle_after(std::chrono::minutes(1));
  }
  std::size_t fatals(const DevlinkAnswers::Reporters& reporters) {
    next(reporters);
    return count(PortEventKind::kDeviceFatal);
  }
  /// The texts of the kernel log events, with their port.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const PortEvent& event : all.events)
      if (event.kind == PortEventKind::kKernelLog) lines.push_back(event.port + " " + event.text);
    return lines;
  }
  [[nodiscard]] std::optional<std::uint64_t> counted(const PortKey& port,
                                                     std::string_view counter) const {
    return all.ports.at(port).counters->get(counter);
  }

  DevlinkAnswers devlink;
};

TEST_F(SamplerHealth, AnErrorIsAFatalDeviceOnce) {
  EXPECT_EQ(fatals({{"fw_fatal", {false, 0}}}), 0U);
  EXPECT_EQ(counted("mlx5_0/1", "devlink_fw_fatal_errors"), 0U);
  EXPECT_FALSE(counted("mlx5_1/1", "devlink_fw_fatal_errors")) << "another device";
  EXPECT_EQ(fatals({{"fw_fatal", {true, 1}}}), 1U);
  EXPECT_EQ(counted("mlx5_0/1", "devlink_fw_fatal_errors"), 1U);
  EXPECT_EQ(fatals({{"fw_fatal", {true, 1}}}), 0U) << "said when it begins";
}

TEST_F(SamplerHealth, AResetThatMendsTheFirmwareOfABnxtIsNoFatalDevice) {
  driver("bnxt_en");
  const DevlinkAnswers::Reporters good = {{"fw", {false, 0}}}, bad = {{"fw", {true, 1}}};
  EXPECT_EQ(fatals(good), 0U);
  EXPECT_EQ(fatals(bad), 0U);
  EXPECT_EQ(fatals(good), 0U);
  EXPECT_EQ(fatals(bad), 0U) << "another one";
  EXPECT_EQ(fatals(bad), 1U) << "still so a minute later";
  EXPECT_EQ(fatals(bad), 0U);
  EXPECT_EQ(fatals(good), 0U);
  EXPECT_EQ(fatals(bad), 0U);
  EXPECT_EQ(fatals({{"fw", {true, 1}}, {"fw_fatal", {true, 1}}}), 1U)
      << "another reporter, which needs no second reading";
  EXPECT_EQ(fatals({{"fw", {true, 1}}, {"fw_fatal", {false, 1}}}), 0U) << "told already";
}

TEST_F(SamplerHealth, WhatIcesPortReporterFindsIsALineOfThePortsLog) {
  driver("ice");
  next({{"port", {true, 3, "Module type is not supported."}}});
  EXPECT_THAT(lines(), IsEmpty()) << "its age is unknown";
  next({{"port", {true, 3, "Module type is not supported."}}});
  EXPECT_THAT(lines(), IsEmpty());
  next({{"port", {true, 4, "An unsupported module was detected."}}});
  EXPECT_THAT(lines(),
              ElementsAre("mlx5_0/1 devlink health, port: An unsupported module was detected."));
  next({{"port", {true, 4, "An unsupported module was detected."}}});
  EXPECT_THAT(lines(), IsEmpty()) << "of the same error";
  next({{"port", {true, 5, "LOM topology netlist is corrupted."}}});
  EXPECT_THAT(lines(), IsEmpty()) << "words that say nothing of a link";
  EXPECT_EQ(fatals({{"port", {true, 6, "Module is not present."}}}), 0U)
      << "it never says that the card is dead";
  next({{"port", {false, 0, ""}}});
  EXPECT_THAT(lines(), IsEmpty()) << "a driver that was reloaded";
  EXPECT_THAT(gaps(), Not(Contains(HasSubstr("devlink"))));
}

TEST_F(SamplerHealth, WordsThatMayNotBeAskedAreAGap) {
  driver("ice");
  next({{"port", {true, 3, "Module is not qualified."}}});
  change([&](FakeHost&) { devlink.diagnosis_error = EPERM; });
  next({{"port", {true, 4, "Module is not qualified."}}});
  EXPECT_THAT(lines(), IsEmpty());
  EXPECT_THAT(gaps(), Contains("mlx5_0/1 devlink: reporter port: EPERM"));
  EXPECT_EQ(counted("mlx5_0/1", "devlink_port_errors"), 4U) << "the rest is read";
  change([&](FakeHost&) { devlink.diagnosis_error = 0; });
  next({{"port", {true, 5, "Module is not qualified."}}});
  EXPECT_THAT(gaps(), Not(Contains(HasSubstr("devlink"))));
}

}  // namespace
}  // namespace linkhealth
