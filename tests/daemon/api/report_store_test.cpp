#include "daemon/api/report_store.h"

#include <gmock/gmock.h>

#include "daemon/http/http_message.h"
#include "tests/support/gunzip.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const Report> example() {
  return std::make_shared<const Report>(test::example_report());
}

TEST(ReportStore, AReaderKeepsItsSnapshotWhileTheNextIsPublished) {
  ReportStore reports;
  EXPECT_EQ(reports.current(), nullptr);
  reports.publish(example(), {}, {});
  const auto first = reports.current();
  Report other = test::example_report();
  other.node = "other";
  reports.publish(std::make_shared<const Report>(other), {}, {});
  EXPECT_EQ(first->report->node, "gpu-0417");
  EXPECT_EQ(reports.current()->report->node, "other");
}

TEST(ReportStore, EventsOfAnEarlierRunComeFirstAndAreNotCounted) {
  ReportStore reports;
  FaultEvent before = test::example_event(FaultEventKind::kOpened);
  before.fault.id = "before";
  reports.restore_events({before});
  reports.publish(example(), {test::example_event(FaultEventKind::kClosed)}, {});
  const auto all = reports.events_after(0);
  ASSERT_EQ(all.events.size(), 2U);
  EXPECT_EQ(all.events[0]->fault.id, "before");
  EXPECT_EQ(all.events[1]->kind, FaultEventKind::kClosed);
  EXPECT_EQ(all.last, 2U);
  EXPECT_EQ(reports.events_after(1).events.size(), 1U);
  EXPECT_TRUE(reports.events_after(2).events.empty());
  const std::string metrics = reports.current()->metrics({});
  EXPECT_THAT(metrics, HasSubstr("event=\"closed\""));
  EXPECT_THAT(metrics, Not(HasSubstr("event=\"opened\""))) << "a counter begins with the program";
}

TEST(ReportStore, EventsAreBoundedAndCounted) {
  ReportStore reports;
  const std::vector<FaultEvent> many(ReportStore::kMaxEvents + 5,
                                     test::example_event(FaultEventKind::kOpened));
  reports.publish(example(), many, {});
  Report later = test::example_report();
  later.t += std::chrono::minutes(2);  // a new series shows 0 for a minute
  reports.publish(std::make_shared<const Report>(later),
                  {test::example_event(FaultEventKind::kClosed)}, {});
  const ReportStore::Events kept = reports.events_after(0).events;
  ASSERT_EQ(kept.size(), ReportStore::kMaxEvents);
  EXPECT_EQ(kept.back()->kind, FaultEventKind::kClosed);
  EXPECT_THAT(reports.current()->metrics({}), HasSubstr("event=\"opened\"} 1005"));
}

TEST(Gzip, IsWhatWasCompressed) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(300'000, 'x')})
    EXPECT_EQ(test::gunzip(gzip(text)), text);
}

TEST(Gzip, AcceptEncoding) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("deflate, gzip;q=1.0, *;q=0.5"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("identity"));
  EXPECT_FALSE(accepts_gzip(""));
}

}  // namespace
}  // namespace linkhealth
