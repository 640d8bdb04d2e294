#include "diagnosis/exempt.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

PortHistory unused() {
  PortHistory port;
  port.latest.id.device = "mlx5_3";
  port.carrier = false;
  port.latest.module = ModuleSample{};
  port.latest.module->present = false;
  return port;
}

TEST(Exempt, APortThatNobodyUsesIsLeftOutWithTheReason) {
  EXPECT_NE(exempt_reason(unused(), nullptr, false).find("unused"), std::string::npos);
  EXPECT_NE(exempt_reason(unused(), nullptr, true).find("not expected"), std::string::npos);
}

TEST(Exempt, AnExpectedPortIsNot) {
  ExpectedPort expected;
  EXPECT_EQ(exempt_reason(unused(), &expected, true), "");
}

TEST(Exempt, APortThatCarriedIsNot) {
  PortHistory port = unused();
  port.carrier_seen = true;
  EXPECT_EQ(exempt_reason(port, nullptr, true), "");
}

TEST(Exempt, AVirtualFunctionIs) {
  PortHistory port;
  port.latest.id.function = "vf";
  port.carrier = true;
  EXPECT_NE(exempt_reason(port, nullptr, false).find("virtual"), std::string::npos);
}

}  // namespace
}  // namespace linkhealth
