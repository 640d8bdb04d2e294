#include "probes/verbs/verbs_events.h"

#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/quiet_thread.h"
#include "base/text.h"

namespace linkhealth {

namespace {

constexpr const char* kProbe = "verbs_events";
constexpr const char* kFiles = "/sys/class/infiniband_verbs";
constexpr Milliseconds kStopPatience{200};

/// Events of a port. Those without a kind only prompt a reading.
struct PortEventRow {
  int type;
  std::optional<PortEventKind> kind;
};
constexpr PortEventRow kPortEvents[] = {{IBV_EVENT_PORT_ERR, PortEventKind::kPortError},
                                        {IBV_EVENT_PORT_ACTIVE, PortEventKind::kPortActive},
                                        {IBV_EVENT_LID_CHANGE, PortEventKind::kLidChange},
                                        {IBV_EVENT_SM_CHANGE, PortEventKind::kSmChange},
                                        {IBV_EVENT_PKEY_CHANGE, std::nullopt},
                                        {IBV_EVENT_GID_CHANGE, std::nullopt},
                                        {IBV_EVENT_CLIENT_REREGISTER, std::nullopt}};

PortKey key_of(const std::string& device, std::uint32_t port) {
  return device + "/" + std::to_string(port);
}

/// Whether the kernel still offers the device's file, which is removed first when a driver is
/// unloaded.
bool is_there(Host& host, const std::string& device, const std::string& file) {
  const auto name = host.read_file(std::string(kFiles) + "/" + file + "/ibdev");
  return name && trim(*name) == device;
}

bool is_about_rights(const Error& error) {
  return error.errnum == EACCES || error.errnum == EPERM || error.errnum == ENOENT;
}

}  // namespace

/// Shared by a device's thread and the feed; lives until both have ended.
struct VerbsEvents::Watch {
  enum class Phase : std::uint8_t { kOpening, kWaiting, kClosing, kEnded };

  explicit Watch(std::shared_ptr<OwnedFd> wake_feed) : wake(std::move(wake_feed)) {}
  /// The thread's function.
  void run(const std::string& device, VerbsLibrary& library);
  /// Returns when the device fails or stop is readable.
  void wait_for_events(VerbsContext& context);
  void enter(Phase next, std::optional<Error> why = {});

