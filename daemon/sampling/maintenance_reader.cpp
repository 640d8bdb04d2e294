#include "daemon/sampling/maintenance_reader.h"

#include <fmt/format.h>
#include <poll.h>

#include <memory>
#include <utility>

namespace linkhealth {

namespace {

MaintenanceReader::Read reader_of(const std::string& directory) {
  if (directory.empty()) return {};
  return [files = std::make_shared<MaintenanceDir>(directory)] { return files->read(); };
}

}  // namespace

MaintenanceReader::MaintenanceReader(const std::string& directory, const Clock& clock)
    : MaintenanceReader(directory, clock, reader_of(directory)) {}

MaintenanceReader::MaintenanceReader(std::string directory, const Clock& clock, Read read)
    : directory_(std::move(directory)),
      clock_(clock),
      read_(std::move(read)),
      due_at_(clock.steady()),
      pool_(clock, kPatience) {}

MaintenanceReader::News MaintenanceReader::poll() {
  pool_.finish();
  if (!pool_.check_hung().empty() && !std::exchange(hang_reported_, true))
    news_.complaints.push_back(fmt::format(
        "maintenance_dir: {} has not answered for {:.0f} s: its last content stays in force",
        directory_, in_seconds(kPatience)));
  if (read_ && clock_.steady() >= due_at_ && !pool_.is_out(directory_, "")) {
    due_at_ = clock_.steady() + kPeriod;
    pool_.submit({{directory_, "", [this, read = read_]() -> BlockingReadPool::Done {
                     return [this, found = read()](double) {
                       news_.maintenance = found.maintenance;
                       news_.complaints = found.complaints;
                       if (std::exchange(hang_reported_, false))
                         news_.complaints.push_back("maintenance_dir: " + directory_ +
                                                    " answers again");
                     };
                   }}});
  }
  return std::exchange(news_, {});
}

MaintenanceReader::News MaintenanceReader::wait(Milliseconds patience) {
  if (!read_) return {};
  if (News news = poll(); news.maintenance) return news;
  pollfd finished{pool_.event_fd(), POLLIN, 0};
  ::poll(&finished, 1, static_cast<int>(patience.count()));
  return poll();
}

}  // namespace linkhealth
