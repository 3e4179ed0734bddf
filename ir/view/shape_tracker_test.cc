#include "ir/view/shape_tracker.h"

#include <numeric>
#include <random>

#include "gtest/gtest.h"
#include "ir/interpret/scalar.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/walk.h"

namespace tg {
namespace {

// ---- The model: an array of element numbers (-1: none), moved by plain loops.

struct Array {
  std::vector<int64_t> shape;
  std::vector<int64_t> items;
};

int64_t Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> Coordinates(const std::vector<int64_t>& shape, int64_t flat) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return at;
}

// result[c] = from[where(c)] where that is inside.
template <typename F>
Array Moved(const Array& from, std::vector<int64_t> shape, F&& where) {
  Array to{std::move(shape), {}};
  for (int64_t n = 0; n < Product(to.shape); ++n) {
    const std::vector<int64_t> at = where(Coordinates(to.shape, n));
    int64_t flat = 0;
    bool inside = true;
    for (size_t i = 0; i < at.size(); ++i) {
      inside = inside && at[i] >= 0 && at[i] < from.shape[i];
      flat = flat * from.shape[i] + at[i];
    }
    to.items.push_back(inside ? from.items[static_cast<size_t>(flat)] : -1);
  }
  return to;
}

Shape Dims(const std::vector<int64_t>& v) { return Shape(v.begin(), v.end()); }

// ---- Random movements

class Chain {
 public:
  Chain(uint64_t seed, Context& ctx) : rng_(seed), ctx_(ctx), st_(Start()) {}

  void Step();
  const ShapeTracker& st() const { return st_; }
  const Array& array() const { return array_; }
  const std::string& log() const { return log_; }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }

  ShapeTracker Start() {
    const int64_t rank = Below(4);
    for (int64_t i = 0; i < rank; ++i) array_.shape.push_back(1 + Below(6));
    array_.items.resize(static_cast<size_t>(Product(array_.shape)));
    std::iota(array_.items.begin(), array_.items.end(), 0);
    Note("start", array_.shape);
    return ShapeTracker::Contiguous(ctx_, Dims(array_.shape));
  }

  void Note(const std::string& what, const std::vector<int64_t>& args) {
    log_ += what;
    for (int64_t a : args) log_ += " " + std::to_string(a);
    log_ += "; ";
  }

  // A random factorization of n.
  std::vector<int64_t> RandomShape(int64_t n) {
    std::vector<int64_t> shape;
    while (n > 1) {
      int64_t d = 1 + Below(n);
      while (n % d != 0) --d;
      if (d == 1 && Below(4) != 0) continue;
      shape.push_back(d);
      n /= d;
      if (shape.size() > 4) break;
    }
    if (n > 1) shape.push_back(n);
    if (Below(4) == 0) shape.insert(shape.begin() + Below(shape.size() + 1), 1);
    return shape;
  }

  std::mt19937_64 rng_;
  Context& ctx_;
  Array array_;
  std::string log_;
  ShapeTracker st_;
};

