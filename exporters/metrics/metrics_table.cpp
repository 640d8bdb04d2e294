#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "exporters/metrics/metric_rows.h"

namespace linkhealth {

namespace {

using enum MetricType;

constexpr auto kSettings = std::to_array<Setting>({
    {"counters", 0, 0, 1, "",
     "1: every scrape includes the raw counters, even without collect[]=counters (100 or more "
     "series per port)"},
    {"optics", 0, 0, 1, "",
     "1: every scrape includes the light of each lane, the module's flags and the card's slot, "
     "even without collect[]=optics"},
});
constexpr std::array<SettingGroup, 1> kSettingGroups = {{{"metrics", kSettings}}};

std::string format_label(std::string_view labels) {
  if (labels.empty()) return "-";
  std::string words;
  for (const std::string_view label : split(labels, ','))
    words += fmt::format("{}`{}`", words.empty() ? "" : " ", label);
  return words;
}

void append_group(std::string& text, std::string_view group) {
  text += "| metric | type | labels | unit | meaning |\n|---|---|---|---|---|\n";
  for (const MetricInfo& metric : metric_rows::kRows)
    if (metric.group == group)
      text +=
          fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.name,
                      metric.type == kCounter ? "counter" : "gauge", format_label(metric.labels),
                      metric.unit.empty() ? "-" : metric.unit, metric.help);
}

}  // namespace

std::span<const SettingGroup> metric_setting_groups() { return kSettingGroups; }

MetricGroups metric_groups(const SettingTable& table) {
  const SettingValues values = table.values("metrics");
  return {values[0] >= 0.5, values[1] >= 0.5};
}

std::string metrics_reference() {
  std::string text = R"(# Metrics

Generated from the metric table in `exporters/metrics/metric_rows.h`; a test compares this page with it
(`LINKHEALTH_ACCEPT=1` rewrites the page).

An unknown value has no series: absent is not zero. `device` and `port` are the verbs device and its
port number, or the network interface and 1. Names may change at a reboot: join on `instance, device,
port`, and take the stable identity (`pci`, `guid`, the far end) from `linkhealth_port_info`.
The daemon's own counters start at its start. The kernel's counters (`linkhealth_raw_total`, FEC, PCIe
errors) continue over that and reset with the driver or device. `rate()` and `increase()` handle both.

The default set has at most 15 series a link and 120 a node of 8 links (a test counts). An open fault
adds three, each further kind of event one, each source that fails one.

## Always

)";
  append_group(text, "");
  text += R"(
## Raw counters: `/metrics?collect[]=counters`

One series for each counter of each port, hundreds on some hardware: [counters.md](counters.md).

)";
  append_group(text, "counters");
  text += "\n## Optics lane by lane, and the card: `/metrics?collect[]=optics`\n\n";
  append_group(text, "optics");
  text += R"(
Both groups: `/metrics?collect[]=counters&collect[]=optics`; the default set is always included.
The settings `metrics: {counters: on, optics: on}` add a group to every scrape.
)";
  return text;
}

}  // namespace linkhealth
