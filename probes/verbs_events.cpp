#include "probes/verbs_events.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr const char* kProbe = "verbs_events";
constexpr const char* kFiles = "/sys/class/infiniband_verbs";
constexpr std::uint64_t kCallsTicket = 0;

PortKey key_of(const std::string& device, std::uint32_t port) {
  return device + "/" + std::to_string(port);
}

/// Whether the kernel still offers the device's file: the first that goes when a driver is
/// unloaded.
bool is_there(Host& host, const std::string& device, const std::string& file) {
  const auto name = host.read_file(std::string(kFiles) + "/" + file + "/ibdev");
  return name && trim(*name) == device;
}

bool is_about_rights(const Error& error) {
  return error.errnum == EACCES || error.errnum == EPERM || error.errnum == ENOENT;
}

}  // namespace

VerbsEvents::VerbsEvents(std::shared_ptr<VerbsLibrary> library, Milliseconds patience)
    : poll_(epoll_create1(EPOLL_CLOEXEC)), calls_(std::move(library), patience) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u64 = kCallsTicket;
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, calls_.event_fd(), &wanted);
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
  std::map<std::string, std::vector<std::uint32_t>> wanted;
  for (const InventoryPort& port : ports)
    if (port.id.verbs && port.exempt_reason.empty()) wanted[port.id.device].push_back(port.id.port);
  no_files_.reset();
  const auto files = wanted.empty() && devices_.empty() ? std::map<std::string, std::string>()
                                                        : device_files(host);
  if (wanted.empty()) no_files_.reset();
  for (auto at = devices_.begin(); at != devices_.end();) {
    auto& [name, device] = *at;
    const auto file = files.find(name);
    const bool gone = !wanted.contains(name) || file == files.end() ||
                      (device.context && file->second != device.file);
    if (gone) release(name, device);
    if (gone) device.ports.clear();
    at = gone && !device.out ? devices_.erase(at) : std::next(at);
  }
  for (auto& [name, numbers] : wanted)
    if (files.contains(name)) devices_[name].ports = std::move(numbers);
  open_due(files, now);
  calls_.advance(now);
}

bool VerbsEvents::is_due(const Device& device, SteadyTime now) {
  return !device.ports.empty() && !device.context && !device.out && now >= device.not_before;
}

void VerbsEvents::open_due(const std::map<std::string, std::string>& files, SteadyTime now) {
  for (auto& [name, device] : devices_) {
    if (!is_due(device, now)) continue;
    const auto file = files.find(name);
    if (file == files.end()) {  // the next search says whether it has gone
      device.not_before = now + kAgain;
      continue;
    }
    device.file = file->second;
    device.out = true;
    calls_.open(name);
  }
}

void VerbsEvents::release(const std::string& name, Device& device) {
  if (!device.context) return;
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, device.context->fd(), nullptr);
  calls_.close(name, std::move(device.context));
}

void VerbsEvents::take_opened(Host& host, SteadyTime now) {
  for (VerbsCalls::Opened& opened : calls_.take_opened()) {
    const auto at = devices_.find(opened.device);
    Device unknown;
    Device& device = at == devices_.end() ? unknown : at->second;
    device.out = false;
    device.failed.reset();
    device.not_before = now + kAgain;
    if (!opened.context) {
      device.failed = opened.context.error();
      continue;
    }
    device.context = *std::move(opened.context);
    device.ticket = ++tickets_;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = device.ticket;
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, device.context->fd(), &wanted);
    // It may have gone while it was being opened.
    if (!is_there(host, opened.device, device.file)) release(opened.device, device);
  }
}

