// Many reads in one call of the kernel: io_submit(2) makes each pread of its list one after the
// other, in the calling thread, before it returns, for files that are not opened with O_DIRECT
// (linux: fs/aio.c, aio_read; kernfs has read_iter since 5.13). What a read costs in the kernel
// stays; what is saved is the way in and out, which on machines with page-table isolation is most
// of it (docs/adr/0011-batched-reads.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "probes/host.h"

namespace linkhealth {

/// Contexts for such calls, lent to who reads and taken back after it: a read that hangs keeps its
/// own. All methods may be called from any thread.
class BatchedReads {
 public:
  /// At most so many reads in one call: more gain nothing, and the kernel's ring for their results
  /// is one page.
  static constexpr std::size_t kAtOnce = 32;

  BatchedReads();
  ~BatchedReads();
  BatchedReads(const BatchedReads&) = delete;
  BatchedReads& operator=(const BatchedReads&) = delete;

  /// Makes the reads in their order and waits for all of them. How many were made: none where the
  /// kernel does not offer such calls (or the node has no more of them: fs.aio-max-nr), fewer
  /// before a file that can't be read so; the rest is left for pread(). REQUIRES: at most kAtOnce.
  std::size_t read(std::span<DescriptorRead> reads);

 private:
  struct Context;
  std::unique_ptr<Context> take_context();
  void give_back(std::unique_ptr<Context> context);
  void give_up();

  std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
  bool offered_ =
      true;  ///< false for good after the kernel refused: the same files are read in each cycle
};

}  // namespace linkhealth
