// docs/counters.md: the counter table for people who meet a `counter` label.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

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

// In the order of CounterEnd, CounterReset and CounterPlace.
constexpr std::string_view kEnds[] = {"goes on at 0", "stops there", "not known", "a level"};
constexpr std::string_view kResets[] = {"MAD", "driver", "card", "driver or card", "-"};
constexpr std::string_view kPlaces[] = {"received here", "before the far end", "sent from here",
                                        "this node",     "the whole path",     "no damage"};

/// Whether it counts link downs that the carrier count has, too (CarrierHistory).
bool counts_link_downs(std::string_view name) {
  constexpr std::string_view kNames[] = {"link_down_events", "link_down_events_phy",
                                         "link_ext_down_count"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::string_view judged_as(CounterId id) {
  if (const auto indicator = indicator_of(id)) return indicator_info(*indicator).name;
  return counts_link_downs(known_counters()[id].name) ? "link downs" : "-";
}

std::string row_text(CounterId id) {
  const CounterInfo& row = known_counters()[id];
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.name, row.width_bits,
                     kEnds[static_cast<std::size_t>(row.end)],
                     kResets[static_cast<std::size_t>(row.reset)],
                     kPlaces[static_cast<std::size_t>(row.place)], judged_as(id), row.meaning);
}

std::string counters_page() {
  std::string text =
      "# Counters\n\n"
      "Each counter that has a meaning here, as it stands in the label `counter` of "
      "`linkhealth_raw_total` and\n"
      "`linkhealth_raw_level` and in recordings. Made from `model/counter_table.cpp`; a test "
      "compares this page with\n"
      "it (`LINKHEALTH_ACCEPT=1` rewrites the page). A counter that is not here is passed through "
      "under its own name\n"
      "and judges nothing.\n\n"
      "* **bits, at its end**: a counter that \"goes on at 0\" is followed when it wraps. One that "
      "\"stops there\"\n"
      "  counts no more until it is cleared; a gap reports it. Where the width is not known a "
      "decrease is a reset.\n"
      "  A driver may keep more bits than stated: a larger value is used as it is.\n"
      "* **reset by**: what takes it back to 0, apart from a loss of power. *MAD*: any client that "
      "may send MADs, at\n"
      "  any time, one by one (`perfquery -R`). *driver*: a reload of the driver. *card*: a start "
      "of the card's\n"
      "  firmware. *driver or card*: drivers differ, or do not show it. A decrease is a reset of "
      "all counters of that\n"
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

}  // namespace
}  // namespace linkhealth
