#include "cli/commands.h"
#include "cli/fetched.h"
#include "exporters/json/json.h"
#include "exporters/text/module_text.h"
#include "probes/module/decode.h"
#include "probes/module/dump_file.h"

namespace linkhealth::cli {

namespace {

int show_dump(const ModuleOptions& options, const TextStyle& style) {
  const auto image = read_module_dump(options.file);
  if (!image) return print({{}, image.error().message, kBadInput});
  ModuleSample module = decode_module(*image);
  const auto cuts = pages_cut_off(*image);
  module.warnings.insert(module.warnings.begin(), cuts.begin(), cuts.end());
  return print({options.json ? module_json(module) + "\n" : module_text(module, style), "", kOk});
}

}  // namespace

int run_module(const Context& context, const ModuleOptions& options) {
  if (!options.file.empty()) return show_dump(options, context.style);
  if (options.port.empty())
    return print(
        {{}, "module: give a PORT or --file FILE (linkhealth status lists the ports)", kBadInput});
  const std::string path = "/api/v1/module/" + url_encoded(options.port);
  if (options.json) return show(context.client.get(path));
  const auto module = fetch_as(context.client, path, &parse_module);
  if (!module.value) return print({{}, module.message, module.exit_code});
  return print({module_text(*module.value, context.style), "", kOk});
}

}  // namespace linkhealth::cli
