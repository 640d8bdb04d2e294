// Runs reads that may block on threads of its own. A read that hangs in the kernel can be neither
// cancelled nor joined: after the patience its thread is abandoned to it and another thread takes
// the rest of the queue, so that one device that does not answer hides no other. An owner (a port)
// loses at most one thread: nothing of it is read while one of its reads hangs.
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
  /// Hands over what a read gave, on the thread that calls finish(). `duration_s`: of the read.
  using Done = std::function<void(double duration_s)>;
  /// Runs on a thread of the pool. It may hang for ever and outlive the pool: it touches only what
  /// it owns.
  using Read = std::function<Done()>;
  struct Job {
    std::string owner;  ///< "mlx5_0/1"
    std::string name;   ///< of the read: "ethtool"
    Read read;
  };
  /// A read that takes longer than the patience.
  struct Hung {
    std::string owner, name;
    SteadyTime since;
    bool waiting = false;  ///< it did not begin: all threads hang
  };
  /// So many reads may hang, each with its thread; then nothing more is read until one comes back.
  static constexpr std::size_t kMaxThreads = 16;

  /// `clock` must outlive every read, also those that hang: it belongs to main().
  BlockingReadPool(const Clock& clock, Milliseconds patience);
  ~BlockingReadPool();
  BlockingReadPool(const BlockingReadPool&) = delete;
  BlockingReadPool& operator=(const BlockingReadPool&) = delete;

  /// In this order, one after the other.
  void submit(std::vector<Job> jobs);
  /// Whether this read is queued or running, or a read of the owner hangs.
  [[nodiscard]] bool is_out(const std::string& owner, const std::string& name) const;
  /// Calls Done of every read that has come back. Makes event_fd() unreadable.
  void finish();
  /// The reads that hang; leaves the rest of the queue to another thread.
  std::vector<Hung> check_hung();
  /// Nothing is queued, nothing runs and nothing waits for finish().
  [[nodiscard]] bool idle() const;
  /// Readable when the queue is empty and something waits for finish().
  [[nodiscard]] int event_fd() const;

 private:
  struct Shared;
  struct Thread;
  static void run(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Thread>& self);
  void start_thread();

  std::shared_ptr<Shared> shared_;  ///< with the threads; lives as long as the longest of them
  Milliseconds patience_;
};

}  // namespace linkhealth
