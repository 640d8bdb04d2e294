// A RoCE port whose interface is in another network namespace (a pod): the verbs state is all that
// is seen of its link, and an interface that the pod sets down looks like a link that fell.
#include <gtest/gtest.h>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

struct PodStory : Story {
  /// `says_carrier`: as the verbs probe does where no interface is seen.
  explicit PodStory(bool says_carrier) : says_carrier_(says_carrier) {
    feed.link.admin_up.reset();
    feed.link.carrier_up_count.reset();
    feed.link.carrier_down_count.reset();
    feed.link.fec.clear();
    feed.module_readable = false;
    feed.counters = Counters{};
    feed.counters.set("port_rcv_data", 1000000);
    feed.counters.set("port_xmit_data", 1000000);
    feed.bits_per_s = 0;
    link(true);
  }
  void link(bool up) {
    feed.link.state = up ? "ACTIVE" : "DOWN";
    feed.link.phys_state = up ? "LinkUp" : "Disabled";
    feed.link.speed_mbps = up ? std::optional<std::uint32_t>(400000) : std::nullopt;
    feed.link.carrier = says_carrier_ ? std::optional(up) : std::nullopt;
    if (says_carrier_ && feed.t > 0)
      feed.event(up ? PortEventKind::kCarrierUp : PortEventKind::kCarrierDown,
                 feed.t + feed.period_s);
  }

 private:
  bool says_carrier_;
};

/// The worst that a pod may do: it sets its interface down and up, for long and again and again.
std::string told(bool says_carrier) {
  PodStory pod(says_carrier);
  pod.run(1800);
  std::string all;
  const auto say = [&] {
    for (const FaultReport& fault : pod.port().faults)
      all += fault.fault + " " + std::string(to_string(fault.end)) + " " +
             std::to_string(fault.confidence) + "; ";
    all += std::string(to_string(pod.port().health)) + " " +
           std::to_string(pod.port().figures.involuntary_downs_total) + "\n";
  };
  for (const double down_s : {30.0, 600.0, 30.0, 30.0, 3600.0}) {
    pod.link(false);
    pod.run(down_s);
    say();
    pod.link(true);
    pod.run(600);
    say();
  }
  return all + pod.events;
}

TEST(PodPort, ACarrierFromVerbsDoesNotChangeTheVerdict) { EXPECT_EQ(told(true), told(false)); }

TEST(PodPort, ThatGoesUpAndDownDoesNotBlameTheCable) {
  EXPECT_EQ(told(true).find(" path "), std::string::npos);
  EXPECT_NE(told(true).find("down 0"), std::string::npos) << "no unplanned loss";
}

}  // namespace
}  // namespace linkhealth
