#include "daemon/http/peer_credentials.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/http_client.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;
constexpr gid_t kOperators = 4242;  // a number is enough for the kernel

TEST(MayAct, RootTheDaemonsUserAndTheGroup) {
  EXPECT_TRUE(may_act({0, {0}}, 990, std::nullopt));
  EXPECT_TRUE(may_act({990, {990}}, 990, std::nullopt));
  EXPECT_FALSE(may_act({1000, {1000, 27}}, 990, std::nullopt));
  EXPECT_FALSE(may_act({1000, {1000, 27}}, 990, 4242));
  EXPECT_TRUE(may_act({1000, {1000, 27, 4242}}, 990, 4242));
  EXPECT_FALSE(may_act({1000, {0}}, 990, std::nullopt)) << "root's group is not root";
}

TEST(Names, OfUsersAndGroups) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(3999999999U), "uid 3999999999");
  EXPECT_EQ(*group_id("root"), 0U);
  EXPECT_THAT(group_id("no such group").error().message, "there is no group \"no such group\"");
}

class PeerTest : public ::testing::Test, protected test::TestServer {
 protected:
  PeerTest() { settings.socket.mode = 0666; }  // by default other users cannot connect
  /// The status and body that a process of that user and those groups gets. REQUIRES: root.
  std::string as(uid_t uid, const std::vector<gid_t>& groups, const std::string& method,
                 const std::string& path) const {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string text = "could not become another user";
      if (setgroups(groups.size(), groups.data()) == 0 && setresgid(uid, uid, uid) == 0 &&
          setresuid(uid, uid, uid) == 0) {
        cli::HttpTarget target;
        target.url = "http://localhost" + path;
        target.unix_socket = settings.socket.path;
        target.post = method == "POST";
        const auto answer = cli::fetch(target, 1U << 20U);
        text = answer ? std::to_string(answer->status) + " " + answer->body : "no answer";
      }
      _exit(write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
    }
    close(ends[1]);
    std::string text(4096, '\0');
    text.resize(
        static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], text.data(), text.size()), 0)));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return text;
  }
  void open_directory() const { ASSERT_EQ(chmod(directory.c_str(), 0755), 0); }
};

TEST_F(PeerTest, OtherUsersMayReadAndNotAct) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  publish();
  start();
  open_directory();
  EXPECT_THAT(as(kNobody, {}, "GET", "/api/v1/report"), HasSubstr("200 {\"schema\""));
  EXPECT_THAT(as(kNobody, {}, "POST", "/api/v1/ports/mlx5_3/1/ack"),
              HasSubstr("403 {\"error\":\"changes are accepted from root"));
  EXPECT_THAT(as(kNobody, {}, "POST", "/api/v1/maintenance"), HasSubstr("403"));
  EXPECT_THAT(as(kNobody, {}, "GET", "/api/v1/recording?for=1"),
              HasSubstr("403 {\"error\":\"recordings are available to root"));
  EXPECT_THAT(as(kNobody, {}, "POST", "/api/v1/report"), HasSubstr("405"))
      << "the path is checked before the user";
}

TEST(PeerCredentialsTest, AreThoseOfTheOtherEnd) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const auto peer = peer_credentials(ends[0]);
  close(ends[0]);
  close(ends[1]);
  ASSERT_TRUE(peer.ok()) << peer.error().message;
  EXPECT_EQ(peer->uid, geteuid());
  EXPECT_THAT(peer->groups, Contains(getegid()));
  EXPECT_FALSE(peer_credentials(-1).ok());
}

/// Both ends of a TCP connection to `address`, or nothing where this machine has no IPv6.
std::vector<OwnedFd> connected(const ListenAddress& address, const char* to) {
  auto listening = listen_tcp(address);
  if (!listening) return {};
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  EXPECT_EQ(getaddrinfo(to, std::to_string(*bound_port(*listening)).c_str(), &hints, &found), 0);
  std::vector<OwnedFd> ends;
  ends.emplace_back(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(ends[0].get(), found->ai_addr, found->ai_addrlen), 0);
  freeaddrinfo(found);
  pollfd waiting{listening->get(), POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, -1), 1);
  ends.emplace_back(accept(listening->get(), nullptr, nullptr));
  return ends;
}

TEST(PeerNetwork, IsTheAddressOrHalfOfIt) {
  const auto ipv4 = connected({"127.0.0.1", 0}, "127.0.0.1");
  EXPECT_EQ(peer_network(ipv4[1].get()), std::string("\x7f\0\0\1", 4));
  EXPECT_TRUE(is_on_loopback(ipv4[1].get()));
  EXPECT_EQ(peer_network(-1), "");
  EXPECT_FALSE(is_on_loopback(-1));
  const auto ipv6 = connected({"::1", 0}, "::1");
  if (ipv6.empty()) GTEST_SKIP() << "no IPv6 on this machine";
  EXPECT_EQ(peer_network(ipv6[1].get()), std::string(8, '\0'));
  EXPECT_TRUE(is_on_loopback(ipv6[1].get()));
  const auto mapped = connected({"::", 0}, "127.0.0.1");
  EXPECT_EQ(peer_network(mapped[1].get()), std::string("\x7f\0\0\1", 4));
}

TEST_F(PeerTest, AGroupThatIsNotThereIsAnErrorAtTheStart) {
  settings.control_group = "linkhealth-no-such-group";
  const auto started = try_start(settings);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message,
            "control_group: there is no group \"linkhealth-no-such-group\"");
}

TEST_F(PeerTest, MembersOfTheGroupAct) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  settings.control_group =
      "games";  // of Debian's base-passwd: on each Debian, and nobody's first group here
  const auto games = group_id("games");
  ASSERT_TRUE(games.ok());
  publish();
  start();
  open_directory();
  EXPECT_THAT(as(kNobody, {kOperators}, "POST", "/api/v1/maintenance"),
              HasSubstr("403 {\"error\":\"changes are accepted from "
                        "root, linkhealthd's own user and the group games"));
  EXPECT_THAT(as(kNobody, {kOperators, *games}, "POST", "/api/v1/maintenance"),
              ::testing::Not(HasSubstr("403")));
}

}  // namespace
}  // namespace linkhealth
