// What is sent to other systems, without a network, a thread or a clock: a poster that a test
// answers for.
#include "daemon/delivery.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <deque>
#include <filesystem>
#include <fstream>

#include "exporters/json.h"
#include "tests/support/report_builder.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Post {
  std::string url, body, id;
};
struct World {
  std::vector<Post> posts;
  std::deque<int> statuses;  ///< of the next posts; 0: no answer; none left: 200
  std::vector<std::string> said;
};

class FakePoster : public HttpPoster {
 public:
  explicit FakePoster(World& world) : world_(world) {}
  Result<PostReply> post(const std::string& url, const std::string& body,
                         const std::string& id) override {
    int status = 200;
    if (!world_.statuses.empty()) {
      status = world_.statuses.front();
      world_.statuses.pop_front();
    }
    if (status == 0) return Error{"Connection refused"};
    world_.posts.push_back({url, body, id});
    return PostReply{status, "no"};
  }

 private:
  World& world_;
};

class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() : publisher_({report_json, port_json, event_json_line, module_json}) {
    now_ = {SteadyTime(std::chrono::hours(1)), test::example_now()};
  }
  AlertDelivery alertmanager() {
    return {"http://am:9093/",
            std::chrono::seconds(60),
            {"gpu-0417", {{"rack", "r7"}}},
            outbox_,
            publisher_,
            std::make_unique<FakePoster>(world_),
            [this](bool, const std::string& line) { world_.said.push_back(line); }};
  }
  WebhookDelivery webhook() {
    return {"http://hook/x",
            WebhookTemplate::plain(),
            {"gpu-0417", {}},
            outbox_,
            publisher_,
            event_json_line,
            std::make_unique<FakePoster>(world_),
            [this](bool, const std::string& line) { world_.said.push_back(line); }};
  }
  /// A report with this fault on mlx5_3/1, or none; and the events.
  void publish(std::optional<FaultReport> fault, const std::vector<FaultEvent>& events = {}) {
    Report report = test::example_report();
    report.at = now_.wall;
    report.ports = {test::dirty_port()};
    report.ports[0].faults.clear();
    if (fault) report.ports[0].faults.push_back(*fault);
    for (const FaultEvent& event : events) outbox_.put(event);
    publisher_.publish(std::make_shared<const Report>(report), events, {});
  }
  FaultEvent event(FaultEventKind kind, const FaultReport& fault) const {
    FaultEvent made = test::example_event(kind);
    made.at = now_.wall;
    made.port = "mlx5_3/1";
    made.fault = fault;
    return made;
  }
  void pass(Milliseconds time) {
    now_.steady += time;
    now_.wall += time;
  }

  World world_;
  MemoryOutbox outbox_;
  Publisher publisher_;
  DeliveryTime now_;
  FaultReport fault_ = test::dirty_port().faults.front();
};

TEST_F(DeliveryTest, NothingIsSentAndNothingIsDueWhileAllIsWell) {
  auto delivery = alertmanager();
  publish(std::nullopt);
  EXPECT_EQ(delivery.step(now_), std::nullopt);
  pass(std::chrono::hours(10));
  EXPECT_EQ(delivery.step(now_), std::nullopt) << "no wake-up when idle";
  EXPECT_TRUE(world_.posts.empty());
}

TEST_F(DeliveryTest, AnAlertIsSentStandsAndResolves) {
  auto delivery = alertmanager();
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(60));
  ASSERT_EQ(world_.posts.size(), 1U);
  EXPECT_EQ(world_.posts[0].url, "http://am:9093/api/v2/alerts");
  EXPECT_THAT(world_.posts[0].body, HasSubstr("\"alertname\":\"LinkDirtyConnector\""));
  EXPECT_THAT(world_.posts[0].body, HasSubstr("\"rack\":\"r7\""));
  EXPECT_THAT(world_.posts[0].body, HasSubstr("\"endsAt\":\"2026-11-20T12:04:00Z\""))
      << "four times resend";
  pass(std::chrono::seconds(30));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(30)) << "woken for something else";
  EXPECT_EQ(world_.posts.size(), 1U);
  pass(std::chrono::seconds(30));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(60));
  ASSERT_EQ(world_.posts.size(), 2U);
  EXPECT_THAT(world_.posts[1].body, HasSubstr("\"endsAt\":\"2026-11-20T12:05:00Z\""));
  pass(std::chrono::seconds(10));
  fault_.state = FaultState::kClosed;
  publish(std::nullopt, {event(FaultEventKind::kClosed, fault_)});
  EXPECT_EQ(delivery.step(now_), std::nullopt);
  ASSERT_EQ(world_.posts.size(), 3U);
  EXPECT_THAT(world_.posts[2].body, HasSubstr("\"endsAt\":\"2026-11-20T12:01:10Z\"")) << "over now";
}

