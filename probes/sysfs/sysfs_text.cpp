#include "probes/sysfs/sysfs_text.h"

#include <charconv>
#include <cstring>

#include "base/text.h"

namespace linkhealth {

std::string read_attribute(Host& host, const std::string& path) {
  const auto content = host.read_file(path);
  return content ? std::string(trim(*content)) : std::string();
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Error unexpected_text(std::string_view text) {
  if (text.empty()) return Error{"empty", 0};
  constexpr std::size_t kShown = 24;
  return Error{
      "text \"" + printable(text.substr(0, kShown)) + (text.size() > kShown ? "…\"" : "\""), 0};
}

std::string errno_name(int errnum) {
  if (errnum == 0) return "not readable";
  const char* name = strerrorname_np(errnum);
  return name != nullptr ? name : "errno " + std::to_string(errnum);
}

}  // namespace linkhealth
