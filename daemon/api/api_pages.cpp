#include "daemon/api/api.h"
#include "exporters/web_files.h"

namespace linkhealth {

namespace {

HttpResponse file_response(std::string_view name) {
  const auto file = web_file(name);
  if (!file) return error_response(404, "the page has no such file");
  HttpResponse response;
  response.content_type = file->content_type;
  response.body = file->bytes;
  return response;
}

}  // namespace

HttpResponse get_page(const ApiCall& /*call*/) {
  HttpResponse response = file_response("index.html");
  response.headers = {{"Content-Security-Policy", std::string(kPagePolicy)}};
  return response;
}

HttpResponse get_page_file(const ApiCall& call) { return file_response(call.argument); }

}  // namespace linkhealth