TEST_F(DeliveryTest, AcknowledgedItStillStands) {
  auto delivery = alertmanager();
  fault_.state = FaultState::kAcknowledged;
  publish(fault_, {event(FaultEventKind::kAcknowledged, fault_)});
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(60));
  EXPECT_THAT(world_.posts.at(0).body, HasSubstr("12:04:00Z"));
}

TEST_F(DeliveryTest, FaultsThatWereOpenAtTheStartAreTold) {
  auto delivery = alertmanager();
  publish(fault_);
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(60));
  EXPECT_EQ(world_.posts.size(), 1U);
}

TEST_F(DeliveryTest, ARaisedSeverityIsAnotherAlertAndTheFormerEnds) {
  auto delivery = alertmanager();
  fault_.severity = Severity::kWarning;
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  delivery.step(now_);
  fault_.severity = Severity::kCritical;
  pass(std::chrono::seconds(5));
  publish(fault_, {event(FaultEventKind::kWorsened, fault_)});
  delivery.step(now_);
  const std::string& body = world_.posts.at(1).body;
  EXPECT_THAT(body, HasSubstr("\"severity\":\"page\""));
  EXPECT_THAT(body, HasSubstr("\"severity\":\"ticket\""));
  EXPECT_THAT(body, HasSubstr("\"endsAt\":\"2026-11-20T12:00:05Z\""));
}

TEST_F(DeliveryTest, WhatFailsIsTriedAgainLaterAndLaterAndSaidOnce) {
  auto delivery = alertmanager();
  world_.statuses = {0, 503, 500};
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(1));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(1)) << "not before its time";
  pass(std::chrono::seconds(1));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(2));
  pass(std::chrono::seconds(2));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(4));
  pass(std::chrono::seconds(4));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(60));
  EXPECT_THAT(
      world_.said,
      ElementsAre(HasSubstr("alertmanager http://am:9093/: Connection refused: it is tried again"),
                  HasSubstr("works again")));
  EXPECT_TRUE(outbox_.undelivered("alertmanager http://am:9093/", 10)->empty());
}

TEST_F(DeliveryTest, AClosedFaultIsNotLostWhileTheOtherSideIsAway) {
  auto delivery = alertmanager();
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  delivery.step(now_);
  world_.statuses = {0};
  pass(std::chrono::seconds(1));
  publish(std::nullopt, {event(FaultEventKind::kClosed, fault_)});
  delivery.step(now_);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(delivery.step(now_), std::nullopt);
  EXPECT_THAT(world_.posts.at(1).body, HasSubstr("\"endsAt\":\"2026-11-20T12:00:01Z\""));
}

TEST_F(DeliveryTest, WhatIsRefusedForGoodDoesNotBlockTheRest) {
  auto delivery = webhook();
  world_.statuses = {422, 200};
  publish(fault_,
          {event(FaultEventKind::kOpened, fault_), event(FaultEventKind::kWorsened, fault_)});
  EXPECT_EQ(delivery.step(now_), std::nullopt);
  EXPECT_EQ(world_.posts.size(), 2U);
  EXPECT_THAT(world_.said, ElementsAre(HasSubstr("is given up: answered 422 no")));
}

TEST_F(DeliveryTest, AWebhookGetsEachEventOnceInOrder) {
  auto delivery = webhook();
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  pass(std::chrono::seconds(1));
  publish(fault_, {event(FaultEventKind::kWorsened, fault_)});
  world_.statuses = {200, 503};
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(1));
  pass(std::chrono::seconds(1));
  EXPECT_EQ(delivery.step(now_), std::nullopt);
  EXPECT_EQ(delivery.step(now_), std::nullopt);
  ASSERT_EQ(world_.posts.size(), 3U) << "the second was answered 503, and came again";
  EXPECT_THAT(world_.posts[0].body, HasSubstr("\"event\":\"opened\""));
  EXPECT_THAT(world_.posts[2].body, HasSubstr("\"event\":\"worsened\""));
  EXPECT_EQ(world_.posts[1].id, world_.posts[2].id);
  EXPECT_NE(world_.posts[0].id, world_.posts[1].id);
}

