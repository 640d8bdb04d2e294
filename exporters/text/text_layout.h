// Building blocks of text for people: safe strings, aligned columns, numbers with their units.
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exporters/text/text_style.h"
#include "model/report.h"

namespace linkhealth {

/// `text` without terminal control sequences: a module or a neighbour may send control bytes or
/// invalid UTF-8. Other characters become '?'. With `ascii`, symbols are replaced by ASCII.
std::string clean_text(std::string_view text, bool ascii);
/// Width of `text` on a terminal. REQUIRES: clean, without colours.
std::size_t display_width(std::string_view text);
/// `text` filled with spaces to `width` columns.
std::string pad_right(std::string_view text, std::size_t width);
/// At most `width` columns; a text that was cut ends in "…".
std::string cut(std::string_view text, std::size_t width, bool ascii);
/// Lines of at most `width` columns, broken between words.
std::vector<std::string> wrap(std::string_view text, std::size_t width);
/// `head`, which takes `indent` columns, followed by `text`, wrapped to `width` columns. Further
/// lines are indented by `indent`. Each line ends in a newline.
std::string paragraph(std::string_view head, std::size_t indent, std::string_view text,
                      std::size_t width);
/// One clean line per row, without newline. Each column is as wide as its widest cell. If the lines
/// would exceed `width`, columns are cut down to 12 columns, the last one first. REQUIRES: the
/// first row has the most cells.
std::vector<std::string> align_columns(std::vector<std::vector<std::string>> rows,
                                       std::size_t indent, std::size_t width, bool ascii);
/// The terminal's width in columns, limited to a usable range.
std::size_t usable_width(const TextStyle& style);
/// The non-empty parts, joined.
std::string join_parts(const std::vector<std::string>& parts, std::string_view separator);
/// With its first letter in upper case.
std::string capitalize(std::string text);
/// "3 ports", "1 port", "0 losses"
std::string count_of(std::uint64_t number, std::string_view noun);

/// "0.4 s", "40 s", "12 min", "3 h", "12 d"
std::string format_duration(Milliseconds duration);
/// "3 h ago (2026-11-20 09:12:44Z)"; only the instant when it is not in the past.
std::string format_ago(WallTime then, WallTime now);
/// "2026-11-20 09:12:44Z"
std::string format_instant(WallTime time);
/// "3.1e-07"; "0" for no error.
std::string format_ber(double ratio);
/// dBm and dB to one decimal, BER as 3.1e-07, whole numbers whole. Without the unit.
std::string format_quantity_value(double value, std::string_view unit);
/// "for 94 min, since 2026-09-20 08:47:04Z".
std::string format_lasting(WallTime since, WallTime now);
/// format_quantity_value with the unit.
std::string format_quantity(double value, std::string_view unit);
/// "83%"; never rounded to certainty: ">99%", "<1%".
/// No receiver sees so little: meters show it where there is no light.
inline constexpr double kReadsDarkDbm = -30;
/// Not while a port is unknown because its link state cannot be read: what it was is not shown
/// then.
bool is_link_read(const PortReport& port);
std::string format_confidence(double confidence);
/// "400G", "25G", "100M".
std::string format_speed(std::uint32_t speed_mbps);
/// A fault's or symptom's name: "dirty connector", "pre-FEC BER high".
std::string format_name(std::string_view name);
/// "open", "acknowledged", "verifying", "closed"
std::string_view format_state(FaultState state);
/// The state of a port without a fault: "healthy"; "unknown: can't read link: Input/output error".
std::string format_health(const PortReport& port);
/// "partial: no optics, no far end"; "" with full coverage, or if the port is not monitored.
std::string format_coverage(const PortReport& port);
/// "dirty connector (83%)"; if indistinguishable, all names: "far port down (55%), unplugged (25%)
/// or damaged fibre (20%)".
std::string format_headline(const FaultReport& fault);

/// Whether the limit is "= 1" without a unit: a statement that is true or false.
inline bool is_statement(const Evidence& evidence) {
  return evidence.op == "=" && evidence.threshold == 1.0 && evidence.unit.empty();
}

/// A bar of `columns` columns, filled to `share` (0 to 1).
std::string bar(double share, std::size_t columns, bool ascii);

/// 10 log10(mW); nullopt for no light (0 mW and below).
std::optional<double> dbm_from_mw(double power_mw);

/// "●" or, in ASCII, "ok".
std::string health_sign(Health health, bool ascii);
/// `text` in the colour of `health`, if the style has colours.
std::string paint_health(std::string_view text, Health health, const TextStyle& style);
std::string paint_bold(std::string_view text, const TextStyle& style);
std::string paint_faint(std::string_view text, const TextStyle& style);

/// A text that is built line by line. Cleans and wraps its input, except in line() and append().
class TextPage {
 public:
  static constexpr std::size_t kLabelColumns = 13;
  explicit TextPage(const TextStyle& style, std::size_t label_columns = kLabelColumns)
      : style_(style), width_(usable_width(style)), label_columns_(label_columns) {}

  void append(std::string_view text) { out_ += text; }
  /// One line, without trailing blanks. `text` is clean; it may have colours.
  void line(std::string_view text = "");
  /// Bold.
  void title(std::string_view text, std::size_t indent = 0);
  /// `hang`: more columns of indent from the second line on.
  void text(std::size_t indent, std::string_view text, std::size_t hang = 2);
  /// "  LABEL  text"; nothing if the text is empty.
  void labelled(std::string_view label, std::string_view text, std::size_t hang = 0);
  /// Indented by two columns, with a dimmed first row.
  void table(std::vector<std::vector<std::string>> rows);

  [[nodiscard]] std::string clean(std::string_view text) const {
    return clean_text(text, style_.ascii);
  }
  [[nodiscard]] const TextStyle& style() const { return style_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  /// The text so far, without an empty line at the end.
  [[nodiscard]] std::string result();

 private:
  TextStyle style_;
  std::size_t width_, label_columns_;
  std::string out_;
};

}  // namespace linkhealth
