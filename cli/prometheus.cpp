#include "cli/prometheus.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/result.h"
#include "base/text.h"
#include "cli/exit_codes.h"
#include "config/read_file.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

constexpr long kAnswer_s = 30;
constexpr std::size_t kMaxAnswer_bytes = std::size_t{64} << 20U;

/// The certificates of the system; "": curl finds them. A portable build looks only where the first
/// of these is.
std::string system_certificates() {
  for (const char* bundle : {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu
                             "/etc/pki/tls/certs/ca-bundle.crt",    // RHEL, Rocky
                             "/etc/ssl/ca-bundle.pem"})             // SLES
    if (std::filesystem::exists(bundle)) return bundle;
  return "";
}

/// [time, "value"]: a number as text, because JSON has neither NaN nor infinity.
Result<double> value_of(const Json& sample) {
  if (!sample.is_array() || sample.size() != 2 || !sample[1].is_string())
    return Error{"a series without a value"};
  const auto& text = sample[1].get_ref<const std::string&>();
  if (text == "NaN") return std::nan("");
  if (text == "+Inf" || text == "-Inf") return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  const auto number = parse_double(text);
  if (!number) return Error{"expected a number, found \"" + printable(text.substr(0, 40)) + "\""};
  return *number;
}

Result<PrometheusVector> rows_of(const Json& data) {
  const std::string type = text_member(data, "resultType");
  if (type != "vector") return Error{"expected a vector, found a " + printable(type.substr(0, 40))};
  PrometheusVector rows;
  for (const Json& series : member(data, "result")) {
    if (rows.size() >= kMostRows)
      return Error{"more than " + std::to_string(kMostRows) + " series"};
    const auto value = value_of(member(series, "value"));
    if (!value) return value.error();
    PrometheusRow& row = rows.emplace_back();
    row.value = *value;
    for (const auto& [label, text] : member(series, "metric").items()) {
      if (!text.is_string()) return Error{"a label that is not text"};
      row.labels[label] = text;
    }
  }
  return rows;
}

std::string first_line(std::string_view body) {
  constexpr std::size_t kMost = 60;
  const auto line = trim(body.substr(0, body.find('\n')));
  return line.empty() ? "an empty answer" : "\"" + printable(line.substr(0, kMost)) + "\"";
}

std::string read_token(const std::string& path) {
  constexpr std::size_t kLongest_bytes = 64 << 10U;
  const auto text = read_small_file(path, kLongest_bytes);
  if (!text) throw CommandError(kBadInput, "can't read " + text.error().message);
  std::string token(trim(*text));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (token.empty() || text->size() > kLongest_bytes || std::ranges::any_of(token, is_control))
    throw CommandError(kBadInput, path + " must hold one line: the token");
  if (const std::string warning = exposed_secret(path); !warning.empty())
    std::fputs((warning + "\n").c_str(), stderr);
  return token;
}

/// "" if the address does not have this part.
std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, curl_free);
  return text;
}

}  // namespace

std::string_view PrometheusRow::label(std::string_view name) const {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string_view() : found->second;
}

Result<PrometheusVector> parse_vector(std::string_view body) {
  const auto json = parse_json(body);
  const std::string status = json ? text_member(*json, "status") : "";
  if (status == "error")
    return Error{"says: " + printable(text_member(*json, "errorType")) + ": " +
                 printable(text_member(*json, "error"))};
  if (status != "success" || !member(*json, "data").is_object())
    return Error{"is not a Prometheus response: " + first_line(body)};
  auto rows = rows_of(member(*json, "data"));
  if (!rows) return Error{"is not a Prometheus response: " + rows.error().message};
  return rows;
}

Prometheus::Prometheus(const PrometheusOptions& options) {
  const auto require = [](bool valid, const char* why) {
    if (!valid)
      throw CommandError(kBadInput, fmt::format("the address of Prometheus: {} (http://host:9090, "
                                                "https://user:password@host/prefix)",
                                                why));
  };
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
  require(options.url.starts_with("http://") || options.url.starts_with("https://"),
          "it begins with neither http:// nor https://");
  require(curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0) == CURLUE_OK &&
              url_part(url.get(), CURLUPART_QUERY).empty() &&
              url_part(url.get(), CURLUPART_FRAGMENT).empty(),
          "no host name, or an invalid character in it");
  target_.user = url_part(url.get(), CURLUPART_USER, CURLU_URLDECODE);
  target_.password = url_part(url.get(), CURLUPART_PASSWORD, CURLU_URLDECODE);
  require(target_.user.empty() || !target_.password.empty(), "no password before the @");
  curl_url_set(url.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(url.get(), CURLUPART_PASSWORD, nullptr, 0);
  target_.url = url_part(url.get(), CURLUPART_URL);
  while (target_.url.ends_with('/')) target_.url.pop_back();
  target_.silence_s = kAnswer_s;
  target_.ca_file = options.ca_file.empty() ? system_certificates() : options.ca_file;
  if (!options.bearer_token_file.empty())
    target_.bearer_token = read_token(options.bearer_token_file);
  if (!target_.ca_file.empty() && !std::ifstream(target_.ca_file))
    throw CommandError(kBadInput, errno_error("can't read " + target_.ca_file, errno).message);
}

PrometheusVector Prometheus::query(const std::string& expression) const {
  HttpTarget target = target_;
  target.url += "/api/v1/query?query=" + url_encoded(expression);
  const std::string server = "Prometheus at " + shown();
  const auto answer = fetch(target, kMaxAnswer_bytes);
  if (!answer && answer.error().errnum == EMSGSIZE)
    throw CommandError(kDaemonError, server + " answers with more than 64 MiB");
  if (!answer)
    throw CommandError(kNotReachable,
                       fmt::format("{} does not answer ({}): is the address right? --prometheus "
                                   "URL, or LINKHEALTH_PROMETHEUS",
                                   server, answer.error().message));
  const int status = answer->status;
  if (status == 401 || status == 403)
    throw CommandError(kDaemonError,
                       fmt::format("{} refuses ({}): --bearer-token-file FILE, or user:password@ "
                                   "in the address",
                                   server, status));
  auto rows = parse_vector(answer->body);
  if (rows) return *std::move(rows);
  throw CommandError(kDaemonError, fmt::format("{} {}{}", server,
                                               status == 200 ? "" : fmt::format("({}) ", status),
                                               rows.error().message));
}

double Prometheus::number(const std::string& expression) const {
  const PrometheusVector rows = query(expression);
  return rows.empty() || !std::isfinite(rows.front().value) ? 0 : rows.front().value;
}

}  // namespace linkhealth::cli
