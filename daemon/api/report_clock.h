// The time of what is shown.
#pragma once

#include "base/time.h"
#include "daemon/api/report_store.h"

namespace linkhealth {

/// Now; for a played recording the time of its latest snapshot, so that "3 h ago" is what it was.
class ReportClock : public Clock {
 public:
  ReportClock(const Clock& clock, const ReportStore& reports, bool played)
      : clock_(clock), reports_(reports), played_(played) {}
  [[nodiscard]] SteadyTime steady() const override { return clock_.steady(); }
  [[nodiscard]] WallTime wall() const override {
    const auto current = played_ ? reports_.current() : nullptr;
    return current ? current->report->at : clock_.wall();
  }

 private:
  const Clock& clock_;
  const ReportStore& reports_;
  bool played_;
};

}  // namespace linkhealth
