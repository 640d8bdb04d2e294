#include "daemon/delivery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

namespace {

// These say that the request itself is bad: the same bytes will be refused again.
constexpr std::array<int, 4> kRefusals = {400, 413, 415, 422};

bool is_refusal(int status) { return std::ranges::find(kRefusals, status) != kRefusals.end(); }
bool is_good(int status) { return status >= 200 && status < 300; }

std::string answer_words(const PostReply& reply) {
  return fmt::format("answered {} {}", reply.status,
                     printable(std::string_view(reply.body).substr(0, 200)));
}

/// Without the password that a URL may hold.
std::string url_words(const std::string& url) {
  const auto begin = url.find("://");
  const auto at = url.find('@');
  if (begin == std::string::npos || at == std::string::npos || at > url.find('/', begin + 3))
    return url;
  return url.substr(0, begin + 3) + url.substr(at + 1);
}

std::string without_end_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

const PortReport* port_of(const Report* report, const PortKey& key) {
  if (report == nullptr) return nullptr;
  const auto found = std::ranges::find(report->ports, key, &PortReport::port);
  return found == report->ports.end() ? nullptr : &*found;
}

void skip_all(Outbox& outbox, const std::string& sink) {
  constexpr std::size_t kAtOnce = 64;
  for (;;) {
    const auto events = outbox.undelivered(sink, kAtOnce);
    if (!events || events->empty()) return;
    outbox.mark_delivered(sink, events->back().id);
  }
}

}  // namespace

std::optional<Milliseconds> Retry::wait(SteadyTime now) const {
  if (!at_ || *at_ <= now) return std::nullopt;
  return *at_ - now;
}

void Retry::failed(SteadyTime now, const std::string& why) {
  if (!at_) say_(false, fmt::format("{}: {}: it is tried again until it works", name_, why));
  at_ = now + next_;
  next_ = std::min(next_ * 2, kLongest);
}

void Retry::worked() {
  if (at_) say_(true, name_ + ": works again");
  at_.reset();
  next_ = kFirst;
}

AlertDelivery::AlertDelivery(const std::string& url, Milliseconds resend, AlertOrigin origin,
                             Outbox& outbox, const Publisher& publisher,
                             std::unique_ptr<HttpPoster> poster, const Retry::Say& say)
    : url_(without_end_slash(url) + "/api/v2/alerts"),
      sink_("alertmanager " + url_words(url)),
      resend_(resend),
      origin_(std::move(origin)),
      outbox_(outbox),
      publisher_(publisher),
      poster_(std::move(poster)),
      retry_(sink_, say) {
  outbox_.add_sink(sink_);
}

void AlertDelivery::end(const std::string& id, WallTime at) {
  const auto found = standing_.find(id);
  if (found == standing_.end()) return;
  ended_.push_back(std::move(found->second.alert));
  ended_.back().ends_at = at;
  standing_.erase(found);
}

void AlertDelivery::stand(const std::string& id, Alert alert, WallTime told_at, WallTime now) {
  const auto before = standing_.find(id);
  // Other labels are another alert to the Alertmanager: the one before must end, or both would
  // stand.
  if (before != standing_.end() && before->second.alert.labels != alert.labels) end(id, now);
  standing_[id] = {std::move(alert), told_at};
}

void AlertDelivery::take(const OutboxEvent& kept, const Report* report, WallTime now) {
  const FaultEvent& event = kept.event;
  last_taken_ = kept.id;
  if (event.kind != FaultEventKind::kClosed)
    return stand(event.fault.id,
                 make_alert(origin_, event.port, port_of(report, event.port), event.fault),
                 event.at, now);
  // Closed before this daemon ever sent it (it was restarted): its labels are made anew.
  if (!standing_.contains(event.fault.id))
    standing_[event.fault.id] = {
        make_alert(origin_, event.port, port_of(report, event.port), event.fault), event.at};
  end(event.fault.id, std::min(event.at, now));
}

void AlertDelivery::take_report(const Report& report, WallTime now) {
  std::map<std::string, bool> there;
  for (const PortReport& port : report.ports)
    for (const FaultReport& fault : port.faults) {
      there[fault.id] = true;
      stand(fault.id, make_alert(origin_, port.port, &port, fault), report.at, now);
    }
  std::vector<std::string> gone;
  for (const auto& [id, standing] : standing_)
    if (!there.contains(id) && report.at > standing.told_at) gone.push_back(id);
  for (const std::string& id : gone) end(id, now);
}

