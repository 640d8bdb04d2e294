// config/linkhealth.yaml is the dump of the defaults of every setting that the program has.
#include <gtest/gtest.h>

#include "daemon/daemon.h"
#include "daemon/sampling/peer_sources.h"
#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

TEST(DaemonConfig, TheShippedFileIsTheDefaultsAndReadsBack) {
  const std::string defaults = dump_config(default_config(all_setting_groups()));
  test::expect_golden("config/linkhealth.yaml", defaults);
  const auto config =
      load_config_file(LINKHEALTH_SOURCE_DIR "/config/linkhealth.yaml", all_setting_groups());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(dump_config(*config), defaults);
}

TEST(DaemonConfig, ThePathsOfTheFarEndSurviveTheDump) {
  const auto config =
      load_config("peers: {lldpd_socket: /tmp/l, import_dir: /tmp/i, lldp: 0, hold_s: 60}\n",
                  "a.yaml", all_setting_groups());
  ASSERT_TRUE(config.ok()) << config.error().message;
  const auto again = load_config(dump_config(*config), "dump", all_setting_groups());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->lldpd_socket, "/tmp/l");
  EXPECT_EQ(again->import_dir, "/tmp/i");
  EXPECT_EQ(again->setting_table.values("peers")[1], 0);
}

TEST(DaemonConfig, EachSourceOfTheFarEndCanBeSwitchedOff) {
  testing::ManualClock clock;
  Config config = default_config(all_setting_groups());
  EXPECT_TRUE(make_far_ends(config, clock));
  for (const char* source : {"mad", "lldp", "import", "plan"})
    ASSERT_TRUE(config.setting_table.set("peers", source, 0).ok());
  EXPECT_FALSE(make_far_ends(config, clock));
}

TEST(DaemonConfig, TheLabsFileIsGood) {
  const auto config =
      load_config_file(LINKHEALTH_SOURCE_DIR "/tests/lab/lab.yaml", all_setting_groups());
  EXPECT_TRUE(config.ok()) << config.error().message;
}

TEST(DaemonConfig, FlagsWinOverTheFile) {
  DaemonOptions options;
  options.listen = "[::1]:0";
  options.log_level = "debug";
  options.dry_run = true;
  const auto config = effective_config(options);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(to_string(config->listen), "[::1]:0");
  EXPECT_EQ(config->log_level, LogLevel::kDebug);
  EXPECT_TRUE(config->dry_run);
  options.listen = "nowhere";
  EXPECT_EQ(effective_config(options).error().message.substr(0, 10), "--listen: ");
}

}  // namespace
}  // namespace linkhealth
