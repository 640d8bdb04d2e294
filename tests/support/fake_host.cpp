#include "tests/support/fake_host.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"

namespace linkhealth::testing {

namespace {

std::string parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

bool below(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

}  // namespace

struct FakeHost::Node {
  std::string content;
  int errnum = 0;

  Result<std::string> read(const std::string& path) const {
    if (errnum != 0) return errno_error(path, errnum);
    return content;
  }
};

struct FakeHost::OpenDir {
  std::string path;  ///< "": it was removed
};

struct FakeHost::Mailbox {
  Mailbox() : fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { close(fd); }

  void ring() const {
    const std::uint64_t one = 1;
    if (write(fd, &one, sizeof one) != sizeof one) std::abort();
  }

  int fd;
  std::vector<Bytes> messages;
  int errnum = 0;
};

namespace {

class FakeDir final : public HostDir {
 public:
  FakeDir(FakeHost& host, std::shared_ptr<FakeHost::OpenDir> dir)
      : host_(host), dir_(std::move(dir)) {}

  Result<std::string> read_file(const std::string& name) override {
    if (dir_->path.empty()) return errno_error(name, ENOENT);
    return host_.read_file(dir_->path + "/" + name);
  }

 private:
  FakeHost& host_;
  std::shared_ptr<FakeHost::OpenDir> dir_;
};

class FakeEvents final : public HostEvents {
 public:
  explicit FakeEvents(std::shared_ptr<FakeHost::Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}
  [[nodiscard]] int fd() const override { return mailbox_->fd; }

  Result<std::vector<Bytes>> receive() override {
    std::uint64_t count = 0;
    (void)!read(mailbox_->fd, &count, sizeof count);  // EAGAIN: nothing was injected
    if (const int errnum = std::exchange(mailbox_->errnum, 0); errnum != 0) {
      if (!mailbox_->messages.empty()) mailbox_->ring();
      return errno_error("netlink receive", errnum);
    }
    return std::exchange(mailbox_->messages, {});
  }

 private:
  std::shared_ptr<FakeHost::Mailbox> mailbox_;
};

/// Calls deliver(mailbox) for each one still open under `key`, and wakes its reader.
template <typename Key, typename Deliver>
void each_mailbox(const std::multimap<Key, std::weak_ptr<FakeHost::Mailbox>>& mailboxes,
                  const Key& key, Deliver deliver) {
  for (auto [at, end] = mailboxes.equal_range(key); at != end; ++at)
    if (const auto mailbox = at->second.lock()) {
      deliver(*mailbox);
      mailbox->ring();
    }
}

}  // namespace

FakeHost::FakeHost() : dirs_{"/"} {}
FakeHost::~FakeHost() = default;

void FakeHost::make_parents(const std::string& path) {
  for (std::string dir = parent(path); dirs_.insert(dir).second;) dir = parent(dir);
}

void FakeHost::make_dir(const std::string& path) {
  dirs_.insert(path);
  make_parents(path);
}

void FakeHost::set(const std::string& path, const std::string& content) {
  const auto real = resolve(path);
  auto& node = files_[real ? *real : path];
  if (!node) {
    node = std::make_shared<Node>();
    make_parents(path);
  }
  node->content = content;
  node->errnum = 0;
}

void FakeHost::set_error(const std::string& path, int errnum) {
  set(path, "");
  const auto real = resolve(path);
  files_[real ? *real : path]->errnum = errnum;
}

void FakeHost::link(const std::string& path, const std::string& target) {
  links_[path] = target;
  make_parents(path);
}

void FakeHost::remove(const std::string& path) {
  const auto is_below = [&](const auto& entry) { return below(entry.first, path); };
  std::erase_if(files_, is_below);
  std::erase_if(links_, is_below);
  std::erase_if(dirs_, [&](const auto& dir) { return below(dir, path); });
  for (const auto& open : open_dirs_)
    if (const auto dir = open.lock(); dir && below(dir->path, path)) dir->path.clear();
}

std::size_t FakeHost::open_dirs() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open_dirs_, [](const auto& open) { return !open.expired(); }));
}

void FakeHost::rename(const std::string& from, const std::string& to) {
  const auto renamed = [&](const std::string& path) {
    return below(path, from) ? to + path.substr(from.size()) : path;
  };
  decltype(files_) files;
  for (auto& [path, node] : files_) files.emplace(renamed(path), std::move(node));
  files_ = std::move(files);
  decltype(links_) links;
  for (const auto& [path, target] : links_) links.emplace(renamed(path), target);
  links_ = std::move(links);
  decltype(dirs_) dirs;
  for (const auto& dir : dirs_) dirs.insert(renamed(dir));
  dirs_ = std::move(dirs);
  for (const auto& open : open_dirs_)
    if (const auto dir = open.lock()) dir->path = renamed(dir->path);
  make_parents(to);
}

bool FakeHost::is_dir(const std::string& path) const { return dirs_.contains(path); }