void Chain::Step() {
  std::vector<int64_t>& shape = array_.shape;
  const size_t rank = shape.size();
  switch (Below(6)) {
    case 0: {
      std::vector<int64_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), rng_);
      Note("permute", order);
      std::vector<int64_t> to;
      for (int64_t i : order) to.push_back(shape[static_cast<size_t>(i)]);
      array_ = Moved(array_, to, [&](const std::vector<int64_t>& c) {
        std::vector<int64_t> at(rank);
        for (size_t i = 0; i < rank; ++i) at[static_cast<size_t>(order[i])] = c[i];
        return at;
      });
      st_ = st_.Permute(ctx_, order);
      return;
    }
    case 1: {
      std::vector<int64_t> axes;
      for (size_t i = 0; i < rank; ++i) {
        if (Below(2)) axes.push_back(static_cast<int64_t>(i));
      }
      Note("flip", axes);
      array_ = Moved(array_, shape, [&](std::vector<int64_t> c) {
        for (int64_t a : axes)
          c[static_cast<size_t>(a)] = shape[static_cast<size_t>(a)] - 1 - c[static_cast<size_t>(a)];
        return c;
      });
      st_ = st_.Flip(ctx_, axes);
      return;
    }
    case 2:
    case 3: {
      const bool pad = Product(shape) < 200 && Below(2) == 0;
      std::vector<int64_t> to = shape, first(rank), flat;
      DimPairs pairs;
      for (size_t i = 0; i < rank; ++i) {
        if (pad) {
          const int64_t before = Below(3) == 0 ? Below(3) : 0, after = Below(3) == 0 ? Below(3) : 0;
          pairs.emplace_back(before, after);
          first[i] = -before;
          to[i] += before + after;
        } else {
          const bool all = Below(2) == 0;
          first[i] = all ? 0 : Below(shape[i]);
          const int64_t past = all ? shape[i] : first[i] + 1 + Below(shape[i] - first[i]);
          pairs.emplace_back(first[i], past);
          to[i] = past - first[i];
        }
        flat.push_back(pairs.back().first.value());
        flat.push_back(pairs.back().second.value());
      }
      Note(pad ? "pad" : "shrink", flat);
      array_ = Moved(array_, to, [&](std::vector<int64_t> c) {
        for (size_t i = 0; i < rank; ++i) c[i] += first[i];
        return c;
      });
      st_ = pad ? st_.Pad(ctx_, pairs) : st_.Shrink(ctx_, pairs);
      return;
    }
    case 4: {
      std::vector<int64_t> to = shape;
      for (int64_t& d : to) {
        if (d == 1 && Product(to) < 200 && Below(2)) d = 1 + Below(4);
      }
      Note("expand", to);
      array_ = Moved(array_, to, [&](std::vector<int64_t> c) {
        for (size_t i = 0; i < rank; ++i) c[i] = std::min(c[i], shape[i] - 1);
        return c;
      });
      st_ = st_.Expand(ctx_, Dims(to));
      return;
    }
    default: {
      const std::vector<int64_t> to = RandomShape(Product(shape));
      Note("reshape", to);
      array_.shape = to;
      st_ = st_.Reshape(ctx_, Dims(to));
    }
  }
}

std::vector<int64_t> Located(const ShapeTracker& st) {
  std::vector<int64_t> shape, out;
  for (const Dim& d : st.shape()) shape.push_back(d.value());
  for (int64_t n = 0; n < Product(shape); ++n) {
    out.push_back(st.Locate(Coordinates(shape, n)).value_or(-1));
  }
  return out;
}

// The value of an index or bool expression over constants and stand-ins.
int64_t Evaluate(const UOp* root, const std::vector<std::pair<const UOp*, int64_t>>& known) {
  NodeMap<int64_t> values;
  for (const UOp* u : PostOrder(root)) {
    bool found = IsConst(u);
    if (found) values[u] = u->word();
    for (const auto& [node, value] : known) {
      if (node != u) continue;
      values[u] = value;
      found = true;
    }
    if (found) continue;
    std::vector<int64_t> in;
    for (const UOp* s : u->srcs()) in.push_back(values[s]);
    values[u] = interpret::EvalAlu(u->op, u->src(0)->dtype.scalar(), in).value();
  }
  return values[root];
}

TEST(ShapeTracker, RandomChainsAgreeWithPlainLoops) {
  size_t views = 0, merged = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    Context ctx;
    Chain chain(seed, ctx);
    for (int step = 0; step < 8; ++step) {
      chain.Step();
      std::vector<int64_t> shape;
      for (const Dim& d : chain.st().shape()) shape.push_back(d.value());
      ASSERT_EQ(shape, chain.array().shape) << chain.log();
      ASSERT_EQ(Located(chain.st()), chain.array().items) << chain.log() << "seed " << seed;
    }
    ++views;
    merged += chain.st().views().size() == 1;
    // Encoding and decoding change nothing.
    const ShapeTracker::Encoding e = chain.st().Encode();
    ASSERT_EQ(ShapeTracker::Decode(ctx, e.words, e.symbols), chain.st());
  }
  // Most chains stay one view.
  EXPECT_GT(merged * 10, views * 7) << merged << " of " << views;
}

