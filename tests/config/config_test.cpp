#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace linkhealth {
namespace {

using testing::HasSubstr;

constexpr std::array<Setting, 2> kFlapSettings = {
    {{"min_changes", 4, 2, 1000, "", "carrier losses inside the window"},
     {"window_s", 86400, 60, 604800, "s", "how far to look back"}}};
constexpr std::array<Setting, 1> kPowerSettings = {
    {{"margin_db", 1.5, 0.1, 10, "dB", "above the low alarm"}}};
constexpr std::array<Setting, 1> kLedgerSettings = {
    {{"hold_s", 30, 0, 3600, "s", "before a fault opens"}}};
constexpr std::array<SettingGroup, 3> kGroups = {{{"carrier_flaps", kFlapSettings},
                                                  {"rx_power_low", kPowerSettings},
                                                  {"ledger", kLedgerSettings}}};

std::string error_of(std::string_view text) {
  const auto config = load_config(text, "a.yaml", kGroups);
  return config ? "no error" : config.error().message;
}

TEST(Config, AnEmptyFileIsAllDefaults) {
  const auto config = load_config("# nothing\n", "a.yaml", kGroups);
  ASSERT_TRUE(config);
  EXPECT_EQ(dump_config(*config), dump_config(default_config(kGroups)));
  EXPECT_EQ(to_string(config->listen), "127.0.0.1:9942");
  EXPECT_EQ(config->socket_path, "/run/linkhealth/linkhealth.sock");
  EXPECT_EQ(config->state_dir, "/var/lib/linkhealth");
}

TEST(Config, EveryKeyIsRead) {
  const auto config = load_config(R"(listen: "[::1]:80"
socket: /tmp/s
state_dir: /tmp/d
node: gpu-0417
record: r.jsonl.gz
dry_run: true
log_level: debug
site: {row: 7, rack: "12"}
ports:
  mlx5_0/1: {speed_mbps: 400000, lanes: 4, peer: {system: leaf-12, port: Ethernet17/1}}
  ens8: {exempt: "not cabled by plan"}
carrier_flaps: {min_changes: 6}
ledger:
  hold_s: 45.5
control_group: netops
web_config_file: /etc/linkhealth/web.yml
textfile: {path: /var/lib/prometheus/node-exporter/linkhealth.prom, period_s: 30}
peers: {lldpd_socket: /tmp/l, import_dir: /tmp/i}
)",
                                  "a.yaml", kGroups);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listen, (ListenAddress{"::1", 80}));
  EXPECT_EQ(config->socket_path, "/tmp/s");
  EXPECT_EQ(config->state_dir, "/tmp/d");
  EXPECT_EQ(config->node, "gpu-0417");
  EXPECT_EQ(config->record_path, "r.jsonl.gz");
  EXPECT_TRUE(config->dry_run);
  EXPECT_EQ(config->log_level, LogLevel::kDebug);
  EXPECT_EQ(config->site.at("row"), "7");
  EXPECT_EQ(config->expected.at("mlx5_0/1").lanes, 4U);
  EXPECT_EQ(config->expected.at("mlx5_0/1").peer_port, "Ethernet17/1");
  EXPECT_EQ(config->exempt.at("ens8"), "not cabled by plan");
  EXPECT_EQ(config->setting_table.values("carrier_flaps")[0], 6);
  EXPECT_EQ(config->setting_table.values("carrier_flaps")[1], 86400);
  EXPECT_EQ(config->setting_table.values("ledger")[0], 45.5);
  EXPECT_EQ(config->control_group, "netops");
  EXPECT_EQ(config->web_config_file, "/etc/linkhealth/web.yml");
  EXPECT_EQ(config->textfile.period_s, 30);
  EXPECT_EQ(config->lldpd_socket, "/tmp/l");
  EXPECT_EQ(config->import_dir, "/tmp/i");
}

TEST(Config, ADumpLoadsToTheSameConfiguration) {
  Config config = default_config(kGroups);
  config.listen = {"", 0};
  config.record_path = "a \"b\"\n: # c";
  config.dry_run = true;
  config.site = {{"yes", "no: 1"}};
  config.expected["mlx5_0/1"].lanes = 4;
  config.expected["mlx5_0/1"].peer_port = "Ethernet17/1";
  config.exempt["mlx5_1/1"] = "spare, \\ kept";
  config.web_config_file = "/etc/linkhealth/web.yml";
  config.textfile = {"/var/lib/linkhealth.prom", 30};
  ASSERT_TRUE(config.setting_table.set("rx_power_low", "margin_db", 0.3));
  const std::string dumped = dump_config(config);
  const auto loaded = load_config(dumped, "a.yaml", kGroups);
  ASSERT_TRUE(loaded) << loaded.error().message << "\n" << dumped;
  EXPECT_EQ(dump_config(*loaded), dumped);
  EXPECT_EQ(loaded->listen, config.listen);
  EXPECT_EQ(loaded->record_path, config.record_path);
  EXPECT_EQ(loaded->site, config.site);
  EXPECT_EQ(loaded->expected, config.expected);
  EXPECT_EQ(loaded->exempt, config.exempt);
  EXPECT_EQ(loaded->setting_table.values("rx_power_low")[0], 0.3);
}

