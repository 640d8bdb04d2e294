// The directory into which other programs put readings, as bytes. Decides which files can be
// trusted, before their content is parsed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace linkhealth {

/// Limits for one round: number of files, bytes of one file, and bytes of all together.
inline constexpr std::size_t kMaxImportFiles = 256;
inline constexpr std::size_t kMaxImportFileBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxImportBytes = std::size_t{4} << 20;

class ImportDirectory {
 public:
  virtual ~ImportDirectory() = default;
  /// The names of the files to read, sorted: "*.json", not beginning with '.', so that a writer can
  /// use a temporary name and rename. At most kMaxImportFiles + 1. Empty if the directory does not
  /// exist: no program imports anything. Error: any user may write to the directory.
  virtual Result<std::vector<std::string>> names() = 0;
  /// The content of a file that belongs to root or this process's user and that no other user can
  /// write to. ENOENT: it is gone.
  virtual Result<std::string> read(const std::string& name) = 0;
};

std::unique_ptr<ImportDirectory> open_import_directory(std::string path);

}  // namespace linkhealth
