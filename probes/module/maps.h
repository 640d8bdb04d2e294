// The three memory maps behind decode_module. Each fills a sample from a screened image; none
// invents what is absent.
#pragma once

#include "model/snapshot.h"
#include "probes/module/image.h"
#include "probes/module/screen.h"
#include "probes/module/values.h"

namespace linkhealth {

struct CmisLanes;
struct MonitorPages;

/// Where A0h of an SFP and page 00h of a QSFP say who it is.
inline constexpr IdentityOffsets kSff8472Identity{20, 37, 40, 56, 4, 68, 84};
inline constexpr IdentityOffsets kSff8636Identity{148, 165, 168, 184, 2, 196, 212};
/// A QSFP before SFF-8436.
inline constexpr std::uint8_t kQsfpInf8438 = 0x0c;

/// SFF-8472 rev 12.4: A0h identity, A2h monitors with internal or external calibration.
void decode_sff8472(const ModuleImage& image, ModuleSample& sample);
/// SFF-8690 rev 1.5, of an SFP with a tunable laser (A0h 65.6): the wavelength, the channel and its
/// flags, from A2h page 02h.
void decode_sff8690(const ModuleImage& image, ModuleSample& sample);
/// SFF-8636 rev 2.11 (and SFF-8436): lower page, page 00h, page 03h.
void decode_sff8636(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample);
/// SFF-8636 6.7, pages 20h and 21h (advertised by page 00h byte 195.0): PAM4 and DWDM parameters
/// with their limits.
void decode_sff8636_parameters(const ModuleImage& image, bool copper, ModuleSample& sample);
/// OIF-CMIS 3.0 to 5.4.
void decode_cmis(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample);
/// What of CMIS is latched and has no field: after the lanes.
void decode_cmis_other_flags(const ModuleImage& image, const CmisLanes& lanes,
                             ModuleSample& sample);
/// The VDM part of CMIS (pages 20h-2Fh): values, limits, flags, and the coherent monitors that come
/// through it.
void decode_cmis_vdm(const ModuleImage& image, const CmisLanes& lanes, ModuleSample& sample);
/// The statistics of a coherent module, pages 34h (receiver's FEC) and 35h (link), where 01h:142.4
/// offers them. Offsets and scales after C-CMIS 1.1 as sonic-platform-common's
/// mem_maps/public/c_cmis.py has them, checked against one dump of an 800ZR module. C-CMIS's own
/// list of what a module fills in could not be sourced: a quantity whose three registers are all
/// zero is taken as absent. Media lane 1 only. Its flags, 33h:128 and 130, where 44h:128 and 129
/// offer them: two implementations agree on these (nexthop-ai's sonic-platform-common,
/// pages/page33.py and page44.py; a tool of 2026 that reads modules over I2C). On the bytes behind
/// them, of degraded signals, they don't.
void decode_cmis_coherent(const ModuleImage& image, ModuleSample& sample);
/// Error ratios of zero of a side that receives nothing, or of a module that is not ready: nothing
/// was counted.
void forget_idle_statistics(ModuleSample& sample);
/// The auxiliary monitors of the lower page, and the flags of the maker's custom one.
void decode_cmis_auxiliary(const MonitorPages& pages, const ModulePage& advert,
                           ModuleSample& sample);
/// The laser bias with the multiplier that page 01h gives; nullopt for the reserved one.
std::optional<ModuleQuantity> cmis_bias(const ModulePage& advert);
/// What is at the far side of a module: nothing that it could say anything of, an electrical
/// receiver, or light.
enum class MediaSide : std::uint8_t { kNone, kElectric, kOptical };
/// CMIS 14h:128 while 14h:192 to 255 hold signal-to-noise ratios.
inline constexpr std::uint8_t kRatiosSelected = 0x06;
/// What is tested at the lanes of a bank (page 13h): loopbacks, and patterns that are sent.
void decode_cmis_tests(const ModuleImage& image, const CmisLanes& lanes, std::uint8_t bank,
                       ModuleSample& sample);
/// Which fibres carry the media lanes (11h:240 to 255, table 8-107). For modules of one bank, after
/// the lanes.
void decode_cmis_fibres(const ModuleImage& image, ModuleSample& sample);
/// The lane part of CMIS: pages 10h, 11h, 13h and 14h of every bank.
void decode_cmis_lanes(const ModuleImage& image, const CmisLanes& lanes, MediaSide side,
                       ModuleSample& sample);
/// What the lasers of a tunable module are tuned to: page 12h of every bank, `lanes_per_bank` media
/// lanes on each. For cmis_is_tunable() and after the lanes themselves. Offsets and bits after
/// CMIS 5.3 8.12, as sonic-platform-common's mem_maps/public/c_cmis.py has them; frequencies
/// checked against the channels that two dumps of 400ZR modules hold.
void decode_cmis_tuning(const ModuleImage& image, std::size_t lanes_per_bank, ModuleSample& sample);

}  // namespace linkhealth
