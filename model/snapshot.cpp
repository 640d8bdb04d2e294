#include "model/snapshot.h"

#include <algorithm>

namespace linkhealth {

PortKey PortId::key() const { return verbs ? device + "/" + std::to_string(port) : device; }

std::string PortId::stable_key() const {
  return pci.empty() ? key() : pci + "/" + std::to_string(port);
}

bool is_of_provider(const PortId& id) {
  // A soft RDMA device (rxe, siw) is also "virtual", and has no PCI function.
  return id.exempt.empty() &&
         (id.function == "vf" || (id.function == "virtual" && !id.pci.empty()));
}

std::vector<std::string> port_names(const PortId& id) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::string& name : {id.key(), id.stable_key(), id.netdev}) add(name);
  if (id.port == 1)
    for (const std::string& name : {id.device, id.pci}) add(name);
  return names;
}

bool is_named(const PortId& id, const std::string& name) {
  const std::vector<std::string> names = port_names(id);
  return std::ranges::find(names, name) != names.end();
}

bool has_link(std::string_view phys_state) {
  return phys_state == "LinkUp" || phys_state == "LinkErrorRecovery";
}

bool is_unmanaged(const LinkSample& link) {
  return link.phys_state == "LinkUp" && (link.state == "INIT" || link.state == "ARMED");
}

bool is_set_down(const LinkSample& link, std::string_view link_layer) {
  return link.admin_up == false || (link_layer == "InfiniBand" && link.phys_state == "Disabled");
}

bool is_no_change(std::string_view driver, std::uint64_t gains, std::uint64_t losses) {
  return driver == "mlx5_core" && gains == losses;
}

std::vector<Gap> gaps_of(const PortKey& port, const SourceMap& sources) {
  std::vector<Gap> gaps;
  for (const auto& [id, status] : sources)
    if (!status.reason.empty()) gaps.push_back({port, std::string(to_string(id)), status.reason});
  std::ranges::sort(gaps, {}, &Gap::probe);
  return gaps;
}

}  // namespace linkhealth
