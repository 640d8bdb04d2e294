// Values of a source that is not ok become unknown after the `stale_after_s` of the source.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/history/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

using enum SourceId;
using enum SourceState;
using SourceNames = std::vector<std::string>;

const SourceNames kAll = {
    "symbol_error",         "out_of_sequence",      "netdev_rx_crc_errors",
    "link_down_events_phy", "netdev_multicast",     "rmon_etherStatsPkts64Octets",
    "a_card_s_own",         "devlink_fw_errors",    "fec_hist_0to0",
    "link_ext_down_count",  "pause_rx_pause_frames"};
const SourceNames kNotOfTheReader = {"netdev_rx_crc_errors", "netdev_multicast",
                                     "devlink_fw_errors"};

bool has(const SourceNames& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}
SourceNames all_but(const SourceNames& without) {
  SourceNames rest;
  for (const std::string& name : kAll)
    if (!has(without, name)) rest.push_back(name);
  return rest;
}

/// A port that is read each ten seconds.
struct ReadPort {
  void read(int seconds, const SourceNames& names, const SourceReports& reports) {
    for (int i = 0; i < seconds; i += 10) {
      Snapshot snapshot = feed.tick();
      PortSample& port = snapshot.ports.begin()->second;
      Counters& counters = port.counters.emplace();
      for (const std::string& name : names) counters.set(name, 9);
      if (tracker.update(reports, snapshot.taken_at)) port.sources = tracker.sources();
      history.observe(snapshot);
    }
  }
  [[nodiscard]] const PortHistory& port() const { return *history.find(feed.key); }
  [[nodiscard]] SourceNames held() const {
    SourceNames names;
    for (const std::string& name : kAll)
      if (port().latest.counters->get(name)) names.push_back(name);
    return names;
  }
  History history;
  Feed feed;
  SourceTracker tracker;
};

TEST(Staleness, EndsTheCountersOfTheSourceAndOfThoseThatItStops) {
  struct Row {
    SourceId source;
    SourceState state;
    SourceNames end;
  };
  const Row kRows[] = {
      {kCounters, kFailing, {"symbol_error"}},
      {kHwCounters, kFailing, {"out_of_sequence", "a_card_s_own"}},
      {kHwCounters, kNotOffered, {"out_of_sequence", "a_card_s_own"}},
      {kDriverStats, kFailing, {"link_down_events_phy"}},
      {kEthtoolStats, kFailing, {"rmon_etherStatsPkts64Octets"}},
      {kFec, kFailing, {"fec_hist_0to0"}},
      {kPause, kFailing, {"pause_rx_pause_frames"}},
      // ETHTOOL_MSG_LINKSTATE_GET has it, not the statistics.
      {kDownReason, kFailing, {"link_ext_down_count"}},
      {kNetdevStats, kFailing, {"netdev_rx_crc_errors", "netdev_multicast"}},
      {kDevlink, kFailing, {"devlink_fw_errors"}},
      {kPcie, kFailing, {}},
      // Without its family nothing is requested through ethtool.
      {kEthtool,
       kFailing,
       {"rmon_etherStatsPkts64Octets", "fec_hist_0to0", "link_ext_down_count",
        "pause_rx_pause_frames"}},
      // A port has one reader: while one of its reads hangs, nothing else of it is read.
      {kEthtool, kHung, all_but(kNotOfTheReader)},
      {kCounters, kHung, all_but(kNotOfTheReader)},
      {kPcie, kHung, all_but(kNotOfTheReader)},
  };
  for (const Row& row : kRows) {
    ReadPort port;
    port.read(60, kAll, {});
    const SourceReports reports = {{row.source, {row.state, "why"}}};
    port.read(250, all_but(row.end), reports);
    EXPECT_EQ(port.held(), kAll) << to_string(row.source);
    EXPECT_NE(port.port().blind_to(row.source), nullptr) << "at once";
    port.read(110, all_but(row.end), reports);
    EXPECT_EQ(port.held(), all_but(row.end)) << to_string(row.source);
    port.read(10, kAll, {});
    EXPECT_EQ(port.held(), kAll) << "it is read again";
    EXPECT_EQ(port.port().blind_to(row.source), nullptr);
  }
}

TEST(Staleness, EndsAFileThatFailsInASourceThatIsOk) {
  ReadPort port;
  const SourceReports note = {{kCounters, {kOk, "link_downed: EINVAL"}}};
  port.read(60, {"symbol_error", "link_downed"}, {});
  port.read(360, {"symbol_error"}, note);
  EXPECT_TRUE(port.port().latest.counters->get("symbol_error"));
  EXPECT_FALSE(port.port().latest.counters->get("link_downed"));
  EXPECT_EQ(port.port().blind_to(kCounters), nullptr) << "the others are read";
  EXPECT_EQ(port.port().latest.sources->at(kCounters).reason, "link_downed: EINVAL");
}

TEST(Staleness, EndsTheLanesOfFecOnlyWhereTheirSourceFails) {
  ReadPort port;
  port.feed.fec_lanes.assign(4, FecLane{1, {}, {}});
  port.read(50, kAll, {});
  port.feed.fec_lanes.clear();
  port.read(600, kAll, {});
  EXPECT_EQ(port.port().latest.fec_lanes.size(), 4U) << "a driver may report them rarely";
  port.read(400, kAll, {{kFec, {kFailing, "EIO"}}});
  EXPECT_TRUE(port.port().latest.fec_lanes.empty());
}

TEST(Staleness, MakesASourceBlindThatAnotherOneStops) {
  ReadPort port;
  port.read(60, kAll, {{kEthtool, {kHung, "no answer within 5 s"}}});
  EXPECT_NE(port.port().blind_to(kEthtool), nullptr);
  EXPECT_EQ(port.port().blind_to(kCounters), nullptr) << "what it gave is not old yet";
  port.read(300, {}, {{kEthtool, {kHung, "no answer within 5 s"}}});
  EXPECT_NE(port.port().blind_to(kCounters), nullptr);
}

}  // namespace
}  // namespace linkhealth
