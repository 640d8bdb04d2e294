// A machine in memory for tests: files, symlinks, hot unplug, netlink answers and events; and a
// Host that wraps another one and fails reads as a test requests.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/host.h"

namespace linkhealth::testing {

class FakeHost final : public Host {
 public:
  /// Answers a netlink request: complete messages, or an Error.
  using Responder =
      std::function<Result<std::vector<Bytes>>(int protocol, std::span<const std::byte> request)>;

  FakeHost();
  ~FakeHost() override;

  /// Creates a file and its directories, or changes its content.
  void set(const std::string& path, const std::string& content);
  /// A file whose reads fail with `errnum`.
  void set_error(const std::string& path, int errnum);
  void make_dir(const std::string& path);
  /// Makes opening or listing the directory fail with `errnum`; 0: it works again.
  void refuse_list(const std::string& path, int errnum) { refused_lists_[path] = errnum; }
  /// A symlink; `target` is absolute or relative to the link's directory.
  void link(const std::string& path, const std::string& target);
  /// Removes a file, a link or a whole directory. Open directories stay empty for ever, as on
  /// sysfs.
  void remove(const std::string& path);
  /// Renames a file or directory. Open directories continue to work, as on sysfs.
  void rename(const std::string& from, const std::string& to);
  /// The number of open directories.
  [[nodiscard]] std::size_t open_dirs() const;

  void set_responder(Responder responder) { responder_ = std::move(responder); }
  /// Answers an ETHTOOL ioctl by writing over `command`.
  using Ethtool =
      std::function<Result<bool>(const std::string& netdev, std::span<std::byte> command)>;
  void set_ethtool(Ethtool ethtool) { ethtool_ = std::move(ethtool); }
  /// Sends `message` to the listeners of `protocol`.
  void inject(int protocol, Bytes message);
  /// Adds a record to the device, which is created if necessary. A later reader also gets the old
  /// ones.
  void add_record(const std::string& path, const std::string& record);
  /// The next receive of the device's readers fails with `errnum` (EPIPE: records were
  /// overwritten).
  void fail_records(const std::string& path, int errnum);
  /// Opening the device fails with `errnum`.
  void refuse_records(const std::string& path, int errnum) { refused_records_[path] = errnum; }
  /// The next receive of the listeners of `protocol` fails with `errnum` (ENOBUFS: events were
  /// lost).
  void inject_error(int protocol, int errnum);
  /// Listening to any protocol fails with `errnum` (EOPNOTSUPP: a copied tree has no kernel).
  void refuse_listeners(int errnum) { refused_listeners_ = errnum; }

  Result<std::string> read_file(const std::string& path) override;
  Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) override;
  Result<std::vector<std::string>> list_dir(const std::string& path) override;
  Result<std::string> resolve(const std::string& path) override;
  Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) override;
  Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) override;
  Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                             std::span<const std::uint32_t> groups) override;
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override;

  struct Node;     // a file's content
  struct OpenDir;  // where it is now
  struct Mailbox;  // what one listener has yet to receive

 private:
  [[nodiscard]] bool is_dir(const std::string& path) const;
  void make_parents(const std::string& path);

  std::map<std::string, std::shared_ptr<Node>> files_;
  std::map<std::string, std::string> links_;
  std::set<std::string> dirs_;
  std::map<std::string, int> refused_lists_;
  std::vector<std::weak_ptr<OpenDir>> open_dirs_;
  Responder responder_;
  Ethtool ethtool_;
  std::multimap<int, std::weak_ptr<Mailbox>> listeners_;
  int refused_listeners_ = 0;
  std::map<std::string, std::vector<Bytes>> records_;
  std::map<std::string, int> refused_records_;
  std::multimap<std::string, std::weak_ptr<Mailbox>> record_readers_;
};

/// Injects failures by path pattern into another Host, and records the paths that were read.
class FailingHost final : public Host {
 public:
  explicit FailingHost(Host& inner);
  ~FailingHost() override;

  /// Reads of paths that match `glob` ('*' also spans '/') fail with `errnum`, `times` times (-1:
  /// for ever).
  void fail(const std::string& glob, int errnum, int times = -1);
  /// Reads of matching paths return this text: "N/A (no PMA)
  /// ", "garbage", "".
  void replace(const std::string& glob, const std::string& content, int times = -1);
  /// list_dir of matching directories fails with `errnum`.
  void fail_list(const std::string& glob, int errnum, int times = -1);
  /// Removes all failures.
  void heal();

  /// Number of reads of matching paths, including failed ones.
  [[nodiscard]] std::size_t reads(const std::string& glob) const;

  Result<std::string> read_file(const std::string& path) override;
  Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) override;
  Result<std::vector<std::string>> list_dir(const std::string& path) override;
  Result<std::string> resolve(const std::string& path) override;
  Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) override;
  Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) override;
  Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                             std::span<const std::uint32_t> groups) override;
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override {
    return inner_.open_records(path);
  }

  struct State;  // rules and log, shared with open directories

 private:
  Host& inner_;
  std::shared_ptr<State> state_;
};

}  // namespace linkhealth::testing
