// `linkhealth replay FILE --what-if key=value`: the same recording judged twice, as it is
// configured and with some knobs turned, and what that would have changed. So an operator can tune
// on last week.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/replay.h"
#include "model/report.h"

namespace linkhealth {

/// Turns one knob: "diagnosis.flap_losses=6" or, where its end is unique,
/// "flap_losses=6". An Error names the allowed range or the nearest good key.
Result<void> turn_knob(KnobTable& knobs, std::string_view key_and_value);

/// One diagnosis in the course of a recording: from its opening to its end.
struct Course {
  PortKey port;
  std::string fault;
  End end = End::kNone;
  SteadyTime opened;
  WallTime opened_at;
  std::optional<SteadyTime> closed;
  double confidence = 0;  ///< the highest
};

/// Gathers courses from events in their order.
class CourseBook {
 public:
  void add(const FaultEvent& event);
  [[nodiscard]] const std::vector<Course>& courses() const { return courses_; }

 private:
  std::vector<Course> courses_;
};

/// What became of one diagnosis.
struct CourseChange {
  std::optional<Course> now, then;  ///< both: the same fault, opened or closed at another time
};
/// The differences, by port and time. Courses of the same port, fault and end are paired in their
/// order.
std::vector<CourseChange> compare_courses(const std::vector<Course>& now,
                                          const std::vector<Course>& then);

/// Replays `options.recording` twice and prints what changes, as text or (kJson, kJsonl) as one
/// JSON document. Exit code as replay(): 0 when it could be replayed, whatever changes; 2 with one
/// clear line.
int what_if(const ReplayOptions& options, const std::vector<std::string>& turns, std::ostream& out,
            std::ostream& err);

}  // namespace linkhealth
