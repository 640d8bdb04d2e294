// The screen of `watch`: a list of ports, worst first, and the explanation of the one that is
// selected. A pure function of the report, the size of the terminal and the keys.
#pragma once

#include <cstddef>
#include <string>

#include "cli/terminal.h"
#include "exporters/json/json.h"
#include "exporters/text/text_style.h"

namespace linkhealth::cli {

class WatchScreen {
 public:
  /// `port`: the explanation of this one is shown first, and nothing else; "": the list.
  explicit WatchScreen(PortKey port = {}, bool problems_only = false)
      : selected_(std::move(port)),
        only_one_(!selected_.empty()),
        explains_(only_one_),
        problems_only_(problems_only) {}

  /// Applies a key to what draw() showed last.
  void press(Key key);
  /// At most `rows` lines, with a line of help as the last.
  std::string draw(const StatusDocument& status, const TextStyle& style, std::size_t rows);

 private:
  std::string draw_list(const StatusDocument& status, const TextStyle& style, std::size_t rows);
  std::string draw_port(const StatusDocument& status, const PortReport& port,
                        const TextStyle& style, std::size_t rows);

  PortKey selected_;  ///< kept when the order changes
  bool only_one_;
  bool explains_;
  bool problems_only_;
  std::vector<PortKey> order_;  ///< of the list, as it was drawn
  std::size_t top_ = 0;         ///< the first line or port that is shown
  std::size_t page_ = 1;        ///< lines or ports on the screen
};

}  // namespace linkhealth::cli