TEST_F(DeliveryTest, APasswordInAUrlIsNotSaid) {
  WebhookDelivery delivery("https://user:secret@hook/x", WebhookTemplate::plain(), {"n", {}},
                           outbox_, publisher_, event_json_line,
                           std::make_unique<FakePoster>(world_),
                           [this](bool, const std::string& line) { world_.said.push_back(line); });
  world_.statuses = {0};
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  delivery.step(now_);
  EXPECT_THAT(world_.said, ElementsAre(Not(HasSubstr("secret"))));
}

TEST(Retry, IsBoundedByFiveMinutes) {
  Retry retry("a", [](bool, const std::string&) {});
  const SteadyTime now;
  for (int i = 0; i < 20; ++i) retry.failed(now, "x");
  EXPECT_EQ(retry.wait(now), std::chrono::minutes(5));
  retry.worked();
  EXPECT_EQ(retry.wait(now), std::nullopt);
}

TEST(MemoryOutboxTest, ANewSinkBeginsWithTheNextEvent) {
  MemoryOutbox outbox;
  FaultEvent event = test::example_event(FaultEventKind::kOpened);
  outbox.put(event);
  outbox.add_sink("a");
  EXPECT_TRUE(outbox.undelivered("a", 9)->empty());
  EXPECT_TRUE(outbox.undelivered("unknown", 9)->empty());
  event.at += Milliseconds(1);
  outbox.put(event);
  ASSERT_EQ(outbox.undelivered("a", 9)->size(), 1U);
  outbox.mark_delivered("a", "no such id");
  EXPECT_EQ(outbox.undelivered("a", 9)->size(), 1U);
  outbox.mark_delivered("a", event_id(event));
  EXPECT_TRUE(outbox.undelivered("a", 9)->empty());
  for (std::size_t i = 0; i < MemoryOutbox::kMaxEvents + 10; ++i) {
    event.at += Milliseconds(1);
    outbox.put(event);
  }
  EXPECT_EQ(outbox.undelivered("a", 100000)->size(), MemoryOutbox::kMaxEvents)
      << "the oldest are forgotten";
}

TEST_F(DeliveryTest, ATextfileIsReplacedInOneStepAndRemovedAtTheEnd) {
  const test::TempDirectory folder;
  const std::string path = folder.file("linkhealth.prom");
  TextfileDelivery delivery(path, std::chrono::seconds(15), publisher_,
                            [this](bool, const std::string& line) { world_.said.push_back(line); });
  EXPECT_EQ(delivery.step(now_), std::nullopt) << "no report yet";
  publish(fault_);
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(15));
  pass(std::chrono::seconds(5));
  EXPECT_EQ(delivery.step(now_), std::chrono::seconds(10));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("linkhealth_fault_active{"));
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0644U);
  delivery.finish();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(DeliveryTest, ATextfileThatCantBeWrittenIsSaidOnce) {
  TextfileDelivery delivery("/nonexistent/x.prom", std::chrono::seconds(15), publisher_,
                            [this](bool, const std::string& line) { world_.said.push_back(line); });
  publish(fault_);
  for (int i = 0; i < 3; ++i) {
    delivery.step(now_);
    pass(std::chrono::seconds(15));
  }
  EXPECT_THAT(world_.said,
              ElementsAre(HasSubstr("textfile: opening /nonexistent/x.prom.new: No such file")));
}

TEST_F(DeliveryTest, ADryRunSendsNothingNowOrLater) {
  auto alerts = alertmanager();
  auto hook = webhook();
  publish(fault_, {event(FaultEventKind::kOpened, fault_)});
  alerts.skip();
  hook.skip();
  EXPECT_TRUE(world_.posts.empty());
  EXPECT_EQ(hook.step(now_), std::nullopt);
  EXPECT_TRUE(world_.posts.empty()) << "the event of the dry run is nobody's news";
  EXPECT_EQ(alerts.step(now_), std::chrono::seconds(60)) << "but what stands when it ends is told";
  EXPECT_EQ(world_.posts.size(), 1U);
  alerts.skip();
  pass(std::chrono::seconds(10));
  publish(std::nullopt);
  EXPECT_EQ(alerts.step(now_), std::nullopt) << "nothing is known of what stood before";
  EXPECT_EQ(world_.posts.size(), 1U);
}

}  // namespace
}  // namespace linkhealth
