#include "daemon/http/host_names.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/text.h"

namespace linkhealth {

namespace {

std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

/// The words before a '#' of each line that has any.
std::vector<std::vector<std::string>> lines_of_words(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string_view line : split(text, '\n')) {
    std::istringstream in{small_letters(line.substr(0, line.find('#')))};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (!words.empty()) lines.push_back(std::move(words));
  }
  return lines;
}

/// "node1:9942" and "[fe80::1]:9942" without port and brackets.
std::string without_port(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.find(':')));
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

}  // namespace

std::vector<std::string> own_host_names(std::string_view node, std::string_view resolv_conf,
                                        std::string_view hosts) {
  const std::string whole = small_letters(node);
  const std::string first = whole.substr(0, whole.find('.'));
  std::vector<std::string> names = {whole, first};
  for (const std::vector<std::string>& words : lines_of_words(resolv_conf)) {
    if (words[0] != "search" && words[0] != "domain") continue;
    for (std::size_t i = 1; i < words.size(); ++i)
      names.push_back(first + "." + words[i].substr(0, words[i].find_last_not_of('.') + 1));
  }
  for (const std::vector<std::string>& words : lines_of_words(hosts)) {
    const auto begin = words.begin() + 1;  // after the address
    if (std::find_first_of(begin, words.end(), names.begin(), names.end()) != words.end())
      names.insert(names.end(), begin, words.end());
  }
  return names;
}

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  if (host.empty()) return true;
  std::string name = small_letters(without_port(host));
  if (name.ends_with('.')) name.pop_back();
  if (name.empty()) return false;
  return name == "localhost" || is_address(name) || std::ranges::find(names, name) != names.end();
}

}  // namespace linkhealth
