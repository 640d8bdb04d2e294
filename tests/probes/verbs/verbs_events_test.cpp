#include "probes/verbs/verbs_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>

#include "tests/support/fake_host.h"
#include "tests/support/fake_verbs.h"
#include "tests/support/no_new_threads.h"

namespace linkhealth {
namespace {

using testing::FakeHost;
using testing::FakeVerbs;
using testing::NoNewThreads;

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
  /// Receives until `done` holds of all that came, for 5 s at most.
  FeedNews receive_until(const std::function<bool(const FeedNews&)>& done) {
    FeedNews all;
    for (int tries = 0; tries < 500; ++tries) {
      merge(all, feed.receive(host, now));
      if (done(all)) return all;
      pollfd wanted{feed.fd(), POLLIN, 0};
      ::poll(&wanted, 1, 10);
    }
    ADD_FAILURE() << "it did not happen within 5 s";
    return all;
  }
  FeedNews receive_events(std::size_t count) {
    return receive_until([&](const FeedNews& all) { return all.events.size() >= count; });
  }
  /// Until these devices are open, and no other is.
  void wait_for_open(const std::set<std::string>& devices) {
    receive_until([&](const FeedNews&) {
      return std::ranges::all_of(ports, [&](const InventoryPort& port) {
        return library->is_open(port.id.device) == devices.contains(port.id.device);
      });
    });
  }
  std::vector<std::string> gap_ports() {
    std::vector<std::string> names;
    for (const Gap& gap : feed.gaps()) names.push_back(gap.port);
    return names;
  }
  void wait_for_gaps(const std::vector<std::string>& of) {
    receive_until([&](const FeedNews&) { return gap_ports() == of; });
  }
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

const std::vector<std::string> kNone;
const std::set<std::string> kBoth = {"mlx5_0", "mlx5_1"};

TEST_F(VerbsFeed, PortEventsAreReportedAndPromptAReading) {
  search();
  wait_for_open(kBoth);
  library->send("mlx5_0", IBV_EVENT_PORT_ERR, 1);
  library->send("mlx5_1", IBV_EVENT_PORT_ACTIVE, 1);
  library->send("mlx5_1", IBV_EVENT_LID_CHANGE, 1);
  library->send("mlx5_1", IBV_EVENT_SM_CHANGE, 1);
  const FeedNews news = receive_events(4);
  std::vector<std::pair<PortKey, PortEventKind>> reported;
  for (const PortEvent& event : news.events) {
    reported.emplace_back(event.port, event.kind);
    EXPECT_EQ(event.t, now);
  }
  EXPECT_THAT(reported,
              ::testing::UnorderedElementsAre(std::pair("mlx5_0/1", PortEventKind::kPortError),
                                              std::pair("mlx5_1/1", PortEventKind::kPortActive),
                                              std::pair("mlx5_1/1", PortEventKind::kLidChange),
                                              std::pair("mlx5_1/1", PortEventKind::kSmChange)));
  EXPECT_TRUE(news.look);
  EXPECT_THAT(news.ports, ::testing::ElementsAre("mlx5_0/1", "mlx5_1/1"));
}

TEST_F(VerbsFeed, ATableChangeIsOnlyAPromptAndOtherEventsAreIgnored) {
  search();
  wait_for_open(kBoth);
  library->send("mlx5_1", IBV_EVENT_PORT_ERR, 7);  // no such port
  library->send("mlx5_1", IBV_EVENT_QP_FATAL);
  for (const int type :
       {IBV_EVENT_PKEY_CHANGE, IBV_EVENT_GID_CHANGE, IBV_EVENT_CLIENT_REREGISTER}) {
    library->send("mlx5_1", type, 1);
    const FeedNews news = receive_until([](const FeedNews& all) { return !all.ports.empty(); });
    EXPECT_TRUE(news.events.empty());
    EXPECT_THAT(news.ports, ::testing::ElementsAre("mlx5_1/1"));
  }
}

TEST_F(VerbsFeed, AfterAFatalErrorOrAFailureTheContextIsClosedAndOpenedAgainLater) {
  search();
  wait_for_open(kBoth);
  for (const bool fatal : {true, false}) {
    SCOPED_TRACE(fatal);
    const int opens = library->opens("mlx5_0");
    fatal ? library->send("mlx5_0", IBV_EVENT_DEVICE_FATAL) : library->fail("mlx5_0", EIO);
    const FeedNews news = receive_until([](const FeedNews& all) { return all.search; });
    ASSERT_EQ(news.events.size(), fatal ? 1U : 0U);
    for (const PortEvent& event : news.events) {
      EXPECT_EQ(event.kind, PortEventKind::kDeviceFatal);
      EXPECT_EQ(event.port, "mlx5_0/1");
    }
    wait_for_open({"mlx5_1"});
    search();  // prompted by the event: too early
    now += VerbsEvents::kRetry - Milliseconds(1);
    feed.receive(host, now);
    EXPECT_EQ(gap_ports(), std::vector<std::string>{"mlx5_0/1"});
    EXPECT_EQ(library->opens("mlx5_0"), opens) << "not at once";
    now += Milliseconds(1);
    wait_for_open(kBoth);  // without a search
    wait_for_gaps(kNone);
    EXPECT_EQ(library->opens("mlx5_0"), opens + 1);
    library->send("mlx5_0", IBV_EVENT_PORT_ERR, 1);
    EXPECT_EQ(receive_events(1).events.size(), 1U);
  }
}

TEST_F(VerbsFeed, AFailedDeviceIsItsOwnGapAndIsRetriedWithoutASearch) {
  library->refuse("mlx5_1", EIO);
  search();
  wait_for_gaps({"mlx5_1/1"});
  wait_for_open({"mlx5_0"});
  library->refuse("mlx5_1", 0);
  now += VerbsEvents::kRetry;
  wait_for_open(kBoth);
  wait_for_gaps(kNone);
}

TEST_F(VerbsFeed, AFatalErrorDuringAnUnloadIsIgnored) {
  search();
  wait_for_open(kBoth);
  host.remove("/sys/class/infiniband_verbs/uverbs0");
  library->send("mlx5_0", IBV_EVENT_DEVICE_FATAL);
  const FeedNews news = receive_until([](const FeedNews& all) { return all.search; });
  EXPECT_TRUE(news.events.empty());
  wait_for_open({"mlx5_1"});
  now += VerbsEvents::kRetry;
  feed.receive(host, now);
  EXPECT_EQ(library->opens("mlx5_0"), 1) << "its file has gone";
  EXPECT_EQ(gap_ports(), kNone);
}

TEST_F(VerbsFeed, ADeviceThatIsRemovedWhileItIsOpenedIsClosed) {
  library->hang("mlx5_0");
  search();
  host.remove("/sys/class/infiniband_verbs/uverbs0");
  search();
  library->let_go();
  wait_for_open({"mlx5_1"});
  host.remove("/sys/class/infiniband_verbs/uverbs1");  // the unload of the driver waits for us
  search();
  wait_for_open({});
  EXPECT_EQ(gap_ports(), kNone);
}

TEST_F(VerbsFeed, AHotPluggedDeviceIsWatched) {
  search();
  wait_for_open(kBoth);
  const int before = feed.fd();
  add_device("mlx5_2", "uverbs2");
  search();
  wait_for_open({"mlx5_0", "mlx5_1", "mlx5_2"});
  library->send("mlx5_2", IBV_EVENT_PORT_ACTIVE, 1);
  EXPECT_EQ(receive_events(1).events.size(), 1U);
  EXPECT_EQ(feed.fd(), before);
}

TEST_F(VerbsFeed, AtTheTaskLimitThereIsAGapAndARetry) {
  {
    const NoNewThreads limit;
    search();
    EXPECT_EQ(gap_ports(), (std::vector<std::string>{"mlx5_0/1", "mlx5_1/1"}));
    EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("thread"));
  }
  wait_for_open(kBoth);
  wait_for_gaps(kNone);
}

TEST_F(VerbsFeed, WithoutPermissionThereIsOneGapForTheNode) {
  library->refuse("mlx5_0", EACCES);
  library->refuse("mlx5_1", EACCES);
  search();
  wait_for_gaps({""});
  EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("sampling.verbs_events: 0"));
  host.remove("/sys/class/infiniband_verbs");
  search();
  ASSERT_EQ(feed.gaps().size(), 1U);
  EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("ib_uverbs"));
  ports.clear();
  search();
  EXPECT_TRUE(feed.gaps().empty()) << "a node without RDMA has nothing to open";
}

TEST_F(VerbsFeed, AHungDeviceIsAGapAndBlocksNoOther) {
  library->hang("mlx5_0");
  search();
  wait_for_open({"mlx5_1"});
  EXPECT_EQ(gap_ports(), kNone);
  now += Milliseconds(5001);
  wait_for_gaps({"mlx5_0/1"});
  EXPECT_THAT(feed.gaps()[0].reason, ::testing::HasSubstr("does not answer"));
  library->let_go();
  wait_for_open(kBoth);
  wait_for_gaps(kNone);
}

TEST_F(VerbsFeed, ExemptPortsAreNotOpened) {
  ports[1].exempt_reason = "a virtual function";
  search();
  wait_for_open({"mlx5_0"});
  EXPECT_EQ(library->opens("mlx5_1"), 0);
}

}  // namespace
}  // namespace linkhealth
