#include "probes/netlink/device_events.h"

#include <linux/netlink.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/text.h"

namespace linkhealth {

namespace {

constexpr std::uint32_t kKernelGroup = 1;  // group 2 is udev's

/// The next text up to its NUL; what has none ends the message.
std::optional<std::string_view> next_text(std::string_view& rest) {
  const auto end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

}  // namespace

Result<std::optional<DeviceEvent>> parse_uevent(ByteView message) {
  std::string_view rest(reinterpret_cast<const char*>(message.data()), message.size());
  const auto head = next_text(rest);
  if (!head || head->find('@') == std::string_view::npos)
    return Error{"not a device event", EBADMSG};
  std::string_view action, path, subsystem;
  std::uint64_t number = 0;
  while (const auto line = next_text(rest)) {
    if (line->starts_with("ACTION=")) action = line->substr(7);
    if (line->starts_with("DEVPATH=")) path = line->substr(8);
    if (line->starts_with("SUBSYSTEM=")) subsystem = line->substr(10);
    if (line->starts_with("SEQNUM=")) number = parse_u64(line->substr(7)).value_or(0);
  }
  if (action.empty() || path.empty() || subsystem.empty())
    return Error{"not a device event", EBADMSG};
  if (subsystem != "infiniband" && subsystem != "infiniband_verbs" && subsystem != "net")
    return std::optional<DeviceEvent>();
  const auto slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::optional(
      DeviceEvent{std::string(action), std::string(subsystem), std::string(name), number});
}

std::uint64_t latest_device_event(Host& host) {
  const auto text = host.read_file("/sys/kernel/uevent_seqnum");
  return text ? parse_u64(trim(*text)).value_or(0) : 0;
}

DeviceEvents::DeviceEvents(Host& host) {
  constexpr std::array kGroups = {kKernelGroup};
  auto events = host.listen(NETLINK_KOBJECT_UEVENT, kGroups);
  if (events) {
    events_ = *std::move(events);
  } else if (events.error().errnum != EOPNOTSUPP) {
    failed_ = events.error();
  }
}

FeedNews DeviceEvents::receive(Host& /*host*/, SteadyTime /*now*/) {
  FeedNews news;
  if (!events_) return news;
  const auto messages = events_->receive();
  if (!messages) {
    news.search = news.more = true;
    return news;
  }
  news.heard = !messages->empty();
  news.more = messages->size() >= HostEvents::kAtOnce;
  for (const Bytes& message : *messages) {
    const auto event = parse_uevent(message);
    if (!event || !*event || (*event)->action == "change") continue;
    news.search = true;
    if ((*event)->action == "remove") news.removed[(*event)->name] = (*event)->number;
    if ((*event)->action == "add") news.added[(*event)->name] = (*event)->number;
  }
  return news;
}

std::vector<Gap> DeviceEvents::gaps() const {
  if (!failed_) return {};
  return {{"", "device_events", failed_->message}};
}

}  // namespace linkhealth
