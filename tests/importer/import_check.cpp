// import_check FILE: "good N ports", or why linkhealthd would not believe the file; exit code 1
// then.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "probes/import_file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto file = linkhealth::parse_import_file(text);
  fmt::print("{}\n",
             file ? fmt::format("good {} ports", file->ports.size()) : file.error().message);
  return file ? 0 : 1;
}
