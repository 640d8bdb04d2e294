#include "probes/sysfs/pci_bus.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/sysfs/pcie.h"
#include "probes/sysfs/sysfs_text.h"

namespace linkhealth {

namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";

/// PCI class 02: Ethernet (0200), InfiniBand (0207) and other network controllers.
bool is_network(std::string_view pci_class) {
  return pci_class.starts_with("0x0200") || pci_class.starts_with("0x0207");
}

}  // namespace

std::optional<std::vector<PciCard>> network_cards(Host& host) {
  const auto addresses = host.list_dir(std::string(kDevices));
  if (!addresses) return std::nullopt;
  std::vector<PciCard> cards;
  for (const std::string& address : *addresses) {
    const std::string link = std::string(kDevices) + "/" + address;
    if (!is_network(read_attribute(host, link + "/class"))) continue;
    const auto followed = host.resolve(link);  // once, not for each attribute
    const std::string& dir = followed ? *followed : link;
    if (host.resolve(dir + "/physfn")) continue;
    PciCard card;
    card.address = address;
    if (const auto driver = host.resolve(dir + "/driver"))
      card.driver = driver->substr(driver->rfind('/') + 1);
    card.width = parse_link_width(read_attribute(host, dir + "/current_link_width"));
    card.max_width = parse_link_width(read_attribute(host, dir + "/max_link_width"));
    cards.push_back(std::move(card));
  }
  std::sort(cards.begin(), cards.end(),
            [](const PciCard& a, const PciCard& b) { return a.address < b.address; });
  return cards;
}

std::string pci_words(const std::optional<std::vector<PciCard>>& cards,
                      const std::string& address) {
  if (!cards || address.empty()) return "";
  const auto at = std::find_if(cards->begin(), cards->end(),
                               [&](const PciCard& card) { return card.address == address; });
  if (at == cards->end()) return "not on the PCI bus";
  std::string words = at->driver.empty()
                          ? "on the PCI bus without a driver"
                          : fmt::format("on the PCI bus with the driver {}", at->driver);
  if (at->width && at->max_width && *at->width < *at->max_width)
    words += fmt::format(", {} of {} lanes", *at->width, *at->max_width);
  return words;
}

}  // namespace linkhealth
