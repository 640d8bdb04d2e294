#include "tests/sim/media.h"

namespace linkhealth::sim {
namespace {

using M = Modulation;

constexpr Medium kMedia[] = {
    // name, build, connector, speed, lanes, mod, fec, tx±, loss±, bias±, sens, temp, smf, duplex,
    // lanes/laser, retrain
    {"100G-SR4", Build::kOptical, "MPO-12", 100000, 4, M::kNrz, Fec::kRs528, -0.5, 0.8, 1.0, 0.5,
     6.5, 0.7, -9.5, 40, false, false, 1, 2},
    {"100G-CWDM4", Build::kOptical, "LC", 100000, 4, M::kNrz, Fec::kRs528, 0.0, 0.9, 2.0, 0.8, 42,
     5, -10.0, 43, true, true, 1, 2},
    {"100G-LR4", Build::kOptical, "LC", 100000, 4, M::kNrz, Fec::kNone, 1.5, 0.8, 2.5, 1.0, 40, 6,
     -9.5, 45, true, true, 1, 2},
    {"200G-SR4", Build::kOptical, "MPO-12", 200000, 4, M::kPam4, Fec::kRs544, 0.5, 0.8, 1.0, 0.5,
     7.5, 0.8, -7.0, 46, false, false, 1, 4},
    {"200G-FR4", Build::kOptical, "LC", 200000, 4, M::kPam4, Fec::kRs544, 1.5, 0.8, 2.0, 0.8, 55, 8,
     -7.5, 48, true, true, 1, 5},
    {"400G-SR8", Build::kOptical, "MPO-16", 400000, 8, M::kPam4, Fec::kRs544, 0.5, 0.8, 1.0, 0.5,
     7.5, 0.8, -7.0, 50, false, false, 1, 8},
    {"400G-SR4", Build::kOptical, "MPO-12", 400000, 4, M::kPam4, Fec::kRs544, 0.5, 0.8, 1.0, 0.5,
     7.5, 0.8, -5.5, 50, false, false, 1, 10},
    {"400G-DR4", Build::kOptical, "MPO-12 APC", 400000, 4, M::kPam4, Fec::kRs544, 1.5, 0.8, 1.2,
     0.6, 75, 8, -6.0, 52, true, false, 2, 10},
    {"400G-FR4", Build::kOptical, "LC", 400000, 4, M::kPam4, Fec::kRs544, 1.5, 0.8, 2.0, 0.8, 55, 8,
     -7.0, 52, true, true, 1, 10},
    {"800G-DR8", Build::kOptical, "MPO-16 APC", 800000, 8, M::kPam4, Fec::kRs544, 1.5, 0.8, 1.2,
     0.6, 85, 10, -6.0, 55, true, false, 2, 12},
    {"200G-AOC", Build::kAoc, "none", 200000, 4, M::kPam4, Fec::kRs544, 0.5, 0.8, 0.6, 0.2, 7, 0.7,
     -7.0, 46, false, false, 1, 4},
    {"400G-AOC", Build::kAoc, "none", 400000, 8, M::kPam4, Fec::kRs544, 0.5, 0.8, 0.6, 0.2, 7, 0.7,
     -7.0, 48, false, false, 1, 8},
    {"100G-DAC", Build::kDac, "none", 100000, 4, M::kNrz, Fec::kRs528, 2.0, 0.5, 0, 0, 0, 0, 0.0,
     30, false, false, 1, 1},
    {"200G-DAC", Build::kDac, "none", 200000, 4, M::kPam4, Fec::kRs544, 2.3, 0.45, 0, 0, 0, 0, 0.0,
     30, false, false, 1, 2},
    {"400G-DAC", Build::kDac, "none", 400000, 4, M::kPam4, Fec::kRs544, 2.2, 0.4, 0, 0, 0, 0, 0.0,
     30, false, false, 1, 3},
    {"400G-ACC", Build::kAcc, "none", 400000, 4, M::kPam4, Fec::kRs544, 2.3, 0.4, 0, 0, 0, 0, 0.0,
     35, false, false, 1, 4},
};

constexpr Driver kDrivers[] = {
    {"mlx5_core", "mlx5_", true, 0.75, 0.95, true, true, 0.7},
    {"bnxt_en", "bnxt_re", false, 0.0, 0.3, false, false, 0.2},
    {"ice", "irdma", false, 0.0, 0.4, false, false, 0.1},
    {"ionic", "ionic_", false, 0.0, 0.6, false, false, 0.0},
};

}  // namespace

std::span<const Medium> media() { return kMedia; }
std::span<const Driver> drivers() { return kDrivers; }

}  // namespace linkhealth::sim
