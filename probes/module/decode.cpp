#include "probes/module/decode.h"

#include <fmt/format.h>

#include "probes/module/codes.h"
#include "probes/module/maps.h"
#include "probes/module/screen.h"

namespace linkhealth {

ModuleSample decode_module(const ModuleImage& image) {
  ModuleSample sample;
  const ModuleImage memory = screened(image, &sample.warnings);
  const ModuleHead head = module_head(memory);
  sample.form_factor = form_factor_name(head.identifier);
  if (!head.lower_page_usable)
    sample.warnings.emplace_back("the lower page names no form factor: its readings are left out");
  switch (head.map) {
    case ModuleMap::kSff8472:
      decode_sff8472(memory, sample);
      break;
    case ModuleMap::kSff8636:
      decode_sff8636(memory, head, sample);
      break;
    case ModuleMap::kCmis:
      decode_cmis(memory, head, sample);
      break;
    case ModuleMap::kNone:
      sample.warnings.emplace_back("no identifier: the module is not programmed or did not answer");
      break;
    case ModuleMap::kVendor:
    case ModuleMap::kIdentityOnly:
      sample.warnings.push_back(fmt::format("identifier {:02x}h: a form factor that is not known", head.identifier));
      break;
  }
  return sample;
}

}  // namespace linkhealth
