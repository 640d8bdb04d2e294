#include <fnmatch.h>

#include <algorithm>

#include "tests/support/fake_host.h"

namespace linkhealth::testing {

namespace {

enum class On { kRead, kList, kNetlink };

struct Rule {
  On on;
  std::string glob;
  int times;
  int errnum = 0;
  std::optional<std::string> content;
  std::optional<std::size_t> size;
};

bool matches(const std::string& glob, const std::string& path) {
  return fnmatch(glob.c_str(), path.c_str(), 0) == 0;
}

}  // namespace

struct FailingHost::State {
  std::vector<Rule> rules;
  std::vector<std::string> log, opened;  ///< paths

  /// The newest rule that still applies; counts its use.
  const Rule* apply(On on, const std::string& path) {
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
      if (rule->on != on || rule->times == 0 || !matches(rule->glob, path)) continue;
      if (rule->times > 0) --rule->times;
      return &*rule;
    }
    return nullptr;
  }
};

namespace {

class FailingFile final : public HostFile {
 public:
  FailingFile(std::unique_ptr<HostFile> inner, std::string path,
              std::shared_ptr<FailingHost::State> state)
      : inner_(std::move(inner)), path_(std::move(path)), state_(std::move(state)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    state_->log.push_back(path_);
    const Rule* rule = state_->apply(On::kRead, path_);
    if (rule == nullptr) return inner_->read(buffer);
    if (rule->errnum != 0) return errno_error(path_, rule->errnum);
    if (rule->size) return inner_->read(buffer.first(std::min(buffer.size(), *rule->size)));
    const std::size_t size = std::min(buffer.size(), rule->content->size());
    std::copy_n(rule->content->begin(), size, buffer.begin());
    return size;
  }

 private:
  std::unique_ptr<HostFile> inner_;
  std::string path_;
  std::shared_ptr<FailingHost::State> state_;
};

}  // namespace

FailingHost::FailingHost(Host& inner) : inner_(inner), state_(std::make_shared<State>()) {}
FailingHost::~FailingHost() = default;

void FailingHost::fail(const std::string& glob, int errnum, int times) {
  state_->rules.push_back({On::kRead, glob, times, errnum, {}, {}});
}
void FailingHost::replace(const std::string& glob, const std::string& content, int times) {
  state_->rules.push_back({On::kRead, glob, times, 0, content, {}});
}
void FailingHost::truncate(const std::string& glob, std::size_t size, int times) {
  state_->rules.push_back({On::kRead, glob, times, 0, {}, size});
}
void FailingHost::fail_list(const std::string& glob, int errnum, int times) {
  state_->rules.push_back({On::kList, glob, times, errnum, {}, {}});
}
void FailingHost::fail_netlink(int errnum, int times) {
  state_->rules.push_back({On::kNetlink, "*", times, errnum, {}, {}});
}
void FailingHost::heal() { state_->rules.clear(); }

namespace {
std::size_t matches_in(const std::vector<std::string>& log, const std::string& glob) {
  return static_cast<std::size_t>(
      std::count_if(log.begin(), log.end(), [&](const auto& path) { return matches(glob, path); }));
}
}  // namespace

std::size_t FailingHost::reads(const std::string& glob) const {
  return matches_in(state_->log, glob);
}
std::size_t FailingHost::opens(const std::string& glob) const {
  return matches_in(state_->opened, glob);
}
void FailingHost::forget_reads() { state_->log.clear(); }

Result<std::string> FailingHost::read_file(const std::string& path) {
  state_->log.push_back(path);
  const Rule* rule = state_->apply(On::kRead, path);
  if (rule == nullptr) return inner_.read_file(path);
  if (rule->errnum != 0) return errno_error(path, rule->errnum);
  if (!rule->size) return *rule->content;
  auto content = inner_.read_file(path);
  if (content) content->resize(std::min(content->size(), *rule->size));
  return content;
}

/// Opening never fails by a rule: on sysfs it is the read that does.
Result<std::unique_ptr<HostFile>> FailingHost::open_file(const std::string& path) {
  auto file = inner_.open_file(path);
  if (!file) return file;
  state_->opened.push_back(path);
  return std::unique_ptr<HostFile>(std::make_unique<FailingFile>(std::move(*file), path, state_));
}

Result<std::vector<std::string>> FailingHost::list_dir(const std::string& path) {
  const Rule* rule = state_->apply(On::kList, path);
  if (rule != nullptr) return errno_error(path, rule->errnum);
  return inner_.list_dir(path);
}

Result<std::string> FailingHost::resolve(const std::string& path) { return inner_.resolve(path); }

Result<std::vector<Bytes>> FailingHost::netlink(int protocol, std::span<const std::byte> request) {
  const Rule* rule = state_->apply(On::kNetlink, "netlink");
  if (rule != nullptr) return errno_error("netlink", rule->errnum);
  return inner_.netlink(protocol, request);
}

Result<bool> FailingHost::ethtool(const std::string& netdev, std::span<std::byte> command) {
  return inner_.ethtool(netdev, command);
}

Result<std::unique_ptr<HostEvents>> FailingHost::listen(int protocol,
                                                        std::span<const std::uint32_t> groups) {
  return inner_.listen(protocol, groups);
}

}  // namespace linkhealth::testing
