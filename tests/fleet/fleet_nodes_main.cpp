// fleet_nodes: N nodes behind one port: /targets (HTTP service discovery), /node/I/metrics. What
// fleet.py needs to know is printed as one line of JSON once all is ready: {"port":…,"series":…}.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include "base/text.h"
#include "daemon/api/api.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"
#include "daemon/http/listening_sockets.h"
#include "tests/fleet/fleet_node.h"

namespace linkhealth::sim {
namespace {

struct Options {
  std::size_t nodes = 20;
  std::size_t ports = 8;
  std::size_t every = 12;         ///< one node of so many has a fault
  std::size_t before = 60;        ///< steps before the first scrape, half of them at least
  std::size_t period_ms = 15000;  ///< each node takes a step so often
  std::size_t live =
      0;  ///< with cast: one faulty node of so many begins before its fault does; 0: none
  bool cast = false;  ///< the first nodes play the parts that every panel needs
};

constexpr const char* kUsage =
    "fleet_nodes [--nodes N] [--ports N] [--every N] [--before STEPS] [--period-ms MS] [--cast 1 "
    "[--live N]]\n";

std::optional<Options> parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const auto number = parse_u64(argv[i + 1]);
    if (!number) return std::nullopt;
    if (name == "--nodes")
      out.nodes = *number;
    else if (name == "--ports")
      out.ports = *number;
    else if (name == "--every")
      out.every = *number;
    else if (name == "--live")
      out.live = *number;
    else if (name == "--before")
      out.before = *number;
    else if (name == "--period-ms")
      out.period_ms = *number;
    else if (name == "--cast")
      out.cast = *number != 0;
    else
      return std::nullopt;
  }
  return argc % 2 == 1 ? std::optional(out) : std::nullopt;
}

WallTime now() {
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
}

/// The faults of the nodes, from the most usual one on.
constexpr std::string_view kFaults[] = {
    "dirty_connector",     "unplugged",        "far_port_down",    "damaged_fiber",
    "bad_module",          "far_switch_fault", "reduced_speed",    "pcie_degraded",
    "failing_transmitter", "faulty_cable",     "module_overheated"};

FleetNodeSpec spec_of(std::size_t number, const Options& options, WallTime began) {
  FleetNodeSpec spec{
      .number = number, .seed = 1000 + number, .ports = options.ports, .fault = "", .began = began};
  if (options.cast && number < 2) {
    spec.offender = number == 0;
    spec.repaired = number == 1;
    spec.fault = number == 1 ? "dirty_connector" : "";
  } else if (number % options.every == 0) {
    spec.fault = kFaults[(number / options.every) % std::size(kFaults)];
    spec.flapping = options.cast;
  }
  return spec;
}

class Fleet {
 public:
  explicit Fleet(const Options& options) : options_(options) {
    const WallTime began = now();
    for (std::size_t i = 0; i < options.nodes; ++i) {
      const FleetNodeSpec spec = spec_of(i, options, began);
      nodes_.push_back(std::make_unique<FleetNode>(spec));
      FleetNode& node = *nodes_.back();
      if (options.cast && !spec.fault.empty()) {
        if (options.live > 0 && !spec.repaired &&
            (i / options.every) % options.live == 1 % options.live) {
          constexpr double kLead_s = 900;
          node.step_before_onset(kLead_s, now());
          continue;
        }
        constexpr std::size_t kMost = 2500;
        node.step_until(spec.repaired ? FaultState::kProving : FaultState::kOpen, kMost, now());
        still_.insert(i);
        continue;
      }
      const std::size_t steps =
          options.before / 2 + (i * 37) % (options.before / 2 + 1);  // different phases
      for (std::size_t n = 0; n <= steps; ++n) node.step(now());
    }
  }

  /// Steps the nodes one after the other, spread over the period, until `stop`.
  void run(const std::atomic<bool>& stop) {
    const auto period = std::chrono::milliseconds(options_.period_ms);
    for (auto round = std::chrono::steady_clock::now(); !stop; round += period)
      for (std::size_t i = 0; i < nodes_.size() && !stop; ++i) {
        still_.contains(i) ? nodes_[i]->stand_still(now()) : nodes_[i]->step(now());
        std::this_thread::sleep_until(round + period * i / nodes_.size());
      }
  }

