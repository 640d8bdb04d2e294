#include "probes/batched_reads.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

namespace linkhealth {

namespace {

/// What a context's number points to: the kernel's list of results, mapped into this process
/// (linux: fs/aio.c, struct aio_ring; libaio reads it too). The kernel moves `tail`, we move
/// `head`.
struct Ring {
  std::uint32_t id;
  std::uint32_t count;  ///< of events
  std::uint32_t head;
  std::uint32_t tail;
  std::uint32_t magic;
  std::uint32_t compat_features;
  std::uint32_t incompat_features;
  std::uint32_t header_length;
};
constexpr std::uint32_t kMagic = 0xa10a10a1;

io_event* events_of(Ring* ring) {
  return reinterpret_cast<io_event*>(reinterpret_cast<char*>(ring) +
                                     sizeof(Ring));  // NOLINT(*-reinterpret-cast)
}

}  // namespace

struct BatchedReads::Context {
  ~Context() {
    if (id != 0) syscall(SYS_io_destroy, id);
  }
  /// Null: the context is not one that can be read without a call.
  [[nodiscard]] Ring* ring() const {
    auto* const found =
        reinterpret_cast<Ring*>(id);  // NOLINT(*-reinterpret-cast,performance-no-int-to-ptr)
    return found->magic == kMagic && found->incompat_features == 0 ? found : nullptr;
  }
  /// Results that are there, into `reads` by their numbers; how many.
  std::size_t take_results(std::span<DescriptorRead> reads) const;
  /// The same of `count` results, which are waited for.
  void wait_for_results(std::span<DescriptorRead> reads, std::size_t count) const;

  aio_context_t id = 0;
  std::array<iocb, kAtOnce> orders{};
  std::array<iocb*, kAtOnce> list{};
};

std::size_t BatchedReads::Context::take_results(std::span<DescriptorRead> reads) const {
  Ring* const results = ring();
  if (results == nullptr) return 0;
  std::size_t taken = 0;
  std::uint32_t head = results->head;
  const std::uint32_t tail = std::atomic_ref(results->tail).load(std::memory_order_acquire);
  for (; head != tail; head = head + 1 == results->count ? 0 : head + 1, ++taken)
    reads[events_of(results)[head].data].got = events_of(results)[head].res;
  std::atomic_ref(results->head).store(head, std::memory_order_release);
  return taken;
}

void BatchedReads::Context::wait_for_results(std::span<DescriptorRead> reads,
                                             std::size_t count) const {
  std::array<io_event, kAtOnce> events;  // NOLINT(*-member-init): filled by the kernel
  while (count > 0) {
    const auto got = syscall(SYS_io_getevents, id, static_cast<long>(count),
                             static_cast<long>(count), events.data(), nullptr);
    if (got < 0 && errno != EINTR) return;  // the context is ours and the memory too: it can't be
    for (const io_event& event :
         std::span(events).first(static_cast<std::size_t>(std::max(got, 0L))))
      reads[event.data].got = event.res;
    count -= static_cast<std::size_t>(std::max(got, 0L));
  }
}

BatchedReads::BatchedReads() = default;
BatchedReads::~BatchedReads() = default;

std::unique_ptr<BatchedReads::Context> BatchedReads::take_context() {
  {
    const std::lock_guard lock(mutex_);
    if (!offered_) return nullptr;
    if (!idle_.empty()) {
      auto context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  auto context = std::make_unique<Context>();
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    context->orders[i].aio_data = i;
    context->orders[i].aio_lio_opcode = IOCB_CMD_PREAD;
    context->list[i] = &context->orders[i];
  }
  if (syscall(SYS_io_setup, static_cast<unsigned>(kAtOnce), &context->id) == 0) return context;
  give_up();
  return nullptr;
}

void BatchedReads::give_up() {
  std::vector<std::unique_ptr<Context>> unused;  // ended without the lock
  const std::lock_guard lock(mutex_);
  offered_ = false;
  unused.swap(idle_);
}

void BatchedReads::give_back(std::unique_ptr<Context> context) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
}

std::size_t BatchedReads::read(std::span<DescriptorRead> reads) {
  auto context = take_context();
  if (!context) return 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    iocb& order = context->orders[i];
    order.aio_fildes = static_cast<std::uint32_t>(reads[i].fd);
    order.aio_buf = reinterpret_cast<std::uintptr_t>(
        reads[i].buffer.data());  // NOLINT(*-reinterpret-cast): the ABI
    order.aio_nbytes = reads[i].buffer.size();
    reads[i].got = -EIO;  // unless the kernel says something else
  }
  const auto taken =
      syscall(SYS_io_submit, context->id, static_cast<long>(reads.size()), context->list.data());
  if (taken <= 0) {
    give_up();
    return 0;
  }
  const auto made = static_cast<std::size_t>(taken);
  const std::size_t had = context->take_results(reads);
  if (had < made) context->wait_for_results(reads, made - had);
  give_back(std::move(context));
  return made;
}

}  // namespace linkhealth
