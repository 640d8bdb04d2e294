// config/linkhealth.yaml is the dump of the defaults of every knob that the program has.
#include <gtest/gtest.h>

#include "daemon/daemon.h"
#include "tests/support/golden.h"

namespace linkhealth {
namespace {

TEST(DaemonConfig, TheShippedFileIsTheDefaults) {
  test::expect_golden("config/linkhealth.yaml", dump_config(default_config(all_knob_groups())));
}

TEST(DaemonConfig, TheShippedFileReadsBackToTheDefaults) {
  const auto config = load_config_file(LINKHEALTH_SOURCE_DIR "/config/linkhealth.yaml", all_knob_groups());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(dump_config(*config), dump_config(default_config(all_knob_groups())));
}

TEST(DaemonConfig, TheLabsFileIsGood) {
  const auto config = load_config_file(LINKHEALTH_SOURCE_DIR "/tests/lab/lab.yaml", all_knob_groups());
  EXPECT_TRUE(config.ok()) << config.error().message;
}

TEST(DaemonConfig, AMistypedKnobNamesItsLineAndTheNearestKey) {
  const auto config = load_config("sampling:\n  link_perod_s: 2\n", "linkhealth.yaml", all_knob_groups());
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().message,
            "linkhealth.yaml:2: unknown key \"link_perod_s\" (did you mean \"link_period_s\"?)");
}

TEST(DaemonConfig, FlagsGoBeforeTheFile) {
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
