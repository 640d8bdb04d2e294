#include "probes/netlink/devlink_health.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/netlink/devlink_answers.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::devlink_diagnosis;
using testing::devlink_reporter;
using testing::DevlinkAnswers;
using testing::FakeHost;

TEST(DevlinkHealth, AReporterIsRead) {
  const auto read = parse_health_reporter(devlink_reporter("pci", "0000:1b:00.0", "fw_fatal", 1));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pci(), "0000:1b:00.0");
  EXPECT_EQ(read->name, "fw_fatal");
  EXPECT_EQ(read->in_error, true);
  EXPECT_EQ(read->errors, 3U);
  EXPECT_EQ(read->recoveries, 2U);
}

TEST(DevlinkHealth, AStateThatThisProgramDoesNotKnowIsNotKnown) {
  EXPECT_EQ(parse_health_reporter(devlink_reporter("pci", "0000:1b:00.0", "fw_fatal", 0))->in_error,
            false);
  EXPECT_FALSE(
      parse_health_reporter(devlink_reporter("pci", "0000:1b:00.0", "fw_fatal", 9))->in_error);
}

TEST(DevlinkHealth, WhatAReporterMeansIsItsDriversMatter) {
  EXPECT_EQ(failed_after("mlx5_core", "fw_fatal"), Milliseconds(0));
  EXPECT_EQ(failed_after("mlx5_core", "fw"), std::nullopt) << "any syndrome, also a warm sensor";
  EXPECT_EQ(failed_after("mlx5_core", "tx"), std::nullopt) << "a queue, recovers";
  EXPECT_EQ(failed_after("bnxt_en", "fw"), Milliseconds(60'000)) << "once: a reset that mends it";
  EXPECT_EQ(failed_after("bnxt_en", "hw"), std::nullopt) << "writes to its flash";
  EXPECT_EQ(failed_after("ice", "port"), std::nullopt);
  EXPECT_EQ(failed_after("", "fw_fatal"), std::nullopt);
}

TEST(DevlinkHealth, ADeviceOfAnotherBusHasNoPciAddress) {
  EXPECT_EQ(parse_health_reporter(devlink_reporter("auxiliary", "mlx5_core.sf.4", "tx", 0))->pci(),
            "");
}

TEST(DevlinkHealth, EveryCutIsAnErrorOrNothingOfIt) {
  const Bytes whole = devlink_reporter("pci", "0000:1b:00.0", "fw", 0);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_health_reporter(std::span(whole).first(size))) << size;
}

TEST(DevlinkHealth, AllReportersInOneDump) {
  DevlinkAnswers devlink;
  devlink.reporters = {{{"pci", "0000:1b:00.0"}, {{"fw", {}}}},
                       {{"pci", "0000:1c:00.0"}, {{"tx", {true, 5, ""}}}}};
  FakeHost host;
  host.set_responder(
      [&](int protocol, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
        auto answers = devlink.answer(protocol, request);
        if (answers && answers->size() == 2) answers->insert(answers->begin() + 1, Bytes(7));
        return answers;
      });
  const auto reporters = HealthReporters().read(host);
  ASSERT_TRUE(reporters) << reporters.error().message;
  ASSERT_EQ(reporters->size(), 2U) << "the damaged answer is left out";
  EXPECT_EQ((*reporters)[1].pci(), "0000:1c:00.0");
  EXPECT_EQ((*reporters)[1].errors, 5U);
  EXPECT_EQ(devlink.diagnoses, 0U);
}

TEST(DevlinkHealth, AKernelWithoutDevlinkSaysSo) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return Error{"no such family", ENOENT};
  });
  EXPECT_EQ(HealthReporters().read(host).error().errnum, ENOENT);
}

TEST(DevlinkHealth, WhatAPortsReporterFoundIsAskedAfterANewError) {
  DevlinkAnswers devlink;
  DevlinkAnswers::Reporters& ice = devlink.reporters[{"pci", "0000:18:00.0"}];
  ice = {{"port", {true, 2, "Module is not qualified."}},
         {"fw", {true, 2, "NVM authentication failed."}}};
  FakeHost host;
  host.set_responder([&](int protocol, std::span<const std::byte> request) {
    return devlink.answer(protocol, request);
  });
  HealthReporters all;
  const auto words = [&] {
    const auto reporters = all.read(host);
    std::string said;
    for (const HealthReporter& reporter : *reporters) said += reporter.words;
    return said;
  };
  EXPECT_EQ(words(), "");
  ice["port"].errors = ice["fw"].errors = 3;
  EXPECT_EQ(words(), "Module is not qualified.") << "of the port alone";
  EXPECT_EQ(words(), "");
  EXPECT_EQ(devlink.diagnoses, 1U);
  ice["port"] = {false, 0, ""};
  EXPECT_EQ(words(), "");
  ice["port"] = {true, 1, "Module is not present."};
  EXPECT_EQ(words(), "Module is not present.") << "after the driver was loaded anew";
  devlink.reporters[{"pci", "0000:5e:00.0"}] = {{"port", {true, 9, "Module is not qualified."}}};
  EXPECT_EQ(words(), "") << "a second card: nobody knows how old its errors are";
  ice["port"].errors = 2;
  devlink.diagnosis_error = EPERM;
  const auto refused = all.read(host);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->at(1).name, "port");
  ASSERT_TRUE(refused->at(1).unsaid);
  EXPECT_EQ(refused->at(1).unsaid->errnum, EPERM);
}

TEST(DevlinkHealth, OfADiagnosisTheDescriptionIsTaken) {
  EXPECT_EQ(*parse_health_diagnosis(devlink_diagnosis("Module type is not supported.")),
            "Module type is not supported.");
  EXPECT_EQ(*parse_health_diagnosis(devlink_diagnosis("")), "")
      << "a syndrome that the driver has no words for";
  EXPECT_FALSE(parse_health_diagnosis(devlink_reporter("pci", "0000:18:00.0", "port", 1)))
      << "another answer";
  const Bytes whole = devlink_diagnosis("Module type is not supported.");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_health_diagnosis(std::span(whole).first(size))) << size;
}

}  // namespace
}  // namespace linkhealth
