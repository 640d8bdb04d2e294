#include "probes/devlink_health.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <utility>

#include "probes/ethtool_family.h"

namespace linkhealth {
namespace {

/// enum devlink_health_reporter_state (linux: include/net/devlink.h); not in the uapi headers.
constexpr std::uint8_t kHealthy = 0;
constexpr std::uint8_t kError = 1;

struct FatalReporter {
  std::string_view driver, reporter;
  unsigned readings;
};
// linux: drivers/net/ethernet/mellanox/mlx5/core/health.c, broadcom/bnxt/bnxt_devlink.c (until 5.15 fw_fatal; then
// "fw", which is in error, too, for the seconds of a reset that mends it), qlogic/qed/qed_devlink.c. Not mlx5's "fw":
// any syndrome. Not ice's "port": nobody sets it right again, and what it is stands in its diagnosis only.
constexpr FatalReporter kFatal[] = {
    {"mlx5_core", "fw_fatal", 1}, {"bnxt_en", "fw_fatal", 1}, {"bnxt_en", "fw", 2}, {"qede", "fw_fatal", 1}};

}  // namespace

unsigned readings_until_fatal(std::string_view driver, std::string_view reporter) {
  const auto* const row = std::ranges::find_if(
      kFatal, [&](const FatalReporter& each) { return each.driver == driver && each.reporter == reporter; });
  return row == std::end(kFatal) ? 0 : row->readings;
}

Bytes build_health_reporters_dump(std::uint16_t family) {
  genlmsghdr head{};
  head.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET;
  head.version = DEVLINK_GENL_VERSION;
  return NetlinkBuilder(family, NLM_F_DUMP).header(head).take();
}

Result<HealthReporter> parse_health_reporter(ByteView message) {
  const auto answer = open_genl_message(message, DEVLINK_CMD_HEALTH_REPORTER_GET);
  if (!answer) return answer.error();
  const NetlinkAttributes content = answer->nested(DEVLINK_ATTR_HEALTH_REPORTER);
  HealthReporter reporter;
  reporter.name = content.text(DEVLINK_ATTR_HEALTH_REPORTER_NAME);
  if (reporter.name.empty()) return bad_message("a health reporter without a name");
  if (answer->text(DEVLINK_ATTR_BUS_NAME) == "pci") reporter.pci = answer->text(DEVLINK_ATTR_DEV_NAME);
  const auto state = content.u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE);
  if (state && *state <= kError) reporter.in_error = *state != kHealthy;
  reporter.errors = content.u64(DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT);
  reporter.recoveries = content.u64(DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT);
  return reporter;
}

Result<std::vector<HealthReporter>> read_health_reporters(Host& host) {
  const auto family = ask_ethtool(host, build_family_request(DEVLINK_GENL_NAME));
  if (!family) return family.error();
  const auto id = parse_family_id(*family);
  if (!id) return id.error();
  const auto answers = host.netlink(NETLINK_GENERIC, build_health_reporters_dump(*id));
  if (!answers) return answers.error();
  std::vector<HealthReporter> reporters;
  for (const Bytes& answer : *answers)
    if (auto reporter = parse_health_reporter(answer)) reporters.push_back(*std::move(reporter));
  return reporters;
}

}  // namespace linkhealth
