// A member that is missing in a field list would be lost on disk: here it fails.
#include "model/json/sample_fields.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "model/json/report_fields.h"

namespace linkhealth {
namespace {

struct Anything {
  template <typename T>
  operator T() const {
    std::abort();
  }  // NOLINT(google-explicit-constructor): never called
};

/// How many members an aggregate has: as many as it can be initialized with.
template <typename T, typename... Values>
consteval std::size_t member_count() {
  if constexpr (requires { T{Values{}..., Anything{}}; }) {
    return member_count<T, Values..., Anything>();
  } else {
    return sizeof...(Values);
  }
}

struct CountVisits {
  std::size_t count = 0;
  void operator()(std::string_view /*name*/, const auto& /*field*/) { ++count; }
  void always(std::string_view /*name*/, const auto& /*field*/) { ++count; }
};

template <typename T>
std::size_t listed_count() {
  CountVisits visit;
  const T value{};
  fields(value, visit);
  return visit.count;
}

template <typename T>
class FieldLists : public testing::Test {};

using Complete =
    testing::Types<DownReason, LinkSample, FecLane, AlarmFlags, ModuleLane, ModuleHostLane, Limits,
                   ModuleThresholds, VdmStatistics, ModuleVdm, ModuleCoherent, ModuleLoopback,
                   ModuleFlag, ModuleSample, PeerSample, PcieSample, PortSample, SourceStatus,
                   Evidence, MissingEvidence, Candidate, FaultReport, PortFigures, SymptomVerdict,
                   PortReport>;
TYPED_TEST_SUITE(FieldLists, Complete);

TYPED_TEST(FieldLists, NameEveryMember) {
  EXPECT_EQ(listed_count<TypeParam>(), member_count<TypeParam>())
      << "a member is missing in model/json/{sample,module,report}_fields.h";
}

TEST(FieldListsWithExceptions, NameEveryOtherMember) {
  EXPECT_EQ(listed_count<PortId>(), member_count<PortId>() - 1);  // verbs follows from the key
  EXPECT_EQ(listed_count<ExpectedPort>(),
            member_count<ExpectedPort>() - 3);  // the peer's four are one object
  EXPECT_EQ(listed_count<FaultEvent>(),
            member_count<FaultEvent>() + 1);  // its id follows from the others
  EXPECT_EQ(listed_count<Report>(),
            member_count<Report>() - 2);                    // timings and sources are left out
  EXPECT_EQ(listed_count<Gap>(), member_count<Gap>() - 1);  // whether it hangs
}

}  // namespace
}  // namespace linkhealth
