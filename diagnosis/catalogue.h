// The tables as plain values, for people and documents.
#pragma once

#include "model/catalogue.h"

namespace linkhealth {

/// `knobs`: the values in force; a group that it does not have is shown at its defaults.
Catalogue make_catalogue(const KnobTable& knobs);

}  // namespace linkhealth
