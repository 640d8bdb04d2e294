#include "daemon/deliveries.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/quiet_thread.h"

namespace linkhealth {

namespace {

Result<WebhookTemplate> read_template(const std::string& file) {
  if (file.empty()) return WebhookTemplate::plain();
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return errno_error(file, errno);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return WebhookTemplate::parse(text, file);
}

}  // namespace

Result<void> Deliveries::check(const Outputs& outputs) {
  const std::atomic<bool> stop = false;
  const bool hook = !outputs.webhook.url.empty();
  if (hook)
    if (const auto body = read_template(outputs.webhook.template_file); !body)
      return Error{"webhook: " + body.error().message};
  if (!hook && outputs.alertmanager.urls.empty()) return {};
  if (const auto poster = curl_poster({}, stop); !poster)
    return Error{(hook ? "webhook: " : "alertmanager: ") + poster.error().message};
  return {};
}

void Deliveries::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  for (const auto& delivery : all_) delivery->finish();
}

Result<void> Deliveries::add(const Outputs& outputs, const Origin& origin, Outbox& outbox,
                             const Publisher& publisher, const Retry::Say& say) {
  for (const std::string& url : outputs.alertmanager.urls) {
    auto poster = curl_poster(outputs.alertmanager.access, stopping_);
    if (!poster) return Error{"alertmanager: " + poster.error().message};
    all_.push_back(std::make_unique<AlertDelivery>(url, from_seconds(outputs.alertmanager.resend_s),
                                                   origin.alerts, outbox, publisher,
                                                   *std::move(poster), say));
  }
  if (!outputs.webhook.url.empty()) {
    auto body = read_template(outputs.webhook.template_file);
    if (!body) return Error{"webhook: " + body.error().message};
    auto poster = curl_poster(outputs.webhook.access, stopping_);
    if (!poster) return Error{"webhook: " + poster.error().message};
    all_.push_back(std::make_unique<WebhookDelivery>(outputs.webhook.url, *std::move(body),
                                                     origin.alerts, outbox, publisher,
                                                     origin.event_json, *std::move(poster), say));
  }
  if (!outputs.textfile.path.empty())
    all_.push_back(std::make_unique<TextfileDelivery>(
        outputs.textfile.path, from_seconds(outputs.textfile.period_s), publisher, say));
  return {};
}

Result<void> Deliveries::start(const Outputs& outputs, const Origin& origin, Outbox& outbox,
                               const Publisher& publisher, const Retry::Say& say) {
  if (auto added = add(outputs, origin, outbox, publisher, say); !added) return added;
  if (all_.empty()) return {};
  thread_ = quiet_thread([this] { run(); });
  return {};
}

void Deliveries::on_step(bool news) {
  if (all_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!news && began_) return;
    began_ = news_ = true;
  }
  changed_.notify_one();
}

void Deliveries::set_muted(bool muted) {
  if (all_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (muted == muted_) return;
    muted_ = muted;
    news_ = true;
  }
  changed_.notify_one();
}

void Deliveries::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    news_ = false;
    const bool muted = muted_;
    lock.unlock();
    const DeliveryTime now{clock_.steady(), clock_.wall()};
    std::optional<Milliseconds> next;
    for (const auto& delivery : all_) {
      if (muted) delivery->skip();
      const auto wants = muted ? std::nullopt : delivery->step(now);
      if (wants && (!next || *wants < *next)) next = wants;
      if (stopping_) return;
    }
    lock.lock();
    const auto called = [this] { return news_ || stopping_; };
    if (next) {
      changed_.wait_for(lock, std::max(*next, Milliseconds(1)), called);
    } else {
      changed_.wait(lock, called);
    }
  }
}

}  // namespace linkhealth