TEST(ShapeTracker, AddressesAsNodes) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Context ctx;
    Chain chain(seed * 7 + 3, ctx);
    for (int step = 0; step < 7; ++step) chain.Step();
    Builder b(ctx);
    std::vector<const UOp*> coordinates;
    for (const Dim& d : chain.st().shape()) coordinates.push_back(b.Range(b.Index(d)));
    const ShapeTracker::Address a = chain.st().AddressOf(b, coordinates);
    for (int64_t n = 0; n < Product(chain.array().shape); n += 1 + n / 8) {
      const std::vector<int64_t> at = Coordinates(chain.array().shape, n);
      std::vector<std::pair<const UOp*, int64_t>> known;
      for (size_t i = 0; i < at.size(); ++i) known.emplace_back(coordinates[i], at[i]);
      const bool valid = !a.valid || Evaluate(a.valid, known);
      const int64_t expected = chain.array().items[static_cast<size_t>(n)];
      ASSERT_EQ(valid, expected >= 0) << chain.log();
      if (valid) {
        ASSERT_EQ(Evaluate(a.index, known), expected) << chain.log();
      }
    }
  }
}

TEST(ShapeTracker, ThenIsComposition) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Context ctx;
    Chain first(seed + 50000, ctx);
    for (int step = 0; step < 4; ++step) first.Step();
    // A movement of an array of that shape, by name of its elements.
    ShapeTracker next = ShapeTracker::Contiguous(ctx, first.st().shape());
    std::mt19937_64 rng(seed);
    if (rng() % 2) {
      std::vector<int64_t> axes;
      for (size_t i = 0; i < next.shape().size(); i += 1 + rng() % 2)
        axes.push_back(static_cast<int64_t>(i));
      next = next.Flip(ctx, axes);
    }
    next = next.Reshape(ctx, {Product(first.array().shape)});
    if (rng() % 2) next = next.Pad(ctx, {{1, 2}});
    if (rng() % 2) next = next.Flip(ctx, std::vector<int64_t>{0});
    std::vector<int64_t> expected;
    for (int64_t i : Located(next)) {
      expected.push_back(i < 0 ? -1 : first.array().items[static_cast<size_t>(i)]);
    }
    ASSERT_EQ(Located(first.st().Then(ctx, next)), expected) << first.log();
  }
}

// Strides that are claimed are those by which the element's number grows.
TEST(ShapeTracker, RealStrides) {
  int claimed = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Context ctx;
    Chain chain(seed + 90000, ctx);
    for (int step = 0; step < 7; ++step) chain.Step();
    const Array& array = chain.array();
    const auto strides = chain.st().RealStrides(ctx);
    ASSERT_EQ(strides.size(), array.shape.size());
    int64_t step = 1;
    for (size_t i = strides.size(); i-- > 0;) {
      for (size_t n = 0; strides[i] && n < array.items.size(); ++n) {
        const int64_t at = static_cast<int64_t>(n) / step % array.shape[i];
        if (at == 0) continue;
        const int64_t here = array.items[n], before = array.items[n - static_cast<size_t>(step)];
        ASSERT_EQ(here < 0, before < 0) << chain.log();
        if (here >= 0) {
          ASSERT_EQ(here - before, strides[i]->value()) << chain.log() << " axis " << i;
          ++claimed;
        }
      }
      step *= array.shape[i];
    }
    int64_t most = -1;
    for (int64_t item : array.items) most = std::max(most, item);
    ASSERT_GE(chain.st().RealSize(), most + 1) << chain.log();
  }
  EXPECT_GT(claimed, 5000);
}

TEST(View, Normalization) {
  Context ctx;
  const View a = View::Make(ctx, {4, 1}, {1, 7}, 0, {{0, 4}, {0, 1}});
  EXPECT_EQ(a, View::Contiguous(ctx, {4, 1}));
  const View one = View::Make(ctx, {4, 3}, {3, 1}, 0, {{2, 3}, {0, 3}});
  EXPECT_EQ(one.strides(), (std::vector<Dim>{0, 1}));
  EXPECT_EQ(one.offset(), Dim(6));
  const View none = View::Make(ctx, {4, 3}, {3, 1}, 5, {{2, 2}, {0, 3}});
  EXPECT_TRUE(none.is_void());
  EXPECT_EQ(none.offset(), Dim(0));
  EXPECT_EQ(none.mask(), (DimPairs{{0, 0}, {0, 0}}));
  EXPECT_TRUE(View::Make(ctx, {0, 3}, {3, 1}, 5, {}).is_contiguous(ctx));
}

