// The task limit (a unit's TasksMax): during the lifetime of such an object, no thread can be
// started.
#pragma once

namespace linkhealth::testing {

class NoNewThreads {
 public:
  NoNewThreads();
  ~NoNewThreads();
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;
};

}  // namespace linkhealth::testing
