// The program as people run it: a process against a real server on a real Unix socket.
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <csignal>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/owned_fd.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"
#include "tests/cli/cli_harness.h"
#include "tests/storage/history/history_example.h"
#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CliWithDaemon, StatusIsDrawn) {
  const Outcome status = run("status");
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_EQ(status.err, "");
  EXPECT_THAT(status.out, StartsWith("gpu-0417   5 ports: 1 healthy"));
  EXPECT_THAT(status.out, HasSubstr("▲ dirty connector (83%)"));
  EXPECT_THAT(status.out, Not(HasSubstr("\x1b")));
}

TEST_F(CliWithDaemon, AsciiWithoutAUtf8Locale) {
  EXPECT_THAT(run("status", "LANG=C").out, HasSubstr("! dirty connector"));
}

TEST_F(CliWithDaemon, WideAndNarrow) {
  EXPECT_THAT(run("status --wide").out, HasSubstr("NETDEV"));
  EXPECT_THAT(run("status", "LANG=C.UTF-8 COLUMNS=70").out, Not(HasSubstr("NETDEV")));
}

TEST_F(CliWithDaemon, ProblemsGiveExitCodeOne) {
  const Outcome problems = run("status --problems");
  EXPECT_EQ(problems.exit_code, kProblems);
  EXPECT_THAT(problems.out, Not(HasSubstr("mlx5_0/1")));
}

TEST_F(CliWithDaemon, Json) {
  EXPECT_THAT(run("status --json").out, HasSubstr("\"node\":\"gpu-0417\""));
  EXPECT_THAT(run("explain ens4np0 --json").out, StartsWith("{\"port\":\"mlx5_3/1\""));
}

TEST_F(CliWithDaemon, ExplainByAnyName) {
  for (const char* name : {"mlx5_3", "mlx5_3/1", "ens4np0", "0000:9a:00.0"})
    EXPECT_THAT(
        run(std::string("explain ") + name).out,
        HasSubstr("Dirty connector on the fibre of lane 2 towards this node: 83% confidence."))
        << name;
  EXPECT_THAT(run("explain mlx5_3 --evidence").out, HasSubstr("far_rx_low"));
}

TEST_F(CliWithDaemon, ExplainAloneIsOfTheWorstOpenFault) {
  EXPECT_EQ(run("explain").out, run("explain mlx5_7").out) << "a link that is down";
  EXPECT_EQ(run("explain --json").out, run("explain mlx5_7 --json").out);
}

TEST_F(CliTest, ExplainAloneShowsANoticeWhereNothingIsWorse) {
  settings.listen.host.clear();
  Report report = test::example_report();
  report.ports.resize(1);
  report.ports[0].faults.clear();
  reports.publish(std::make_shared<const Report>(report), {}, {});
  start();
  EXPECT_EQ(run("explain").out, "No open faults: 1 port: 1 healthy.\n");
  FaultReport slow;
  slow.fault = "host_bottleneck";
  slow.confidence = 0.97;
  report.ports[0].faults = {slow};
  reports.publish(std::make_shared<const Report>(report), {}, {});
  EXPECT_THAT(run("explain").out, HasSubstr("Host bottleneck"));
  EXPECT_THAT(run("ticket").out, HasSubstr("host bottleneck"));
}

TEST_F(CliTest, ASocketThatIsNoneIsNoDaemonThatDoesNotRun) {
  settings.socket.path = directory;
  const Outcome status = run("status");
  EXPECT_EQ(status.exit_code, kNotReachable);
  EXPECT_EQ(status.err, "linkhealth: " + directory + " is not a socket\n");
}

TEST_F(CliTest, ATokenFileThatIsADirectoryIsOneError) {
  const Outcome fleet =
      run("fleet --prometheus http://127.0.0.1:1 --bearer-token-file " + directory);
  EXPECT_EQ(fleet.exit_code, kBadInput);
  EXPECT_EQ(fleet.err, "linkhealth: can't read " + directory + ": Is a directory\n");
}