// A (3, 4) padded on axis 0 flattens to one view, padded on axis 1 it needs two.
TEST(View, ReshapeOfAMask) {
  Context ctx;
  const ShapeTracker st = ShapeTracker::Contiguous(ctx, {3, 4});
  EXPECT_EQ(st.Pad(ctx, {{1, 0}, {0, 0}}).Reshape(ctx, {16}).views().size(), 1u);
  EXPECT_EQ(st.Pad(ctx, {{0, 0}, {1, 0}}).Reshape(ctx, {15}).views().size(), 2u);
  // Back to where the mask is a box again.
  EXPECT_EQ(st.Pad(ctx, {{0, 0}, {1, 0}}).Reshape(ctx, {15}).Reshape(ctx, {3, 5}).views().size(),
            1u);
}

TEST(View, ATransposeFlattensToTwoViewsAndBack) {
  Context ctx;
  const int64_t swap[] = {1, 0};
  const ShapeTracker t = ShapeTracker::Contiguous(ctx, {3, 4}).Permute(ctx, swap);
  const ShapeTracker flat = t.Reshape(ctx, {12});
  EXPECT_EQ(flat.views().size(), 2u);
  EXPECT_EQ(flat.Reshape(ctx, {4, 3}), t);
  EXPECT_TRUE(flat.Reshape(ctx, {4, 3}).Permute(ctx, swap).is_contiguous(ctx));
}

TEST(ShapeTracker, SymbolicExtents) {
  Context ctx;
  Builder b(ctx);
  const UOp* n = b.Var("n");
  const Dim dim(n);
  ShapeTracker st = ShapeTracker::Contiguous(ctx, {8, 4});
  st = st.Shrink(ctx, {{0, dim}, {0, 4}});  // [n, 4]
  st = st.Pad(ctx, {{1, 0}, {0, 0}});       // [n + 1, 4]
  const int64_t swap[] = {1, 0};
  st = st.Permute(ctx, swap).Flip(ctx, std::vector<int64_t>{1});  // [4, n + 1] backwards
  const auto encoded = st.Encode();
  EXPECT_FALSE(encoded.symbols.empty());
  EXPECT_EQ(ShapeTracker::Decode(ctx, encoded.words, encoded.symbols), st);
  for (int64_t value : {1, 3, 8}) {
    const auto at = [&](const UOp* u) { return Evaluate(u, {{n, value}}); };
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j <= value; ++j) {
        const int64_t c[] = {i, j};
        const int64_t row = value - j - 1;  // row of the padded array, less the padding
        EXPECT_EQ(st.Locate(c, at).value_or(-1), row < 0 ? -1 : row * 4 + i);
      }
    }
  }
  // Splitting and merging around a symbolic axis stays one view where it is row-major.
  ShapeTracker whole = ShapeTracker::Contiguous(ctx, {dim, 2, 3});
  EXPECT_EQ(whole.Reshape(ctx, {dim, 6}).views().size(), 1u);
}

TEST(ShapeTracker, AsAViewOp) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Context ctx;
    Builder b(ctx);
    Chain chain(seed + 7000, ctx);
    std::vector<int64_t> from = chain.array().shape;
    for (int step = 0; step < 6; ++step) chain.Step();
    const UOp* x = b.Buffer("x", kF32);
    const UOp* view = MakeView(b, x, chain.st());
    EXPECT_EQ(TrackerOf(ctx, view), chain.st());
    const auto movement = interpret::MovementOf(view, from, {});
    ASSERT_TRUE(movement.ok()) << movement.status().message();
    EXPECT_EQ(movement->shape, chain.array().shape);
    EXPECT_EQ(movement->map, chain.array().items) << chain.log();
  }
}

}  // namespace
}  // namespace tg
