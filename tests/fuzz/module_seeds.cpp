// Writes the first corpus of the module fuzzers: `module_seeds DIR` makes DIR/{sff8472,sff8636,cmis,dump}/seed, what
// the reads of a made-up module of each map give.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "probes/module/read_plan.h"
#include "tests/support/eeprom_builder.h"

namespace {

using namespace linkhealth;

std::string reads_of(const ModuleImage& memory) {
  std::string out;
  ModuleImage image;
  for (const ReadScope scope : {ReadScope::kIdentity, ReadScope::kMonitors})
    for (auto batch = next_reads(image, scope); !batch.empty(); batch = next_reads(image, scope))
      for (const ModulePageRequest& request : batch) {
        const ModulePageKey key{request.i2c_address, request.bank, request.page, request.offset >= 128};
        std::vector<std::uint8_t> bytes;
        for (unsigned i = 0; i < request.length; ++i) bytes.push_back(memory.byte(key, request.offset + i).value_or(0));
        image.store(request, bytes);
        out.append(bytes.begin(), bytes.end());
      }
  return out;
}

void write(const std::filesystem::path& dir, const std::string& content) {
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "seed", std::ios::binary) << content;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: module_seeds DIR\n", stderr);
    return 2;
  }
  const std::filesystem::path dir = argv[1];
  auto cmis = EepromBuilder::cmis();
  cmis.page(1).byte(142, 0x75);
  cmis.page(0x2f).byte(128, 0x00);
  cmis.page(0x20).byte(128, 0x00).byte(129, 5).byte(130, 0x0f).byte(131, 15).byte(132, 0x0f).byte(133, 139);
  cmis.page(0x24).u16(128, 0x1600).u16(130, 0x8064).u16(132, 361);
  cmis.page(0x28).limits(128, 0xffff, 0x1100, 0xffff, 0x1300);
  cmis.page(0x2c).byte(128, 0x5a);
  cmis.page(0x34).u16(132, 0x1000).u16(150, 0x0010);
  cmis.page(0x35).u16(158, 361).u16(160, 350).u16(162, 370);
  auto qsfp = EepromBuilder::sff8636();
  qsfp.lower().byte(2, 0);
  qsfp.page(0).byte(195, 0x0b);
  qsfp.page(0x20).byte(128, 0x58).u16(152, 0x1380).u16(200, 0x2501).u16(202, 0x0004);
  qsfp.page(0x21).limits(144, 0xffff, 0x1000, 0xffff, 0x1200);
  write(dir / "sff8472", reads_of(EepromBuilder::sff8472().image()));
  write(dir / "sff8636", reads_of(qsfp.image()));
  write(dir / "cmis", reads_of(cmis.image()));
  write(dir / "dump", R"({"pages":{"lower":"1850","00":"18","11.1":"44"}})");
  return 0;
}
