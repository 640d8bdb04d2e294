// `linkhealth doctor` for people and as JSON (docs/schema/doctor.json).
#pragma once

#include <string>

#include "base/result.h"
#include "exporters/text_style.h"
#include "model/doctor.h"

namespace linkhealth {

/// Ends in a newline.
std::string doctor_text(const DoctorReport& doctor, const TextStyle& style);
/// One line, without a line end.
std::string doctor_json(const DoctorReport& doctor);
/// Reads what doctor_json() writes.
Result<DoctorReport> parse_doctor(std::string_view text);

}  // namespace linkhealth
