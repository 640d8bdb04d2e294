#include "cli/prometheus.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/text.h"
#include "cli/http_client.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {

constexpr long kAnswer_s = 30;
constexpr std::size_t kMaxAnswer_bytes = std::size_t{64} << 20U;

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

/// "" where the address has no such part.
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
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://"))
    return wrong("it begins with neither http:// nor https://");
  if (curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0) != CURLUE_OK ||
      !url_part(url.get(), CURLUPART_QUERY).empty() ||
      !url_part(url.get(), CURLUPART_FRAGMENT).empty())
    return wrong("no host, or a character that can't be in one");
  Prometheus out;
  out.user_ = url_part(url.get(), CURLUPART_USER, CURLU_URLDECODE);
  out.password_ = url_part(url.get(), CURLUPART_PASSWORD, CURLU_URLDECODE);
  if (!out.user_.empty() && out.password_.empty())
    return wrong("before the @ stands no user:password");
  curl_url_set(url.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(url.get(), CURLUPART_PASSWORD, nullptr, 0);
  out.url_ = url_part(url.get(), CURLUPART_URL);
  while (out.url_.ends_with('/')) out.url_.pop_back();
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
  HttpTarget target;
  target.url = url_ + "/api/v1/query?query=" + url_encoded(expression);
  target.silence_s = kAnswer_s;
  target.user = user_;
  target.password = password_;
  target.bearer_token = token_;
  target.ca_file = ca_file_;
  const std::string who = "Prometheus at " + url_;
  const auto answer = fetch(target, kMaxAnswer_bytes);
  if (!answer && answer.error().errnum == EMSGSIZE)
    return Error{who + " answers with more than 64 MiB"};
  if (!answer)
    return Error{fmt::format("{} does not answer ({}): is the address right? --prometheus URL, or "
                             "LINKHEALTH_PROMETHEUS",
                             who, answer.error().message),
                 ECONNREFUSED};
  const int status = answer->status;
  if (status == 401 || status == 403)
    return Error{who + " refuses (" + std::to_string(status) +
                 "): --bearer-token-file FILE, or user:password@ in the address"};
  auto rows = parse_vector(answer->body);
  if (!rows)
    return Error{who + " " + (status == 200 ? "" : "(" + std::to_string(status) + ") ") +
                 rows.error().message};
  return rows;
}

}  // namespace linkhealth::cli
