// Decodes the bytes of a transceiver module. Pure: no I/O, no clock, defined for any input.
#pragma once

#include "model/snapshot.h"
#include "probes/module/image.h"
#include "probes/module/screen.h"

namespace linkhealth {

/// Decodes an image by the module's own memory map (SFF-8024 identifier: SFF-8472, SFF-8636 or
/// CMIS). What was not read, not advertised or is impossible is absent; the latter also adds a
/// sentence to ModuleSample::warnings. A copper cable never has light, bias or loss of signal. A
/// latched flag belongs to this read: the read cleared it in the module.
ModuleSample decode_module(const ModuleImage& image);

// The decoders of the three memory maps. Each fills a sample from a screened image.

/// SFF-8472 rev 12.4: A0h identity, A2h monitors with internal calibration.
void decode_sff8472(const ModuleImage& image, ModuleSample& sample);
/// SFF-8636 rev 2.11 (and SFF-8436): lower page, page 00h, page 03h.
void decode_sff8636(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample);
/// OIF-CMIS 3.0 to 5.4.
void decode_cmis(const ModuleImage& image, const ModuleHead& head, ModuleSample& sample);

}  // namespace linkhealth
