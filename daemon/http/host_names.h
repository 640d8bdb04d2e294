// The names by which this node is reached. A web page of a stranger can have its own name lead to
// this node's address (DNS rebinding), and its script then counts as this node's page. The Host
// field says the name that the browser was given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linkhealth {

/// The node's name, its first part, that with each domain that `resolv_conf` searches, and what
/// stands beside one of them in a line of `hosts`; small letters.
std::vector<std::string> own_host_names(std::string_view node, std::string_view resolv_conf,
                                        std::string_view hosts);

/// Whether `host`, of the Host field, is no other's: an address, localhost or one of `names`. No
/// Host is no browser.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace linkhealth
