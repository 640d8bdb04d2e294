// Bytes of a transceiver module → what they say. Pure: no I/O, no clock, total over any input.
#pragma once

#include "model/snapshot.h"
#include "probes/module/image.h"

namespace linkhealth {

/// Decodes what was read, by the module's own memory map (SFF-8024 identifier: SFF-8472, SFF-8636
/// or CMIS). What was not read, not advertised or cannot be true is absent; the last leaves a
/// sentence in ModuleSample::warnings. A copper cable never has light, bias or loss of signal. A
/// latched flag is the one of this read: reading cleared it in the module, and another reader may
/// have cleared it before.
ModuleSample decode_module(const ModuleImage& image);

/// The same for who remembers flags: with those that were read and are not set (OtherFlag), and an
/// entry of each monitor of VDM, without any flag where they were not read.
ModuleSample decode_with_unset_flags(const ModuleImage& image);
/// What is listed of VDM's flags and of the other ones becomes those that are set.
void list_set_flags(ModuleSample& sample);

/// A tunable SFP has 0 where the error of its laser's frequency stands. In decode_module() that is
/// none: a register that nobody fills is 0 too, and SFF-8690 has no bit that tells. Once the module
/// has given another error it is one.
bool laser_error_is_zero(const ModuleImage& image);

}  // namespace linkhealth
