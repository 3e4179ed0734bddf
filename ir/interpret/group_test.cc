// What work-items of a group do together, and races between them.
#include "ir/interpret/random_data.h"
#include "ir/interpret/test_util.h"

namespace tg::interpret {
namespace {

TEST(Lowered, GroupReduceOverOneOfTwoCoordinates) {
  const std::string head = R"(  %a = special %c4 {name = local0} : index
  %b = special %c2 {name = local1} : index
  %b4 = mul %b, %c4 : index
  %i = add %b4, %a : index
  %p = index %x, %i : ptr<f32, 8>
  %v = load %p : f32
)";
  const std::string tail = R"(  %q = index %y, %i : ptr<f32, 8>
  %s = store %q, %g
  sink %s
)";
  EXPECT_EQ(YOf(head + "  %g = group_reduce %v, %a {op = add, id = 0} : f32\n" + tail),
            (Numbers{10, 10, 10, 10, 26, 26, 26, 26}));
  EXPECT_EQ(YOf(head + "  %g = group_reduce %v, %b {op = max, id = 0} : f32\n" + tail),
            (Numbers{5, 6, 7, 8, 5, 6, 7, 8}));
}

// y reversed through local memory, with a barrier or without.
std::string Reversal(bool barrier) {
  return std::string(R"(  %l = special %c8 {name = local0} : index
  %L = scratch {id = 0} : ptr<f32, 8, local>
  %p = index %x, %l : ptr<f32, 8>
  %v = load %p : f32
  %to = index %L, %l : ptr<f32, 8, local>
  %s = store %to, %v
)") + (barrier ? "  %t = barrier %s\n" : "  %t = noop %s : void\n") +
         R"(  %M = after %L, %t : ptr<f32, 8, local>
  %j = sub %c7, %l : index
  %from = index %M, %j : ptr<f32, 8, local>
  %w = load %from : f32
  %q = index %y, %l : ptr<f32, 8>
  %u = store %q, %w
  sink %u
)";
}

