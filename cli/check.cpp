#include <cstdio>

#include "base/text.h"
#include "cli/commands.h"

namespace linkhealth::cli {

namespace {

constexpr int kUnknown = 3;

/// An error is UNKNOWN and goes to standard output, where Nagios reads it.
int unknown(const CheckOptions& options, const std::string& why) {
  if (options.json) {
    std::string text;
    for (const char c : printable(why)) text += c == '"' || c == '\\' ? '\'' : c;
    std::printf(
        "{\"schema\":\"linkhealth.check/1\",\"level\":\"UNKNOWN\",\"exit_code\":3,\"text\":\"%s\","
        "\"drain_reason\":\"\",\"ports\":[]}\n",
        text.c_str());
  } else if (!options.drain_reason) {  // unknown is no reason to drain
    std::printf("LINKHEALTH UNKNOWN - %s\n", why.c_str());
  }
  return kUnknown;
}

}  // namespace

int run_check(const Context& context, const CheckOptions& options) {
  std::string path = options.json ? "/api/v1/check" : "/api/v1/text/check";
  if (!options.port.empty()) path += "/" + path_part(options.port);
  if (options.drain_reason) path += "?drain=1";
  if (options.perfdata) path += "?perfdata=1";
  const auto answer = context.client.get(path);
  if (!answer) return unknown(options, answer.error().message);
  if (answer->status != 200) return unknown(options, refusal(*answer));
  const auto level = parse_u64(answer->check);
  if (!level || *level > 3)
    return unknown(
        options, "the daemon gives no check level: its version differs from that of this command");
  std::fwrite(answer->body.data(), 1, answer->body.size(), stdout);
  return static_cast<int>(*level);
}

int run_ticket(const Context& context, const TicketOptions& options) {
  return show(context.client.get((options.json ? "/api/v1/ticket/" : "/api/v1/text/ticket/") +
                                 path_part(options.port)));
}

}  // namespace linkhealth::cli