std::optional<Milliseconds> AlertDelivery::step(const DeliveryTime& now) {
  if (const auto wait = retry_.wait(now.steady)) return wait;
  const auto published = publisher_.current();
  const Report* report = published ? &published->report() : nullptr;
  const auto events = outbox_.undelivered(sink_, kBatch);
  if (!events) {
    retry_.failed(now.steady, events.error().message);
    return retry_.wait(now.steady);
  }
  const bool again = report != nullptr && (!resend_at_ || now.steady >= *resend_at_);
  if (events->empty() && !again && ended_.empty())
    return resend_at_ && !standing_.empty() ? std::optional(*resend_at_ - now.steady)
                                            : std::nullopt;
  for (const OutboxEvent& event : *events) take(event, report, now.wall);
  if (again) take_report(*report, now.wall);
  std::vector<Alert> alerts = ended_;
  for (const auto& [id, standing] : standing_) alerts.push_back(standing.alert);
  if (!alerts.empty()) {
    const auto reply =
        poster_->post(url_, alerts_json(alerts, now.wall + kStandsFor * resend_), "");
    if (!reply || (!is_good(reply->status) && !is_refusal(reply->status))) {
      retry_.failed(now.steady, reply ? answer_words(*reply) : reply.error().message);
      return retry_.wait(now.steady);
    }
    if (is_refusal(reply->status))
      retry_.refused("it takes these alerts never: " + answer_words(*reply));
    retry_.worked();
  }
  ended_.clear();
  if (!events->empty()) outbox_.mark_delivered(sink_, events->back().id);
  resend_at_ = now.steady + resend_;
  if (events->size() == kBatch) return Milliseconds(0);
  return standing_.empty() ? std::nullopt : std::optional(resend_);
}

void AlertDelivery::skip() {
  skip_all(outbox_, sink_);
  standing_.clear();  // the Alertmanager ends them when they are not sent again
  ended_.clear();
  resend_at_.reset();
}

WebhookDelivery::WebhookDelivery(std::string url, WebhookTemplate body, AlertOrigin origin,
                                 Outbox& outbox, const Publisher& publisher,
                                 std::function<std::string(const FaultEvent&)> event_json,
                                 std::unique_ptr<HttpPoster> poster, const Retry::Say& say)
    : url_(std::move(url)),
      sink_("webhook " + url_words(url_)),
      body_(std::move(body)),
      origin_(std::move(origin)),
      outbox_(outbox),
      publisher_(publisher),
      event_json_(std::move(event_json)),
      poster_(std::move(poster)),
      retry_(sink_, say) {
  outbox_.add_sink(sink_);
}

std::optional<Milliseconds> WebhookDelivery::step(const DeliveryTime& now) {
  constexpr std::size_t kAtOnce = 16;
  if (const auto wait = retry_.wait(now.steady)) return wait;
  const auto events = outbox_.undelivered(sink_, kAtOnce);
  if (!events) {
    retry_.failed(now.steady, events.error().message);
    return retry_.wait(now.steady);
  }
  const auto published = publisher_.current();
  for (const OutboxEvent& kept : *events) {
    const FaultEvent& event = kept.event;
    const PortReport* port = port_of(published ? &published->report() : nullptr, event.port);
    const Alert alert = make_alert(origin_, event.port, port, event.fault);
    const auto reply = poster_->post(
        url_, body_.fill(event, kept.id, origin_.node, event_json_(event), alert.labels), kept.id);
    if (!reply || (!is_good(reply->status) && !is_refusal(reply->status))) {
      retry_.failed(now.steady, reply ? answer_words(*reply) : reply.error().message);
      return retry_.wait(now.steady);
    }
    if (is_refusal(reply->status))
      retry_.refused(fmt::format("event {} is given up: {}", kept.id, answer_words(*reply)));
    retry_.worked();
    outbox_.mark_delivered(sink_, kept.id);
  }
  return events->size() == kAtOnce ? std::optional(Milliseconds(0)) : std::nullopt;
}

void WebhookDelivery::skip() { skip_all(outbox_, sink_); }

TextfileDelivery::TextfileDelivery(std::string path, Milliseconds period,
                                   const Publisher& publisher, const Retry::Say& say)
    : path_(std::move(path)), period_(period), publisher_(publisher), retry_("textfile", say) {}

std::optional<Milliseconds> TextfileDelivery::step(const DeliveryTime& now) {
  if (next_ && now.steady < *next_) return *next_ - now.steady;
  const auto published = publisher_.current();
  if (!published) return std::nullopt;  // woken with the first report
  next_ = now.steady + period_;
  if (const auto written = replace_file(path_, *published->metrics({})); !written) {
    retry_.failed(now.steady, written.error().message);
  } else {
    retry_.worked();
  }
  return period_;
}

void TextfileDelivery::finish() { unlink(path_.c_str()); }

Result<void> replace_file(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";  // the collector reads *.prom only
  OwnedFd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return errno_error("opening " + beside, errno);
  fchmod(fd.get(), 0644);  // node_exporter is another user, and the umask may be strict
  while (!bytes.empty()) {
    const ssize_t written = write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const Error error = errno_error("writing " + beside, errno);
      unlink(beside.c_str());
      return error;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0)
    return errno_error("renaming " + beside, errno);
  return {};
}

}  // namespace linkhealth
