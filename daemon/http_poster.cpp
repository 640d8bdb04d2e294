#define CURL_DISABLE_TYPECHECK  // its macros would call the functions by their linked names
#include "daemon/http_poster.h"

#include <curl/curl.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/loaded_library.h"
#include "base/text.h"

namespace linkhealth {

namespace {

constexpr long kConnectTimeout_ms = 5'000;
constexpr long kWholeTimeout_ms = 10'000;
constexpr std::size_t kKeptReply_bytes = 2048;

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define LINKHEALTH_CURL_FUNCTIONS(X) \
  X(curl_global_init)                \
  X(curl_easy_init)                  \
  X(curl_easy_cleanup)               \
  X(curl_easy_reset)                 \
  X(curl_easy_setopt)                \
  X(curl_easy_getinfo)               \
  X(curl_easy_perform)               \
  X(curl_easy_strerror)              \
  X(curl_slist_append)               \
  X(curl_slist_free_all)

struct CurlFunctions {
#define LINKHEALTH_MEMBER(name) \
  decltype(&::name) name = nullptr; /* NOLINT(bugprone-macro-parentheses): it is a member */
  LINKHEALTH_CURL_FUNCTIONS(LINKHEALTH_MEMBER)
#undef LINKHEALTH_MEMBER

  static Result<CurlFunctions> load() {
    auto library = LoadedLibrary::open("libcurl.so.4");
    if (!library) library = LoadedLibrary::open("libcurl-gnutls.so.4");
    if (!library) return library.error();
    CurlFunctions functions;
#define LINKHEALTH_FIND(name) \
  if (!library->find(#name, functions.name)) return Error{"libcurl has no " #name};
    LINKHEALTH_CURL_FUNCTIONS(LINKHEALTH_FIND)
#undef LINKHEALTH_FIND
    if (functions.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
      return Error{"libcurl can't begin"};
    return functions;
  }
};

std::size_t keep_beginning(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& text = *static_cast<std::string*>(to);
  text.append(bytes,
              std::min(size * count, kKeptReply_bytes - std::min(text.size(), kKeptReply_bytes)));
  return size * count;
}

int stop_asked(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

class CurlPoster : public HttpPoster {
 public:
  CurlPoster(const CurlFunctions& functions, SinkAccess access, const std::atomic<bool>& stop)
      : curl_(functions),
        access_(std::move(access)),
        stop_(stop),
        handle_(curl_.curl_easy_init()) {}
  CurlPoster(const CurlPoster&) = delete;
  CurlPoster& operator=(const CurlPoster&) = delete;
  ~CurlPoster() override { curl_.curl_easy_cleanup(handle_); }

  Result<PostReply> post(const std::string& url, const std::string& body,
                         const std::string& id) override {
    if (handle_ == nullptr) return Error{"libcurl has no memory"};
    std::vector<std::string> fields = {"Content-Type: application/json", "Expect:"};
    if (!id.empty()) fields.push_back("Idempotency-Key: " + id);
    if (!access_.token_file.empty()) {
      // Read each time: tokens are renewed.
      std::ifstream file(access_.token_file);
      std::string token;
      if (!std::getline(file, token) || token.empty() || printable(token) != token)
        return Error{"no token in " + access_.token_file};
      fields.push_back("Authorization: Bearer " + token);
    }
    curl_slist* list = nullptr;
    for (const std::string& field : fields) list = curl_.curl_slist_append(list, field.c_str());
    PostReply reply;
    curl_.curl_easy_reset(handle_);  // the connection is kept
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(CURLOPT_HTTPHEADER, list);
    set(CURLOPT_USERAGENT, "linkhealthd/" LINKHEALTH_VERSION);
    set(CURLOPT_WRITEFUNCTION, &keep_beginning);
    set(CURLOPT_WRITEDATA, &reply.body);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeout_ms);
    set(CURLOPT_TIMEOUT_MS, kWholeTimeout_ms);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &stop_asked);
    set(CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(&stop_));
    if (!access_.ca_file.empty()) set(CURLOPT_CAINFO, access_.ca_file.c_str());
    const CURLcode code = curl_.curl_easy_perform(handle_);
    curl_.curl_slist_free_all(list);
    if (code != CURLE_OK) return Error{curl_.curl_easy_strerror(code)};
    long status = 0;
    curl_.curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    return reply;
  }

 private:
  template <typename Value>
  void set(CURLoption option, Value value) {
    curl_.curl_easy_setopt(handle_, option, value);
  }

  CurlFunctions curl_;
  SinkAccess access_;
  const std::atomic<bool>& stop_;
  CURL* handle_;
};

}  // namespace

Result<std::unique_ptr<HttpPoster>> curl_poster(const SinkAccess& access,
                                                const std::atomic<bool>& stop) {
  const auto functions = CurlFunctions::load();
  if (!functions) return functions.error();
  return std::unique_ptr<HttpPoster>(std::make_unique<CurlPoster>(*functions, access, stop));
}

}  // namespace linkhealth