TEST(Lowered, BarrierOrdersLocalMemory) {
  EXPECT_EQ(YOf(Reversal(true)), (Numbers{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(Error(Reversal(false)),
            "load %w: race on element 7 of local scratch 0 with work-item 7 of group 0 "
            "(work-item 0 of group 0)");
}

TEST(Lowered, GroupsThatStoreDifferentValuesRace) {
  EXPECT_EQ(Error(R"(  %g = special %c8 {name = grid0} : index
  %p = index %x, %g : ptr<f32, 8>
  %v = load %p : f32
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %v
  sink %s
)"),
            "store %s: race on element 0 of argument 0 with work-item 0 of group 0 "
            "(work-item 0 of group 1)");
}

// The same, where the module's flags allow either value.
TEST(Lowered, GroupsThatStoreAllowedValuesDoNotRace) {
  const auto error = [](const std::string& flags, const std::string& first,
                        const std::string& others) {
    std::string text = KernelOfX("lowered", R"(  %g = special %c8 {name = grid0} : index
  %first = const )" + first + R"( : f32
  %others = const )" + others + R"( : f32
  %is_first = cmplt %g, %c1 : bool
  %v = where %is_first, %first, %others : f32
  %w = splat %v : f32x8
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %w
  sink %s
)");
    const std::string name = "module @test";
    text.insert(text.find(name) + name.size(), " {flags = [" + flags + "]}");
    const std::string message = RunError(text, kX8);
    return message == "ok" || message.find("race on element 0") == std::string::npos ? message
                                                                                     : "race";
  };
  EXPECT_EQ(error("\"zero-mul\"", "0.0", "-0.0"), "ok");
  EXPECT_EQ(error("\"zero-mul\"", "nan", "0.0"), "ok");
  EXPECT_EQ(error("\"no-nan\"", "0.0", "nan"), "ok");
  EXPECT_EQ(error("\"no-nan\"", "0.0", "-0.0"), "race");
  EXPECT_EQ(error("\"no-contract\"", "0.0", "-0.0"), "race");
  EXPECT_EQ(error("\"no-contract\"", "nan", "0.0"), "race");
  EXPECT_EQ(error("\"zero-mul\"", "0.0", "1.0"), "race");
}

// Overlapping tiles that store equal values are fine.
TEST(Lowered, EqualStoresDoNotRace) {
  EXPECT_EQ(YOf(R"(  %g = special %c8 {name = grid0} : index
  %p = index %x, %c0 : ptr<f32, 8>
  %v = load %p : f32x8
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %v
  sink %s
)"),
            (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Lowered, CopiesTransposed) {
  const std::string head = R"(  %p = index %x, %c0 : ptr<f32, 8>
  %q = index %y, %c0 : ptr<f32, 8>
)";
  // Two rows of four are four columns of two.
  EXPECT_EQ(YOf(head + "  %s = copy_transposed %q, %p {rows = 2, columns = 4, to = 2, from = 4}\n"
                       "  sink %s\n"),
            (Numbers{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(Error(head + "  %s = copy_transposed %q, %p {rows = 2, columns = 4, to = 2, from = 5}\n"
                         "  sink %s\n"),
            "copy_transposed %s: element 8 is outside argument 1 of 8 (work-item 0 of group 0)");
}

std::string AsyncCopy(const std::string& wait) {
  return R"(  %l = special %c2 {name = local0} : index
  %L = scratch {id = 0} : ptr<f32, 8, local>
  %l4 = mul %l, %c4 : index
  %p = index %x, %l4 : ptr<f32, 8>
  %to = index %L, %l4 : ptr<f32, 8, local>
  %a = copy_async %to, %p {count = 4}
  %c = commit %a
)" + wait +
         R"(  %b = barrier %w
  %M = after %L, %b : ptr<f32, 8, local>
  %j = sub %c4, %l4 : index
  %from = index %M, %j : ptr<f32, 8, local>
  %v = load %from : f32x4
  %q = index %y, %l4 : ptr<f32, 8>
  %u = store %q, %v
  sink %u
)";
}

TEST(Lowered, AsynchronousCopiesArriveAtTheirWait) {
  EXPECT_EQ(YOf(AsyncCopy("  %w = wait %c {pending = 0}\n")), (Numbers{5, 6, 7, 8, 1, 2, 3, 4}));
  EXPECT_EQ(Error(AsyncCopy("  %w = wait %c {pending = 1}\n")),
            "load %v: element 4 of local scratch 0 was never written "
            "(work-item 0 of group 0)");
}

TEST(Lowered, Shuffle) {
  EXPECT_EQ(YOf(R"(  %l = special %c8 {name = local0} : index
  %c3 = const 3 : index
  %m = floormod %l, %c4 : index
  %j = sub %c3, %m : index
  %p = index %x, %l : ptr<f32, 8>
  %v = load %p : f32
  %w = shuffle %v, %j {width = 4} : f32
  %q = index %y, %l : ptr<f32, 8>
  %u = store %q, %w
  sink %u
)"),
            (Numbers{4, 3, 2, 1, 8, 7, 6, 5}));
}

// A 16x8 product of halves as CUDA programs compute it: rows of A through ldmatrix, rows of B
// through ldmatrix with transposition, and the accumulator stored two neighbours at a time.
TEST(Lowered, MatrixInstruction) {
  const std::string text = R"(tg 1
module @mma
buffer @y : f32[16, 8] output
buffer @a : f16[16, 16] input
buffer @b : f16[16, 8] input
graph @main {
  %y = buffer @y : f32
  %a = buffer @a : f16
  %b = buffer @b : f16
  %k = kernel @k(%y, %a, %b)
  %r = assign %y, %k : f32
  sink %r
}
kernel @k : lowered {
  %y = define_global {arg = 0} : ptr<f32, 128>
  %a = define_global {arg = 1} : ptr<f16, 256>
  %b = define_global {arg = 2} : ptr<f16, 128>
  %c2 = const 2 : index
  %c4 = const 4 : index
  %c8 = const 8 : index
  %c16 = const 16 : index
  %c32 = const 32 : index
  %c64 = const 64 : index
  %t = special %c32 {name = local0} : index
  %A = scratch {id = 0} : ptr<f16, 256, local>
  %B = scratch {id = 1} : ptr<f16, 128, local>
  %t8 = mul %t, %c8 : index
  %t4 = mul %t, %c4 : index
  %a0 = index %a, %t8 : ptr<f16, 256>
  %va = load %a0 : f16x8
  %A0 = index %A, %t8 : ptr<f16, 256, local>
  %sa = store %A0, %va
  %b0 = index %b, %t4 : ptr<f16, 128>
  %vc = load %b0 : f16x4
  %B0 = index %B, %t4 : ptr<f16, 128, local>
  %sc = store %B0, %vc
  %bar = barrier %sa, %sc
  %A2 = after %A, %bar : ptr<f16, 256, local>
  %B2 = after %B, %bar : ptr<f16, 128, local>
  %row = floormod %t, %c16 : index
  %half = floordiv %t, %c16 : index
  %row16 = mul %row, %c16 : index
  %half8 = mul %half, %c8 : index
  %ai = add %row16, %half8 : index
  %A3 = index %A2, %ai : ptr<f16, 256, local>
  %fa = ldmatrix %A3 {count = 4} : f16x8
  %bi = mul %row, %c8 : index
  %B3 = index %B2, %bi : ptr<f16, 128, local>
  %fb = ldmatrix %B3 {count = 2, transpose = true} : f16x4
  %zero = vconst {values = [0.0, 0.0, 0.0, 0.0]} : f32x4
  %d = wmma %fa, %fb, %zero {name = "m16n8k16.f32.f16"} : f32x4
  %g = floordiv %t, %c4 : index
  %q = floormod %t, %c4 : index
  %g8 = mul %g, %c8 : index
  %q2 = mul %q, %c2 : index
  %o = add %g8, %q2 : index
  %lo = gep %d {lanes = [0, 1]} : f32x2
  %hi = gep %d {lanes = [2, 3]} : f32x2
  %y0 = index %y, %o : ptr<f32, 128>
  %s0 = store %y0, %lo
  %o64 = add %o, %c64 : index
  %y1 = index %y, %o64 : ptr<f32, 128>
  %s1 = store %y1, %hi
  sink %s0, %s1
}
)";
  RandomDataOptions random;
  random.exact_sums = true;
  const HostBuffer a = RandomBuffer(kF16, {16, 16}, random);
  random.seed = 1;
  const HostBuffer b = RandomBuffer(kF16, {16, 8}, random);
  const Numbers x = ToDoubles(a), w = ToDoubles(b), y = RunY(text, {{"a", a}, {"b", b}});
  ASSERT_EQ(y.size(), 128u);
  for (size_t i = 0; i < 16; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += x[i * 16 + k] * w[k * 8 + j];
      EXPECT_EQ(y[i * 8 + j], sum) << i << " " << j;
    }
  }
}

// An in-place kernel: both slots are one buffer.
TEST(Kernel, SlotsOfOneBufferShareMemory) {
  const std::string text = R"(tg 1
module @t
buffer @s : f32[4] state
graph @main {
  %s = buffer @s : f32
  %k = kernel @k(%s, %s)
  %a = assign %s, %k : f32
  sink %a
}
kernel @k : lowered {
  %y = define_global {arg = 0} : ptr<f32, 4>
  %x = define_global {arg = 1} : ptr<f32, 4>
  %c3 = const 3 : index
  %c4 = const 4 : index
  %i = special %c4 {name = grid0} : index
  %j = INDEX
  %p = index %x, %j : ptr<f32, 4>
  %v = load %p : f32
  %n = neg %v : f32
  %q = index %y, %i : ptr<f32, 4>
  %t = store %q, %n
  sink %t
}
)";
  const auto with = [&](const std::string& index) {
    std::string t = text;
    return t.replace(t.find("INDEX"), 5, index);
  };
  const HostBuffers s = {{"s", F32({4}, {1, 2, 3, 4})}};
  EXPECT_EQ(ToDoubles(RunText(with("noop %i : index"), s).at("s")), (Numbers{-1, -2, -3, -4}));
  EXPECT_NE(RunError(with("sub %c3, %i : index"), s).find("race on element"), std::string::npos);
}

}  // namespace
}  // namespace tg::interpret
