#include "storage/reference_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

ReferenceState example() {
  PortReferences port;
  port.port = "0000:1b:00.0/1";
  port.serial = "AC1";
  port.seen_at = *parse_rfc3339("2026-11-20T12:05:12Z");
  port.best_speed_mbps = 400000;
  port.best_lanes = 4;
  port.references = {{"rx_dbm.1", {-1.25, -1.2, -1.3, -1.1}}, {"ber_log10", {-8.02, -8.1, -7.95, -8}}};
  return {{port}};
}

class ReferenceFileTest : public testing::Test {
 protected:
  test::TempDirectory temp_;
  const std::filesystem::path directory_ = temp_.path();
  const std::filesystem::path path_ = directory_ / "references.json";
};

TEST_F(ReferenceFileTest, WhatIsKeptIsReadBack) {
  ReferenceFile file(path_);
  const WallTime now = example().ports[0].seen_at;
  EXPECT_TRUE(file.due(now));
  ASSERT_TRUE(file.keep(example(), now));
  EXPECT_FALSE(file.due(now + std::chrono::seconds(899)));
  EXPECT_TRUE(file.due(now + std::chrono::seconds(900)));
  const auto read = ReferenceFile(path_).read();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
}

TEST_F(ReferenceFileTest, NoFileIsNoPast) {
  const auto read = ReferenceFile(path_).read();
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->ports.empty());
}

TEST_F(ReferenceFileTest, ADamagedFileIsSetAside) {
  std::ofstream(path_) << references_json(example()).substr(0, 100);
  const auto read = ReferenceFile(path_).read();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("references.json.damaged"), std::string::npos) << read.error().message;
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST(References, ADocumentOfAnotherKindIsRefused) {
  EXPECT_FALSE(parse_references(R"({"schema":"linkhealth.ledger/1"})"));
  EXPECT_FALSE(parse_references("[]"));
}

}  // namespace
}  // namespace linkhealth
