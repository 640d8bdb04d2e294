// The style of text for people.
#pragma once

namespace linkhealth {

struct TextStyle {
  bool colour = false;
  int width_columns = 100;
  bool ascii = false;
};

}  // namespace linkhealth
