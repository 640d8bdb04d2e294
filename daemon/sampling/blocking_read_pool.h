// Runs reads that may block on its own threads. A read that hangs in the kernel can be neither
// cancelled nor joined: after the patience its thread is abandoned and another thread takes over
// the queue, so that a device that does not answer does not stop the others. An owner (a port)
// blocks at most one thread: while one of its reads hangs, nothing else of it is read.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace linkhealth {

class BlockingReadPool {
 public:
  /// Delivers the result of a read, on the thread that calls finish(). `duration_s`: of the read.
  using Done = std::function<void(double duration_s)>;
  /// Runs on a thread of the pool. May hang for ever and outlive the pool: it must only use what it
  /// owns.
  using Read = std::function<Done()>;
  struct Job {
    std::string owner;  ///< "mlx5_0/1"
    std::string name;   ///< name of the read: "ethtool"
    Read read;
  };
  /// A read that takes longer than the patience.
  struct Hung {
    std::string owner, name;
    SteadyTime since;
    bool waiting = false;  ///< not yet begun: all threads hang
  };
  /// At most this many reads may hang, each with its thread; then nothing more is read until one
  /// returns.
  static constexpr std::size_t kMaxThreads = 16;

  /// `clock` must outlive every read, also those that hang: it belongs to main().
  BlockingReadPool(const Clock& clock, Milliseconds patience);
  ~BlockingReadPool();
  BlockingReadPool(const BlockingReadPool&) = delete;
  BlockingReadPool& operator=(const BlockingReadPool&) = delete;

  /// They run in this order, one after the other.
  void submit(std::vector<Job> jobs);
  /// Whether this read is queued or running, or a read of the owner hangs.
  [[nodiscard]] bool is_out(const std::string& owner, const std::string& name) const;
  /// Calls Done for every read that has returned. Makes event_fd() unreadable.
  void finish();
  /// Returns the reads that hang; gives the rest of the queue to another thread.
  std::vector<Hung> check_hung();
  /// Whether nothing is queued, running or waiting for finish().
  [[nodiscard]] bool idle() const;
  /// Readable when the queue is empty and something waits for finish().
  [[nodiscard]] int event_fd() const;

 private:
  struct Shared;
  struct Thread;
  static void run(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Thread>& self);
  void start_thread();

  std::shared_ptr<Shared> shared_;  ///< shared with the threads; lives until the last of them ends
  Milliseconds patience_;
};

}  // namespace linkhealth
