#include "daemon/maintenance_reader.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/quiet_thread.h"

namespace linkhealth {

namespace {

MaintenanceReader::Read reader_of(const std::string& directory) {
  if (directory.empty()) return {};
  return [files = std::make_shared<MaintenanceDir>(directory)] { return files->read(); };
}

}  // namespace

struct MaintenanceReader::Shared {
  explicit Shared(Read how) : read(std::move(how)) {}

  const Read read;
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = true, busy = false;
  std::optional<MaintenanceDir::Found> found;

  void look();
};

MaintenanceReader::MaintenanceReader(const std::string& directory)
    : MaintenanceReader(directory, reader_of(directory)) {}

MaintenanceReader::MaintenanceReader(std::string directory, Read read)
    : directory_(std::move(directory)) {
  if (read) shared_ = std::make_shared<Shared>(std::move(read));
}

void MaintenanceReader::Shared::look() {
  auto now_found = read();
  const std::lock_guard lock(mutex);
  busy = false;
  // Nobody took the former answer: what it complained of is not said twice, so it must not be lost.
  if (found)
    now_found.complaints.insert(now_found.complaints.begin(), found->complaints.begin(),
                                found->complaints.end());
  found = std::move(now_found);
  changed.notify_all();
}

bool MaintenanceReader::wants_thread() const {
  if (shared_ == nullptr) return false;
  const std::lock_guard lock(shared_->mutex);
  return shared_->asked && !shared_->busy;
}

std::function<void()> MaintenanceReader::work() {
  const std::lock_guard lock(shared_->mutex);
  shared_->asked = false;
  shared_->busy = true;
  return [shared = shared_] { shared->look(); };
}

MaintenanceReader::News MaintenanceReader::look(SteadyTime now) {
  News news;
  if (shared_ == nullptr) return news;
  if (!asked_at_) asked_at_ = now;  // the first look is due from the start
  const std::lock_guard lock(shared_->mutex);
  if (auto found = std::exchange(shared_->found, std::nullopt)) {
    news.maintenance = std::move(found->maintenance);
    news.complaints = std::move(found->complaints);
    if (std::exchange(said_, false))
      news.complaints.push_back("maintenance_dir: " + directory_ + " answers again");
  }
  const Milliseconds since = now - *asked_at_;
  if (shared_->asked || shared_->busy) {
    if (since >= kPatience && !std::exchange(said_, true))
      news.complaints.push_back(
          fmt::format("maintenance_dir: {} does not answer for {:.0f} s: what it said before holds",
                      directory_, in_seconds(since)));
    return news;
  }
  if (since < kEvery) return news;
  shared_->asked = true;
  asked_at_ = now;
  return news;
}

void MaintenanceReader::wait(Milliseconds patience) {
  if (wants_thread()) quiet_thread(work()).detach();
  if (shared_ == nullptr) return;
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, patience, [this] { return !shared_->asked && !shared_->busy; });
}

}  // namespace linkhealth