TEST_F(CliTest, FleetTrustsTheCertificatesThatTheEnvironmentNames) {
  const Outcome fleet =
      run("fleet --prometheus https://127.0.0.1:1", "SSL_CERT_FILE=/nonexistent/ca.pem");
  EXPECT_EQ(fleet.exit_code, kBadInput);
  EXPECT_THAT(fleet.err, HasSubstr("can't read /nonexistent/ca.pem: No such file or directory"));
}

TEST_F(CliWithDaemon, AMistypedPortGetsASuggestion) {
  for (const char* json : {"", " --json"}) {
    const Outcome wrong = run(std::string("explain mlx5_33") + json);
    EXPECT_EQ(wrong.exit_code, kBadInput);
    EXPECT_EQ(wrong.out, "");
    EXPECT_EQ(wrong.err,
              "linkhealth: no port \"mlx5_33\": did you mean mlx5_3? (linkhealth status lists the "
              "ports)\n");
  }
  EXPECT_EQ(run("explain '../report?x=%00'").exit_code, kBadInput);
}

TEST_F(CliWithDaemon, WatchAsJsonIsALineAtEachRefresh) {
  EXPECT_THAT(run("watch --json --frames 1").out, HasSubstr("\"node\":\"gpu-0417\""));
  EXPECT_THAT(run("watch mlx5_3 --json --frames 1").out, StartsWith("{\"port\":\"mlx5_3/1\""));
  EXPECT_EQ(run("watch nothing --json --frames 1").exit_code, kBadInput);
}

TEST_F(CliWithDaemon, DoctorsExitCodeShowsUnavailableSources) {
  const Outcome doctor = run("doctor");
  EXPECT_EQ(doctor.exit_code, kProblems) << doctor.out;
  EXPECT_THAT(doctor.out, HasSubstr("permissions of the daemon"));
  EXPECT_THAT(doctor.out, HasSubstr("mlx5_3/1"));
  const Outcome json = run("doctor --json");
  EXPECT_EQ(json.exit_code, kProblems);
  EXPECT_THAT(json.out, StartsWith("{\"schema\":\"linkhealth.doctor/1\",\"node\":\"gpu-0417\""));
  EXPECT_EQ(run("doctor --sysroot /nowhere").exit_code, kBadInput);
  EXPECT_THAT(run("doctor --help").out, HasSubstr("Exit codes:"));
}

TEST_F(CliTest, TheDemoLeavesNothingBehindWhenItIsKilled) {
  const std::string place = directory + "/demo";
  std::filesystem::create_directory(place);
  const auto is_empty = [&] { return std::filesystem::is_empty(place); };
  for (const int signal : {SIGTERM, SIGHUP, SIGKILL}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      setenv("TMPDIR", place.c_str(), 1);
      std::freopen("/dev/null", "w", stdout);
      execl(LINKHEALTH_PROGRAM, "linkhealth", "demo", nullptr);
      _exit(127);
    }
    // Its daemon runs once its socket is there.
    const auto runs = [&] {
      std::error_code changes;  // the demo makes its files meanwhile
      for (std::filesystem::recursive_directory_iterator each(place, changes), end; each != end;
           each.increment(changes))
        if (each->path().filename() == "linkhealth.sock") return true;
      return false;
    };
    while (!runs()) ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0);
    kill(child, signal);
    waitpid(child, nullptr, 0);
    while (!is_empty()) std::this_thread::yield();
  }
}

TEST_F(CliTest, TheDemoSaysThatThereIsNoPlaceForItsFiles) {
  const Outcome demo = run("demo", "TMPDIR=/nowhere");
  EXPECT_EQ(demo.exit_code, kBadInput);
  EXPECT_EQ(demo.err, "linkhealth: demo: TMPDIR is not a directory\n");
}

TEST_F(CliWithDaemon, WatchWithoutATerminalPrintsPlainly) {
  const Outcome watch = run("watch --frames 1");
  EXPECT_EQ(watch.exit_code, 0);
  EXPECT_THAT(watch.out, StartsWith("gpu-0417"));
  EXPECT_THAT(watch.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run("watch mlx5_3 --frames 1").out, HasSubstr("Dirty connector"));
  EXPECT_EQ(run("watch nothing --frames 1").exit_code, kBadInput);
}

