// How long a reading stands that nobody can repeat.
#pragma once

namespace linkhealth {

/// What its source can't read for so long is unknown: as long as a far end's reading stands
/// (peers.hold_s).
inline constexpr double kUnreadableS = 300;
/// A file of a directory whose files take turns: a turn is two minutes, and may be left out while
/// others are more urgent.
inline constexpr double kFileUnreadableS = 900;
/// With a link, whoever is at the far end was heard by then: IEEE 802.1AB, msgTxInterval (30 s)
/// times msgTxHold (4).
inline constexpr double kLldpHoldS = 120;

}  // namespace linkhealth
