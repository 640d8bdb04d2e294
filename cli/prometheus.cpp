#include "cli/prometheus.h"

#include <httplib.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "model/json.h"

namespace linkhealth::cli {

namespace {

constexpr time_t kConnect_s = 5;
constexpr time_t kAnswer_s = 30;
constexpr std::size_t kMostBytes = 64UL << 20U;

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
      if (!text.is_string()) return Error{"a label that is no text"};
      row.labels[label] = text;
    }
  }
  return rows;
}

std::string first_words(std::string_view body) {
  constexpr std::size_t kMost = 60;
  const auto line = trim(body.substr(0, body.find('\n')));
  return line.empty() ? "an empty answer"
                      : "\"" + printable(std::string(line.substr(0, kMost))) + "\"";
}

Result<std::string> secret_of(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return Error{"can't read " + path};
  const std::string secret(trim(text));
  if (secret.empty() || secret.find_first_of("\r\n") != std::string::npos)
    return Error{path + " must hold one line: the token"};
  return secret;
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
    return Error{"gives no answer of Prometheus: " + first_words(body)};
  auto rows = rows_of(member(*json, "data"));
  if (!rows) return Error{"gives no answer of Prometheus: " + rows.error().message};
  return rows;
}

Result<Prometheus> Prometheus::open(const PrometheusOptions& options) {
  const auto wrong = [](const std::string& why) {
    return Error{"the address of Prometheus: " + why +
                 " (http://host:9090, https://user:password@host/prefix)"};
  };
  std::string_view rest = options.url;
  const auto scheme_end = rest.find("://");
  const std::string scheme(rest.substr(0, scheme_end == std::string_view::npos ? 0 : scheme_end));
  if (scheme != "http" && scheme != "https")
    return wrong("it begins with neither http:// nor https://");
  rest.remove_prefix(scheme_end + 3);
  const auto slash = rest.find('/');
  std::string_view host = rest.substr(0, slash);
  Prometheus out;
  if (slash != std::string_view::npos) out.prefix_ = rest.substr(slash);
  while (out.prefix_.ends_with('/')) out.prefix_.pop_back();
  if (const auto at = host.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = host.substr(0, at);
    const auto colon = login.find(':');
    if (colon == std::string_view::npos) return wrong("before the @ stands no user:password");
    out.user_ = httplib::detail::decode_url(std::string(login.substr(0, colon)), false);
    out.password_ = httplib::detail::decode_url(std::string(login.substr(colon + 1)), false);
    host.remove_prefix(at + 1);
  }
  if (host.empty() || host.find_first_of(" \t\r\n?#") != std::string_view::npos ||
      out.prefix_.find_first_of(" \t\r\n?#") != std::string::npos)
    return wrong("no host, or a character that can't be in one");
  out.origin_ = scheme + "://" + std::string(host);
  out.shown_ = out.origin_ + out.prefix_;
  out.ca_file_ = options.ca_file;
  if (!options.bearer_token_file.empty()) {
    auto token = secret_of(options.bearer_token_file);
    if (!token) return token.error();
    out.token_ = std::move(*token);
  }
  if (!out.ca_file_.empty() && !std::ifstream(out.ca_file_))
    return Error{"can't read " + out.ca_file_};
  return out;
}

Result<PrometheusVector> Prometheus::query(const std::string& expression) const {
  httplib::Client client(origin_);
  if (!client.is_valid()) return Error{"the address of Prometheus is none: " + shown_};
  client.set_connection_timeout(kConnect_s);
  client.set_read_timeout(kAnswer_s);
  if (!ca_file_.empty()) client.set_ca_cert_path(ca_file_);
  if (!user_.empty()) client.set_basic_auth(user_, password_);
  if (!token_.empty()) client.set_bearer_token_auth(token_);
  std::string body;
  bool too_long = false;
  int status = 0;
  const std::string path =
      prefix_ + "/api/v1/query?query=" + httplib::detail::encode_query_param(expression);
  const auto answer = client.Get(
      path,
      [&](const httplib::Response& response) {
        status = response.status;
        return true;
      },
      [&](const char* data, std::size_t size) {
        too_long = body.size() + size > kMostBytes;
        if (!too_long) body.append(data, size);
        return !too_long;
      });
  const std::string who = "Prometheus at " + shown_;
  if (too_long) return Error{who + " answers with more than 64 MiB"};
  if (!answer)
    return Error{who + " does not answer (" + to_string(answer.error()) +
                     "): is the address right? --prometheus URL, or LINKHEALTH_PROMETHEUS",
                 ECONNREFUSED};
  if (status == 401 || status == 403)
    return Error{who + " refuses (" + std::to_string(status) +
                 "): --bearer-token-file FILE, or user:password@ in the address"};
  auto rows = parse_vector(body);
  if (!rows)
    return Error{who + " " + (status == 200 ? "" : "(" + std::to_string(status) + ") ") +
                 rows.error().message};
  return rows;
}

}  // namespace linkhealth::cli
