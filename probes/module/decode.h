// Decodes the bytes of a transceiver module. Pure: no I/O, no clock, total over any input.
#pragma once

#include "model/snapshot.h"
#include "probes/module/image.h"
#include "probes/module/screen.h"

namespace linkhealth {

/// Decodes what was read, by the module's own memory map (SFF-8024 identifier: SFF-8472, SFF-8636
/// or CMIS). What was not read, not advertised or cannot be true is absent; the last leaves a
/// sentence in ModuleSample::warnings. A copper cable never has light, bias or loss of signal. A
/// latched flag is the one of this read: the read cleared it in the module.
ModuleSample decode_module(const ModuleImage& image);

// The three memory maps behind it. Each fills a sample from a screened image.

/// SFF-8472 rev 12.4: A0h identity, A2h monitors with internal calibration.
void decode_sff8472(const ModuleImage& image, ModuleSample& sample);
/// SFF-8636 rev 2.11 (and SFF-8436): lower page, page 00h, page 03h.
void decode_sff8636(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample);
/// OIF-CMIS 3.0 to 5.4.
void decode_cmis(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample);

}  // namespace linkhealth
