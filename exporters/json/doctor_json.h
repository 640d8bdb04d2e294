// `linkhealth doctor` as JSON (docs/schema/doctor.json).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/doctor.h"

namespace linkhealth {

/// One line, without a line end.
std::string doctor_json(const DoctorReport& doctor);
/// Reads what doctor_json() writes.
Result<DoctorReport> parse_doctor(std::string_view text);

}  // namespace linkhealth
