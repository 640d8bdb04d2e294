#include "storage/reference_file.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

ReferenceState example() {
  PortReferences port;
  port.port = "0000:1b:00.0/1";
  port.serial = "AC1";
  port.seen_at = *parse_rfc3339("2026-11-20T12:05:12Z");
  port.best_speed_mbps = 400000;
  port.best_lanes = 4;
  port.references = {{"rx_dbm.1", {-1.25, -1.2, -1.3, -1.1}},
                     {"ber_log10", {-8.02, -8.1, -7.95, -8}}};
  PortReferences bare;  // InfiniBand: no module is read, but there was a link
  bare.port = "0000:1c:00.0/1";
  bare.label = "mlx5_1/1";
  bare.guid = "b83f:d203:0012:3456";
  bare.seen_at = port.seen_at;
  bare.peer_source = "mad";
  bare.peer_system = "leaf-12";
  bare.peer_port = "17";
  bare.peer_guid = "b83f:d203:0099:0001";
  bare.peer_at = bare.seen_at;
  bare.linked_at = *parse_rfc3339("2026-11-20T12:05:02Z");
  bare.verbs_seen_at = *parse_rfc3339("2026-11-20T12:05:07Z");
  return {{port, bare}};
}

TEST(References, WhatIsWrittenIsReadBack) {
  const auto read = parse_references(references_json(example()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
  EXPECT_FALSE(parse_references(references_json(example()).substr(0, 100))) << "cut off";
}

TEST(References, ADocumentOfAnotherKindIsRefused) {
  EXPECT_FALSE(parse_references(R"({"schema":"linkhealth.ledger/1"})"));
  EXPECT_FALSE(parse_references("[]"));
}

}  // namespace
}  // namespace linkhealth
