#include "daemon/api_rules.h"

#include "exporters/catalogue_text.h"

namespace linkhealth {

ApiReply rules(const ApiRequest& request, const ApiView& view, const Report& report,
               const TextStyle& style) {
  const auto catalogue = view.reports.configuration().catalogue;
  if (catalogue == nullptr) return api_error(request, 404, "this daemon gives no rules");
  const std::string_view path = request.path;
  if (!path.starts_with(kRulesTextPath))
    return {200,
            "application/json",
            std::make_shared<const std::string>(rules_json(*catalogue, report.rule_use.get())),
            {}};
  RulesView shown;
  if (path.size() > kRulesTextPath.size() + 1) shown.name = path.substr(kRulesTextPath.size() + 1);
  shown.unused = request.params.contains("unused");
  shown.use = report.rule_use.get();
  shown.now = view.now;
  auto text = rules_text(*catalogue, shown, style);
  if (!text) return api_error(request, 404, text.error().message);
  return {
      200, "text/plain; charset=utf-8", std::make_shared<const std::string>(*std::move(text)), {}};
}

}  // namespace linkhealth