FeedNews VerbsEvents::receive(Host& host, SteadyTime now) {
  FeedNews news;
  std::array<epoll_event, 64> ready{};
  const int count = epoll_wait(poll_.get(), ready.data(), ready.size(), 0);
  news.heard = count > 0;
  for (int i = 0; i < count; ++i) {
    if (ready.at(static_cast<std::size_t>(i)).data.u64 == kCallsTicket) {
      take_opened(host, now);
      continue;
    }
    for (auto& [name, device] : devices_)
      if (device.context && device.ticket == ready.at(static_cast<std::size_t>(i)).data.u64)
        drain(host, name, device, now, news);
  }
  // What was given back, or could not be opened: the next search may be minutes away.
  if (std::ranges::any_of(devices_, [now](const auto& entry) { return is_due(entry.second, now); }))
    open_due(device_files(host), now);
  calls_.advance(now);
  return news;
}

void VerbsEvents::drain(Host& host, const std::string& name, Device& device, SteadyTime now,
                        FeedNews& news) {
  for (std::size_t i = 0; i < kEventsAtOnce; ++i) {
    const auto event = device.context->next();
    if (event && !*event) return;
    const bool ends = !event || (*event)->kind == VerbsEventKind::kDeviceFatal;
    if (!ends) {
      tell(name, device, **event, now, news);
      continue;
    }
    // The context is of no use any more, and somebody may wait for its end. A fatal error is one
    // only while the device is there: the kernel says the same to the holders of a device whose
    // driver is unloaded.
    const bool there = is_there(host, name, device.file);
    if (event && there)
      for (const std::uint32_t port : device.ports)
        news.events.push_back({now, key_of(name, port), PortEventKind::kDeviceFatal, ""});
    if (there)
      device.failed =
          event ? Error{"given back after a fatal error of the device: it is opened again soon"}
                : event.error();
    release(name, device);
    device.not_before = now + kAgain;
    news.search = true;
    return;
  }
}

void VerbsEvents::tell(const std::string& name, const Device& device, const VerbsEvent& event,
                       SteadyTime now, FeedNews& news) {
  if (event.kind == VerbsEventKind::kOther) return;
  if (std::find(device.ports.begin(), device.ports.end(), event.port) == device.ports.end()) return;
  const PortKey port = key_of(name, event.port);
  news.look = true;
  news.ports.insert(port);
  const auto emit = [&](PortEventKind kind) { news.events.push_back({now, port, kind, ""}); };
  if (event.kind == VerbsEventKind::kPortError) emit(PortEventKind::kPortError);
  if (event.kind == VerbsEventKind::kPortActive) emit(PortEventKind::kPortActive);
  if (event.kind == VerbsEventKind::kLidChange) emit(PortEventKind::kLidChange);
  if (event.kind == VerbsEventKind::kSmChange) emit(PortEventKind::kSmChange);
}

std::vector<Gap> VerbsEvents::gaps() const {
  std::vector<Gap> gaps;
  if (no_files_) gaps.push_back(*no_files_);
  std::set<std::string> rights;
  std::map<std::string, std::string> reasons;  // by device: one for each
  for (const std::string& name : calls_.without_thread())
    reasons[name] =
        "no thread is left to open it: too many devices hang, or the limit of tasks is reached";
  for (const auto& [name, device] : devices_) {
    if (!device.failed) continue;
    if (!is_about_rights(*device.failed)) {
      reasons[name] = device.failed->message;
    } else if (rights.insert(std::to_string(device.failed->errnum)).second) {
      // One gap for the node: the file differs, the reason does not.
      gaps.push_back(
          {"", kProbe,
           device.failed->message +
               " (let the daemon open /dev/infiniband/uverbs*, or set sampling.verbs_events: 0)"});
    }
  }
  const auto stuck = calls_.stuck();
  for (const std::string& name : stuck) reasons[name] = "the device does not answer";
  for (const auto& [name, reason] : reasons) {
    const auto device = devices_.find(name);
    if (device != devices_.end() && !device->second.ports.empty())
      gaps.push_back({key_of(name, device->second.ports.front()), kProbe, reason,
                      std::ranges::find(stuck, name) != stuck.end()});
  }
  return gaps;
}

}  // namespace linkhealth
