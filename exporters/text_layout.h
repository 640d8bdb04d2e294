// The small tools of text for people: safe strings, columns that stay aligned with signs outside
// ASCII, durations and numbers with their units. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/text_style.h"
#include "model/report.h"

namespace linkhealth {

/// `text` without anything that a terminal would obey (control bytes, broken UTF-8: a module or a
/// neighbour may send them). With `ascii` the signs that we use get their ASCII twins and anything
/// else becomes '?'.
std::string clean_text(std::string_view text, bool ascii);
/// Columns that `text` takes. REQUIRES: clean, and without colour.
std::size_t display_width(std::string_view text);
/// `text` filled with spaces on the right to `width` columns.
std::string pad_right(std::string_view text, std::size_t width);
/// At most `width` columns; what is cut ends in "…".
std::string cut(std::string_view text, std::size_t width, bool ascii);
/// Lines of at most `width` columns, broken between words.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// "0.4 s", "40 s", "12 min", "3 h", "12 d": one unit, enough to judge by.
std::string duration_words(Milliseconds duration);
/// "3 h ago (2026-11-20 09:12:44Z)"; only the instant when it is not in the past.
std::string ago_words(WallTime then, WallTime now);
/// "2026-11-20 09:12:44Z"
std::string instant_words(WallTime time);
/// "3.1e-07"; "0" where no error was seen.
std::string ber_words(double ratio);
/// dBm and dB to one decimal, BER as 3.1e-07, whole numbers whole. Without the unit.
std::string number_words(double value, std::string_view unit);
/// number_words with the unit behind it.
std::string quantity_words(double value, std::string_view unit);
/// "83%"; never more certain than it is: ">99%", "<1%".
std::string confidence_words(double confidence);
/// "400G", "25G", "100M".
std::string speed_words(std::uint32_t speed_mbps);
/// A fault's or symptom's name as words: "dirty connector".
std::string name_words(std::string_view name);
/// What a port without a fault is called: "healthy"; "unknown: can't read link: Input/output
/// error".
std::string health_words(const PortReport& port);

/// 10 log10(mW); nullopt for "no light" (0 mW and below).
std::optional<double> dbm_from_mw(double power_mw);

/// The sign that stands beside a health's word: "●" or, in ASCII, "ok".
std::string health_sign(Health health, bool ascii);
/// `text` in the colour of `health` when colours were asked for.
std::string paint_health(std::string_view text, Health health, const TextStyle& style);
/// `text` in bold when colours were asked for.
std::string paint_bold(std::string_view text, const TextStyle& style);
/// `text` faint when colours were asked for.
std::string paint_faint(std::string_view text, const TextStyle& style);

}  // namespace linkhealth
