// Writes the first corpus of the module fuzzers: `module_seeds DIR` makes files in
// DIR/{sff8472,sff8636,cmis,dump}, what the reads of made-up modules give. They reach what chance
// does not: banks above lane 8, all groups of VDM. Four banks are enough: sixteen are read alike,
// and slow.
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
  for (auto batch = next_reads(image); !batch.empty(); batch = next_reads(image))
    for (const ModulePageKey& key : batch) {
      const ModulePageRequest request = request_of(key);
      std::vector<std::uint8_t> bytes;
      for (unsigned i = 0; i < request.length; ++i)
        bytes.push_back(memory.byte(key, request.offset + i).value_or(0));
      image.store(request, bytes);
      out.append(bytes.begin(), bytes.end());
    }
  return out;
}

void write(const std::filesystem::path& dir, const std::string& name, const std::string& content) {
  std::filesystem::create_directories(dir);
  std::ofstream(dir / name, std::ios::binary) << content;
}

/// One group of VDM on one bank: 64 instances, the types from `first` on, on lanes in turn.
void vdm_group(EepromBuilder& module, unsigned group, unsigned first, std::uint8_t bank) {
  const auto page = [&](unsigned base) { return static_cast<std::uint8_t>(base + group); };
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 9 == 8 ? 15 : i % 9;  // 15: of the module
    module.page(page(0x20), bank)
        .byte(128 + 2 * i, (i % 16) << 4U | lane)
        .byte(129 + 2 * i, (first + i) % 150);
    module.page(page(0x24), bank).u16(128 + 2 * i, 0x1000 + 37 * i);
  }
}

/// All four groups: with 64 instances each they hold every type that CMIS has.
EepromBuilder cmis_with_vdm(unsigned banks) {
  auto module = EepromBuilder::cmis();
  if (banks > 1) module.co_packaged();
  module.lower().byte(1, 0x53).byte(8, 0x06).byte(9, 0xff).byte(10, 0xff).byte(11, 0xff);
  module.page(1)
      .byte(142, 0x44U | (banks == 1   ? 0U
                          : banks == 2 ? 1U
                          : banks == 4 ? 2U
                                       : 3U))
      .byte(174, banks);
  module.page(1).byte(145, 0x07).byte(159, 0x1f);
  module.page(0x2f).byte(128, 0x03);
  for (std::uint8_t bank = 0; bank < banks; ++bank) {
    for (unsigned group = 0; group < 4; ++group)
      vdm_group(module, group, group == 3 ? 100 : 1 + 40 * group, bank);
    module.page(0x10, bank).byte(130, 0x01);
    module.page(0x11, bank).fill(128, 4, 0x44).fill(134, 20, 0x5a).fill(206, 8, 0x10);
    for (unsigned lane = 0; lane < 8; ++lane)
      module.page(0x11, bank).u16(186 + 2 * lane, 8000 + 100U * bank + lane);
  }
  return module;
}

EepromBuilder flat_cable() {
  auto module = EepromBuilder::cmis();
  module.lower().byte(2, 0x80).byte(85, 0x03).byte(86, 0x1d).byte(87, 0x01).byte(88, 0x88).byte(
      89, 0x01);
  module.page(0)
      .byte(202, 0x43)
      .byte(203, 0x23)
      .byte(204, 5)
      .byte(205, 7)
      .byte(206, 9)
      .byte(207, 12)
      .byte(212, 0x0a);
  return module;
}

EepromBuilder in_fault() {
  auto module = EepromBuilder::cmis();
  module.lower().byte(1, 0x40).byte(3, 0x0b).byte(26, 0x50).byte(41, 0x06);
  return module;
}

void write_cmis(const std::filesystem::path& dir) {
  auto module =
      EepromBuilder::cmis_with_vdm({{0x00, 5, 0x1600}, {0x0f, 15, 0x8064}, {0x0f, 139, 361}});
  module.page(1).byte(142, 0x65);
  module.page(0x13).byte(128, 0x30).byte(180, 0x0f);
  write(dir, "seed", reads_of(module.image()));
  for (const unsigned banks : {1U, 2U, 4U})
    write(dir, "vdm_banks_" + std::to_string(banks), reads_of(cmis_with_vdm(banks).image()));
  auto frozen = cmis_with_vdm(1);
  frozen.page(0x2f).byte(144, 0x80);
  write(dir, "frozen", reads_of(frozen.image()));
  auto asleep = cmis_with_vdm(1);
  asleep.page(0x2f).byte(144, 0x40);
  write(dir, "asleep", reads_of(asleep.image()));
  write(dir, "flat", reads_of(flat_cable().image()));
  write(dir, "fault", reads_of(in_fault().image()));
}

void write_sff8636(const std::filesystem::path& dir) {
  auto module = EepromBuilder::sff8636();
  module.lower().byte(2, 0);
  write(dir, "seed", reads_of(module.image()));
  auto flags = EepromBuilder::sff8636();
  flags.lower().fill(3, 12, 0xff);
  write(dir, "flags", reads_of(flags.image()));
  auto cable = EepromBuilder::sff8636();
  cable.page(0)
      .byte(130, 0x23)
      .byte(146, 3)
      .byte(147, 0xa0)
      .byte(186, 4)
      .byte(187, 6)
      .byte(188, 9)
      .byte(192, 0x0b);
  write(dir, "cable", reads_of(cable.image()));
}

void write_sff8472(const std::filesystem::path& dir) {
  write(dir, "seed", reads_of(EepromBuilder::sff8472().image()));
  auto external = EepromBuilder::sff8472();
  external.lower().byte(92, 0x58);
  write(dir, "external", reads_of(external.image()));
  auto cable = EepromBuilder::sff8472();
  cable.lower().byte(2, 0x21).byte(8, 0x04).byte(18, 3).byte(92, 0).byte(93, 0);
  write(dir, "cable", reads_of(cable.image()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: module_seeds DIR\n", stderr);
    return 2;
  }
  const std::filesystem::path dir = argv[1];
  write_sff8472(dir / "sff8472");
  write_sff8636(dir / "sff8636");
  write_cmis(dir / "cmis");
  write(dir / "dump", "json", R"({"pages":{"lower":"1850","00":"18","11.1":"44"}})");
  write(dir / "dump", "hex",
        "Offset\t\tValues\n------\t\t------\n0x0000:\t\t11 07 00 0f \n0x0010:\t\t00 00 1a 6e \n");
  write(dir / "dump", "binary", std::string("\x11\x07", 2) + std::string(638, '\0'));
  return 0;
}
