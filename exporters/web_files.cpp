#include "exporters/web_files.h"

#include <algorithm>
#include <array>

namespace linkhealth {

namespace {
struct Type {
  std::string_view ending, content_type;
};
constexpr std::array<Type, 5> kTypes = {{{".html", "text/html; charset=utf-8"},
                                         {".css", "text/css; charset=utf-8"},
                                         {".js", "text/javascript; charset=utf-8"},
                                         {".json", "application/json"},
                                         {".md", "text/markdown; charset=utf-8"}}};
}  // namespace

std::optional<WebFile> web_file(std::string_view name) {
  const auto files = embedded_files();
  const auto file = std::ranges::find(files, name, &EmbeddedFile::name);
  if (file == files.end()) return std::nullopt;
  const auto* const type =
      std::ranges::find_if(kTypes, [&](const Type& one) { return name.ends_with(one.ending); });
  if (type == kTypes.end()) return std::nullopt;
  return WebFile{type->content_type, file->bytes};
}

}  // namespace linkhealth
