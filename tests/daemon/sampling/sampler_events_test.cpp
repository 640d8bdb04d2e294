// What the sampler does with the news of its feeds.
#include <linux/netlink.h>

#include <algorithm>
#include <string>

#include "probes/sysfs/kernel_log.h"
#include "tests/daemon/sampling/sampler_fixture.h"

namespace linkhealth {
namespace {

using namespace std::string_literals;
using testing::add_nic;
using testing::FakeHost;
using testing::LockedHost;
using testing::Nic;

/// A feed that returns what the test wants.
class ScriptedFeed final : public EventFeed {
 public:
  explicit ScriptedFeed(FeedNews& next) : next_(next) {}
  [[nodiscard]] std::string_view name() const override { return "verbs_events"; }
  [[nodiscard]] int fd() const override { return 0; }
  [[nodiscard]] Milliseconds rest() const override { return Milliseconds(700); }
  FeedNews receive(Host& /*host*/, SteadyTime /*now*/) override { return std::exchange(next_, {}); }
  [[nodiscard]] std::vector<Gap> gaps() const override { return {{"", "verbs_events", "refused"}}; }

 private:
  FeedNews& next_;
};

class DaemonSamplerEvents : public testing::SamplerFixture {
 protected:
  void SetUp() override {
    has_second = false;
    SamplerFixture::SetUp();
    change([&](FakeHost& host) {
      host.add_record(kKernelLogPath, "3,1,2500000,-;mlx5_core " + first.pci +
                                          ": device's health compromised - reached miss count");
    });
    settings.kernel_log = true;
    std::vector<std::unique_ptr<EventFeed>> feeds;
    feeds.push_back(std::make_unique<ScriptedFeed>(news));
    start(nullptr, std::move(feeds));
  }
  /// The kernel numbers its events; a test may say its number, to have it heard late.
  void uevent(const std::string& action, const std::string& subsystem, const std::string& path,
              std::optional<std::uint64_t> late_number = {}) {
    if (!late_number)
      change([&](FakeHost& host) {
        host.set("/sys/kernel/uevent_seqnum", std::to_string(++event_number) + "\n");
      });
    const std::string text = action + "@" + path + "\0ACTION="s + action + "\0DEVPATH="s + path +
                             "\0SUBSYSTEM="s + subsystem + "\0SEQNUM="s +
                             std::to_string(late_number.value_or(event_number)) + "\0"s;
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    change([&](FakeHost& host) {
      host.inject(NETLINK_KOBJECT_UEVENT, {begin, begin + text.size()});
    });
  }
  static std::vector<PortEventKind> kinds(const Snapshot& snapshot) {
    std::vector<PortEventKind> kinds;
    for (const PortEvent& event : snapshot.events) kinds.push_back(event.kind);
    return kinds;
  }

