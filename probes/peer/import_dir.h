// The directory in which other programs put readings, as bytes. Decides which files may be trusted,
// before their content is parsed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace linkhealth {

/// Files, bytes of one and bytes of all together, at most, that are read in one round.
inline constexpr std::size_t kMaxImportFiles = 256;
inline constexpr std::size_t kMaxImportFileBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxImportBytes = std::size_t{4} << 20;

class ImportDirectory {
 public:
  virtual ~ImportDirectory() = default;
  /// The names of the files to read, sorted: "*.json", not beginning with '.', so that a writer can
  /// write elsewhere and rename. At most kMaxImportFiles + 1. None when there is no directory: no
  /// program imports anything. Error: any user may write to the directory.
  virtual Result<std::vector<std::string>> names() = 0;
  /// The content of a file of root or of this process's own user to which no other user may write.
  /// ENOENT: it is gone.
  virtual Result<std::string> read(const std::string& name) = 0;
};

std::unique_ptr<ImportDirectory> open_import_directory(std::string path);

}  // namespace linkhealth
