// Module memory from a file, as sent by people who cannot give access to the node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/module/image.h"

namespace linkhealth {

/// Reads one of five forms, distinguished by the content:
/// - JSON with a "pages" object: names "a0", "a2", "lower", "00".."ff" (bank 0; "11.1" is page 11h
///   of bank 1) to hex;
/// - the text of `ethtool -m DEV hex on`, also with lines before its heading;
/// - that of `hexdump -C` or `xxd` of the binary below;
/// - that of SONiC's `sfputil show eeprom-hexdump -p PORT`;
/// - the binary of `ethtool -m DEV raw on`: 128 to 1024 bytes in the kernel's linear order.
/// An error is one sentence without the file's name.
Result<ModuleImage> parse_module_dump(std::string_view content);
/// As parse_module_dump, from a file of at most 1 MiB; an error begins with the path.
Result<ModuleImage> read_module_dump(const std::string& path);
/// One sentence for each half page that is incomplete in the dump.
std::vector<std::string> pages_cut_off(const ModuleImage& image);

}  // namespace linkhealth
