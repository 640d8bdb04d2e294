#include "cli/watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "exporters/text/text_layout.h"
#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

StatusDocument example(std::size_t healthy_ports = 0) {
  StatusDocument status;
  status.report = test::example_report();
  status.daemon.now = test::example_now();
  for (std::size_t i = 0; i < healthy_ports; ++i)
    status.report.ports.push_back(
        test::healthy_port(fmt::format("rdma{}", i), fmt::format("eth{}", i), ""));
  return status;
}

struct Watching {
  StatusDocument status = example();
  WatchScreen screen{};
  TextStyle style{.width_columns = 80};
  std::size_t rows = 24;

  std::string press(std::initializer_list<Key> keys) {
    for (const Key key : keys) screen.press(key);
    return screen.draw(status, style, rows);
  }
  std::string selected() {
    const std::string text = press({});
    const auto at = text.find("\n> ");
    return at == std::string::npos ? "" : text.substr(at + 3, text.find(' ', at + 3) - at - 3);
  }
};

TEST(Watch, TheListBeginsWithTheWorstPort) {
  Watching watch;
  const std::string text = watch.press({});
  EXPECT_EQ(watch.selected(), "mlx5_7/1") << "the link that is down";
  EXPECT_LT(text.find("mlx5_7/1"), text.find("mlx5_3/1"));
  EXPECT_LT(text.find("mlx5_3/1"), text.find("mlx5_0/1")) << "healthy ones stand behind";
}

TEST(Watch, AFrameFitsTheTerminal) {
  for (const std::size_t rows : {8U, 12U, 24U, 60U})
    for (const int columns : {80, 120}) {
      Watching watch{.status = example(40), .style = {.width_columns = columns}, .rows = rows};
      for (int key = 0; key < 45; ++key) {
        const std::string text = watch.press({Key::kDown});
        EXPECT_EQ(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(rows));
        EXPECT_NE(watch.selected(), "") << "the selected port is on the screen, after " << key;
      }
    }
}

TEST(Watch, TheFirstStepIsWholeAt80Columns) {
  Watching watch;
  const std::string text = watch.press({});
  for (const std::string_view word : {"clean", "both", "ends", "ports", "(MPO-12", "APC)"})
    EXPECT_THAT(text, HasSubstr(std::string(word)));
}

TEST(Watch, KeysSelectAPortAndStayWithinTheList) {
  Watching watch;
  watch.press({});
  watch.press({Key::kUp});
  EXPECT_EQ(watch.selected(), "mlx5_7/1");
  watch.press({Key::kDown});
  EXPECT_EQ(watch.selected(), "mlx5_3/1");
  watch.press({Key::kEnd});
  EXPECT_EQ(watch.selected(), "mlx5_8/1") << "the exempt one is the last";
  watch.press({Key::kDown, Key::kPageDown});
  EXPECT_EQ(watch.selected(), "mlx5_8/1");
  watch.press({Key::kHome});
  EXPECT_EQ(watch.selected(), "mlx5_7/1");
}

TEST(Watch, TheSelectionStaysWithItsPortWhenTheOrderChanges) {
  Watching watch;
  watch.press({});
  watch.press({Key::kDown});
  ASSERT_EQ(watch.selected(), "mlx5_3/1");
  for (PortReport& port : watch.status.report.ports)
    if (port.port == "mlx5_7/1") port = test::healthy_port("mlx5_7", "ens8np0", "0000:db:00.0");
  EXPECT_EQ(watch.selected(), "mlx5_3/1");
}

TEST(Watch, EnterExplainsAndEscapeGoesBack) {
  Watching watch;
  watch.press({});
  const std::string explained = watch.press({Key::kDown, Key::kEnter});
  EXPECT_THAT(explained, AllOf(HasSubstr("Dirty connector on the fibre of lane 2"),
                               HasSubstr("Esc back"), Not(HasSubstr("5 ports"))));
  EXPECT_EQ(std::ranges::count(explained, '\n'), 24);
  EXPECT_THAT(watch.press({Key::kBack}), HasSubstr("5 ports"));
  EXPECT_EQ(watch.selected(), "mlx5_3/1");
}

TEST(Watch, AnExplanationScrollsToItsEndAndNoFurther) {
  Watching watch{.rows = 12};
  watch.press({});
  EXPECT_THAT(watch.press({Key::kDown, Key::kEnter}), HasSubstr("(more)"));
  const std::string end = watch.press({Key::kEnd});
  EXPECT_THAT(end, AllOf(HasSubstr("  Or "), Not(HasSubstr("(more)"))));
  EXPECT_EQ(watch.press({Key::kDown}), end);
  EXPECT_NE(watch.press({Key::kUp}), end) << "the end was not overshot";
}

TEST(Watch, OnePortHasNoWayBack) {
  Watching watch{.screen = WatchScreen("mlx5_3/1")};
  EXPECT_THAT(watch.press({}), AllOf(HasSubstr("Dirty connector"), Not(HasSubstr("Esc"))));
  EXPECT_THAT(watch.press({Key::kBack}), HasSubstr("Dirty connector"));
  watch.status.report.ports.clear();
  EXPECT_THAT(watch.press({}), HasSubstr("this port disappeared"));
}

TEST(Watch, KeysAreTakenFromWhatIsTyped) {
  const auto keys = [](std::string typed) {
    std::vector<Key> taken;
    while (!typed.empty()) taken.push_back(take_key(typed));
    return taken;
  };
  EXPECT_THAT(keys("\x1b[A\x1b[B\r"), ElementsAre(Key::kUp, Key::kDown, Key::kEnter));
  EXPECT_THAT(keys("jk\x1bOBq"), ElementsAre(Key::kDown, Key::kUp, Key::kDown, Key::kQuit));
  EXPECT_THAT(keys("\x1b[6~\x1b[5~\x1b"), ElementsAre(Key::kPageDown, Key::kPageUp, Key::kBack));
  EXPECT_THAT(keys("x"), ElementsAre(Key::kNone));
}

}  // namespace
}  // namespace linkhealth::cli
