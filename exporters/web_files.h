// Files embedded in the program: the page (exporters/web/), the runbooks, the demo's recording.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace linkhealth {

struct EmbeddedFile {
  std::string_view name;  ///< without its directory
  std::string_view bytes;
};
std::span<const EmbeddedFile> embedded_files();

struct WebFile {
  std::string_view content_type;
  std::string_view bytes;
};
/// nullopt: no such file.
std::optional<WebFile> web_file(std::string_view name);

/// The page's content security policy: load its own files and query its own daemon, nothing else.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'";

}  // namespace linkhealth
