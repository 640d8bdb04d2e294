// CMIS: which applications run on a module's host lanes, and which lanes they give it. A module may
// run several at a time (a port of 400 Gb/s beside four of 100), each with lanes of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "probes/module/image.h"

namespace linkhealth {

/// One data path that an application may have: lanes of the whole module, 0 first.
struct DataPath {
  std::size_t host_first = 0, host_lanes = 0;
  std::size_t media_first = 0, media_lanes = 0;
  bool runs = false;
};

struct CmisLanes {
  /// Up to the last lane that an application in use can have, 1 to 8; 0 where the module describes
  /// none.
  unsigned host_per_bank = 0, media_per_bank = 0;
  std::string type;            ///< "400G-DR4", "2x400G-DR4"; of several "1x400G-DR4 + 4x100G-DR"
  std::string host_interface;  ///< the same of the electrical side
  std::vector<DataPath> data_paths;  ///< the ones in use first
};

/// Host lanes `first` to before `end`, of the whole module.
struct HostShare {
  std::size_t first = 0, end = 0;
};
/// The host lanes that feed a media lane. Where no data path has it, its share of them if all were
/// one.
HostShare host_share(const CmisLanes& lanes, std::size_t media_lane);

/// `optical`: the media side has lanes of its own; a copper cable's are those of the host.
CmisLanes cmis_lanes(const ModuleImage& image, bool optical);

}  // namespace linkhealth
