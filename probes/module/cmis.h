// The parts of the CMIS decoder: which applications run on which lanes, the lanes, and VDM. A
// module may run several applications at once (one 400 Gb/s port and four of 100), each on its own
// lanes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/snapshot.h"
#include "probes/module/image.h"

namespace linkhealth {

inline constexpr unsigned kLanesPerBank = 8;

/// One data path of an application: lanes of the whole module, from 0.
struct DataPath {
  std::size_t host_first = 0, host_lanes = 0;
  std::size_t media_first = 0, media_lanes = 0;
  bool in_use = false;
};

struct CmisLanes {
  /// Up to the last lane that an application in use can have, 1 to 8; 0 if the module describes
  /// none.
  unsigned host_per_bank = 0, media_per_bank = 0;
  std::string type;  ///< "400G-DR4", "2x400G-DR4"; with several "1x400G-DR4 + 4x100G-DR"
  std::vector<DataPath> data_paths;  ///< those in use first
};

/// `optical`: the media side has its own lanes; on a copper cable they are the host's.
CmisLanes cmis_lanes(const ModuleImage& image, bool optical);

/// The far side of a module: nothing that it could report on, an electrical receiver, or light.
enum class MediaSide : std::uint8_t { kNone, kElectric, kOptical };
/// Pages 10h, 11h and 13h of every bank.
void decode_cmis_lanes(const ModuleImage& image, const CmisLanes& lanes, MediaSide side,
                       ModuleSample& sample);
/// Pages 20h-2Fh: statistics of the signal, and the monitors of coherent modules. Call after the
/// lanes.
void decode_cmis_vdm(const ModuleImage& image, const CmisLanes& lanes, ModuleSample& sample);

}  // namespace linkhealth
