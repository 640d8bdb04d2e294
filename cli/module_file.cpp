#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/local.h"
#include "exporters/json.h"
#include "exporters/module_text.h"
#include "probes/module/decode.h"
#include "probes/module/dump_file.h"

namespace linkhealth::cli {

int show_module_file(const ModuleOptions& options, const TextStyle& style) {
  const auto image = read_module_dump(options.file);
  if (!image) {
    complain(image.error().message);
    return kBadInput;
  }
  ModuleSample module = decode_module(*image);
  const auto cuts = pages_cut_off(*image);
  module.warnings.insert(module.warnings.begin(), cuts.begin(), cuts.end());
  const std::string text = options.json ? module_json(module) + "\n" : module_text(module, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kOk;
}

}  // namespace linkhealth::cli
