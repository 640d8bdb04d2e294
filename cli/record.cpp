#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

struct GzClose {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

/// A new file (an existing one is never overwritten), or standard output.
class Sink {
 public:
  explicit Sink(const std::string& name) {
    if (name == "-") return;
    // x: fail if it exists; T: plain, without compression
    file_.reset(gzopen(name.c_str(), name.ends_with(".gz") ? "wx6" : "wxT"));
    if (!file_) throw CommandError(kBadInput, errno_error("can't write " + name, errno).message);
  }
  bool write(std::string_view data) {
    if (!file_) return std::fwrite(data.data(), 1, data.size(), stdout) == data.size();
    return gzwrite(file_.get(), data.data(), static_cast<unsigned>(data.size())) ==
           static_cast<int>(data.size());
  }
  bool close() { return file_ ? gzclose(file_.release()) == Z_OK : std::fflush(stdout) == 0; }

 private:
  std::unique_ptr<gzFile_s, GzClose> file_;
};

/// `lines`: including the header.
std::string outcome(std::uint64_t lines, const std::string& file) {
  const std::uint64_t snapshots = lines > 0 ? lines - 1 : 0;
  return fmt::format(
      "{} snapshot{} in {}{}\n", snapshots, snapshots == 1 ? "" : "s", file,
      snapshots == 1
          ? ": only the last reading of every source; no new reading arrived (use a longer --for)"
          : "");
}

}  // namespace

int run_record(const Context& context, const RecordOptions& options) {
  Sink sink(options.file);
  std::uint64_t lines = 0;
  bool written = true;
  const auto answer = context.client.stream(
      fmt::format("/api/v1/recording?for={}", options.duration_s), [&](std::string_view data) {
        lines += static_cast<std::uint64_t>(std::ranges::count(data, '\n'));
        return written = sink.write(data);
      });
  const int write_errnum = errno;
  if (!sink.close() || !written)
    throw CommandError(kBadInput, errno_error("can't write " + options.file, write_errnum).message);
  if (lines == 0 && options.file != "-") unlink(options.file.c_str());
  (void)body_of(answer);  // throws if the daemon refused
  if (options.file != "-") std::fputs(outcome(lines, options.file).c_str(), stderr);
  return kOk;
}

}  // namespace linkhealth::cli
