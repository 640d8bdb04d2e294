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
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = true, busy = false, ending = false;
  std::optional<MaintenanceDir::Found> found;
  std::thread thread;
};

MaintenanceReader::MaintenanceReader(const std::string& directory)
    : MaintenanceReader(directory, reader_of(directory)) {}

MaintenanceReader::MaintenanceReader(std::string directory, Read read) : directory_(std::move(directory)) {
  if (!read) return;
  shared_ = std::make_shared<Shared>();
  shared_->thread = quiet_thread([shared = shared_, read = std::move(read)] { run(shared, read); });
}

MaintenanceReader::~MaintenanceReader() {
  if (shared_ == nullptr) return;
  bool hangs = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->ending = true;
    hangs = shared_->busy;
  }
  shared_->changed.notify_all();
  if (hangs) {
    shared_->thread.detach();
  } else {
    shared_->thread.join();
  }
}

void MaintenanceReader::run(const std::shared_ptr<Shared>& shared, const Read& read) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->asked || shared->ending; });
    if (shared->ending) return;
    shared->asked = false;
    shared->busy = true;
    lock.unlock();
    auto found = read();
    lock.lock();
    shared->busy = false;
    // Nobody took the former answer: what it complained of is not said twice, so it must not be lost.
    if (shared->found)
      found.complaints.insert(found.complaints.begin(), shared->found->complaints.begin(),
                              shared->found->complaints.end());
    shared->found = std::move(found);
    shared->changed.notify_all();
  }
}

MaintenanceReader::News MaintenanceReader::look(SteadyTime now) {
  News news;
  if (shared_ == nullptr) return news;
  if (!asked_at_) asked_at_ = now;  // the first look began with the thread
  std::unique_lock lock(shared_->mutex);
  if (auto found = std::exchange(shared_->found, std::nullopt)) {
    news.maintenance = std::move(found->maintenance);
    news.complaints = std::move(found->complaints);
    if (std::exchange(said_, false)) news.complaints.push_back("maintenance_dir: " + directory_ + " answers again");
  }
  const Milliseconds since = now - *asked_at_;
  if (shared_->asked || shared_->busy) {
    if (since >= kPatience && !std::exchange(said_, true))
      news.complaints.push_back(
          fmt::format("maintenance_dir: {} does not answer for {:.0f} s: what it said before holds", directory_,
                      in_seconds(since)));
    return news;
  }
  if (since < kEvery) return news;
  shared_->asked = true;
  asked_at_ = now;
  lock.unlock();
  shared_->changed.notify_all();
  return news;
}

void MaintenanceReader::wait(Milliseconds patience) {
  if (shared_ == nullptr) return;
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, patience, [this] { return !shared_->asked && !shared_->busy; });
}

}  // namespace linkhealth
