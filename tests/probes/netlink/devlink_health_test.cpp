#include "probes/netlink/devlink_health.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/netlink/devlink_answers.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::devlink_diagnosis;
using testing::devlink_reporter;
using testing::DevlinkAnswers;
using testing::FakeHost;

TEST(DevlinkHealth, ReadsReportersAndLeavesOutDamage) {
  std::vector<Bytes> dump = {devlink_reporter("pci", "0000:1b:00.0", "fw_fatal", 1),
                             devlink_reporter("pci", "0000:1c:00.0", "fw_fatal", 0),
                             devlink_reporter("pci", "0000:1d:00.0", "fw_fatal", 9),
                             devlink_reporter("auxiliary", "mlx5_core.sf.4", "tx", 0)};
  const Bytes whole = dump.front();
  for (std::size_t size = 0; size < whole.size(); ++size)
    dump.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  DevlinkAnswers devlink;
  FakeHost host;
  host.set_responder([&](int protocol, ByteView request) -> Result<std::vector<Bytes>> {
    auto answers = devlink.answer(protocol, request);
    const bool is_dump = answers && answers->empty();
    return is_dump ? Result<std::vector<Bytes>>(dump) : answers;
  });
  const auto read = HealthReporters().read(host);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 4U);
  EXPECT_EQ(read->at(0).pci(), "0000:1b:00.0");
  EXPECT_EQ(read->at(0).name, "fw_fatal");
  EXPECT_EQ(read->at(0).in_error, true);
  EXPECT_EQ(read->at(0).errors, 3U);
  EXPECT_EQ(read->at(0).recoveries, 2U);
  EXPECT_EQ(read->at(1).in_error, false);
  EXPECT_EQ(read->at(2).in_error, std::nullopt) << "a state of a newer kernel";
  EXPECT_EQ(read->at(3).pci(), "") << "a device of another bus";
}

TEST(DevlinkHealth, TheDriverDecidesWhatAReporterMeans) {
  EXPECT_EQ(failed_after("mlx5_core", "fw_fatal"), Milliseconds(0));
  EXPECT_EQ(failed_after("mlx5_core", "fw"), std::nullopt) << "any syndrome, also a warm sensor";
  EXPECT_EQ(failed_after("mlx5_core", "tx"), std::nullopt) << "a queue, recovers";
  EXPECT_EQ(failed_after("bnxt_en", "fw"), Milliseconds(60'000)) << "a reset repairs it";
  EXPECT_EQ(failed_after("bnxt_en", "hw"), std::nullopt) << "writes to its flash";
  EXPECT_EQ(failed_after("ice", "port"), std::nullopt);
  EXPECT_EQ(failed_after("", "fw_fatal"), std::nullopt);
}

TEST(DevlinkHealth, AKernelWithoutDevlinkIsENOENT) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return Error{"no such family", ENOENT};
  });
  EXPECT_EQ(HealthReporters().read(host).error().errnum, ENOENT);
}

TEST(DevlinkHealth, APortsReporterIsDiagnosedAfterANewError) {
  DevlinkAnswers devlink;
  DevlinkAnswers::Reporters& ice = devlink.reporters[{"pci", "0000:18:00.0"}];
  ice = {{"port", {true, 2, "Module is not qualified."}},
         {"fw", {true, 2, "NVM authentication failed."}}};
  FakeHost host;
  host.set_responder([&](int protocol, std::span<const std::byte> request) {
    return devlink.answer(protocol, request);
  });
  HealthReporters all;
  const auto description = [&] {
    const auto reporters = all.read(host);
    std::string text;
    for (const HealthReporter& reporter : *reporters) text += reporter.description;
    return text;
  };
  EXPECT_EQ(description(), "");
  ice["port"].errors = ice["fw"].errors = 3;
  EXPECT_EQ(description(), "Module is not qualified.") << "of the port alone";
  EXPECT_EQ(description(), "");
  EXPECT_EQ(devlink.diagnoses, 1U);
  ice["port"] = {false, 0, ""};
  EXPECT_EQ(description(), "");
  ice["port"] = {true, 1, "Module is not present."};
  EXPECT_EQ(description(), "Module is not present.") << "after the driver was loaded again";
  devlink.reporters[{"pci", "0000:5e:00.0"}] = {{"port", {true, 9, "Module is not qualified."}}};
  EXPECT_EQ(description(), "") << "a second card: the age of its errors is unknown";
  ice["port"].errors = 2;
  devlink.diagnosis_error = EPERM;
  const auto refused = all.read(host);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->at(1).name, "port");
  ASSERT_TRUE(refused->at(1).diagnosis_error);
  EXPECT_EQ(refused->at(1).diagnosis_error->errnum, EPERM);
}

TEST(DevlinkHealth, ADiagnosisIsItsDescription) {
  const Bytes whole = devlink_diagnosis("Module type is not supported.");
  std::vector<std::pair<Bytes, std::optional<std::string>>> rows = {
      {whole, "Module type is not supported."},
      {devlink_diagnosis(""), ""},  // the driver has no text for the syndrome
      {devlink_reporter("pci", "0000:18:00.0", "port", 1), std::nullopt}};  // another answer
  for (std::size_t size = 0; size < whole.size(); ++size)
    rows.push_back({testing::cut(whole, size), std::nullopt});
  for (const auto& [diagnosis, description] : rows) {
    DevlinkAnswers devlink;
    std::uint64_t& errors = devlink.reporters[{"pci", "0000:18:00.0"}]["port"].errors;
    FakeHost host;
    host.set_responder(
        [&, &row = diagnosis](int protocol, ByteView request) -> Result<std::vector<Bytes>> {
          const unsigned before = devlink.diagnoses;
          auto answers = devlink.answer(protocol, request);
          return devlink.diagnoses > before ? std::vector<Bytes>{row} : answers;
        });
    HealthReporters all;
    EXPECT_TRUE(all.read(host));
    ++errors;
    const auto read = all.read(host);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->front().description, description.value_or("")) << diagnosis.size();
    EXPECT_EQ(read->front().diagnosis_error.has_value(), !description) << diagnosis.size();
  }
}

}  // namespace
}  // namespace linkhealth
