#include <fnmatch.h>

#include <algorithm>

#include "tests/support/fake_host.h"

namespace linkhealth::testing {

namespace {

enum class On { kRead, kList };

struct Rule {
  On on;
  std::string glob;
  int times;
  int errnum = 0;
  std::optional<std::string> content;
};

bool matches(const std::string& glob, const std::string& path) {
  return fnmatch(glob.c_str(), path.c_str(), 0) == 0;
}

}  // namespace

struct FailingHost::State {
  std::vector<Rule> rules;
  std::vector<std::string> log;  ///< paths

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

Result<std::string> read_by_rule(FailingHost::State& state, const std::string& path,
                                 const std::function<Result<std::string>()>& read) {
  state.log.push_back(path);
  const Rule* rule = state.apply(On::kRead, path);
  if (rule == nullptr) return read();
  if (rule->errnum != 0) return errno_error(path, rule->errnum);
  return *rule->content;
}

class FailingDir final : public HostDir {
 public:
  FailingDir(std::unique_ptr<HostDir> inner, std::string path,
             std::shared_ptr<FailingHost::State> state)
      : inner_(std::move(inner)), path_(std::move(path)), state_(std::move(state)) {}

  Result<std::string> read_file(const std::string& name) override {
    return read_by_rule(*state_, path_ + "/" + name, [&] { return inner_->read_file(name); });
  }

 private:
  std::unique_ptr<HostDir> inner_;
  std::string path_;
  std::shared_ptr<FailingHost::State> state_;
};

}  // namespace

FailingHost::FailingHost(Host& inner) : inner_(inner), state_(std::make_shared<State>()) {}
FailingHost::~FailingHost() = default;

void FailingHost::fail(const std::string& glob, int errnum, int times) {
  state_->rules.push_back({On::kRead, glob, times, errnum, {}});
}
void FailingHost::replace(const std::string& glob, const std::string& content, int times) {
  state_->rules.push_back({On::kRead, glob, times, 0, content});
}
void FailingHost::fail_list(const std::string& glob, int errnum, int times) {
  state_->rules.push_back({On::kList, glob, times, errnum, {}});
}
void FailingHost::heal() { state_->rules.clear(); }

std::size_t FailingHost::reads(const std::string& glob) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      state_->log, [&](const std::string& path) { return matches(glob, path); }));
}

Result<std::string> FailingHost::read_file(const std::string& path) {
  return read_by_rule(*state_, path, [&] { return inner_.read_file(path); });
}

Result<std::unique_ptr<HostDir>> FailingHost::open_dir(const std::string& path) {
  auto dir = inner_.open_dir(path);
  if (!dir) return dir;
  return std::unique_ptr<HostDir>(std::make_unique<FailingDir>(std::move(*dir), path, state_));
}

Result<std::vector<std::string>> FailingHost::list_dir(const std::string& path) {
  const Rule* rule = state_->apply(On::kList, path);
  if (rule != nullptr) return errno_error(path, rule->errnum);
  return inner_.list_dir(path);
}

Result<std::string> FailingHost::resolve(const std::string& path) { return inner_.resolve(path); }

Result<std::vector<Bytes>> FailingHost::netlink(int protocol, std::span<const std::byte> request) {
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
