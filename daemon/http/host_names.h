// The names by which this node is reached. A malicious web page can make its own name resolve to
// this node's address (DNS rebinding), so that its scripts count as this node's page. The Host
// field has the name that the browser used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linkhealth {

/// In lower case: the node's name, its first label, that label with each search domain of
/// `resolv_conf`, and all names on the same line of `hosts` as one of these.
std::vector<std::string> own_host_names(std::string_view node, std::string_view resolv_conf,
                                        std::string_view hosts);

/// Whether `host`, the Host field, is this node's: an address, localhost or one of `names`. No Host
/// field means that it is not a browser.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace linkhealth
