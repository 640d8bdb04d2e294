// What is sent to other systems, one Delivery each. They have no thread and read no clock:
// daemon/deliveries.h calls them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "daemon/http_poster.h"
#include "daemon/outbox.h"
#include "daemon/publisher.h"
#include "exporters/alerts.h"
#include "exporters/webhook.h"

namespace linkhealth {

struct DeliveryTime {
  SteadyTime steady;
  WallTime wall;
};

class Delivery {
 public:
  virtual ~Delivery() = default;
  /// Does what is due. How long until something is, without a new event; nullopt: nothing is.
  virtual std::optional<Milliseconds> step(const DeliveryTime& now) = 0;
  /// A dry run began: what came until now is never sent, nor is what stood.
  virtual void skip() = 0;
  /// The daemon ends.
  virtual void finish() {}
};

/// What a sink that does not answer is given: 1 s, doubled up to 5 min. Says once that it fails and
/// once that it is back.
class Retry {
 public:
  using Say = std::function<void(bool good, const std::string& line)>;
  static constexpr Milliseconds kFirst{1'000}, kLongest{300'000};
  Retry(std::string name, Say say) : name_(std::move(name)), say_(std::move(say)) {}

  /// nullopt: now.
  [[nodiscard]] std::optional<Milliseconds> wait(SteadyTime now) const;
  void failed(SteadyTime now, const std::string& why);
  void worked();
  /// What can't be sent at all, and is given up.
  void refused(const std::string& what) const { say_(false, name_ + ": " + what); }

 private:
  std::string name_;
  Say say_;
  Milliseconds next_ = kFirst;
  std::optional<SteadyTime> at_;
};

/// The alerts of one Alertmanager: what events say at once, what stands again each `resend`.
class AlertDelivery : public Delivery {
 public:
  /// An alert that is not sent again ends after so many times `resend` (Prometheus:
  /// rules/manager.go, 4).
  static constexpr int kStandsFor = 4;
  static constexpr std::size_t kBatch = 64;  ///< events a post

  AlertDelivery(const std::string& url, Milliseconds resend, AlertOrigin origin, Outbox& outbox,
                const Publisher& publisher, std::unique_ptr<HttpPoster> poster,
                const Retry::Say& say);
  std::optional<Milliseconds> step(const DeliveryTime& now) override;
  void skip() override;

 private:
  struct Standing {
    Alert alert;
    WallTime told_at;  ///< of the report or event that it comes from
  };
  void take(const OutboxEvent& event, const Report* report, WallTime now);
  void take_report(const Report& report, WallTime now);
  void stand(const std::string& id, Alert alert, WallTime told_at, WallTime now);
  void end(const std::string& id, WallTime at);

  std::string url_, sink_;
  Milliseconds resend_;
  AlertOrigin origin_;
  Outbox& outbox_;
  const Publisher& publisher_;
  std::unique_ptr<HttpPoster> poster_;
  Retry retry_;
  std::map<std::string, Standing> standing_;  ///< by the fault's id
  std::vector<Alert> ended_;                  ///< not told yet
  std::string last_taken_;  ///< the last event that is in the two above and not marked yet
  std::optional<SteadyTime> resend_at_;  ///< nullopt: never sent
};

/// Each event as one POST, oldest first.
class WebhookDelivery : public Delivery {
 public:
  WebhookDelivery(std::string url, WebhookTemplate body, AlertOrigin origin, Outbox& outbox,
                  const Publisher& publisher,
                  std::function<std::string(const FaultEvent&)> event_json,
                  std::unique_ptr<HttpPoster> poster, const Retry::Say& say);
  std::optional<Milliseconds> step(const DeliveryTime& now) override;
  void skip() override;

 private:
  std::string url_, sink_;
  WebhookTemplate body_;
  AlertOrigin origin_;
  Outbox& outbox_;
  const Publisher& publisher_;
  std::function<std::string(const FaultEvent&)> event_json_;
  std::unique_ptr<HttpPoster> poster_;
  Retry retry_;
};

/// The metrics as a file for node_exporter's textfile collector, replaced in one step; removed at
/// an orderly end, so that nobody takes the last word of a monitor that is gone for news.
class TextfileDelivery : public Delivery {
 public:
  TextfileDelivery(std::string path, Milliseconds period, const Publisher& publisher,
                   const Retry::Say& say);
  std::optional<Milliseconds> step(const DeliveryTime& now) override;
  void skip() override { finish(); }
  void finish() override;

 private:
  std::string path_;
  Milliseconds period_;
  const Publisher& publisher_;
  Retry retry_;
  std::optional<SteadyTime> next_;
};

/// `bytes` under `path`, mode 0644, in one step: a reader sees the old or the new, never a part.
Result<void> replace_file(const std::string& path, std::string_view bytes);

}  // namespace linkhealth
