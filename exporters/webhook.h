// An event as the JSON that some other system wants: a template with {{placeholders}}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/report.h"

namespace linkhealth {

class WebhookTemplate {
 public:
  /// {{name}} inside quotes is the value as JSON text; {{event}}, {{confidence_percent}} and
  /// {{labels}} stand outside of them. An error names what is not a placeholder, or says that the
  /// result would be no JSON.
  static Result<WebhookTemplate> parse(std::string_view text, std::string_view file_name);
  /// {{event}} alone: docs/schema/event.json.
  static WebhookTemplate plain();

  /// `event_json`: the event as event_json_line() writes it. `labels`: those of its alert
  /// (exporters/alerts.h).
  [[nodiscard]] std::string fill(const FaultEvent& event, std::string_view event_id,
                                 std::string_view node, std::string_view event_json,
                                 const std::map<std::string, std::string>& labels) const;

  /// The names that there are.
  static std::vector<std::string_view> placeholders();

 private:
  struct Part {
    std::string text;
    int placeholder = -1;  ///< index of the table; -1: the text itself
  };
  std::vector<Part> parts_;
};

}  // namespace linkhealth
