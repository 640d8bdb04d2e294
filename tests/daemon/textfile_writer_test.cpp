#include "daemon/textfile_writer.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/report_builder.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TextfileWriter, WritesTheMetricsAndRemovesThemAtTheEnd) {
  const test::TempDirectory folder;
  const std::string path = folder.file("linkhealth.prom");
  const Log log(LogLevel::kError, false);
  ReportStore reports;
  reports.publish(std::make_shared<const Report>(test::example_report()), {}, {});
  {
    const TextfileWriter writer({path, 1}, reports, log);
    while (!std::filesystem::exists(path)) std::this_thread::yield();
    EXPECT_THAT(read_file(path), HasSubstr("linkhealth_fault_active{"));
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0644U) << "node_exporter is another user";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TextfileWriter, AFileThatCannotBeWrittenIsNamed) {
  const auto written = replace_file("/nonexistent/x.prom", "text");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("opening /nonexistent/x.prom.new: No such file"));
}

}  // namespace
}  // namespace linkhealth
