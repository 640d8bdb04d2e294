// One FakeHost for many threads, each with its own LockedHost. Reads of a path can be made to hang.
#pragma once

#include <cerrno>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tests/support/fake_host.h"

namespace linkhealth::testing {

class SharedHost {
 public:
  /// Changes the machine while no read is running.
  template <typename Change>
  void change(Change apply) {
    const std::lock_guard lock(mutex_);
    apply(fake_);
  }
  /// Reads of files whose path contains `part` hang from now on; "" releases all.
  void hang(const std::string& part) {
    const std::lock_guard lock(mutex_);
    hanging_ = part;
    released_.notify_all();
  }

  /// Called before each read of a file, with its path.
  void on_read(std::function<void(const std::string& path)> called) {
    const std::lock_guard lock(mutex_);
    on_read_ = std::move(called);
  }

  /// Turns it into a copied tree: files only, no kernel events.
  void become_copied_tree() {
    const std::lock_guard lock(mutex_);
    has_kernel_ = false;
    fake_.refuse_listeners(EOPNOTSUPP);
    fake_.refuse_records("/dev/kmsg", EOPNOTSUPP);
  }

  /// Waits until a read hangs.
  void until_a_read_hangs() {
    std::unique_lock lock(mutex_);
    hangs_.wait(lock, [this] { return hanging_reads_ > 0; });
  }

 private:
  friend class LockedHost;
  friend class LockedDir;
  void wait_while_hanging(std::unique_lock<std::mutex>& lock, const std::string& path) {
    if (on_read_) on_read_(path);
    const auto is_released = [&] {
      return hanging_.empty() || path.find(hanging_) == std::string::npos;
    };
    if (is_released()) return;
    ++hanging_reads_;
    hangs_.notify_all();
    released_.wait(lock, is_released);
    --hanging_reads_;
  }

  std::mutex mutex_;
  std::condition_variable released_, hangs_;
  int hanging_reads_ = 0;
  std::string hanging_;
  std::function<void(const std::string& path)> on_read_;
  bool has_kernel_ = true;
  FakeHost fake_;
};

class LockedDir final : public HostDir {
 public:
  LockedDir(std::shared_ptr<SharedHost> shared, std::unique_ptr<HostDir> dir, std::string path)
      : shared_(std::move(shared)), dir_(std::move(dir)), path_(std::move(path)) {}
  LockedDir(const LockedDir&) = delete;
  LockedDir& operator=(const LockedDir&) = delete;
  ~LockedDir() override {
    const std::lock_guard lock(shared_->mutex_);
    dir_.reset();
  }
  Result<std::string> read_file(const std::string& name) override {
    std::unique_lock lock(shared_->mutex_);
    shared_->wait_while_hanging(lock, path_ + "/" + name);
    return dir_->read_file(name);
  }

 private:
  std::shared_ptr<SharedHost> shared_;
  std::unique_ptr<HostDir> dir_;
  std::string path_;
};

class LockedHost final : public Host {
 public:
  explicit LockedHost(std::shared_ptr<SharedHost> shared) : shared_(std::move(shared)) {}

  [[nodiscard]] bool has_kernel() const override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->has_kernel_;
  }
  Result<std::string> read_file(const std::string& path) override {
    std::unique_lock lock(shared_->mutex_);
    shared_->wait_while_hanging(lock, path);
    return shared_->fake_.read_file(path);
  }
  Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) override {
    const std::lock_guard lock(shared_->mutex_);
    auto dir = shared_->fake_.open_dir(path);
    if (!dir) return dir.error();
    return std::unique_ptr<HostDir>(std::make_unique<LockedDir>(shared_, *std::move(dir), path));
  }
  Result<std::vector<std::string>> list_dir(const std::string& path) override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->fake_.list_dir(path);
  }
  Result<std::string> resolve(const std::string& path) override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->fake_.resolve(path);
  }
  Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->fake_.netlink(protocol, request);
  }
  Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->fake_.ethtool(netdev, command);
  }
  Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                             std::span<const std::uint32_t> groups) override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->fake_.listen(protocol, groups);
  }
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override {
    const std::lock_guard lock(shared_->mutex_);
    return shared_->fake_.open_records(path);
  }

 private:
  std::shared_ptr<SharedHost> shared_;
};

}  // namespace linkhealth::testing