/// Reads a pseudo terminal until `text` has come, or until its end when `text` is empty.
std::string read_until(int terminal, std::string_view text) {
  std::string all;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(terminal, buffer, sizeof(buffer));
    if (got <= 0) return all;
    all.append(buffer, static_cast<std::size_t>(got));
    if (!text.empty() && all.find(text) != std::string::npos) return all;
  }
}

/// `watch` on a pseudo terminal; returns its process.
pid_t watch_on_terminal(const std::string& socket_path, int& terminal) {
  winsize size{};
  size.ws_col = 120;
  size.ws_row = 40;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child != 0) return child;
  const std::string socket = "--socket=" + socket_path;
  const char* const environment[] = {"LANG=C.UTF-8", "TERM=xterm", "ASAN_OPTIONS=detect_leaks=0",
                                     nullptr};
  execle(LINKHEALTH_PROGRAM, "linkhealth", socket.c_str(), "watch", nullptr, environment);
  _exit(127);
}

TEST_F(CliWithDaemon, WatchIsDrivenByKeys) {
  int terminal = -1;
  const pid_t child = watch_on_terminal(settings.socket.path, terminal);
  ASSERT_GE(child, 0);
  const auto type = [&](std::string_view keys) {
    ASSERT_EQ(write(terminal, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  };
  read_until(terminal, "q quit");
  type("\x1b[B\r");  // down, Enter
  EXPECT_THAT(read_until(terminal, "Esc back"), HasSubstr("Dirty connector on the fibre"));
  type("\x1b");
  EXPECT_THAT(read_until(terminal, "Enter explain"), HasSubstr("5 ports"));
  type("q");
  EXPECT_THAT(read_until(terminal, ""), EndsWith("\x1b[?7h\x1b[?25h\x1b[?1049l"));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  close(terminal);
}

TEST_F(CliWithDaemon, WatchOnATerminalRestoresItOnCtrlC) {
  int terminal = -1;
  const pid_t child = watch_on_terminal(settings.socket.path, terminal);
  ASSERT_GE(child, 0);
  const std::string first = read_until(terminal, "q quit");  // the end of the first screen
  EXPECT_THAT(first, StartsWith("\x1b[?1049h\x1b[?25l\x1b[?7l"));
  EXPECT_THAT(first, HasSubstr("\x1b[1;33m"));  // colours on a terminal
  ASSERT_EQ(write(terminal, "\x03", 1), 1);
  EXPECT_THAT(read_until(terminal, ""), EndsWith("\x1b[?7h\x1b[?25h\x1b[?1049l"));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  close(terminal);
}

/// Publishes one snapshot a second of the snapshots' own time for as long as a client records.
class Feeder {
 public:
  Feeder(RecordingBroadcaster& recordings, ApiServer& server)
      : thread_([&recordings, &server, this] {
          SteadyTime t(std::chrono::seconds(100));
          while (!stop_) {
            if (recordings.has_listeners()) {
              recordings.publish(t += std::chrono::seconds(1), {}, [] { return "{\"t\":1}"; });
              server.wake_streams();
            }
            std::this_thread::yield();
          }
        }) {}
  ~Feeder() {
    stop_ = true;
    thread_.join();
  }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(CliWithDaemon, RecordWritesAPlainOrAPackedFile) {
  recordings.set_header([] { return std::string("{\"schema\":1}"); });
  const Feeder feeder(recordings, *server);
  const std::string plain = directory + "/a.jsonl";
  const Outcome recorded = run("record --for 2s " + plain);
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_EQ(recorded.err, "3 snapshots in " + plain + "\n");
  EXPECT_EQ(read_all(plain), "{\"schema\":1}\n{\"t\":1}\n{\"t\":1}\n{\"t\":1}\n");
  const std::string packed = directory + "/a.jsonl.gz";
  EXPECT_EQ(run("record --for 2s " + packed).exit_code, 0);
  EXPECT_THAT(read_all(packed), StartsWith("\x1f\x8b"));
  EXPECT_EQ(run("record --for 2s -").out, read_all(plain));
}

/// Most sources are read every ten seconds: a recording of two seconds must not take up to twenty.
TEST_F(CliWithDaemon, RecordEndsInItsTimeWithWhatIsKnown) {
  recordings.set_header([] { return std::string("{\"schema\":1}"); });
  recordings.publish(SteadyTime(), [] { return "{\"known\":1}"; }, {});
  std::thread time([this] {
    while (!recordings.has_listeners()) std::this_thread::yield();
    clock.steady_now = clock.steady_now.load() + std::chrono::seconds(2);
  });
  const std::string file = directory + "/short.jsonl";
  const Outcome recorded = run("record --for 2s " + file);
  time.join();
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_EQ(
      recorded.err,
      "1 snapshot in " + file +
          ": only the last reading of every source; no new reading arrived (use a longer --for)\n");
  EXPECT_EQ(read_all(file), "{\"schema\":1}\n{\"known\":1}\n");
}

TEST_F(CliWithDaemon, RecordNeverOverwrites) {
  const std::string file = directory + "/precious";
  std::ofstream(file) << "precious";
  const Outcome wrong = run("record " + file);
  EXPECT_EQ(wrong.exit_code, kBadInput);
  EXPECT_EQ(wrong.err, "linkhealth: can't write " + file + ": File exists\n");
  EXPECT_EQ(read_all(file), "precious");
}

TEST_F(CliWithDaemon, ARefusedRecordingLeavesNoFile) {
  const std::string file = directory + "/none.jsonl";
  const Outcome wrong =
      run("record --for 2s " + file);  // no header yet: the daemon does not record
  EXPECT_EQ(wrong.exit_code, kDaemonError);
  EXPECT_THAT(wrong.err, HasSubstr("cannot record while it starts or stops"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(CliTest, HistoryDrawsWhatIsRemembered) {
  const auto store = HistoryStore::open({}, test::history_time(0));
  HistoryBatch batch = test::event_batch(20);
  batch.rows = {test::history_row(20, 51, "0000:9a:00.0/1")};
  batch.events[0].port = "0000:9a:00.0/1";
  ASSERT_TRUE(store->write(batch).ok());
  history = store.get();
  settings.listen.host.clear();
  clock.wall_now = test::history_time(60);
  publish();
  start();
  const Outcome past = run("history ens4np0 --since 2h");
  EXPECT_EQ(past.exit_code, 0) << past.err;
  EXPECT_THAT(past.out, HasSubstr("Module temperature, °C: now 51.0"));
  EXPECT_THAT(past.out, HasSubstr("dirty connector (path, warning, 83%)"));
  const std::string ascii = run("history mlx5_3 --ascii").out;
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_THAT(run("history mlx5_3 --json").out,
              StartsWith(R"({"schema":"linkhealth.history/1","port":"mlx5_3/1")"));
  EXPECT_EQ(run("history mlx5_3 --since soon").exit_code, kBadInput);
  EXPECT_THAT(run("history mlx5_33").err, HasSubstr("did you mean"));
}

TEST_F(CliTest, WithoutADaemonTheErrorNamesTheRemedy) {
  for (const char* command : {"status", "explain mlx5_0", "watch", "status --json"}) {
    const Outcome wrong = run(command);
    EXPECT_EQ(wrong.exit_code, kNotReachable) << command;
    EXPECT_EQ(wrong.err, "linkhealth: the daemon is not running (no socket at " +
                             settings.socket.path +
                             "): start it with systemctl start linkhealthd, or look once without "
                             "it: linkhealth status --once\n");
  }
}

TEST_F(CliTest, ADaemonThatListensAndGivesNoAnswerIsNoMissingOne) {
  const OwnedFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  settings.socket.path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 16), 0);
  std::thread breaks_off([&] {  // until the listener is shut down
    for (int fd = 0; (fd = accept(listener.get(), nullptr, nullptr)) >= 0; close(fd)) {
    }
  });
  for (const auto& [command, exit_code] :
       {std::pair("status", kNotReachable), {"doctor", kBadInput}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << command;
    EXPECT_EQ(outcome.out, "") << command << ": without a read of its own";
    EXPECT_EQ(outcome.err,
              "linkhealth: the daemon listens on " + settings.socket.path +
                  " but does not answer: it may hang (journalctl -u linkhealthd; systemctl restart "
                  "linkhealthd)\n");
  }
  shutdown(listener.get(), SHUT_RDWR);
  breaks_off.join();
}

TEST_F(CliTest, OutputThatCanNotBeWrittenIsNoSuccess) {
  for (const char* command : {"rules", "rules --json", "--help", "--version", "doctor --sysroot /",
                              "status --once --sysroot /"}) {
    const int status =
        std::system((std::string("env -i ASAN_OPTIONS=detect_leaks=0 " LINKHEALTH_PROGRAM " ") +
                     command + " >/dev/full 2>" + directory + "/err")
                        .c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, kDaemonError) << command;
    EXPECT_THAT(read_all(directory + "/err"),
                HasSubstr("linkhealth: the output could not be written"))
        << command;
  }
}

TEST_F(CliTest, UsageMistakes) {
  for (const char* wrong :
       {"history", "stauts", "status --wied", "record --for 5y x", "record --for 0 x", "record"}) {
    const Outcome outcome = run(wrong);
    EXPECT_EQ(outcome.exit_code, kBadInput) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("linkhealth: ")) << wrong;
    EXPECT_EQ(outcome.out, "") << wrong;
  }
}

TEST_F(CliTest, ATypoInTheCommandLineGetsASuggestion) {
  EXPECT_EQ(run("stauts").err,
            "linkhealth: unknown command \"stauts\": did you mean status? (linkhealth --help)\n");
  EXPECT_EQ(
      run("status --wied").err,
      "linkhealth: unknown option \"--wied\": did you mean --wide? (linkhealth status --help)\n");
  EXPECT_EQ(run("explain a b").err,
            "linkhealth: unexpected argument \"b\" (linkhealth explain --help)\n");
  EXPECT_EQ(run("status watch").exit_code, kBadInput);
}

TEST_F(CliTest, HelpAndVersion) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"status", "explain", "watch", "record", "Exit codes:", "Examples:"})
    EXPECT_THAT(help.out, HasSubstr(word));
  EXPECT_EQ(run("--version").out, "linkhealth " LINKHEALTH_VERSION "\n");
  EXPECT_EQ(run("explain --help").exit_code, 0);
}

TEST(Style, FollowsTerminalAndEnvironment) {
  const auto environment = [](std::map<std::string, std::string> values) {
    return [values](const char* name) -> std::optional<std::string> {
      const auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
  };
  EXPECT_TRUE(style_for(true, 80, environment({{"LANG", "en_US.UTF-8"}})).colour);
  EXPECT_FALSE(style_for(true, 80, environment({{"NO_COLOR", "1"}})).colour);
  EXPECT_TRUE(style_for(true, 80, environment({{"NO_COLOR", ""}})).colour);
  EXPECT_FALSE(style_for(true, 80, environment({{"TERM", "dumb"}})).colour);
  EXPECT_FALSE(style_for(false, std::nullopt, environment({})).colour);
  EXPECT_TRUE(
      style_for(false, std::nullopt, environment({{"LC_ALL", "C"}, {"LANG", "C.UTF-8"}})).ascii);
  EXPECT_FALSE(style_for(false, std::nullopt, environment({{"LANG", "de_DE.utf8"}})).ascii);
  EXPECT_EQ(style_for(true, 80, environment({{"COLUMNS", "120"}})).width_columns, 80);
  EXPECT_EQ(style_for(false, std::nullopt, environment({{"COLUMNS", "120"}})).width_columns, 120);
  EXPECT_EQ(style_for(false, std::nullopt, environment({{"COLUMNS", "x"}})).width_columns, 100);
}

TEST(Durations, FormsAndMistakes) {
  EXPECT_EQ(*parse_duration_s("90"), 90U);
  EXPECT_EQ(*parse_duration_s("10m"), 600U);
  EXPECT_EQ(*parse_duration_s("2h"), 7200U);
  EXPECT_EQ(*parse_duration_s("1d"), 86400U);
  for (const char* wrong : {"", "m", "0", "2d", "-1", "1.5h", "10 m", "99999999999999999999s"})
    EXPECT_FALSE(parse_duration_s(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace linkhealth::cli
