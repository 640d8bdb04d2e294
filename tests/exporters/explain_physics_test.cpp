#include "exporters/explain_physics.h"

#include <gtest/gtest.h>

#include "exporters/text_layout.h"
#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

std::string joined(const PortReport& port, const TextStyle& style = {}) {
  std::string text;
  for (const std::string& line : physics_lines(port, style)) text += line + "\n";
  return text;
}

PortReport dirty() {
  PortReport port = test::dirty_port();
  port.figures.rx_power_lost_db = 8.1;
  port.figures.far_tx_power_lost_db = 0.1;
  port.figures.pre_fec_ber_limit = 2.4e-4;
  return port;
}

TEST(Physics, ADirtyConnectorBothWays) {
  test::expect_golden("tests/golden/text/physics_dirty.txt", joined(dirty()));
}

TEST(Physics, InAsciiForPlainTerminals) {
  const std::string text = joined(dirty(), {.colour = false, .width_columns = 100, .ascii = true});
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << text;
}

TEST(Physics, FitsATerminal) {
  for (const std::string& line : physics_lines(dirty(), {}))
    EXPECT_LE(display_width(line), 100U) << line;
}

TEST(Physics, WhatTheFarEndDoesNotTellIsSaid) {
  PortReport port = dirty();
  port.latest.peer.reset();
  const std::string text = joined(port);
  EXPECT_NE(text.find("far Tx"), std::string::npos);
  EXPECT_NE(text.find("not readable from here"), std::string::npos);
  EXPECT_EQ(text.find("dB lost"), std::string::npos) << "a loss that nobody measured\n" << text;
}

TEST(Physics, NoLightIsAValue) {
  PortReport port = dirty();
  for (ModuleLane& lane : port.latest.module->lanes) lane.rx_power_mw = 0;
  EXPECT_NE(joined(port).find("no light"), std::string::npos);
}

TEST(Physics, CopperHasNoLightToDraw) {
  PortReport port = dirty();
  port.latest.module->kind = "dac";
  port.latest.module->lanes.clear();
  EXPECT_NE(joined(port).find("copper has no light"), std::string::npos);
  EXPECT_NE(joined(port).find("pre-FEC BER"), std::string::npos);
}

TEST(Physics, TooManyErrorsAreSaidSo) {
  PortReport port = dirty();
  port.figures.pre_fec_ber = 4.8e-4;
  EXPECT_NE(joined(port).find("2 times too many"), std::string::npos) << joined(port);
  port.figures.pre_fec_ber.reset();
  EXPECT_NE(joined(port).find("Errors in  not readable"), std::string::npos);
}

}  // namespace
}  // namespace linkhealth
