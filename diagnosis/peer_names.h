// Compares the names that a far end reports with those of the plan. Plans are written by hand, so
// only comparable names count: an address instead of a name is neither a match nor a mismatch.
#pragma once

#include <cstdint>
#include <string_view>

namespace linkhealth {

enum class NameMatch : std::uint8_t { kSame, kDiffers, kUnknown };

/// "LEAF-12" and "leaf-12.dc1.example" match. A MAC or IP address against a name is unknown.
NameMatch compare_systems(std::string_view reported, std::string_view planned);
/// "Ethernet17/1", "Eth17/1" and "swp17/1" match: only the numbers count. `description` is an
/// alternative name of the far port; one match is enough. A bare number against a name with other
/// numbers is unknown (it may be an interface index), and so is an address.
NameMatch compare_ports(std::string_view reported, std::string_view description,
                        std::string_view planned);

}  // namespace linkhealth
