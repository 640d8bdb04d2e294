#include "config/read_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>

namespace linkhealth {

Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error(path, errno != 0 ? errno : ENOENT);
  std::string text(max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return errno_error(path, errno);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string exposed_secret(const std::string& path) {
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0 || (info.st_mode & S_IROTH) == 0) return "";
  return path + ": every user can read this secret (chmod o-r)";
}

}  // namespace linkhealth
