// `linkhealth doctor` for people.
#pragma once

#include <string>

#include "exporters/text/text_style.h"
#include "model/doctor.h"

namespace linkhealth {

/// Ends in a newline.
std::string doctor_text(const DoctorReport& doctor, const TextStyle& style);

}  // namespace linkhealth
