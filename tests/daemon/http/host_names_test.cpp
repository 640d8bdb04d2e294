#include "daemon/http/host_names.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

TEST(HostNames, AddressesLocalhostAndOwnNamesAreNoStrangers) {
  const auto names = own_host_names(
      "Node7.cluster.example", "nameserver 10.0.0.1\n# search x.org\nsearch lan mgmt.example.\n",
      "127.0.0.1 localhost\n127.0.1.1\tnode7.dc.example node7 gpu-7 # evil.example\n10.9.9.9 other "
      "node70\n");
  for (const char* own : {"", "10.1.2.3", "10.1.2.3:9942", "[::1]:9942", "[fe80::1]", "localhost",
                          "LOCALHOST:9942", "node7", "node7:9942", "NODE7.cluster.example",
                          "node7.cluster.example.:9942", "node7.lan", "gpu-7", "node7.dc.example"})
    EXPECT_TRUE(is_own_host(own, names)) << own;
  for (const char* other : {"evil.example", "evil.example:9942", "other", "node7.evil.example",
                            "node77", "x.org", "node7.x.org", "10.1.2.3.evil.example",
                            "127.0.0.1evil", "localhost.evil.example", "[evil]", "[", "7f000001"})
    EXPECT_FALSE(is_own_host(other, names)) << other;
}

TEST(HostNames, ANodeWithoutAName) {
  EXPECT_FALSE(is_own_host("evil", own_host_names("", "", "")));
}

}  // namespace
}  // namespace linkhealth
