// The limit of tasks (a unit's TasksMax): while one of these lives, no thread can be started.
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
