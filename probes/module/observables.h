// Monitors that a module lists itself: a descriptor names the quantity and the lane, and a value,
// four limits and four flags belong to it. CMIS has them as VDM (pages 20h-2Fh), SFF-8636 as PAM4
// and DWDM parameters (pages 20h-21h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.h"

namespace linkhealth {

/// How the two bytes of a value are read.
enum class ObservableCoding : std::uint8_t {
  kU16,
  kS16,
  kF16,  ///< CMIS 8.19.1, SFF-8636 table 6-48: 5 bits exponent of ten, offset -24, and 11 bits
         ///< mantissa
};

/// What a value goes into.
enum class ObservableSink : std::uint8_t {
  kEsnr,
  kLtp,
  kBer,
  kErroredFrames,
  kTail,
  kScalar,
  kModule,
  kCoherent,
  kFlagsOnly
};
enum class ObservablePart : std::uint8_t { kNone, kMin, kMax, kAvg, kCurrent, kTotal };

/// Which of several lanes' values stands for all of them: the worst.
enum class ObservableWorst : std::uint8_t {
  kLargest,
  kSmallest,
  kMagnitude,   ///< farthest from 0, with its sign
  kNearestEnd,  ///< of a control in percent of its range: farthest from the middle
};

/// raw * times / over. A step of 1/n is a division: that gives the nearest double.
struct ObservableScale {
  double times = 1, over = 1;
  [[nodiscard]] constexpr double of(double raw) const { return raw * times / over; }
};
inline constexpr ObservableScale kWhole{}, kTens{10, 1}, kTwenties{20, 1}, kTenths{1, 10},
    kHundredths{1, 100}, kTenThousandths{1, 1e4}, kQuarterThousandths{1, 4000}, k256ths{1, 256};
/// Of a range of 16 bits.
inline constexpr ObservableScale kPercentOfU16{100, 65535}, kPercentOfS16{100, 32767};

/// One row of a table of quantities.
struct Observable {
  std::uint8_t type;
  std::string_view name;  ///< the key under which recordings have it
  ObservableCoding coding;
  ObservableScale scale;
  std::uint16_t not_available;  ///< the raw value that means "no value"
  ObservableSink sink;
  ObservablePart part = ObservablePart::kNone;
  bool host = false;
  std::optional<double> ModuleVdm::*scalar = nullptr;
  std::optional<double> ModuleSample::*module = nullptr;
  std::optional<double> ModuleCoherent::*coherent = nullptr;
  ObservableWorst worst = ObservableWorst::kLargest;
  bool coarse = false;  ///< stands only where the finer row of the same name says nothing
};

/// One instance as the module describes it. Registers that were not read are nullopt.
struct ObservableInstance {
  std::uint8_t type = 0;
  std::optional<unsigned> lane;  ///< 0 first; nullopt: of the whole module
  unsigned lanes = 1;            ///< of a data path: `lane` is the first of so many
  std::optional<std::uint16_t> value;
  std::optional<std::array<std::uint16_t, 4>>
      limits;  ///< high alarm, low alarm, high warning, low warning
  AlarmFlags flags;
};

/// True for what belongs to a data path and not to a lane: error ratios, lost frames, the FEC tail.
bool is_of_data_path(const Observable& row);

/// CMIS 5.4 table 8-180 and C-CMIS 1.3: the types of VDM.
std::span<const Observable> cmis_observables();
/// SFF-8636 rev 2.11 table 6-43. Of residual dispersion (its sign is not stated), frame error rates
/// (frames a second, not those of an interval that CMIS has), the prior period and the laser's
/// temperature (a deviation) only the flags.
std::span<const Observable> sff8636_observables();

/// The row of a type; nullptr for a maker's own. REQUIRES: a table by type.
const Observable* find_observable(std::span<const Observable> table, std::uint8_t type);

/// Puts values, limits and flags into a sample. Of types without a row (a maker's own) only the
/// flags, as "type_100". Each has an entry, set or not; one that was not read is without any: it
/// must not be taken for cleared.
class ObservableCollector {
 public:
  ObservableCollector(std::span<const Observable> table, ModuleSample& sample)
      : table_(table), sample_(sample) {}
  void take(const ObservableInstance& instance);
  /// After the last one: of two rows of one quantity the finer stands, and what is the same on
  /// every lane is said once.
  void finish();

 private:
  /// What a row gave before all rows are known.
  struct Taken {
    const Observable* row;
    std::optional<unsigned> lane;
    double value = 0;
    Limits limits;
  };
  /// A coarse row's, of a lane of which the finer row says the same.
  static bool gives_way(const Taken& taken, const std::vector<Taken>& all);

  void take_flags(const std::string& name, const std::optional<unsigned>& lane,
                  const AlarmFlags& flags);
  void take_value(const Observable& row, const std::optional<unsigned>& lane, double value);
  void take_lane(const Observable& row, const std::optional<unsigned>& lane, double value,
                 std::vector<double>& lanes);
  void take_ber(const Observable& row, const std::optional<unsigned>& lane, double value);
  void take_limits(const Observable& row, const std::optional<unsigned>& lane,
                   const std::array<std::uint16_t, 4>& raw);

  std::span<const Observable> table_;
  ModuleSample& sample_;
  std::vector<Taken> coherent_, limits_;
};

}  // namespace linkhealth