  [[nodiscard]] const FleetNode* node(std::uint64_t number) const {
    return number < nodes_.size() ? nodes_[number].get() : nullptr;
  }

  /// 8 nodes a rack, 4 racks a row, 8 rows a pod; U from the bottom.
  [[nodiscard]] std::string targets() const {
    std::string text = "[";
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      text += fmt::format(
          "{}{{\"targets\":[\"{}:9942\"],\"labels\":{{\"pod\":\"p{}\",\"row\":\"{}\",\"rack\":\"r{}"
          "\",\"u\":\"{}\","
          "\"number\":\"{}\"}}}}",
          i == 0 ? "" : ",", nodes_[i]->name(), i / 256, i / 32, i / 8, 4 + 5 * (i % 8), i);
    return text + "]";
  }

  [[nodiscard]] std::size_t series() const {
    std::size_t lines = 0;
    for (const auto& node : nodes_) {
      const std::string text = node->reports().current()->metrics({});
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        lines += text[at] == '#' ? 0 : 1;
    }
    return lines;
  }

 private:
  Options options_;
  std::set<std::size_t> still_;  ///< those that show a fault go no further: it would be repaired
  std::vector<std::unique_ptr<FleetNode>> nodes_;
};

/// What the nodes serve: /targets, /cost, /node/N/metrics.
struct Service {
  const Fleet& fleet;
  std::uint64_t wire_bytes = 0, scrapes = 0;  // of the server's thread

  HttpResponse respond(const HttpRequest& request) {
    if (request.path == "/targets") return json_response(fleet.targets());
    if (request.path == "/cost")
      return json_response(fmt::format("{{\"wire_bytes\":{},\"scrapes\":{},\"series\":{}}}",
                                       wire_bytes, scrapes, fleet.series()));
    const auto parts = split(request.path, '/');
    const FleetNode* node = parts.size() == 4 && parts[1] == "node" && parts[3] == "metrics"
                                ? fleet.node(parse_u64(parts[2]).value_or(UINT64_MAX))
                                : nullptr;
    return node == nullptr ? error_response(404, "no such node") : metrics(*node, request);
  }

 private:
  HttpResponse metrics(const FleetNode& node, const HttpRequest& request) {
    MetricGroups groups;
    const auto [begin, end] = request.params.equal_range("collect[]");
    for (auto param = begin; param != end; ++param) {
      groups.optics = groups.optics || param->second == "optics";
      groups.counters = groups.counters || param->second == "counters";
    }
    HttpResponse response = text_response(gzip(node.reports().current()->metrics(groups)));
    if (!groups.optics && !groups.counters) wire_bytes += response.body.size(), ++scrapes;
    response.headers = {{"Content-Encoding", "gzip"}};
    return response;
  }
};

int run(const Options& options) {
  Fleet fleet(options);
  Service service{fleet};
  HttpServer server(
      [&service](HttpRequest& request, int) {
        request.accepts_gzip = false;  // it is compressed already
        return service.respond(request);
      },
      {.connections = 4096});  // each target has its own
  auto socket = listen_tcp({"127.0.0.1", 0});
  const auto bound = socket ? bound_port(*socket) : Result<int>(socket.error());
  if (!bound) {
    fmt::print(stderr, "fleet_nodes: {}\n", bound.error().message);
    return 1;
  }
  const int port = *bound;
  server.listen(*std::move(socket), Caller::Transport::kTcp);
  fmt::print("{{\"port\":{},\"nodes\":{},\"series\":{}}}\n", port, options.nodes, fleet.series());
  std::fflush(stdout);
  server.start();
  const std::atomic<bool> stop{false};
  fleet.run(stop);
  return 0;
}

}  // namespace
}  // namespace linkhealth::sim

int main(int argc, char** argv) {
  const auto options = linkhealth::sim::parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}", linkhealth::sim::kUsage);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return linkhealth::sim::run(*options);
}