Result<std::string> FakeHost::resolve(const std::string& path) {
  std::deque<std::string> todo;
  for (const auto part : split(path, '/')) todo.emplace_back(part);
  std::string done;
  for (int steps = 0; !todo.empty(); ++steps) {
    if (steps > 1000) return errno_error(path, ELOOP);
    const std::string part = todo.front();
    todo.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done = done.empty() ? done : done.substr(0, done.rfind('/'));
      continue;
    }
    const std::string next = done + "/" + part;
    if (const auto found = links_.find(next); found != links_.end()) {
      const auto parts = split(found->second, '/');
      for (auto at = parts.rbegin(); at != parts.rend(); ++at) todo.emplace_front(*at);
      if (found->second.starts_with('/')) done.clear();
      continue;
    }
    if (!is_dir(next) && !files_.contains(next)) return errno_error(path, ENOENT);
    done = next;
  }
  return done.empty() ? std::string("/") : done;
}

Result<std::string> FakeHost::read_file(const std::string& path) {
  const auto real = resolve(path);
  if (!real) return real;
  const auto file = files_.find(*real);
  if (file == files_.end()) return errno_error(path, EISDIR);
  return file->second->read(path);
}

Result<std::unique_ptr<HostDir>> FakeHost::open_dir(const std::string& path) {
  const auto real = resolve(path);
  if (!real) return real.error();
  if (!is_dir(*real)) return errno_error(path, ENOTDIR);
  if (const int errnum = refused_lists_[*real]; errnum != 0) return errno_error(path, errnum);
  auto dir = std::make_shared<OpenDir>(OpenDir{*real});
  std::erase_if(open_dirs_, [](const auto& open) { return open.expired(); });
  open_dirs_.push_back(dir);
  return std::unique_ptr<HostDir>(std::make_unique<FakeDir>(*this, std::move(dir)));
}

Result<std::vector<std::string>> FakeHost::list_dir(const std::string& path) {
  const auto real = resolve(path);
  if (!real) return real.error();
  if (!is_dir(*real)) return errno_error(path, ENOTDIR);
  if (const int errnum = refused_lists_[*real]; errnum != 0) return errno_error(path, errnum);
  std::set<std::string> names;
  const auto add = [&](const std::string& entry) {
    if (entry != "/" && parent(entry) == *real) names.insert(entry.substr(entry.rfind('/') + 1));
  };
  for (const auto& [file, node] : files_) add(file);
  for (const auto& [link, target] : links_) add(link);
  for (const auto& dir : dirs_) add(dir);
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<Bytes>> FakeHost::netlink(int protocol, std::span<const std::byte> request) {
  if (!responder_) return Error{"no netlink on this fake host", EOPNOTSUPP};
  return responder_(protocol, request);
}

Result<bool> FakeHost::ethtool(const std::string& netdev, std::span<std::byte> command) {
  if (!ethtool_) return Error{netdev + ": no ioctl on this fake host", EOPNOTSUPP};
  return ethtool_(netdev, command);
}

Result<std::unique_ptr<HostEvents>> FakeHost::listen(int protocol, std::span<const std::uint32_t>) {
  if (refused_listeners_ != 0) return errno_error("netlink listen", refused_listeners_);
  auto mailbox = std::make_shared<Mailbox>();
  listeners_.emplace(protocol, mailbox);
  return std::unique_ptr<HostEvents>(std::make_unique<FakeEvents>(std::move(mailbox)));
}

void FakeHost::inject(int protocol, Bytes message) {
  each_mailbox(listeners_, protocol,
               [&](Mailbox& mailbox) { mailbox.messages.push_back(message); });
}

void FakeHost::inject_error(int protocol, int errnum) {
  each_mailbox(listeners_, protocol, [&](Mailbox& mailbox) { mailbox.errnum = errnum; });
}

Result<std::unique_ptr<HostEvents>> FakeHost::open_records(const std::string& path) {
  if (const auto refused = refused_records_.find(path); refused != refused_records_.end())
    return errno_error(path, refused->second);
  const auto records = records_.find(path);
  if (records == records_.end()) return errno_error(path, ENOENT);
  auto mailbox = std::make_shared<Mailbox>();
  mailbox->messages = records->second;
  if (!mailbox->messages.empty()) mailbox->ring();
  record_readers_.emplace(path, mailbox);
  return std::unique_ptr<HostEvents>(std::make_unique<FakeEvents>(std::move(mailbox)));
}

void FakeHost::add_record(const std::string& path, const std::string& record) {
  const auto* begin = reinterpret_cast<const std::byte*>(record.data());
  const Bytes bytes(begin, begin + record.size());
  records_[path].push_back(bytes);
  each_mailbox(record_readers_, path, [&](Mailbox& mailbox) { mailbox.messages.push_back(bytes); });
}

void FakeHost::fail_records(const std::string& path, int errnum) {
  each_mailbox(record_readers_, path, [&](Mailbox& mailbox) { mailbox.errnum = errnum; });
}

}  // namespace linkhealth::testing
