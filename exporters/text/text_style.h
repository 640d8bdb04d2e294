// How text for people is drawn: asked for by the caller, never guessed by the one who draws.
#pragma once

namespace linkhealth {

struct TextStyle {
  bool colour = false;
  int width_columns = 100;
  bool ascii = false;
};

}  // namespace linkhealth
