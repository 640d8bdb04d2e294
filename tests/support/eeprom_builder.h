// Builds module memory for tests: pages of SFF-8472, SFF-8636 and CMIS with correct checksums. What
// is not set stays zero.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/module/image.h"

namespace linkhealth {

class EepromBuilder {
 public:
  /// An SFP with DDM, internally calibrated, LC, 10G-LR at 1310 nm.
  static EepromBuilder sff8472();
  /// A QSFP28 of revision 2.8 with all monitors, 100G-SR4.
  static EepromBuilder sff8636();
  /// A QSFP-DD of CMIS 5.0, 400G-DR4, all monitors, eight host lanes activated, four media lanes.
  static EepromBuilder cmis();

  /// cmis() with VDM of one group, on its pages 2Fh, 20h and 24h. Each row: the first byte, the
  /// type and the value.
  static EepromBuilder cmis_with_vdm(std::initializer_list<std::array<unsigned, 3>> rows);

  /// Selects the page that the next calls change; initially the lower page of A0h.
  EepromBuilder& a2();
  EepromBuilder& lower();
  EepromBuilder& page(std::uint8_t number, std::uint8_t bank = 0);
  EepromBuilder& byte(unsigned offset, unsigned value);
  /// Each row: offset and value.
  EepromBuilder& bytes(std::initializer_list<std::array<unsigned, 2>> rows);
  EepromBuilder& u16(unsigned offset, unsigned value);
  EepromBuilder& text(unsigned offset, unsigned length, std::string_view value);
  /// `count` bytes of `value`.
  EepromBuilder& fill(unsigned offset, unsigned count, unsigned value);
  /// High alarm, low alarm, high warning, low warning.
  EepromBuilder& limits(unsigned offset, unsigned high_alarm, unsigned low_alarm,
                        unsigned high_warn, unsigned low_warn);
  /// An optical engine next to the ASIC (identifier 80h), which may have more than one bank: no
  /// form factor limits its lanes.
  EepromBuilder& co_packaged();
  /// Makes the page look as if no read of it succeeded.
  EepromBuilder& without(std::uint8_t number, std::uint8_t bank = 0);

  /// With correct checksums, unless fix_checksums is false.
  [[nodiscard]] ModuleImage image(bool fix_checksums = true) const;

 private:
  enum class Map : std::uint8_t { kSff8472, kSff8636, kCmis };
  explicit EepromBuilder(Map map) : map_(map) {}

  using Half = std::vector<std::uint8_t>;
  static void sum(Half& half, unsigned first, unsigned last, unsigned at);
  void fix(std::map<ModulePageKey, Half>& halves) const;

  Map map_;
  ModulePageKey at_{};
  std::map<ModulePageKey, Half> halves_;
};

}  // namespace linkhealth
