// Any bytes are read in bounded memory and without a crash; what was read can be written, and reads
// back the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/json/sample_json.h"
#include "storage/recording/recording.h"

namespace {

using namespace linkhealth;

void check_fixpoint(const Snapshot& snapshot) {
  const std::string once = snapshot_json(snapshot);
  OldGapConverter none;  // what is written has no gaps
  const auto again = parse_snapshot(once, none);
  if (!again || snapshot_json(*again) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("recording", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  auto reader = RecordingReader::open("/proc/self/fd/" + std::to_string(file));
  close(file);
  if (!reader) std::abort();
  const auto header = reader->header();
  if (!header) return 0;
  const std::string once = recording_header_json(*header);
  const auto again = parse_recording_header(once);
  if (!again || recording_header_json(*again) != once) std::abort();
  for (;;) {
    const auto snapshot = reader->next();
    if (!snapshot || !*snapshot) return 0;
    check_fixpoint(**snapshot);
  }
}
