#include "base/hash.h"

#include "gtest/gtest.h"

namespace tg {
namespace {

// The authors' test vectors.
TEST(HashTest, GivesThePublishedValues) {
  EXPECT_EQ(Fnv32(""), 0x811c9dc5u);
  EXPECT_EQ(Fnv32("foobar"), 0xbf9cf968u);
  EXPECT_EQ(Fnv64(""), 0xcbf29ce484222325u);
  EXPECT_EQ(Fnv64("foobar"), 0x85944171f73967e8u);
}

TEST(HashTest, ContinuesAHash) {
  EXPECT_EQ(Fnv32("bar", Fnv32("foo")), Fnv32("foobar"));
  EXPECT_EQ(Fnv64("bar", Fnv64("foo")), Fnv64("foobar"));
}

}  // namespace
}  // namespace tg
