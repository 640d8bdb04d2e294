#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "exporters/json.h"
#include "exporters/module_text.h"
#include "probes/module/decode.h"
#include "probes/module/dump_file.h"

namespace linkhealth::cli {

namespace {

int show_dump(const ModuleOptions& options, const TextStyle& style) {
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

}  // namespace

int run_module(const Context& context, const ModuleOptions& options) {
  if (!options.file.empty()) return show_dump(options, context.style);
  if (options.port.empty()) {
    complain("module: give a PORT or --file FILE (linkhealth status lists the ports)");
    return kBadInput;
  }
  const std::string port = path_part(options.port);
  return show(context.client.get(options.json ? "/api/v1/module/" + port
                                              : "/api/v1/text/module/" + port + "?" +
                                                    style_query(context.style)));
}

}  // namespace linkhealth::cli
