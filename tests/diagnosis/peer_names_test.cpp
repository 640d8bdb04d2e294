#include "diagnosis/peer_names.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using enum NameMatch;

TEST(PeerNames, SystemsAreComparedWithoutCaseAndDomain) {
  EXPECT_EQ(compare_systems("leaf-12", "leaf-12"), kSame);
  EXPECT_EQ(compare_systems("LEAF-12.dc1.example", "leaf-12"), kSame);
  EXPECT_EQ(compare_systems(" leaf-12 ", "Leaf-12.other"), kSame);
  EXPECT_EQ(compare_systems("leaf-13", "leaf-12"), kDiffers);
  EXPECT_EQ(compare_systems("leaf-1", "leaf-12"), kDiffers);
}

TEST(PeerNames, AnAddressSpeaksNeitherForNorAgainstAName) {
  EXPECT_EQ(compare_systems("42:e2:2d:6f:0b:a1", "leaf-12"), kUnknown);
  EXPECT_EQ(compare_systems("10.1.2.3", "leaf-12"), kUnknown);
  EXPECT_EQ(compare_systems("10.1.2.3", "10.1.2.4"), kDiffers) << "not two domains of host 10";
  EXPECT_EQ(compare_systems("42:E2:2D:6F:0B:A1", "42:e2:2d:6f:0b:a1"), kSame);
  EXPECT_EQ(compare_systems("", "leaf-12"), kUnknown);
}

TEST(PeerNames, PortsAreComparedByTheirNumbers) {
  EXPECT_EQ(compare_ports("Eth17/1", "", "Ethernet17/1"), kSame);
  EXPECT_EQ(compare_ports("ethernet17/01", "", "Ethernet17/1"), kSame);
  EXPECT_EQ(compare_ports("Ethernet17/2", "", "Ethernet17/1"), kDiffers);
  EXPECT_EQ(compare_ports("Ethernet1/17", "", "Ethernet17/1"), kDiffers);
  EXPECT_EQ(compare_ports("Ethernet100", "", "Ethernet10"), kDiffers);
  EXPECT_EQ(compare_ports("17", "", "swp17"), kSame);
  EXPECT_EQ(compare_ports("18", "", "17"), kDiffers) << "both bare numbers";
  EXPECT_EQ(compare_ports("uplink", "", "Ethernet17/1"), kUnknown);
  EXPECT_EQ(compare_ports("east", "", "west"), kDiffers);
}

TEST(PeerNames, AnInterfaceIndexOrAnAddressIsNoMismatch) {
  EXPECT_EQ(compare_ports("513", "", "Ethernet17/1"), kUnknown);
  EXPECT_EQ(compare_ports("513", "Ethernet17/1", "Ethernet17/1"), kSame);
  EXPECT_EQ(compare_ports("513", "to gpu-0417 rail 3", "Ethernet17/1"), kUnknown);
  EXPECT_EQ(compare_ports("42:e2:2d:6f:0b:a1", "", "Ethernet17/1"), kUnknown);
  EXPECT_EQ(compare_ports("Ethernet17/2", "Ethernet17/1", "Ethernet17/1"), kSame)
      << "an alias of the same port";
  EXPECT_EQ(compare_ports("", "", "Ethernet17/1"), kUnknown);
  EXPECT_EQ(compare_ports("Ethernet17/1", "", ""), kUnknown);
}

}  // namespace
}  // namespace linkhealth
