#include "tests/support/eeprom_builder.h"

namespace linkhealth {

namespace {
constexpr unsigned kHalf = 128;
}

EepromBuilder EepromBuilder::sff8472() {
  EepromBuilder b(Map::kSff8472);
  b.lower().bytes({{0, 0x03}, {1, 0x04}, {2, 0x07}, {3, 0x20}, {11, 0x06}, {12, 103}, {14, 10}});
  b.text(20, 16, "ACME OPTICS").text(40, 16, "ACME-10G-LR").text(56, 4, "A1").u16(60, 1310);
  b.text(68, 16, "AC0001").text(84, 8, "250302").bytes({{92, 0x68}, {93, 0xf0}, {94, 0x08}});
  b.a2().limits(0, 75 << 8, 0xfb00, 70 << 8, 0).limits(8, 36000, 30000, 35000, 31000);
  b.limits(16, 40000, 1000, 35000, 2000)
      .limits(24, 22387, 1000, 17783, 1585)
      .limits(32, 14125, 100, 11220, 200);
  b.u16(96, 40 << 8).u16(98, 33000).u16(100, 15000).u16(102, 6000).u16(104, 5000);
  return b;
}

EepromBuilder EepromBuilder::sff8636() {
  EepromBuilder b(Map::kSff8636);
  b.lower().bytes({{0, 0x11}, {1, 0x08}}).u16(22, 45 << 8).u16(26, 33000);
  for (unsigned lane = 0; lane < 4; ++lane)
    b.u16(34 + 2 * lane, 7000 + lane).u16(42 + 2 * lane, 3500).u16(50 + 2 * lane, 9000);
  b.page(0).bytes({{128, 0x11}, {129, 0x80}, {130, 0x0c}, {131, 0x80}, {139, 0x03}, {140, 0xff}});
  b.text(148, 16, "ACME OPTICS")
      .text(168, 16, "ACME-100G-SR4")
      .text(184, 2, "B2")
      .u16(186, 850 * 20)
      .byte(192, 0x02);
  b.bytes({{194, 0x30}, {195, 0x0a}})
      .text(196, 16, "AC0002")
      .text(212, 8, "250302")
      .bytes({{220, 0x3c}, {222, 103}});
  b.page(3).limits(128, 75 << 8, 0xfb00, 70 << 8, 0).limits(144, 36300, 29700, 34650, 31350);
  b.limits(176, 21878, 631, 17378, 871)
      .limits(184, 5000, 500, 4500, 1000)
      .limits(192, 21878, 1259, 17378, 1738);
  return b.lower();
}

EepromBuilder EepromBuilder::cmis() {
  EepromBuilder b(Map::kCmis);
  b.lower()
      .bytes({{0, 0x18}, {1, 0x50}, {3, 0x07}})
      .u16(14, 50 << 8)
      .u16(16, 33000)
      .bytes({{39, 1}, {40, 7}});
  b.bytes({{85, 0x02}, {86, 0x11}, {87, 0x1c}, {88, 0x84}, {89, 0x01}, {90, 0xff}});
  b.page(0)
      .byte(128, 0x18)
      .text(129, 16, "ACME OPTICS")
      .text(148, 16, "ACME-400G-DR4")
      .text(164, 2, "C3");
  b.text(166, 16, "AC0003")
      .text(182, 8, "250302")
      .bytes({{200, 0xa0}, {201, 40}, {203, 0x0c}, {212, 0x06}});
  b.page(1)
      .byte(132, 0x45)
      .u16(138, 1311 * 20)
      .bytes({{142, 0x04}, {151, 0x10}, {157, 0x07}, {158, 0x06}});
  b.bytes({{159, 0x03}, {160, 0x0f}, {176, 0x01}});
  b.page(2).limits(128, 75 << 8, 0xfb00, 70 << 8, 0).limits(136, 36300, 29700, 34650, 31350);
  b.limits(176, 35481, 3236, 28184, 4074)
      .limits(184, 40000, 5000, 35000, 10000)
      .limits(192, 35481, 1288, 28184, 2042);
  b.page(0x10).byte(130, 0);
  b.page(0x11).fill(128, 4, 0x44).bytes({{132, 0xff}, {133, 0x0f}}).fill(206, 8, 0x10);
  for (unsigned lane = 0; lane < 4; ++lane)
    b.u16(154 + 2 * lane, 11000).u16(170 + 2 * lane, 18000).u16(186 + 2 * lane, 8000 + lane);
  return b.lower();
}

EepromBuilder EepromBuilder::cmis_with_vdm(std::initializer_list<std::array<unsigned, 3>> rows) {
  EepromBuilder b = cmis();
  b.page(0x01).byte(142, 0x44);
  b.page(0x2f).byte(128, 0x00);
  unsigned at = 128;
  for (const auto& [where, type, value] : rows) {
    b.page(0x20).byte(at, where).byte(at + 1, type);
    b.page(0x24).u16(at, value);
    at += 2;
  }
  return b;
}

EepromBuilder& EepromBuilder::a2() {
  at_ = {kModuleAddressA2, 0, 0, false};
  return *this;
}
EepromBuilder& EepromBuilder::lower() {
  at_ = {kModuleAddressA0, 0, 0, false};
  return *this;
}
EepromBuilder& EepromBuilder::page(std::uint8_t number, std::uint8_t bank) {
  at_ = {kModuleAddressA0, bank, number, true};
  return *this;
}

EepromBuilder& EepromBuilder::byte(unsigned offset, unsigned value) {
  Half& half = halves_[at_];
  half.resize(kHalf);
  half.at(offset % kHalf) = static_cast<std::uint8_t>(value);
  return *this;
}

EepromBuilder& EepromBuilder::bytes(std::initializer_list<std::array<unsigned, 2>> rows) {
  for (const auto& [offset, value] : rows) byte(offset, value);
  return *this;
}

EepromBuilder& EepromBuilder::u16(unsigned offset, unsigned value) {
  return byte(offset, value >> 8U).byte(offset + 1, value & 0xffU);
}

EepromBuilder& EepromBuilder::text(unsigned offset, unsigned length, std::string_view value) {
  for (unsigned i = 0; i < length; ++i)
    byte(offset + i,
         i < value.size() ? static_cast<unsigned char>(value[i]) : static_cast<unsigned char>(' '));
  return *this;
}

EepromBuilder& EepromBuilder::fill(unsigned offset, unsigned count, unsigned value) {
  for (unsigned i = 0; i < count; ++i) byte(offset + i, value);
  return *this;
}

EepromBuilder& EepromBuilder::limits(unsigned offset, unsigned high_alarm, unsigned low_alarm,
                                     unsigned high_warn, unsigned low_warn) {
  return u16(offset, high_alarm)
      .u16(offset + 2, low_alarm)
      .u16(offset + 4, high_warn)
      .u16(offset + 6, low_warn);
}

EepromBuilder& EepromBuilder::co_packaged() {
  lower().byte(0, 0x80);
  return page(0x00).byte(128, 0x80);
}

EepromBuilder& EepromBuilder::without(std::uint8_t number, std::uint8_t bank) {
  halves_.erase({kModuleAddressA0, bank, number, true});
  return *this;
}

void EepromBuilder::sum(Half& half, unsigned first, unsigned last, unsigned at) {
  unsigned total = 0;
  for (unsigned i = first; i <= last; ++i) total += half.at(i % kHalf);
  half.at(at % kHalf) = static_cast<std::uint8_t>(total);
}

void EepromBuilder::fix(std::map<ModulePageKey, Half>& halves) const {
  for (auto& [key, half] : halves) {
    if (map_ == Map::kSff8472 && key.i2c_address == kModuleAddressA0 && !key.upper) {
      sum(half, 0, 62, 63);
      sum(half, 64, 94, 95);
    } else if (map_ == Map::kSff8472 && key.i2c_address == kModuleAddressA2 && !key.upper) {
      sum(half, 0, 94, 95);
    } else if (map_ == Map::kSff8636 && key.upper && key.page == 0) {
      sum(half, 128, 190, 191);
      sum(half, 192, 222, 223);
    } else if (map_ == Map::kCmis && key.upper && key.page == 0) {
      sum(half, 128, 221, 222);
    } else if (map_ == Map::kCmis && key.upper && (key.page == 1 || key.page == 2)) {
      sum(half, key.page == 1 ? 130 : 128, 254, 255);
    }
  }
}

ModuleImage EepromBuilder::image(bool fix_checksums) const {
  auto halves = halves_;
  if (fix_checksums) fix(halves);
  ModuleImage out;
  for (const auto& [key, half] : halves)
    out.store({key.i2c_address, key.bank, key.page,
               static_cast<std::uint8_t>(key.upper ? kHalf : 0), 128},
              half);
  return out;
}

}  // namespace linkhealth
