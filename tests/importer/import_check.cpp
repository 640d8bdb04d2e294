// import_check FILE: "good N ports", or why linkhealthd does not use it or an entry; exit code 1
// then.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "probes/peer/import_file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto file = linkhealth::parse_import_file(text);
  if (!file) return fmt::print("{}\n", file.error().message), 1;
  for (const auto& [name, port] : file->ports)
    if (!port.flaw.empty()) return fmt::print("ports > {}: {}\n", name, port.flaw), 1;
  fmt::print("good {} ports\n", file->ports.size());
  return 0;
}
