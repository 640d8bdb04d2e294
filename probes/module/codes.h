// The code tables that all modules share (SFF-8024 rev 4.13): the names, as used in the trade, of
// the numbers in a module's memory. "" for an unknown code.
#pragma once

#include <cstdint>
#include <string_view>

namespace linkhealth {

/// Which memory map a module has.
enum class ModuleMap : std::uint8_t {
  kNone,         ///< not programmed, or a floating bus
  kSff8472,      ///< SFP family
  kSff8636,      ///< QSFP+, QSFP28
  kCmis,         ///< QSFP-DD, OSFP and later
  kUnsupported,  ///< a form factor whose memory map is not decoded
  kVendor,       ///< a vendor's own code: CMIS if it looks like it
};

/// SFF-8024 table 4-1, byte 0 of A0h.
ModuleMap module_map(std::uint8_t identifier);
/// "QSFP-DD"
std::string_view form_factor_name(std::uint8_t identifier);
/// The largest number of lanes that it can have; 0: unknown.
unsigned form_factor_lanes(std::uint8_t identifier);
/// Table 4-3: "LC", "MPO-12", …
std::string_view connector_name(std::uint8_t code);
/// `lanes`: the column "Lane Count"; 0 if the table leaves it open (InfiniBand).
struct ModuleInterface {
  std::uint8_t code = 0, lanes = 0;
  std::string_view name;
};
/// Table 4-5: "400GAUI-8 C2M", "400G-CR8", ….
ModuleInterface host_interface(std::uint8_t code);
/// Tables 4-6, 4-7 and 4-10: a number has a different meaning on multimode (media type 1) and
/// single-mode (2) fibre and on twisted pair (5).
ModuleInterface media_interface(std::uint8_t media_type, std::uint8_t code);

/// As in CMIS byte 85.
enum class Fibre : std::uint8_t { kUnknown, kMultimode, kSingleMode };
std::string_view fibre_name(Fibre fibre);
/// The kind of fibre for which the module states a length; one with both (40G-LM4) takes either.
Fibre fibre_of_lengths(bool single_mode, bool multimode);

/// A permanently attached cable, or twisted pair.
enum class Cable : std::uint8_t { kNone, kPassiveCopper, kActiveCopper, kActiveOptical, kBaseT };
/// Table 4-4, byte 36 of SFP and 192 of QSFP: "100G-SR4", …. One code stands for a family; the
/// number of lanes of the form factor selects the member.
struct Compliance {
  std::uint8_t code = 0;
  std::string_view qsfp, sfp;
  Fibre fibre = Fibre::kUnknown;  ///< optics only
  Cable cable = Cable::kNone;
  [[nodiscard]] bool is_copper() const {
    return cable == Cable::kPassiveCopper || cable == Cable::kActiveCopper;
  }
};
Compliance extended_compliance(std::uint8_t code);

/// Table 4-12: the polish of the fibre's end face; both ends of a connection must match.
std::string_view fibre_face_name(std::uint8_t code);
/// CMIS byte 85: "multimode", "single-mode", "copper", "active cable", "BASE-T".
std::string_view media_type_name(std::uint8_t media_type);
/// CMIS byte 3 bits 3-1: "ModuleReady", …; "" for a reserved code.
std::string_view module_state_name(std::uint8_t state);
/// CMIS byte 41; "" if none.
std::string_view fault_cause_name(std::uint8_t cause);
/// CMIS 11h:128..131, one nibble; "unknown" for a reserved code.
std::string_view data_path_state_name(std::uint8_t state);

}  // namespace linkhealth