TEST(Config, TheDumpHasTheMeaningAndTheRangeOfEachSetting) {
  EXPECT_THAT(dump_config(default_config(kGroups)), HasSubstr(R"(
carrier_flaps:
  # carrier losses inside the window (2 to 1000)
  min_changes: 4
  # how far to look back (60 to 604800 s)
  window_s: 86400

rx_power_low:
  # above the low alarm (0.1 to 10 dB)
  margin_db: 1.5

ledger:
  # before a fault opens (0 to 3600 s)
  hold_s: 30
)"));
}

TEST(Config, AWrongKeyNamesItsLineAndTheNearestGoodOne) {
  EXPECT_EQ(error_of("carrier_flaps:\n  windw_s: 5\n"),
            R"(a.yaml:2: unknown key "windw_s" (did you mean "window_s"?))");
  EXPECT_EQ(error_of("\nlisen: none\n"),
            R"(a.yaml:2: unknown key "lisen" (did you mean "listen"?))");
  EXPECT_THAT(error_of("symptoms: {}\n"),
              HasSubstr("a.yaml:1: \"symptoms\" is no longer a setting"));
  EXPECT_EQ(error_of("carrier_flap: {}\n"),
            R"(a.yaml:1: unknown key "carrier_flap" (did you mean "carrier_flaps"?))");
  EXPECT_EQ(error_of("ports:\n  a/1:\n    lane: 4\n"),
            R"(a.yaml:3: unknown key "lane" (did you mean "lanes"?))");
  EXPECT_EQ(error_of("ports:\n  a/1:\n    peer: {systm: b}\n"),
            R"(a.yaml:3: unknown key "systm" (did you mean "system"?))");
  EXPECT_EQ(error_of("qqqqqqqq: 1\n"), R"(a.yaml:1: unknown key "qqqqqqqq")");
}

TEST(Config, AWrongValueNamesItsLineAndTheAllowedRange) {
  EXPECT_EQ(error_of("ledger:\n  hold_s: 4000\n"),
            R"(a.yaml:2: "hold_s" is 4000: it must be from 0 to 3600 s)");
  EXPECT_EQ(error_of("ledger:\n  hold_s: soon\n"),
            R"(a.yaml:2: "hold_s" must be a number, not "soon")");
  EXPECT_EQ(error_of("ledger:\n  hold_s: \"5\"\n"),
            R"(a.yaml:2: "hold_s" must be a number, not "5")");
  EXPECT_EQ(error_of("ledger:\n  hold_s: .nan\n"),
            R"(a.yaml:2: "hold_s" must be a number, not ".nan")");
  EXPECT_EQ(error_of("ledger: 5\n"),
            R"(a.yaml:1: "ledger" must hold keys, each on a line of its own)");
  EXPECT_EQ(error_of("dry_run: 1\n"), R"(a.yaml:1: "dry_run" must be true or false, not "1")");
  EXPECT_EQ(error_of("listen: localhost\n"),
            R"(a.yaml:1: "localhost" is not ADDRESS:PORT, such as 127.0.0.1:9942 or [::1]:9942)");
  EXPECT_THAT(error_of("listen: 1.2.3:80\n"), HasSubstr(R"(a.yaml:1: "1.2.3" is not an address)"));
  EXPECT_EQ(error_of("listen: 127.0.0.1:70000\n"),
            R"(a.yaml:1: "70000" is not a port: use a number from 0 to 65535)");
  EXPECT_EQ(error_of("log_level: loud\n"),
            R"(a.yaml:1: "loud" is not a log level: use error, warning, info or debug)");
  EXPECT_EQ(error_of("socket: here\n"),
            R"(a.yaml:1: "socket" must be a path that begins with "/", of at most 107 bytes)");
  EXPECT_EQ(error_of("socket: /" + std::string(107, 'a') + "\n"),
            R"(a.yaml:1: "socket" must be a path that begins with "/", of at most 107 bytes)");
  EXPECT_EQ(error_of("node: two words\n"), R"(a.yaml:1: "node" must be a host name)");
  EXPECT_EQ(error_of("site: [a]\n"),
            R"(a.yaml:1: "site" must hold keys, each on a line of its own)");
  EXPECT_THAT(error_of("ports:\n  mlx5_0/0: {}\n"),
              HasSubstr(R"(a.yaml:2: "mlx5_0/0" is not a port)"));
  EXPECT_EQ(error_of("ports:\n  a/1:\n    lanes: 0\n"),
            R"(a.yaml:3: "lanes" must be a whole number from 1 to 64, not "0")");
  EXPECT_EQ(error_of("ports:\n  a/1:\n    exempt:\n"),
            R"(a.yaml:3: "exempt" needs the reason as its value)");
  EXPECT_THAT(error_of("just words\n"), HasSubstr("a.yaml:1: a configuration consists of keys"));
}

TEST(Config, BrokenYamlNamesItsLine) {
  std::string many = "ports:\n";
  for (int i = 0; i < 30'000; ++i) many += " p" + std::to_string(i) + ":\n";
  EXPECT_THAT(error_of(many), HasSubstr("more than 4096 ports"));
  EXPECT_EQ(error_of("node: a\nnode: b\n"), R"(a.yaml:2: duplicate key "node", first on line 1)");
  EXPECT_EQ(error_of("# M\xc3\xbcller\nsocket: \"/run/M\xfcller\"\n"), "a.yaml:2: not valid UTF-8");
  EXPECT_THAT(error_of("node: a\n\tsocket: b\n"), HasSubstr("a.yaml:2: "));
  EXPECT_THAT(error_of("node: \"a\n"), HasSubstr("a.yaml:"));
  EXPECT_THAT(error_of("? [a]\n: b\n"), HasSubstr("a.yaml:1: a key must be a word"));
  EXPECT_THAT(error_of("node: a\n---\nnode: b\n"), HasSubstr("a second document"));
}

TEST(Config, ATextThatGrowsWithoutBoundIsRefused) {
  EXPECT_THAT(error_of("site: &a {x: y}\nports: *a\n"), HasSubstr("a.yaml:2: aliases"));
  EXPECT_THAT(error_of("site: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(kMaxConfigBytes + 1, '#')),
              HasSubstr("more than 1048576 bytes"));
}

TEST(Config, AMissingFileIsNamed) {
  EXPECT_EQ(load_config_file("/no/such.yaml", kGroups).error().message,
            "/no/such.yaml: No such file or directory");
}

TEST(Config, AWrongKeyOrValueOfASectionNamesItsLine) {
  for (const char* key : {"alertmanager", "webhook"})
    EXPECT_EQ(error_of(std::string(key) + ": {urls: [\"http://h/?token=secret\"]}"),
              "a.yaml:1: \"" + std::string(key) +
                  "\": linkhealthd sends no alerts itself; load dashboards/rules into Prometheus, "
                  "whose Alertmanager notifies");
  EXPECT_EQ(error_of("textfile: {path: /tmp/x.txt}"),
            "a.yaml:1: \"path\" must be a path that begins with \"/\" and ends in .prom");
  EXPECT_EQ(error_of("textfile:\n  pth: x"),
            "a.yaml:2: unknown key \"pth\" (did you mean \"path\"?)");
  EXPECT_EQ(error_of("textfile: {period_s: 0}"),
            "a.yaml:1: \"period_s\" must be a whole number from 1 to 86400, not \"0\"");
  EXPECT_EQ(error_of("web_config_file: web.yml"),
            "a.yaml:1: \"web_config_file\" must be a path that begins with \"/\"");
  EXPECT_EQ(error_of("web_config_fil: /a"),
            "a.yaml:1: unknown key \"web_config_fil\" (did you mean \"web_config_file\"?)");
  EXPECT_EQ(error_of("control_group: [a]"), "a.yaml:1: \"control_group\" must be text");
  EXPECT_EQ(error_of("peers: {import_dir: tmp}\n"),
            "a.yaml:1: \"import_dir\" must be a path that begins with \"/\"");
  EXPECT_EQ(error_of("peers: {import_dri: /tmp}\n"),
            "a.yaml:1: unknown key \"import_dri\" (did you mean \"import_dir\"?)");
  EXPECT_NE(error_of("peers: 7\n"), "no error");
}

TEST(Config, TheSocketsMode) {
  for (const char* good : {"0600", "0660", "\"0666\""})
    EXPECT_TRUE(load_config(std::string("socket_mode: ") + good + "\n", "c.yaml", {})) << good;
  EXPECT_EQ(load_config("socket_mode: 0660\n", "c.yaml", {})->socket_mode, "0660");
  for (const char* bad : {"0640", "660", "0777", "432", "everybody"})
    EXPECT_EQ(load_config(std::string("socket_mode: ") + bad + "\n", "c.yaml", {}).error().message,
              "c.yaml:1: \"socket_mode\" must be 0600, 0660 or 0666");
}

}  // namespace
}  // namespace linkhealth
