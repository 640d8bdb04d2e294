#include "exporters/text/port_names.h"

#include <gmock/gmock.h>

#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

TEST(FindPort, ByAnyOfItsNames) {
  const Report report = test::example_report();
  for (const char* name :
       {"mlx5_3/1", "mlx5_3", "ens4np0", "0000:9a:00.0", "9A:00.0", "0000:9a:00.0/1",
        "b83f:d203:0012:3453", "0xb83fd20300123453", " mlx5_3 "}) {
    const auto port = find_port(report, name);
    ASSERT_TRUE(port.ok()) << name;
    EXPECT_EQ((*port)->port, "mlx5_3/1") << name;
  }
}

TEST(FindPort, ATypoGetsASuggestion) {
  const Report report = test::example_report();
  EXPECT_EQ(find_port(report, "mlx5_33").error().message,
            "no port \"mlx5_33\": did you mean mlx5_3? (linkhealth status lists the ports)");
  EXPECT_EQ(find_port(report, "ens4np1").error().message,
            "no port \"ens4np1\": did you mean ens4np0? (linkhealth status lists the ports)");
}

TEST(FindPort, NothingNearIsNotGuessed) {
  const Report report = test::example_report();
  EXPECT_EQ(find_port(report, "printer").error().message,
            "no port \"printer\" (linkhealth status lists the ports)");
  EXPECT_THAT(find_port(report, "  ").error().message, HasSubstr("is missing"));
  EXPECT_THAT(find_port(Report{}, "mlx5_0").error().message, HasSubstr("this node has no port"));
}

TEST(FindPort, AVeryLongOrWildNameIsCutAndPrintable) {
  const std::string message =
      find_port(test::example_report(), std::string(100000, '\x1b')).error().message;
  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(FindPort, ADeviceWithTwoPortsIsAmbiguous) {
  Report report = test::example_report();
  report.ports[1].port = "mlx5_0/2";
  report.ports[1].latest.id.device = "mlx5_0";
  EXPECT_EQ(find_port(report, "mlx5_0").error().message,
            "\"mlx5_0\" matches more than one port: use one of mlx5_0/1, mlx5_0/2");
}

}  // namespace
}  // namespace linkhealth
