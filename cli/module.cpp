#include "cli/commands.h"
#include "exporters/json/json.h"
#include "exporters/text/module_text.h"
#include "probes/module/decode.h"
#include "probes/module/dump_file.h"

namespace linkhealth::cli {

namespace {

ModuleSample read_dump(const std::string& file) {
  const auto image = read_module_dump(file);
  if (!image) throw CommandError(kBadInput, image.error().message);
  ModuleSample module = decode_module(*image);
  const auto cuts = pages_cut_off(*image);
  module.warnings.insert(module.warnings.begin(), cuts.begin(), cuts.end());
  return module;
}

}  // namespace

int run_module(const Context& context, const ModuleOptions& options) {
  if (options.file.empty() && options.port.empty())
    throw CommandError(kBadInput,
                       "module: give a PORT or --file FILE (linkhealth status lists the ports)");
  const ModuleSample module =
      !options.file.empty()
          ? read_dump(options.file)
          : fetch_as(context.client, "/api/v1/module/" + url_encoded(options.port), &parse_module);
  return print(options.json ? module_json(module) : module_text(module, context.style));
}

}  // namespace linkhealth::cli
