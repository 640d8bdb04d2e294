#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "config/config.h"

namespace linkhealth {

namespace {

constexpr std::string_view kNowhere = "none";
constexpr std::array<std::string_view, 4> kLevels = {"error", "warning", "info", "debug"};

bool is_address(const std::string& host, bool bracketed) {
  in6_addr parsed{};
  if (bracketed) return inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), &parsed) == 1;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  if (text == kNowhere) return ListenAddress{"", 0};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return Error{fmt::format("\"{}\" is not ADDRESS:PORT, such as 127.0.0.1:9942 or [::1]:9942",
                             printable(text))};
  std::string_view host = text.substr(0, colon);
  if (host.empty()) host = "[::]";  // ":9942": all addresses
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.find('\0') != std::string_view::npos || !is_address(std::string(host), bracketed))
    return Error{fmt::format(
        "\"{}\" is not an address: use an IPv4 address, an IPv6 address in brackets, or localhost",
        printable(host))};
  const auto port = parse_u64(text.substr(colon + 1));
  if (!port || *port > std::numeric_limits<std::uint16_t>::max())
    return Error{fmt::format("\"{}\" is not a port: use a number from 0 to 65535",
                             printable(text.substr(colon + 1)))};
  return ListenAddress{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string to_string(const ListenAddress& address) {
  if (address.host.empty()) return std::string(kNowhere);
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", address.host, ipv6 ? "]" : "", address.port);
}

std::string_view to_string(LogLevel level) { return kLevels.at(static_cast<std::size_t>(level)); }

Result<LogLevel> parse_log_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (kLevels[i] == text) return static_cast<LogLevel>(i);
  return Error{
      fmt::format("\"{}\" is not a log level: use error, warning, info or debug", printable(text))};
}

}  // namespace linkhealth
