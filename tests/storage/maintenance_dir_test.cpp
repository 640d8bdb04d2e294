#include "storage/maintenance_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

class MaintenanceDirTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(temp_.file(name)) << text;
  }
  test::TempDirectory temp_;
  MaintenanceDir directory_{temp_.path()};
};

TEST_F(MaintenanceDirTest, AnEmptyFileIsEnough) {
  write("mlx5_3", "");
  write("all", "\n");
  write(".hidden", "");
  write("mlx5_4~", "");
  const auto found = directory_.read();
  EXPECT_TRUE(found.complaints.empty());
  ASSERT_EQ(found.maintenance.size(), 2U);
  EXPECT_EQ(found.maintenance[0].port, "");
  EXPECT_EQ(found.maintenance[1].port, "mlx5_3");
  EXPECT_EQ(found.maintenance[1].by, "file");
  EXPECT_EQ(found.maintenance[1].file, temp_.file("mlx5_3"));
  EXPECT_FALSE(found.maintenance[1].until.has_value());
  EXPECT_GT(found.maintenance[1].since, WallTime());
}

TEST_F(MaintenanceDirTest, ModuleReadsCanBeOff) {
  const auto off = parse_maintenance_file("module_reads: off\n", "/etc/m/mlx5_3", WallTime());
  ASSERT_TRUE(off);
  EXPECT_EQ(off->module_reads, false);
  const auto odd = parse_maintenance_file("module_reads: none\n", "/etc/m/mlx5_3", WallTime());
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message,
            "/etc/m/mlx5_3: module_reads must be \"off\", not \"none\": file ignored");
}

TEST_F(MaintenanceDirTest, LinesSetTheOtherFields) {
  const auto one = parse_maintenance_file(
      "# by the rack team\nport: mlx5_3/2\nuntil: 2026-11-20T14:00:00Z\nby: ann\nreason: new "
      "jumper\nand a new "
      "module\n",
      "/etc/m/jumper", WallTime());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->port, "mlx5_3/2");
  EXPECT_EQ(one->until, parse_rfc3339("2026-11-20T14:00:00Z"));
  EXPECT_EQ(one->by, "ann");
  EXPECT_EQ(one->reason, "new jumper and a new module");
}

TEST_F(MaintenanceDirTest, AWrongTimeIsReportedOnceAndTheFileIgnored) {
  write("mlx5_3", "until: tomorrow\n");
  auto found = directory_.read();
  EXPECT_TRUE(found.maintenance.empty());
  ASSERT_EQ(found.complaints.size(), 1U);
  EXPECT_NE(found.complaints[0].find("\"tomorrow\" is not a time"), std::string::npos);
  EXPECT_TRUE(directory_.read().complaints.empty()) << "once";
  write("mlx5_3", "until: next week\n");
  EXPECT_EQ(directory_.read().complaints.size(), 1U) << "and again when it has changed";
}

TEST_F(MaintenanceDirTest, RefusesAllButSmallRegularFiles) {
  ASSERT_EQ(mkfifo(temp_.file("mlx5_1").c_str(), 0600), 0);
  std::filesystem::create_directory(temp_.path() / "mlx5_2");
  write("mlx5_3", std::string(5000, 'x'));
  std::filesystem::create_symlink("/etc/passwd", temp_.path() / "mlx5_4");
  const auto found = directory_.read();
  EXPECT_TRUE(found.maintenance.empty());
  EXPECT_EQ(found.complaints.size(), 4U);
}

TEST_F(MaintenanceDirTest, NoDirectoryIsNoMaintenance) {
  EXPECT_TRUE(MaintenanceDir(temp_.file("none")).read().complaints.empty());
  EXPECT_TRUE(MaintenanceDir("").read().maintenance.empty());
}

}  // namespace
}  // namespace linkhealth
