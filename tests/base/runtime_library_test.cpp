#include "base/runtime_library.h"

#include <gmock/gmock.h>
#include <gnu/libc-version.h>

#include <cerrno>

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

struct Libc {
  RuntimeLibrary library{"libc.so.6"};
  LINKHEALTH_RUNTIME_FUNCTION(gnu_get_libc_version);
};

TEST(RuntimeLibrary, FindsAFunctionByItsDeclaration) {
  const Libc libc;
  ASSERT_TRUE(libc.library.ready().ok());
  EXPECT_STREQ(libc.gnu_get_libc_version(), gnu_get_libc_version());
}

TEST(RuntimeLibrary, AMissingLibraryIsAnErrorWithItsName) {
  RuntimeLibrary library("liblinkhealth-none.so.4");
  EXPECT_EQ(library.find<int (*)()>("anything"), nullptr);
  ASSERT_FALSE(library.ready().ok());
  EXPECT_EQ(library.ready().error().errnum, ELIBACC);
  EXPECT_THAT(library.ready().error().message, HasSubstr("cannot load liblinkhealth-none.so.4: "));
}

TEST(RuntimeLibrary, AnOldLibraryWithoutTheFunctionIsAnErrorToo) {
  RuntimeLibrary library("libc.so.6");
  EXPECT_EQ(library.find<int (*)()>("no_such_function"), nullptr);
  ASSERT_FALSE(library.ready().ok());
  EXPECT_THAT(library.ready().error().message, HasSubstr("no_such_function"));
}

}  // namespace
}  // namespace linkhealth
