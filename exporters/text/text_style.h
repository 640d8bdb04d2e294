// How text for people is drawn.
#pragma once

namespace linkhealth {

struct TextStyle {
  bool colour = false;
  int width_columns = 100;
  bool ascii = false;
};

}  // namespace linkhealth
