#include "model/shared.h"

#include <gtest/gtest.h>

#include <string>

namespace linkhealth {
namespace {

TEST(Shared, AFreshOneIsTheDefaultValue) {
  const Shared<std::string> fresh;
  EXPECT_EQ(*fresh, "");
  EXPECT_EQ(fresh, Shared<std::string>(""));
}

TEST(Shared, CopiesShareTheValueUntilOneIsEdited) {
  const Shared<std::string> first("ens1np0");
  Shared<std::string> second = first;
  EXPECT_EQ(&*first, &*second);
  second.edit() = "eth9";
  EXPECT_EQ(*first, "ens1np0");
  EXPECT_EQ(*second, "eth9");
}

TEST(Shared, EqualityIsOfTheValues) {
  EXPECT_EQ(Shared<std::string>("a"), Shared<std::string>("a"));
  EXPECT_FALSE(Shared<std::string>("a") == Shared<std::string>("b"));
}

TEST(Shared, ReadsAsTheValueThatItIs) {
  const Shared<std::string> name("mlx5_0");
  const std::string& seen = name;
  EXPECT_EQ(seen, "mlx5_0");
  EXPECT_EQ(name->size(), 6U);
}

}  // namespace
}  // namespace linkhealth
