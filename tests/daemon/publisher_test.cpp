#include "daemon/publisher.h"

#include <gmock/gmock.h>

#include "daemon/api.h"
#include "tests/support/report_builder.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

TEST(Publisher, BytesAreMadeOnceAndShared) {
  int written = 0;
  JsonWriters json = test::short_json();
  json.report = [&](const Report&) { return std::to_string(++written); };
  Publisher publisher(json);
  publisher.publish(std::make_shared<const Report>(test::example_report()), {}, {});
  const auto now = publisher.current();
  EXPECT_EQ(written, 0);
  EXPECT_EQ(now->report_json(), now->report_json());
  EXPECT_EQ(written, 1);
  EXPECT_EQ(now->metrics({}), now->metrics({}));
  EXPECT_NE(now->metrics({}), now->metrics({.counters = true, .optics = false}));
  EXPECT_EQ(now->metrics_gzip({}), publisher.current()->metrics_gzip({}));
}

TEST(Publisher, WhatWasScrapedIsMadeBeforeItIsAskedForAgain) {
  Publisher publisher(test::short_json());
  const auto publish = [&] {
    publisher.publish(std::make_shared<const Report>(test::example_report()), {}, {});
    return publisher.current();
  };
  const MetricGroups counters{.counters = true, .optics = false};
  EXPECT_FALSE(publish()->is_made({})) << "nobody has asked yet";
  EXPECT_TRUE(publisher.current()->metrics_gzip(counters));
  const auto next = publish();
  EXPECT_TRUE(next->is_made(counters));
  EXPECT_FALSE(next->is_made({}));
  EXPECT_FALSE(publish()->is_made(counters)) << "nobody asked that step";
}

TEST(Publisher, AReaderKeepsItsStepWhileTheNextComes) {
  Publisher publisher(test::short_json());
  EXPECT_EQ(publisher.current(), nullptr);
  Report report = test::example_report();
  publisher.publish(std::make_shared<const Report>(report), {}, {});
  const auto first = publisher.current();
  report.node = "other";
  publisher.publish(std::make_shared<const Report>(report), {}, {});
  EXPECT_EQ(first->report().node, "gpu-0417");
  EXPECT_EQ(publisher.current()->report().node, "other");
}

TEST(Publisher, EventsOfAnEarlierRunComeFirstAndAreNotCounted) {
  Publisher publisher(test::short_json());
  FaultEvent before = test::example_event(FaultEventKind::kOpened);
  before.fault.id = "before";
  publisher.remember({before});
  publisher.publish(std::make_shared<const Report>(test::example_report()),
                    {test::example_event(FaultEventKind::kClosed)}, {});
  const auto all = publisher.events_after(0);
  ASSERT_EQ(all.events.size(), 2U);
  EXPECT_EQ(all.events[0]->fault.id, "before");
  EXPECT_EQ(all.events[1]->kind, FaultEventKind::kClosed);
  EXPECT_EQ(all.last, 2U);
  const std::string metrics = *publisher.current()->metrics({});
  EXPECT_THAT(metrics, HasSubstr("event=\"closed\""));
  EXPECT_EQ(metrics.find("event=\"opened\""), std::string::npos)
      << "a counter begins with the program";
}

TEST(Publisher, EventsAreBoundedAndCounted) {
  Publisher publisher(test::short_json());
  const std::vector<FaultEvent> many(Publisher::kMaxEvents + 5,
                                     test::example_event(FaultEventKind::kOpened));
  publisher.publish(std::make_shared<const Report>(test::example_report()), many, {});
  Report later = test::example_report();
  later.t += std::chrono::minutes(2);  // a new series shows 0 for a minute
  publisher.publish(std::make_shared<const Report>(later),
                    {test::example_event(FaultEventKind::kClosed)}, {});
  EXPECT_EQ(publisher.events_json(2),
            "{\"events\":[{\"event\":\"opened\"},{\"event\":\"closed\"}]}\n");
  EXPECT_EQ(publisher.events_json(0), "{\"events\":[]}\n");
  EXPECT_THAT(*publisher.current()->metrics({}), HasSubstr("event=\"opened\"} 1005"));
}

TEST(Api, AcceptEncoding) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("deflate, gzip;q=1.0, *;q=0.5"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("identity"));
  EXPECT_FALSE(accepts_gzip(""));
}

}  // namespace
}  // namespace linkhealth
