// Runs reads that may block on a thread of its own and hands over what they gave. Nobody waits for
// it. A read that hangs is named; after some patience its thread is left to it and another thread
// takes the rest of the queue, so that one device that does not answer hides no other. At most one
// thread is ever lost to a port: a port is not queued again while its read is out.
//
// Threads are its own, or lent: to wake a thread costs more than to read ten files, so the daemon's
// loop lends the one that is awake already (daemon/loop.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/port_reader.h"

namespace linkhealth {

class ReadWorker {
 public:
  struct Job {
    PortKey port;  ///< "" for the node
    ReadGroup group = ReadGroup::kCounters;
    std::function<Reading()> run{};  ///< where there is no reader
    std::shared_ptr<PortReader> reader =
        nullptr;  ///< of the port: reads the group, at the time when it begins
  };
  /// A read that has not come back.
  struct Stuck {
    PortKey port;
    ReadGroup group = ReadGroup::kCounters;
    SteadyTime since;
    bool waiting = false;  ///< it did not begin: all threads hang
  };
  enum class Threads : std::uint8_t { kOwn, kLent };
  /// So many reads may hang, each with its thread; then nothing more is read until one comes back.
  static constexpr std::size_t kMaxThreads = 16;

  /// `clock` must outlive every read, also those left behind: it belongs to main().
  ReadWorker(const Clock& clock, Milliseconds patience, Threads threads = Threads::kOwn);
  /// Threads whose reads hang are left behind; they touch only what they own.
  ~ReadWorker();
  ReadWorker(const ReadWorker&) = delete;
  ReadWorker& operator=(const ReadWorker&) = delete;

  void submit(Job job);
  /// One batch: event_fd() tells of it once, when all of it is done.
  void submit(std::vector<Job> jobs);
  /// With threads that are lent: whether one is wanted. Not while another is at work and in time,
  /// nor when too many hang.
  [[nodiscard]] bool wants_thread() const;
  /// What the lent thread is to run: it makes the reads in the queue, and may hang in one for ever.
  /// It may outlive the worker. REQUIRES: wants_thread(); it is run.
  std::function<void()> work();
  /// Whether a job of this port and group is queued or running, or a thread hangs in the port.
  [[nodiscard]] bool is_out(const PortKey& port, ReadGroup group) const;
  /// Everything that has come back. Makes event_fd() unreadable.
  std::vector<Reading> take_finished();
  /// The reads that take longer than the patience; leaves the rest of the queue to another thread.
  std::vector<Stuck> check_stuck();
  /// Nothing is queued, nothing runs and nothing waits to be taken.
  [[nodiscard]] bool idle() const;
  /// Readable when a batch is done: the queue is empty, or somebody else took it over. Never with
  /// threads that are lent: who lends one knows when it is done.
  [[nodiscard]] int event_fd() const;

 private:
  class Queue;
  struct Shared;
  struct Running;
  static void run(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Running>& self);
  static void run_lent(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Running>& self);
  bool start_thread();

  std::shared_ptr<Shared> shared_;
  Milliseconds patience_;
  Threads threads_;
};

}  // namespace linkhealth
