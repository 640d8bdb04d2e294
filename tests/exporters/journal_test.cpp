#include "exporters/journal.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>

#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::array kKinds = {FaultEventKind::kOpened,       FaultEventKind::kWorsened,
                               FaultEventKind::kAcknowledged, FaultEventKind::kProving,
                               FaultEventKind::kClosed,       FaultEventKind::kReopened};

TEST(Journal, AnEntryHasFaultPortConfidenceAndRepair) {
  const auto fields = journal_fields(test::example_event(FaultEventKind::kOpened), "gpu-0417");
  EXPECT_THAT(
      fields.front(),
      StartsWith("MESSAGE=mlx5_3/1: dirty_connector opened (path, 83% sure): lane 2 receives"));
  EXPECT_THAT(fields.front(), HasSubstr("do this: clean both ends"));
  EXPECT_THAT(fields, Contains("MESSAGE_ID=a1a3fddfc0e94f9681a68f14f1edd567"));
  EXPECT_THAT(fields, Contains("PRIORITY=4"));
  EXPECT_THAT(fields, Contains("LINKHEALTH_FAULT=dirty_connector"));
  EXPECT_THAT(fields, Contains("LINKHEALTH_PORT=mlx5_3/1"));
  EXPECT_THAT(fields, Contains("LINKHEALTH_NODE=gpu-0417"));
  EXPECT_THAT(fields, Contains("LINKHEALTH_END=path"));
  EXPECT_THAT(fields, Contains("LINKHEALTH_CONFIDENCE=0.83"));
  EXPECT_THAT(fields, Contains("LINKHEALTH_REPAIR=replace the jumper"));
}

TEST(Journal, PriorityFollowsSeverityAndGoodNewsIsQuiet) {
  FaultEvent event = test::example_event(FaultEventKind::kOpened);
  event.fault.severity = Severity::kCritical;
  EXPECT_THAT(journal_fields(event, "n"), Contains("PRIORITY=2"));
  event.kind = FaultEventKind::kClosed;
  EXPECT_THAT(journal_fields(event, "n"), Contains("PRIORITY=5"));
  EXPECT_THAT(journal_fields(event, "n").front(), Not(HasSubstr("do this")));
  event.kind = FaultEventKind::kOpened;
  event.fault.severity = Severity::kNotice;
  EXPECT_THAT(journal_fields(event, "n"), Contains("PRIORITY=5"));
}

TEST(Journal, OneLineWhateverTheSummary) {
  FaultEvent event = test::example_event(FaultEventKind::kOpened);
  event.fault.summary = "a\nPRIORITY=0";
  EXPECT_EQ(journal_fields(event, "n").front().find('\n'), std::string::npos);
}

TEST(Journal, EveryKindHasItsOwnIdAndAnEntryInTheCatalogue) {
  std::ifstream file(LINKHEALTH_SOURCE_DIR "/systemd/linkhealth.catalog");
  const std::string catalogue((std::istreambuf_iterator<char>(file)),
                              std::istreambuf_iterator<char>());
  std::set<std::string_view> ids;
  for (const FaultEventKind kind : kKinds) {
    EXPECT_EQ(journal_message_id(kind).size(), 32U);
    EXPECT_TRUE(ids.insert(journal_message_id(kind)).second);
    EXPECT_THAT(catalogue, HasSubstr("-- " + std::string(journal_message_id(kind)) + "\n"));
  }
}

}  // namespace
}  // namespace linkhealth
