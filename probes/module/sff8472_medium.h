// What an SFP sends its signal over: copper or light, a cable or a module for one; and what it is
// called.
#pragma once

#include <optional>
#include <string>

#include "probes/module/image.h"

namespace linkhealth {

struct SfpMedium {
  bool copper = false;  ///< no light: no power, bias or loss of signal
  bool cable = false;
  std::string kind = "unknown";
};

SfpMedium sfp_medium(const ModulePage& a0);
/// Bytes 60 and 61 where they can be one.
std::optional<double> sfp_wavelength_nm(const ModulePage& a0);
/// "multimode", "single-mode", "copper", "BASE-T"; "" where nothing says it.
std::string_view sfp_media_type(const ModulePage& a0, const SfpMedium& medium);
std::string sfp_type(const ModulePage& a0, const SfpMedium& medium, std::optional<double> rate_mbd);

}  // namespace linkhealth