  const std::shared_ptr<OwnedFd> wake;
  const OwnedFd stop{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  // Everything below is protected by the mutex.
  std::condition_variable ended;
  Phase phase = Phase::kOpening;
  std::vector<VerbsEvent> events;
  std::optional<Error> error;  ///< why it failed

  // Used only by the feed.
  Phase seen = Phase::kOpening;
  SteadyTime since;  ///< when the feed first saw that phase
  bool hung = false;
  bool released = false;  ///< stop was written: ignore what it reports from now on
};

void VerbsEvents::Watch::enter(Phase next, std::optional<Error> why) {
  const std::lock_guard lock(mutex);
  phase = next;
  if (why) error = std::move(why);
  if (next == Phase::kEnded) ended.notify_all();
  eventfd_write(wake->get(), 1);
}

void VerbsEvents::Watch::run(const std::string& device, VerbsLibrary& library) {
  auto context = library.open(device);
  if (context) {
    enter(Phase::kWaiting);
    wait_for_events(**context);
    context->reset();
  }
  enter(Phase::kEnded, context ? std::nullopt : std::optional(context.error()));
}

void VerbsEvents::Watch::wait_for_events(VerbsContext& context) {
  for (;;) {
    std::array<pollfd, 2> wanted = {{{stop.get(), POLLIN, 0}, {context.fd(), POLLIN, 0}}};
    if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR)
      return enter(Phase::kClosing, errno_error("poll", errno));
    if (wanted[0].revents != 0) return enter(Phase::kClosing);
    const auto event = context.next();
    if (!event) return enter(Phase::kClosing, event.error());
    if (!*event) continue;
    {
      const std::lock_guard lock(mutex);
      const bool is_fatal = (*event)->type == IBV_EVENT_DEVICE_FATAL;
      if (events.size() < kMaxEvents || is_fatal) events.push_back(**event);
      eventfd_write(wake->get(), 1);
      // The context is now useless, and a driver may be waiting for it to be closed.
      if (is_fatal) phase = Phase::kClosing;
      if (is_fatal) return;
    }
  }
}

VerbsEvents::VerbsEvents(std::shared_ptr<VerbsLibrary> library, Milliseconds patience)
    : library_(std::move(library)),
      patience_(patience),
      wake_(std::make_shared<OwnedFd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {}

VerbsEvents::~VerbsEvents() {
  for (const auto& [name, watch] : threads_) eventfd_write(watch->stop.get(), 1);
  Milliseconds left = kStopPatience;
  for (const auto& [name, watch] : threads_) {
    std::unique_lock lock(watch->mutex);
    const auto is_over = [&one = *watch] { return one.phase == Watch::Phase::kEnded; };
    if (!watch->ended.wait_for(lock, left, is_over)) left = Milliseconds(0);
  }
}

std::map<std::string, std::string> VerbsEvents::device_files(Host& host) {
  std::map<std::string, std::string> files;
  no_files_.reset();
  const auto names = host.list_dir(kFiles);
  if (!names) {
    no_files_ = Gap{"", kProbe, names.error().message + " (load the module ib_uverbs)"};
    return files;
  }
  for (const std::string& name : *names)
    if (const auto device = host.read_file(std::string(kFiles) + "/" + name + "/ibdev"))
      files.emplace(trim(*device), name);
  return files;
}

void VerbsEvents::set_ports(Host& host, std::span<const InventoryPort> ports, SteadyTime now) {
  now_ = now;
  std::map<std::string, std::vector<std::uint32_t>> wanted;
  for (const InventoryPort& port : ports)
    if (port.id.verbs && port.exempt_reason.empty()) wanted[port.id.device].push_back(port.id.port);
  std::map<std::string, std::string> files;
  if (!wanted.empty() || !devices_.empty()) files = device_files(host);
  if (wanted.empty()) no_files_.reset();
  std::erase_if(devices_, [&](const auto& entry) {
    const auto& [name, device] = entry;
    const auto file = files.find(name);
    const bool gone = !wanted.contains(name) || file == files.end() ||
                      (!device.file.empty() && file->second != device.file);
    if (gone) stop(name);
    return gone;
  });
  for (auto& [name, numbers] : wanted)
    if (files.contains(name)) devices_[name].ports = std::move(numbers);
  update_threads();
  start_due(files);
}

void VerbsEvents::start_due(const std::map<std::string, std::string>& files) {
  no_thread_ = false;
  for (auto& [name, device] : devices_) {
    if (now_ < device.not_before || threads_.contains(name)) continue;
    const auto file = files.find(name);
    if (file == files.end()) {  // the next search finds out whether it has gone
      device.not_before = now_ + kRetry;
      continue;
    }
    device.file = file->second;
    if (!start(name)) no_thread_ = true;
  }
}

/// False: no thread can be started.
bool VerbsEvents::start(const std::string& name) {
  if (threads_.size() >= kMaxThreads) return false;
  auto watch = std::make_shared<Watch>(wake_);
  watch->since = now_;
  try {
    // Detached: a thread that hangs in the kernel can be neither cancelled nor joined.
    quiet_thread([watch, library = library_, name] { watch->run(name, *library); }).detach();
  } catch (const std::system_error&) {  // the limit of tasks
    return false;
  }
  threads_.emplace(name, std::move(watch));
  return true;
}

void VerbsEvents::stop(const std::string& name) {
  const auto thread = threads_.find(name);
  if (thread == threads_.end()) return;
  thread->second->released = true;
  eventfd_write(thread->second->stop.get(), 1);
}

/// Notices calls that hang, and removes threads that have ended.
void VerbsEvents::update_threads() {
  std::erase_if(threads_, [&](const auto& entry) {
    Watch& watch = *entry.second;
    const std::lock_guard lock(watch.mutex);
    if (watch.seen != watch.phase) watch.since = now_;
    watch.seen = watch.phase;
    watch.hung = watch.seen != Watch::Phase::kWaiting && now_ - watch.since >= patience_;
    return watch.phase == Watch::Phase::kEnded && watch.events.empty() && !watch.error;
  });
}

FeedNews VerbsEvents::receive(Host& host, SteadyTime now) {
  now_ = now;
  FeedNews news;
  eventfd_t count = 0;
  news.heard = eventfd_read(wake_->get(), &count) == 0;
  for (const auto& [name, watch] : threads_) {
    std::vector<VerbsEvent> events;
    std::optional<Error> error;
    bool is_open = false;
    {
      const std::lock_guard lock(watch->mutex);
      events = std::exchange(watch->events, {});
      error = std::exchange(watch->error, std::nullopt);
      is_open = watch->phase == Watch::Phase::kWaiting;
    }
    const auto device = devices_.find(name);
    if (watch->released || device == devices_.end()) continue;
    if (is_open) device->second.failed.reset();
    for (const VerbsEvent& event : events)
      event.type == IBV_EVENT_DEVICE_FATAL ? end_device(host, name, std::nullopt, news)
                                           : add_event(name, event, news);
    if (error) end_device(host, name, std::move(error), news);
  }
  update_threads();
  // The next search may be minutes away.
  const auto is_due = [&](const auto& entry) {
    return now_ >= entry.second.not_before && !threads_.contains(entry.first);
  };
  if (std::ranges::any_of(devices_, is_due)) start_due(device_files(host));
  return news;
}

/// Its context failed, or is useless after a fatal error (no `error`). A fatal error counts only
/// while the device exists: the kernel sends the same event to the holders of a device whose driver
/// is unloaded.
void VerbsEvents::end_device(Host& host, const std::string& name, std::optional<Error> error,
                             FeedNews& news) {
  Device& device = devices_.at(name);
  device.not_before = now_ + kRetry;
  if (!error || threads_.at(name)->seen == Watch::Phase::kWaiting) news.search = true;
  if (!is_there(host, name, device.file)) return;
  if (!error)
    for (const std::uint32_t port : device.ports)
      news.events.push_back({now_, key_of(name, port), PortEventKind::kDeviceFatal, ""});
  device.failed = error ? *error : Error{"closed after a fatal error of the device: retrying soon"};
}

void VerbsEvents::add_event(const std::string& name, const VerbsEvent& event,
                            FeedNews& news) const {
  const auto* const row = std::ranges::find(kPortEvents, event.type, &PortEventRow::type);
  const std::vector<std::uint32_t>& ports = devices_.at(name).ports;
  if (row == std::end(kPortEvents) || std::ranges::find(ports, event.port) == ports.end()) return;
  const PortKey port = key_of(name, event.port);
  news.look = true;
  news.ports.insert(port);
  if (row->kind) news.events.push_back({now_, port, *row->kind, ""});
}

std::vector<Gap> VerbsEvents::gaps() const {
  std::vector<Gap> gaps;
  if (no_files_) gaps.push_back(*no_files_);
  std::set<int> rights;
  for (const auto& [name, device] : devices_) {
    const auto thread = threads_.find(name);
    const bool hung = thread != threads_.end() && thread->second->hung;
    std::string reason;
    if (hung) {
      reason = "the device does not answer";
    } else if (thread == threads_.end() && no_thread_ && now_ >= device.not_before) {
      reason = "no thread left to open it: too many devices hang, or the task limit is reached";
    } else if (device.failed && !is_about_rights(*device.failed)) {
      reason = device.failed->message;
    } else if (device.failed && rights.insert(device.failed->errnum).second) {
      // One gap for the node: the file differs, the reason does not.
      gaps.push_back(
          {"", kProbe,
           device.failed->message +
               " (let the daemon open /dev/infiniband/uverbs*, or set sampling.verbs_events: 0)"});
    }
    if (!reason.empty() && !device.ports.empty())
      gaps.push_back({key_of(name, device.ports.front()), kProbe, std::move(reason), hung});
  }
  return gaps;
}

}  // namespace linkhealth
