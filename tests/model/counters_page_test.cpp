// docs/counters.md: the counter table for people who meet a `counter` label.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/counters.h"
#include "model/indicators.h"
#include "tests/support/golden.h"

namespace linkhealth {
namespace {

struct Section {
  CounterSource source;
  std::string_view title;
};
constexpr Section kSections[] = {
    {CounterSource::kIbPort, "InfiniBand port counters (`ports/N/counters/`, PMA)"},
    {CounterSource::kIbHw, "`hw_counters` of verbs drivers"},
    {CounterSource::kEthtoolFec, "Forward error correction (ethtool)"},
    {CounterSource::kEthtoolStd, "Standard statistics (ethtool)"},
    {CounterSource::kEthtoolDriver, "Drivers' own statistics (`ethtool -S`)"},
    {CounterSource::kNetdev, "Network interface (`ip -s link`)"},
};

std::string_view words(CounterEnd end) {
  switch (end) {
    case CounterEnd::kWraps:
      return "goes on at 0";
    case CounterEnd::kSaturates:
      return "stops there";
    case CounterEnd::kUnknown:
      return "not known";
    case CounterEnd::kLevel:
      return "a level";
  }
  return "";
}

std::string_view words(CounterReset reset) {
  switch (reset) {
    case CounterReset::kByAnybody:
      return "anybody";
    case CounterReset::kWithDriver:
      return "driver";
    case CounterReset::kWithCard:
      return "card";
    case CounterReset::kUnsaid:
      return "driver or card";
    case CounterReset::kNever:
      return "-";
  }
  return "";
}

std::string_view words(CounterPlace place) {
  switch (place) {
    case CounterPlace::kHere:
      return "received here";
    case CounterPlace::kForwarded:
      return "before the far end";
    case CounterPlace::kEgress:
      return "sent from here";
    case CounterPlace::kHost:
      return "this node";
    case CounterPlace::kEndToEnd:
      return "the whole path";
    case CounterPlace::kTraffic:
      return "no damage";
  }
  return "";
}

/// Of link downs that the carrier count has (CarrierHistory).
bool tells_losses(std::string_view name) {
  constexpr std::string_view kNames[] = {"link_down_events", "link_down_events_phy",
                                         "link_ext_down_count"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::string_view judged_as(CounterId id) {
  if (const auto indicator = indicator_of(id)) return indicator_info(*indicator).name;
  return tells_losses(known_counters()[id].name) ? "link downs" : "-";
}

std::string row_text(CounterId id) {
  const CounterInfo& row = known_counters()[id];
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.name, row.width_bits,
                     words(row.end), words(row.reset), words(row.place), judged_as(id),
                     row.meaning);
}

std::string counters_page() {
  std::string text =
      "# Counters\n\n"
      "Each counter that has a meaning here, as it stands in the label `counter` of "
      "`linkhealth_raw_total` and\n"
      "`linkhealth_raw_level` and in recordings. Made from `model/counter_rows.h` and "
      "`model/counter_rows_hw.h`; a "
      "test\n"
      "compares this page with them (`LINKHEALTH_ACCEPT=1` rewrites the page). A counter that is "
      "not here is passed\n"
      "through under its own name and judges nothing.\n\n"
      "* **bits, at its end**: a counter that \"goes on at 0\" is followed when it wraps. One that "
      "\"stops there\"\n"
      "  counts no more until it is cleared; a gap reports it. Where the width is not known a "
      "decrease "
      "is a reset.\n"
      "  A driver may keep more bits than stated: a larger value is used as it is.\n"
      "* **reset by**: what takes it back to 0, apart from a loss of power. *anybody*: anyone who "
      "may send MADs,\n"
      "  at any time, one by one (`perfquery -R`). *driver*: a reload of the driver. *card*: a "
      "start "
      "of the card's\n"
      "  firmware. *driver or card*: drivers differ, or do not show it. A decrease is a reset of "
      "all "
      "counters of that\n"
      "  source; what they count until the second reading after it is left out.\n"
      "* **of**: where what it counts was done.\n"
      "* **judged as**: the indicator that it counts for in the diagnosis; `-`: shown only.\n";
  for (const Section& section : kSections) {
    text += fmt::format(
        "\n## {}\n\n| counter | bits | at its end | reset by | of | judged as | what it counts |\n",
        section.title);
    text += "|---|---|---|---|---|---|---|\n";
    for (CounterId id = 0; id < known_counters().size(); ++id)
      if (known_counters()[id].source == section.source) text += row_text(id);
  }
  return text;
}

TEST(Counters, ThePageDescribesTheTable) {
  test::expect_golden("docs/counters.md", counters_page());
}

// What a column says must fit what another one says.
TEST(Counters, WhatTakesThemBackToZeroFitsTheirSource) {
  for (const CounterInfo& row : known_counters()) {
    EXPECT_EQ(row.reset == CounterReset::kNever, row.end == CounterEnd::kLevel) << row.name;
    EXPECT_EQ(row.reset == CounterReset::kByAnybody, row.source == CounterSource::kIbPort)
        << row.name;
    EXPECT_TRUE(row.end != CounterEnd::kSaturates || row.reset == CounterReset::kByAnybody)
        << row.name << ": stuck";
  }
}

}  // namespace
}  // namespace linkhealth
