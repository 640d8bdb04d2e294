#include "cli/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <memory>

namespace linkhealth::cli {

namespace {

using Transfer = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

struct Receiver {
  CURL* transfer;
  const TakeBody& take;
  bool ended = false;  ///< by take
};

int status_of(CURL* transfer) {
  long status = 0;
  curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

std::size_t receive(const char* data, std::size_t /*one*/, std::size_t size, void* to) {
  auto& receiver = *static_cast<Receiver*>(to);
  receiver.ended = !receiver.take(status_of(receiver.transfer), {data, size});
  return receiver.ended ? 0 : size;
}

void set_options(CURL* transfer, const HttpTarget& target) {
  curl_easy_setopt(transfer, CURLOPT_URL, target.url.c_str());
  curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(transfer, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(transfer, CURLOPT_USERAGENT, "linkhealth/" LINKHEALTH_VERSION);
  curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT, target.connect_s);
  curl_easy_setopt(transfer, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(transfer, CURLOPT_LOW_SPEED_TIME, target.silence_s);
  curl_easy_setopt(transfer, CURLOPT_TIMEOUT, target.whole_s);
  if (!target.unix_socket.empty()) {
    curl_easy_setopt(transfer, CURLOPT_UNIX_SOCKET_PATH, target.unix_socket.c_str());
    curl_easy_setopt(transfer, CURLOPT_PROXY, "");  // ignores the proxy of the environment
  }
  if (target.post) {
    curl_easy_setopt(transfer, CURLOPT_POST, 1L);
    curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE, 0L);
  }
  if (!target.ca_file.empty()) curl_easy_setopt(transfer, CURLOPT_CAINFO, target.ca_file.c_str());
  if (!target.user.empty()) {
    curl_easy_setopt(transfer, CURLOPT_USERNAME, target.user.c_str());
    curl_easy_setopt(transfer, CURLOPT_PASSWORD, target.password.c_str());
  }
  if (!target.bearer_token.empty()) {
    curl_easy_setopt(transfer, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(transfer, CURLOPT_XOAUTH2_BEARER, target.bearer_token.c_str());
  }
}

}  // namespace

Result<Answer> fetch(const HttpTarget& target, const TakeBody& take) {
  const Transfer transfer(curl_easy_init(), curl_easy_cleanup);
  if (transfer == nullptr) return Error{"no memory for a transfer", ENOMEM};
  set_options(transfer.get(), target);
  Receiver receiver{transfer.get(), take};
  curl_easy_setopt(transfer.get(), CURLOPT_WRITEFUNCTION, &receive);
  curl_easy_setopt(transfer.get(), CURLOPT_WRITEDATA, &receiver);
  const CURLcode code = curl_easy_perform(transfer.get());
  if (receiver.ended) return Error{"ended", ECANCELED};
  if (code == CURLE_OK) return Answer{status_of(transfer.get()), ""};
  long system_error = 0;
  curl_easy_getinfo(transfer.get(), CURLINFO_OS_ERRNO, &system_error);
  return Error{curl_easy_strerror(code), system_error != 0 ? static_cast<int>(system_error) : EIO};
}

Result<Answer> fetch(const HttpTarget& target, std::size_t max_bytes) {
  std::string body;
  auto answer = fetch(target, [&](int, std::string_view bytes) {
    if (body.size() + bytes.size() > max_bytes) return false;
    body += bytes;
    return true;
  });
  if (!answer && answer.error().errnum == ECANCELED)
    return Error{fmt::format("the answer is longer than {} MiB", max_bytes >> 20U), EMSGSIZE};
  if (answer) answer->body = std::move(body);
  return answer;
}

std::string url_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.' || c == ':' || c == '/';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace linkhealth::cli
