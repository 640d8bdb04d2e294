#include "probes/netlink/devlink_health.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <utility>

#include "probes/netlink/netlink_message.h"

namespace linkhealth {
namespace {

/// enum devlink_health_reporter_state (linux: include/net/devlink.h); not in the uapi headers.
constexpr std::uint8_t kHealthy = 0;
constexpr std::uint8_t kError = 1;

struct FatalReporter {
  std::string_view driver, reporter;
  Milliseconds after;
};
// linux: drivers/net/ethernet/mellanox/mlx5/core/health.c, broadcom/bnxt/bnxt_devlink.c (until 5.15
// fw_fatal; then "fw", which is also in error for the seconds of a reset that repairs it),
// qlogic/qed/qed_devlink.c. Not mlx5's "fw": it covers any syndrome. Not ice's "port": it is never
// reset.
constexpr FatalReporter kFatal[] = {{"mlx5_core", "fw_fatal", Milliseconds(0)},
                                    {"bnxt_en", "fw_fatal", Milliseconds(0)},
                                    {"bnxt_en", "fw", Milliseconds(60'000)},
                                    {"qede", "fw_fatal", Milliseconds(0)}};

/// ice has one per port (linux: drivers/net/ethernet/intel/ice/devlink/health.c).
constexpr std::string_view kDescribed = "port";

Result<HealthReporter> parse_reporter(ByteView message) {
  const auto answer = parse_genl_message(message, DEVLINK_CMD_HEALTH_REPORTER_GET);
  if (!answer) return answer.error();
  const NetlinkAttributes content = answer->nested(DEVLINK_ATTR_HEALTH_REPORTER);
  HealthReporter reporter;
  reporter.name = content[DEVLINK_ATTR_HEALTH_REPORTER_NAME].text();
  if (reporter.name.empty()) return bad_message("a health reporter without a name");
  reporter.bus = (*answer)[DEVLINK_ATTR_BUS_NAME].text();
  reporter.device = (*answer)[DEVLINK_ATTR_DEV_NAME].text();
  const auto state = content[DEVLINK_ATTR_HEALTH_REPORTER_STATE].u8();
  if (state && *state <= kError) reporter.in_error = *state != kHealthy;
  reporter.errors = content[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT].u64();
  reporter.recoveries = content[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT].u64();
  return reporter;
}

/// The pair "Description" (linux: devlink_fmsg_string_pair_put()); "" when there is none.
Result<std::string> diagnose(Host& host, std::uint16_t family, const HealthReporter& reporter) {
  const auto answers =
      host.netlink(NETLINK_GENERIC,
                   NetlinkBuilder::generic(family, NLM_F_ACK, DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE)
                       .put_string(DEVLINK_ATTR_BUS_NAME, reporter.bus)
                       .put_string(DEVLINK_ATTR_DEV_NAME, reporter.device)
                       .put_string(DEVLINK_ATTR_HEALTH_REPORTER_NAME, reporter.name)
                       .bytes());
  if (!answers) return answers.error();
  for (const Bytes& bytes : *answers) {
    const auto answer = parse_genl_message(bytes, DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE);
    if (!answer) return answer.error();
    std::string_view name;
    for (const NetlinkAttribute& item : answer->nested(DEVLINK_ATTR_FMSG)) {
      if (item.type == DEVLINK_ATTR_FMSG_OBJ_NAME) name = item.text();
      if (item.type == DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA && name == "Description")
        return std::string(item.text());
    }
  }
  return std::string();
}

}  // namespace

std::optional<Milliseconds> failed_after(std::string_view driver, std::string_view reporter) {
  const auto* const row = std::ranges::find_if(kFatal, [&](const FatalReporter& each) {
    return each.driver == driver && each.reporter == reporter;
  });
  return row == std::end(kFatal) ? std::nullopt : std::optional(row->after);
}

Result<std::vector<HealthReporter>> HealthReporters::read(Host& host) {
  const auto family = resolve_family(host, DEVLINK_GENL_NAME);
  if (!family) return family.error();
  const auto answers = host.netlink(
      NETLINK_GENERIC,
      NetlinkBuilder::generic(*family, NLM_F_DUMP, DEVLINK_CMD_HEALTH_REPORTER_GET).bytes());
  if (!answers) return answers.error();
  std::vector<HealthReporter> reporters;
  for (const Bytes& answer : *answers)
    if (auto reporter = parse_reporter(answer)) reporters.push_back(*std::move(reporter));
  for (HealthReporter& reporter : reporters) {
    if (reporter.name != kDescribed || !reporter.errors) continue;
    const auto known =
        errors_.try_emplace({reporter.device, reporter.name}, *reporter.errors).first;
    const bool is_new = *reporter.errors != std::exchange(known->second, *reporter.errors);
    if (!is_new || *reporter.errors == 0) continue;  // 0: the driver was reloaded
    auto description = diagnose(host, *family, reporter);
    if (!description) reporter.diagnosis_error = description.error();
    if (description) reporter.description = *std::move(description);
  }
  return reporters;
}

}  // namespace linkhealth
