#include "ir/verify/extent.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace tg::verify {
namespace {

// The elements of a view, one by one.
std::set<int64_t> Elements(const View& v) {
  std::set<int64_t> out;
  std::vector<int64_t> at(v.shape.size(), 0);
  for (int64_t e : v.shape) {
    if (e == 0) return out;
  }
  for (;;) {
    int64_t offset = v.offset;
    for (size_t i = 0; i < at.size(); ++i) offset += at[i] * v.strides[i];
    out.insert(offset);
    size_t axis = at.size();
    while (axis-- > 0) {
      if (++at[axis] < v.shape[axis]) break;
      at[axis] = 0;
      if (axis == 0) return out;
    }
    if (at.empty()) return out;
  }
}

// For boxes of one array, some with reversed or exchanged axes, the answer must be exact. Other
// views that are said to overlap must overlap.
TEST(Extent, SurelyOverlapAgreesWithTheElements) {
  std::mt19937 random(3);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int overlapping = 0, disjoint = 0;
  for (int run = 0; run < 20000; ++run) {
    std::vector<int64_t> shape;
    for (int64_t i = 1 + below(3); i > 0; --i) shape.push_back(1 + below(6));
    const View whole = ContiguousView(shape);
    const auto box = [&] {
      View v = whole;
      for (size_t i = 0; i < shape.size(); ++i) {
        const int64_t begin = below(shape[i]), extent = 1 + below(shape[i] - begin);
        v.offset += begin * v.strides[i];
        v.shape[i] = extent;
        if (below(3) == 0) {
          v.offset += (extent - 1) * v.strides[i];
          v.strides[i] = -v.strides[i];
        }
      }
      if (shape.size() > 1 && below(2)) {
        std::swap(v.shape[0], v.shape[1]);
        std::swap(v.strides[0], v.strides[1]);
      }
      return v;
    };
    const View a = box(), b = box();
    const std::set<int64_t> in_a = Elements(a), in_b = Elements(b);
    bool common = false;
    for (int64_t e : in_a) common |= in_b.count(e) > 0;
    ASSERT_EQ(SurelyOverlap(a, b), common) << "run " << run;
    ++(common ? overlapping : disjoint);
    View any = b;
    for (int64_t& s : any.strides) s = below(9) - 4;
    any.offset = 20 + below(20);
    if (!SurelyOverlap(a, any)) continue;
    common = false;
    for (int64_t e : Elements(any)) common |= in_a.count(e) > 0;
    ASSERT_TRUE(common) << "run " << run;
  }
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(disjoint, 1000);
}

TEST(Extent, CountElements) {
  const auto count = [](std::vector<int64_t> e) { return CountElements(e); };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({4, 0, 8}), 0);
  EXPECT_EQ(count({kMaxExtent, 1 << 5}), int64_t{1} << 61);
  EXPECT_EQ(count({kMaxExtent, 1 << 6}), std::nullopt);
  EXPECT_EQ(count({0, kMaxExtent, kMaxExtent}), std::nullopt);
  EXPECT_EQ(count({-1}), std::nullopt);
}

TEST(Extent, OffsetsOfMaskedViews) {
  View v{{4, 8}, {8, -1}, 7, {}};
  EXPECT_EQ(OffsetsOf(v), std::pair(int64_t{0}, int64_t{31}));
  v.mask = {{1, 2}, {2, 8}};
  EXPECT_EQ(OffsetsOf(v), std::pair(int64_t{8}, int64_t{13}));
  v.mask = {{1, 1}, {2, 8}};
  EXPECT_EQ(OffsetsOf(v), std::nullopt);
}

}  // namespace
}  // namespace tg::verify
