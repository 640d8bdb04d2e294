// The screen of `watch`: a list of ports, worst first, and the explanation of the selected one. A
// pure function of the report, the size of the terminal and the keys.
#pragma once

#include <cstddef>
#include <string>

#include "cli/terminal.h"
#include "exporters/json/json.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

class WatchScreen {
 public:
  /// `port`: show only the explanation of this port at first; "": the list.
  explicit WatchScreen(PortKey port = {}, bool problems_only = false)
      : selected_(std::move(port)),
        only_one_(!selected_.empty()),
        explains_(only_one_),
        problems_only_(problems_only) {}

  /// Applies a key to the last output of draw().
  void press(Key key);
  /// At most `rows` lines; the last one is a line of help.
  std::string draw(const StatusDocument& status, const TextStyle& style, std::size_t rows);

 private:
  std::string draw_list(const StatusDocument& status, const TextStyle& style, std::size_t rows);
  std::string draw_port(const StatusDocument& status, const PortReport& port,
                        const TextStyle& style, std::size_t rows);

  PortKey selected_;  ///< kept when the order changes
  bool only_one_;
  bool explains_;
  bool problems_only_;
  std::vector<PortKey> order_;  ///< of the list, as last drawn
  std::size_t top_ = 0;         ///< the first visible line or port
  std::size_t page_ = 1;        ///< lines or ports on the screen
};

}  // namespace linkhealth::cli
