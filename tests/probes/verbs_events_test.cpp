#include "probes/verbs_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include <cerrno>

#include "tests/support/fake_host.h"
#include "tests/support/fake_verbs.h"
#include "tests/support/no_new_threads.h"

namespace linkhealth {
namespace {

using testing::FakeHost;
using testing::FakeVerbs;
using testing::NoNewThreads;

/// libibverbs' numbers, which the lab makes two of.
TEST(VerbsEventKinds, AreThoseOfTheLibrary) {
  struct Row {
    ibv_event_type type;
    VerbsEventKind kind;
  };
  constexpr Row kRows[] = {
      {IBV_EVENT_PORT_ERR, VerbsEventKind::kPortError},
      {IBV_EVENT_PORT_ACTIVE, VerbsEventKind::kPortActive},
      {IBV_EVENT_DEVICE_FATAL, VerbsEventKind::kDeviceFatal},
      {IBV_EVENT_LID_CHANGE, VerbsEventKind::kLidChange},
      {IBV_EVENT_SM_CHANGE, VerbsEventKind::kSmChange},
      {IBV_EVENT_PKEY_CHANGE, VerbsEventKind::kPortChanged},
      {IBV_EVENT_GID_CHANGE, VerbsEventKind::kPortChanged},
      {IBV_EVENT_CLIENT_REREGISTER, VerbsEventKind::kPortChanged},
      {IBV_EVENT_QP_FATAL, VerbsEventKind::kOther},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(verbs_event_kind(row.type), row.kind) << "event " << row.type;
}

class VerbsFeed : public ::testing::Test {
 protected:
  void SetUp() override {
    add_device("mlx5_0", "uverbs0");
    add_device("mlx5_1", "uverbs1");
  }
  void TearDown() override { library->let_go(); }

  void add_device(const std::string& device, const std::string& file) {
    InventoryPort port;
    port.id.device = device;
    port.id.port = 1;
    port.id.verbs = true;
    ports.push_back(port);
    host.set("/sys/class/infiniband_verbs/" + file + "/ibdev", device + "\n");
  }
  void search() { feed.set_ports(host, ports, now); }
  /// Waits for the feed's descriptor, then receives; until every call to the library came back.
  FeedNews settle() {
    FeedNews all;
    do {
      pollfd wanted{feed.fd(), POLLIN, 0};
      ::poll(&wanted, 1, feed.settled() ? 0 : 5'000);
      merge(all, feed.receive(host, now));
    } while (!feed.settled());
    merge(all, feed.receive(host, now));
    return all;
  }
  void settle_once() { feed.receive(host, now); }
  static void merge(FeedNews& all, FeedNews news) {
    all.events.insert(all.events.end(), news.events.begin(), news.events.end());
    all.look = all.look || news.look;
    all.search = all.search || news.search;
    all.ports.merge(news.ports);
  }

  FakeHost host;
  std::shared_ptr<FakeVerbs> library = std::make_shared<FakeVerbs>();
  std::vector<InventoryPort> ports;
  SteadyTime now = steady_from_seconds(1000);
  VerbsEvents feed{library, Milliseconds(5000)};
};

TEST_F(VerbsFeed, PortEventsAreToldAndPromptAReading) {
  search();
  settle();
  library->tell("mlx5_0", VerbsEventKind::kPortError, 1);
  library->tell("mlx5_1", VerbsEventKind::kPortActive, 1);
  library->tell("mlx5_1", VerbsEventKind::kLidChange, 1);
  library->tell("mlx5_1", VerbsEventKind::kSmChange, 1);
  const FeedNews news = settle();
  std::vector<std::pair<PortKey, PortEventKind>> told;
  for (const PortEvent& event : news.events) {
    told.emplace_back(event.port, event.kind);
    EXPECT_EQ(event.t, now);
  }
  EXPECT_THAT(told,
              ::testing::UnorderedElementsAre(std::pair("mlx5_0/1", PortEventKind::kPortError),
                                              std::pair("mlx5_1/1", PortEventKind::kPortActive),
                                              std::pair("mlx5_1/1", PortEventKind::kLidChange),
                                              std::pair("mlx5_1/1", PortEventKind::kSmChange)));
  EXPECT_TRUE(news.look);
  EXPECT_THAT(news.ports, ::testing::ElementsAre("mlx5_0/1", "mlx5_1/1"));
}

TEST_F(VerbsFeed, AChangeOfATableIsOnlyAPrompt) {
  search();
  settle();
  library->tell("mlx5_0", VerbsEventKind::kPortChanged, 1);
  library->tell("mlx5_1", VerbsEventKind::kPortError, 7);  // no such port
  const FeedNews news = settle();
  EXPECT_TRUE(news.events.empty());
  EXPECT_THAT(news.ports, ::testing::ElementsAre("mlx5_0/1"));
}

TEST_F(VerbsFeed, AFatalErrorIsToldAndTheContextIsGivenBack) {
  search();
  settle();
  library->tell("mlx5_0", VerbsEventKind::kDeviceFatal);
  const FeedNews news = settle();
  ASSERT_EQ(news.events.size(), 1U);
  EXPECT_EQ(news.events[0].kind, PortEventKind::kDeviceFatal);
  EXPECT_EQ(news.events[0].port, "mlx5_0/1");
  EXPECT_TRUE(news.search);
  EXPECT_FALSE(library->is_open("mlx5_0"));
  search();
  settle();
  EXPECT_EQ(library->opens("mlx5_0"), 1) << "not at once again";
  now += VerbsEvents::kAgain;
  search();
  settle();
  EXPECT_EQ(library->opens("mlx5_0"), 2);
}

TEST_F(VerbsFeed, WhatWasGivenBackIsAGapAndOpenedAgainWithoutASearch) {
  for (const bool fatal : {true, false}) {
    search();
    settle();
    const int opens = library->opens("mlx5_0");
    fatal ? library->tell("mlx5_0", VerbsEventKind::kDeviceFatal) : library->fail("mlx5_0", EIO);
    settle();
    search();  // the one that is asked for: too early
    const auto still_blind = [&] {
      return feed.gaps().size() == 1 && feed.gaps()[0].port == "mlx5_0/1";
    };
    EXPECT_TRUE(still_blind());
    now += VerbsEvents::kAgain - Milliseconds(1);
    settle();
    EXPECT_TRUE(still_blind());
    EXPECT_EQ(library->opens("mlx5_0"), opens) << "not at once again";
    now += Milliseconds(1);
    settle();
    EXPECT_EQ(library->opens("mlx5_0"), opens + 1);
    EXPECT_TRUE(feed.gaps().empty());
    library->tell("mlx5_0", VerbsEventKind::kPortError, 1);
    EXPECT_EQ(settle().events.size(), 1U);
  }
}

TEST_F(VerbsFeed, WhatCouldNotBeOpenedIsTriedAgainWithoutASearch) {
  library->refuse("mlx5_1", EIO);
  search();
  settle();
  library->refuse("mlx5_1", 0);
  now += VerbsEvents::kAgain;
  settle();
  EXPECT_TRUE(library->is_open("mlx5_1"));
  EXPECT_TRUE(feed.gaps().empty());
}

TEST_F(VerbsFeed, WhatHasGoneIsNotLookedForAllTheTime) {
  search();
  settle();
  host.remove("/sys/class/infiniband_verbs/uverbs0");
  library->tell("mlx5_0", VerbsEventKind::kDeviceFatal);
  settle();
  now += VerbsEvents::kAgain;
  settle();
  EXPECT_EQ(library->opens("mlx5_0"), 1);
  EXPECT_TRUE(feed.gaps().empty());
}

TEST_F(VerbsFeed, AtTheLimitOfTasksItIsSaidAndTriedAgain) {
  {
    const NoNewThreads limit;
    search();
    settle_once();
    ASSERT_EQ(feed.gaps().size(), 2U);
    EXPECT_EQ(feed.gaps()[0].port, "mlx5_0/1");
    EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("thread"));
  }
  settle_once();
  settle();
  EXPECT_TRUE(feed.gaps().empty());
  EXPECT_TRUE(library->is_open("mlx5_0") && library->is_open("mlx5_1"));
}

TEST_F(VerbsFeed, AtTheLimitOfTasksAContextIsGivenBackLaterAndNotHere) {
  search();
  settle();
  library->tell("mlx5_0", VerbsEventKind::kDeviceFatal);
  {
    const NoNewThreads limit;
    settle_once();
    settle_once();
    EXPECT_TRUE(library->is_open("mlx5_0")) << "closing it may wait for the firmware";
    EXPECT_EQ(feed.gaps().size(), 1U);
  }
  settle_once();
  settle();
  EXPECT_FALSE(library->is_open("mlx5_0"));
}

TEST_F(VerbsFeed, TheFatalErrorOfADriverThatIsUnloadedIsNone) {
  search();
  settle();
  host.remove("/sys/class/infiniband_verbs/uverbs0");
  library->tell("mlx5_0", VerbsEventKind::kDeviceFatal);
  const FeedNews news = settle();
  EXPECT_TRUE(news.events.empty());
  EXPECT_TRUE(news.search);
  EXPECT_FALSE(library->is_open("mlx5_0"));
  EXPECT_TRUE(library->is_open("mlx5_1"));
}

TEST_F(VerbsFeed, ADeviceWhoseFileIsGoneIsGivenBackThoughItsPortIsStillListed) {
  search();
  settle();
  host.remove("/sys/class/infiniband_verbs/uverbs0");  // who unloads the driver waits for us now
  search();
  settle();
  EXPECT_FALSE(library->is_open("mlx5_0"));
  EXPECT_TRUE(library->is_open("mlx5_1"));
  EXPECT_TRUE(feed.gaps().empty());
}

TEST_F(VerbsFeed, ADeviceThatGoesWhileItIsOpenedIsGivenBack) {
  library->hang("mlx5_0");
  search();
  host.remove("/sys/class/infiniband_verbs/uverbs0");
  library->let_go();
  settle();
  EXPECT_FALSE(library->is_open("mlx5_0"));
}

TEST_F(VerbsFeed, AHotPluggedDeviceIsHeard) {
  search();
  settle();
  const int before = feed.fd();
  add_device("mlx5_2", "uverbs2");
  search();
  settle();
  library->tell("mlx5_2", VerbsEventKind::kPortActive, 1);
  EXPECT_EQ(settle().events.size(), 1U);
  EXPECT_EQ(feed.fd(), before);
}

TEST_F(VerbsFeed, WithoutRightsThereIsOneGapForTheNode) {
  library->refuse("mlx5_0", EACCES);
  library->refuse("mlx5_1", EACCES);
  search();
  settle();
  ASSERT_EQ(feed.gaps().size(), 1U);
  EXPECT_EQ(feed.gaps()[0].port, "");
  EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("sampling.verbs_events: 0"));
}

TEST_F(VerbsFeed, ADeviceThatFailsIsItsOwnGap) {
  library->refuse("mlx5_1", EIO);
  search();
  settle();
  ASSERT_EQ(feed.gaps().size(), 1U);
  EXPECT_EQ(feed.gaps()[0].port, "mlx5_1/1");
  EXPECT_TRUE(library->is_open("mlx5_0"));
}

TEST_F(VerbsFeed, WithoutTheModuleThereIsOneGap) {
  host.remove("/sys/class/infiniband_verbs");
  search();
  ASSERT_EQ(feed.gaps().size(), 1U);
  EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("ib_uverbs"));
  ports.clear();
  search();
  EXPECT_TRUE(feed.gaps().empty()) << "a node without RDMA has nothing to open";
}

TEST_F(VerbsFeed, ADeviceThatDoesNotAnswerIsNamedAndHidesNoOther) {
  library->hang("mlx5_0");
  search();
  now += Milliseconds(5001);
  feed.receive(host, now);
  for (int tries = 0; tries < 1000 && !library->is_open("mlx5_1"); ++tries) {
    pollfd wanted{feed.fd(), POLLIN, 0};
    ::poll(&wanted, 1, 100);
    feed.receive(host, now);
  }
  EXPECT_TRUE(library->is_open("mlx5_1"));
  ASSERT_EQ(feed.gaps().size(), 1U);
  EXPECT_EQ(feed.gaps()[0].port, "mlx5_0/1");
  library->let_go();
  settle();
  EXPECT_TRUE(feed.gaps().empty());
  EXPECT_TRUE(library->is_open("mlx5_0"));
}

TEST_F(VerbsFeed, PortsWithoutCableAreLeftAlone) {
  ports[1].exempt_reason = "a virtual function";
  search();
  settle();
  EXPECT_EQ(library->opens("mlx5_1"), 0);
}

}  // namespace
}  // namespace linkhealth
