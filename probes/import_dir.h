// The directory in which other programs put readings, as bytes: what may be trusted of a file is
// decided here, before anybody looks at its content. Nothing here parses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace linkhealth {

/// Files, bytes of one and bytes of all together, at most, that are read in one round.
inline constexpr std::size_t kMaxImportFiles = 256;
inline constexpr std::size_t kMaxImportFileBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxImportBytes = std::size_t{4} << 20;

/// What the kernel says of a file or directory.
struct FileFacts {
  bool regular = false;
  bool directory = false;
  std::uint32_t owner = 0;
  std::uint32_t mode = 0;  ///< permission bits
  std::uint64_t size_bytes = 0;
};

/// Why what is in such a file or directory may not be believed; "" when it may. Trusted are root
/// and this process's own user, as long as not everybody may write.
std::string distrust(const FileFacts& facts, std::uint32_t own_user);

class ImportDirectory {
 public:
  virtual ~ImportDirectory() = default;
  /// The names of the files to read, sorted: "*.json", not beginning with '.', so that a writer can
  /// write elsewhere and rename. At most kMaxImportFiles + 1. None when there is no directory:
  /// nobody imports anything.
  virtual Result<std::vector<std::string>> names() = 0;
  /// A file that may be believed. ENOENT: it went meanwhile.
  virtual Result<std::string> read(const std::string& name) = 0;
};

/// `after_bytes` is called when a file's bytes are read and nobody has looked yet whether it
/// changed meanwhile: a test writes there.
std::unique_ptr<ImportDirectory> open_import_directory(std::string path,
                                                       std::function<void()> after_bytes = {});

}  // namespace linkhealth