  FeedNews news;
  std::uint64_t event_number = 100;
};

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(DaemonSamplerEvents, AFatalLineFromBeforeTheStartIsTheFirstEvent) {
  const Snapshot seen = settle();
  ASSERT_FALSE(seen.events.empty());
  const auto line =
      std::find_if(seen.events.begin(), seen.events.end(),
                   [](const PortEvent& event) { return event.kind == PortEventKind::kKernelLog; });
  ASSERT_NE(line, seen.events.end());
  EXPECT_EQ(line->port, "mlx5_0/1");
  EXPECT_EQ(line->t, SteadyTime(Milliseconds(2500)));
}

TEST_F(DaemonSamplerEvents, APromptReadsTheCountsAtOnce) {
  settle();
  set(first.netdev_dir() + "/carrier_down_count", "5");
  set(first.netdev_dir() + "/carrier_up_count", "6");
  EXPECT_THAT(kinds(settle()), IsEmpty()) << "nothing is due";
  news.look = true;
  const auto seen = kinds(settle());
  EXPECT_EQ(std::count(seen.begin(), seen.end(), PortEventKind::kCarrierDown), 3)
      << "one event, and as many losses as the kernel counted";
}

TEST_F(DaemonSamplerEvents, APortEventReadsTheStateOfThatPort) {
  settle();
  set(first.port_dir() + "/state", "2: INIT");
  news.ports.insert("mlx5_0/1");
  news.ports.insert("nobody/1");
  news.events.push_back({clock.steady(), "mlx5_0/1", PortEventKind::kPortError, ""});
  const Snapshot seen = settle();
  EXPECT_THAT(kinds(seen), ElementsAre(PortEventKind::kPortError));
  EXPECT_EQ(seen.ports.at("mlx5_0/1").link->state, "INIT");
}

TEST_F(DaemonSamplerEvents, AnEventDuringAReadOfTheStateReadsItAgain) {
  settle();
  shared->hang("/phys_state");  // which is read after the state
  news.ports.insert("mlx5_0/1");
  sampler->poll();
  shared->until_a_read_hangs();
  set(first.port_dir() + "/state", "2: INIT");
  news.ports.insert("mlx5_0/1");
  sampler->poll();
  shared->hang("");
  EXPECT_EQ(settle().ports.at("mlx5_0/1").link->state, "INIT");
}

TEST_F(DaemonSamplerEvents, ADeviceEventStartsADiscoveryAndEachChangeIsOneEvent) {
  settle();
  const Nic fresh = {.device = "mlx5_1", .netdev = "ens2np0", .pci = "0000:1c:00.0", .ifindex = 3};
  change([&](FakeHost& host) { add_nic(host, fresh); });
  clock.advance(Milliseconds(600));
  uevent("add", "net", "/devices/x/net/ens2np0");
  uevent("add", "infiniband", "/devices/x/infiniband/mlx5_1");
  EXPECT_THAT(kinds(settle()), ElementsAre(PortEventKind::kDeviceAdded));
  remove_card(fresh);
  clock.advance(Milliseconds(600));
  uevent("remove", "infiniband", "/devices/x/infiniband/mlx5_1");
  const auto gone = kinds(settle());
  EXPECT_EQ(std::count(gone.begin(), gone.end(), PortEventKind::kDeviceGone), 1);
  clock.advance(settings.rescan_period);
  EXPECT_THAT(kinds(settle()), Not(Contains(PortEventKind::kDeviceGone)));
}

TEST_F(DaemonSamplerEvents, ADeviceThatWentAndCameBackBetweenTwoPollsIsReported) {
  settle();
  clock.advance(Milliseconds(600));
  uevent("remove", "infiniband", "/devices/x/infiniband/mlx5_0");
  uevent("add", "infiniband", "/devices/x/infiniband/mlx5_0");
  EXPECT_THAT(kinds(settle()),
              ElementsAre(PortEventKind::kDeviceGone, PortEventKind::kDeviceAdded));
}

TEST_F(DaemonSamplerEvents, ARemovalReceivedAfterTheNewDeviceWasFoundIsNotReportedAgain) {
  settle();
  clock.advance(Milliseconds(600));
  uevent("remove", "infiniband", "/devices/x/infiniband/mlx5_0");
  uevent("add", "infiniband", "/devices/x/infiniband/mlx5_0");
  settle();  // found anew, after event 102
  clock.advance(Milliseconds(600));
  uevent("remove", "infiniband", "/devices/x/infiniband/mlx5_0", 101);
  EXPECT_THAT(kinds(settle()), IsEmpty());
}

TEST_F(DaemonSamplerEvents, ADeviceThatIsListedWhileItLeavesGoesOnceAndComesOnce) {
  settle();
  clock.advance(Milliseconds(600));
  uevent("remove", "infiniband", "/devices/x/infiniband/mlx5_0");
  EXPECT_THAT(kinds(settle()), IsEmpty()) << "the event comes before the device is gone";
  uevent("add", "infiniband", "/devices/x/infiniband/mlx5_0");
  clock.advance(Milliseconds(600));
  EXPECT_THAT(kinds(settle()),
              ElementsAre(PortEventKind::kDeviceGone, PortEventKind::kDeviceAdded));
  clock.advance(Milliseconds(600));
  EXPECT_THAT(kinds(settle()), IsEmpty());
}

TEST_F(DaemonSamplerEvents, ReadingsOfTheFormerDeviceAreNotTakenForTheNewOne) {
  settle();
  shared->hang("/counters/");
  clock.advance(settings.counters_period);
  sampler->poll();
  shared->until_a_read_hangs();
  change([&](FakeHost& host) {
    host.remove(first.pci_dir());
    add_nic(host, first);
  });
  uevent("remove", "infiniband", "/devices/x/infiniband/mlx5_0");
  uevent("add", "infiniband", "/devices/x/infiniband/mlx5_0");
  sampler->poll();  // the discovery waits behind reads of the former device
  shared->hang("");
  EXPECT_THAT(kinds(settle()),
              ElementsAre(PortEventKind::kDeviceGone, PortEventKind::kDeviceAdded));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(kinds(settle_after(Milliseconds(1000))), IsEmpty());
  }
}

TEST_F(DaemonSamplerEvents, ADeviceThatStaysListedAfterItsRemovalIsAnotherOne) {
  settle();
  uevent("remove", "infiniband",
         "/devices/x/infiniband/mlx5_0");  // and its coming back was not heard
  std::vector<PortEventKind> seen;
  for (int i = 0; i < 10; ++i) {
    clock.advance(Milliseconds(1000));
    for (const PortEventKind kind : kinds(settle())) seen.push_back(kind);
  }
  EXPECT_THAT(seen, ElementsAre(PortEventKind::kDeviceGone, PortEventKind::kDeviceAdded));
}

TEST_F(DaemonSamplerEvents, AFeedWithNewsRestsBeforeItIsReadAgain) {
  settle();
  clock.advance(Milliseconds(600));
  EXPECT_THAT(sampler->wake_fds(), Contains(0));
  news.heard = news.search = true;
  settle();
  EXPECT_THAT(sampler->wake_fds(), Not(Contains(0)));
  EXPECT_LE(*sampler->until_due(), Milliseconds(700)) << "it is read again after its rest";
  clock.advance(Milliseconds(700));
  EXPECT_THAT(sampler->wake_fds(), Contains(0));
}

TEST_F(DaemonSamplerEvents, IrrelevantLogLinesWakeTheLoopOnceASecond) {
  settle();
  clock.advance(Milliseconds(1000));
  sampler->poll();
  const std::size_t before = sampler->wake_fds().size();
  change([&](FakeHost& host) {
    host.add_record(kKernelLogPath, "6,2,3000000,-;usb 1-1: new device");
  });
  sampler->poll();
  EXPECT_EQ(sampler->wake_fds().size(), before - 1);
  clock.advance(Milliseconds(1000));
  EXPECT_EQ(sampler->wake_fds().size(), before);
}

TEST_F(DaemonSamplerEvents, SourcesAreTheFeedsThatAreOpen) {
  EXPECT_THAT(sampler->sources(), Contains("kernel_log"));
  EXPECT_THAT(sampler->sources(), Contains("link_events"));
  EXPECT_THAT(sampler->sources(), Contains("device_events"));
  EXPECT_THAT(sampler->sources(), Contains("verbs_events"));
  settings.kernel_log = false;
  const Sampler off([this] { return std::make_unique<LockedHost>(shared); }, nullptr, clock,
                    settings, {});
  EXPECT_THAT(off.sources(), Not(Contains("kernel_log")));
  EXPECT_THAT(off.sources(), Not(Contains("verbs_events")));
}

TEST_F(DaemonSamplerEvents, AFeedThatFailsIsTheStateOfItsSource) {
  const Snapshot seen = settle();
  const SourceStatus& status = seen.sources->at(SourceId::kVerbsEvents);
  EXPECT_EQ(status.state, SourceState::kFailing);
  EXPECT_EQ(status.reason, "refused");
}

TEST_F(DaemonSamplerEvents, LostLinesOfTheKernelLogAreReportedForAnHour) {
  settle();
  change([](FakeHost& host) { host.fail_records(kKernelLogPath, EPIPE); });
  clock.advance(Milliseconds(1000));
  const Snapshot seen = settle();
  ASSERT_TRUE(seen.sources);
  EXPECT_EQ(seen.sources->at(SourceId::kKernelLog).state, SourceState::kOk);
  EXPECT_NE(seen.sources->at(SourceId::kKernelLog).reason, "");
  clock.advance(std::chrono::hours(1));
  const Snapshot later = settle();
  ASSERT_TRUE(later.sources);
  EXPECT_FALSE(later.sources->contains(SourceId::kKernelLog));
}

TEST_F(DaemonSamplerEvents, TheKernelLogCanBeSwitchedOff) {
  settings.kernel_log = false;
  start();
  EXPECT_THAT(kinds(settle()), Not(Contains(PortEventKind::kKernelLog)));
}

// Each wake-up comes a little late, and the ports were found a little after the start: no reason to
// wake up twice.
TEST_F(DaemonSamplerEvents, CountersAreReadInTheWakeUpOfTheLinks) {
  const SteadyTime begun = clock.steady();
  sampler->poll();
  clock.advance(Milliseconds(30));
  settle();
  clock.advance(2 * settings.link_period);  // a new port is looked for once more
  settle();
  Milliseconds::rep wake_ups = 2;
  for (; clock.steady() < begun + settings.counters_period; ++wake_ups) {
    clock.advance(*sampler->until_due() + Milliseconds(3));
    settle();
  }
  EXPECT_EQ(wake_ups, settings.counters_period / settings.link_period);
  EXPECT_EQ(*sampler->until_due(), settings.link_period - Milliseconds(3));
}

}  // namespace
}  // namespace linkhealth
