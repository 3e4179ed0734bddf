#include "ir/interpret/graph.h"

#include <cmath>

#include "ir/interpret/compare_values.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/test_util.h"

namespace tg::interpret {
namespace {

// A module with input @x and output @y, whose graph computes %r.
std::string Graph(const std::string& x, const std::string& y, const std::string& nodes) {
  const auto element = [](const std::string& type) { return type.substr(0, type.find('[')); };
  return "tg 1\nmodule @t\nbuffer @x : " + x + " input\nbuffer @y : " + y +
         " output\ngraph @main {\n  %x = buffer @x : " + element(x) + "\n" + nodes +
         "  sink %r -> @y\n}\n";
}

const HostBuffers kX23 = {{"x", F32({2, 3}, {1, 2, 3, 4, 5, 6})}};

TEST(Graph, Movement) {
  const auto run = [](const std::string& y, const std::string& op) {
    return RunY(Graph("f32[2, 3]", "f32" + y, "  %r = " + op + " : f32\n"), kX23);
  };
  EXPECT_EQ(run("[3, 2]", "reshape %x {shape = [3, 2]}"), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run("[3, 2]", "permute %x {axes = [1, 0]}"), (Numbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run("[2, 3]", "flip %x {axes = [1]}"), (Numbers{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(run("[2, 3]", "flip %x {axes = [0, 1]}"), (Numbers{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(run("[3, 5]", "pad %x {widths = [(0, 1), (1, 1)]}"),
            (Numbers{0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run("[1, 2]", "shrink %x {ranges = [(1, 2), (0, 2)]}"), (Numbers{4, 5}));
  // Every second element of row 1 twice, then a masked place.
  EXPECT_EQ(run("[2, 3]",
                "view %x {views = [view(shape = [2, 3], strides = [0, 2], offset = 3, "
                "mask = [(0, 2), (0, 2)])]}"),
            (Numbers{4, 6, 0, 4, 6, 0}));
  // Two views: a transpose, then three elements of the flat result backwards.
  EXPECT_EQ(run("[3]",
                "view %x {views = [view(shape = [3, 2], strides = [1, 3], offset = 0), "
                "view(shape = [3], strides = [-2], offset = 5)]}"),
            (Numbers{6, 5, 4}));
}

TEST(Graph, Iota) {
  EXPECT_EQ(RunY(Graph("i32[2, 3]", "i32[2, 3]",
                       "  %i = iota {size = 3} : index\n  %c = cast %i : i32\n"
                       "  %s = reshape %c {shape = [1, 3]} : i32\n"
                       "  %e = expand %s {shape = [2, 3]} : i32\n  %r = add %e, %x : i32\n"),
                 {{"x", I32({2, 3}, {10, 20, 30, 40, 50, 60})}}),
            (Numbers{10, 21, 32, 40, 51, 62}));
}

TEST(Graph, Expand) {
  EXPECT_EQ(RunY(Graph("f32[2, 1]", "f32[2, 3]", "  %r = expand %x {shape = [2, 3]} : f32\n"),
                 {{"x", F32({2, 1}, {1, 2})}}),
            (Numbers{1, 1, 1, 2, 2, 2}));
}

TEST(Graph, ReduceTuple) {
  // The greatest element of each row, and the number that goes with it.
  const std::string body =
      "  %w = const 10.0 : f32\n  %v = mul %x, %w : f32\n"
      "  %i = const -inf : f32\n  %z = const 0.0 : f32\n"
      "  %a0 = carried {arg = 0, shape = []} : f32\n  %a1 = carried {arg = 1, shape = []} : f32\n"
      "  %b0 = carried {arg = 2, shape = []} : f32\n  %b1 = carried {arg = 3, shape = []} : f32\n"
      "  %less = cmplt %a0, %b0 : bool\n  %c0 = where %less, %b0, %a0 : f32\n"
      "  %c1 = where %less, %b1, %a1 : f32\n";
  const auto run = [&](const std::string& y, const std::string& how) {
    return RunY(Graph("f32[2, 3]", "f32" + y,
                      body + "  %r = reduce_tuple %x, %v, %i, %z, %c0, %c1 {" + how + "} : f32\n"),
                {{"x", F32({2, 3}, {1, 3, 2, -4, -6, -5})}});
  };
  EXPECT_EQ(run("[2, 1]", "result = 0, axes = [1]"), (Numbers{3, -4}));
  EXPECT_EQ(run("[2, 1]", "result = 1, axes = [1]"), (Numbers{30, -40}));
  EXPECT_EQ(run("[1, 3]", "result = 1, axes = [0]"), (Numbers{10, 30, 20}));
  EXPECT_EQ(run("[1, 1]", "result = 1, axes = [0, 1]"), (Numbers{30}));
}

TEST(Graph, Broadcast) {
  const auto run = [](const std::string& from, const std::string& to, const HostBuffer& x) {
    const std::string shape = to.substr(3);
    return RunY(Graph(from, to, "  %r = broadcast %x {shape = " + shape + "} : f32\n"), {{"x", x}});
  };
  EXPECT_EQ(run("f32[2, 1]", "f32[2, 3]", F32({2, 1}, {1, 2})), (Numbers{1, 1, 1, 2, 2, 2}));
  // Axes are aligned at the last one.
  EXPECT_EQ(run("f32[3]", "f32[2, 3]", F32({3}, {1, 2, 3})), (Numbers{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(run("f32[2, 1]", "f32[2, 2, 2]", F32({2, 1}, {1, 2})),
            (Numbers{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(run("f32[]", "f32[2, 2]", F32({}, {7})), (Numbers{7, 7, 7, 7}));
  EXPECT_EQ(run("f32[1, 2]", "f32[1, 2]", F32({1, 2}, {1, 2})), (Numbers{1, 2}));
  EXPECT_EQ(run("f32[1, 2]", "f32[0, 2]", F32({1, 2}, {1, 2})), Numbers{});
}

TEST(Graph, Reduce) {
  const auto run = [](const std::string& op, const std::string& axes, const std::string& y) {
    return RunY(Graph("f32[2, 3]", "f32" + y,
                      "  %r = reduce_axis %x {op = " + op + ", axes = [" + axes + "]} : f32\n"),
                kX23);
  };
  EXPECT_EQ(run("add", "1", "[2, 1]"), (Numbers{6, 15}));
  EXPECT_EQ(run("add", "0", "[1, 3]"), (Numbers{5, 7, 9}));
  EXPECT_EQ(run("mul", "0, 1", "[1, 1]"), (Numbers{720}));
  EXPECT_EQ(run("max", "1", "[2, 1]"), (Numbers{3, 6}));
  EXPECT_EQ(run("min", "0", "[1, 3]"), (Numbers{1, 2, 3}));
}

TEST(Graph, SumsAreRoundedOnce) {
  // 2048 + 1 is not a half: a half accumulator would never leave 2048.
  Numbers ones(4096, 1);
  EXPECT_EQ(
      RunY(Graph("f16[4096]", "f16[1]", "  %r = reduce_axis %x {op = add, axes = [0]} : f16\n"),
           {{"x", BufferOf(Scalar::kF16, {4096}, ones)}}),
      (Numbers{4096}));
}

TEST(Graph, EmptyReduceGivesTheIdentity) {
  EXPECT_EQ(
      RunY(Graph("f32[2, 0]", "f32[2, 1]", "  %r = reduce_axis %x {op = max, axes = [1]} : f32\n"),
           {{"x", F32({2, 0}, {})}}),
      (Numbers{-INFINITY, -INFINITY}));
}

TEST(Graph, ScalarsBroadcast) {
  EXPECT_EQ(RunY(Graph("f32[3]", "f32[3]",
                       "  %c = const 2.0 : f32\n  %z = const 0.0 : f32\n"
                       "  %l = cmplt %x, %z : bool\n  %m = mul %x, %c : f32\n"
                       "  %r = where %l, %z, %m : f32\n"),
                 {{"x", F32({3}, {-1, 2, 3})}}),
            (Numbers{0, 4, 6}));
}

TEST(Graph, SymbolicShape) {
  const std::string text = R"(tg 1
module @t
var @n : [1, 8]
buffer @x : f32[@n, 2] input
buffer @y : f32[2, @n] output
graph @main {
  %x = buffer @x : f32
  %n = var @n : index
  %f = reshape %x {shape = [2, %n]} : f32
  %r = neg %f : f32
  sink %r -> @y
}
)";
  EXPECT_EQ(RunY(text, {{"x", F32({3, 2}, {1, 2, 3, 4, 5, 6})}}, {{"n", 3}}),
            (Numbers{-1, -2, -3, -4, -5, -6}));
  EXPECT_NE(RunError(text, {{"x", F32({9, 2}, Numbers(18))}}, {{"n", 9}}).find("outside [1, 8]"),
            std::string::npos);
  EXPECT_NE(RunError(text, {}, {}).find("variable @n has no value"), std::string::npos);
}

TEST(Graph, BindGivesTheVariableItsValue) {
  const std::string text = R"(tg 1
module @t
var @n : [1, 8]
buffer @x : i32[8] input
buffer @y : i32[1] output
graph @main {
  %x = buffer @x : i32
  %v = var @n : index
  %c = const 3 : index
  %n = bind %v, %c : index
  %s = shrink %x {ranges = [(0, %n)]} : i32
  %r = reduce_axis %s {op = add, axes = [0]} : i32
  sink %r -> @y
}
)";
  EXPECT_EQ(RunY(text, {{"x", I32({8}, {1, 2, 3, 4, 5, 6, 7, 8})}}), (Numbers{6}));
}

// The state that `buffer` reads is that of entry, also after an assign; `after` sees the assign.
TEST(Graph, StateIsCommittedAtTheEnd) {
  const std::string text = R"(tg 1
module @t
buffer @s : f32[4] state
buffer @x : f32[2] input
buffer @y : f32[4] output
buffer @z : f32[4] output
graph @main {
  %s = buffer @s : f32
  %x = buffer @x : f32
  %w = shrink %s {ranges = [(1, 3)]} : f32
  %a = assign %w, %x : f32
  %t = after %s, %a : f32
  %y = neg %t : f32
  %z = neg %s : f32
  sink %y -> @y, %z -> @z, %a
}
)";
  const HostBuffers out = RunText(text, {{"s", F32({4}, {1, 2, 3, 4})}, {"x", F32({2}, {10, 20})}});
  EXPECT_EQ(ToDoubles(out.at("y")), (Numbers{-1, -10, -20, -4}));
  EXPECT_EQ(ToDoubles(out.at("z")), (Numbers{-1, -2, -3, -4}));
  EXPECT_EQ(ToDoubles(out.at("s")), (Numbers{1, 10, 20, 4}));
}

TEST(Graph, IndependentAssignsAreJoined) {
  const std::string text = R"(tg 1
module @t
buffer @s : f32[4] state
buffer @x : f32[2] input
graph @main {
  %s = buffer @s : f32
  %x = buffer @x : f32
  %v = shrink %s {ranges = [(0, 2)]} : f32
  %w = shrink %s {ranges = [(2, 4)]} : f32
  %f = flip %w {axes = [0]} : f32
  %a = assign %v, %x : f32
  %b = assign %f, %x : f32
  sink %a, %b
}
)";
  const HostBuffers out = RunText(text, {{"s", F32({4}, {1, 2, 3, 4})}, {"x", F32({2}, {10, 20})}});
  EXPECT_EQ(ToDoubles(out.at("s")), (Numbers{10, 20, 20, 10}));
}

TEST(Graph, Loop) {
  const std::string text = R"(tg 1
module @t
buffer @x : i32[2] input
buffer @y : i32[2] output
graph @main {
  %x = buffer @x : i32
  %n = const 5 : index
  %a = loop @fib(%n, %x, %x) {result = 0} : i32
  sink %a -> @y
}
graph @fib {
  %a = carried {arg = 0, shape = [2]} : i32
  %b = carried {arg = 1, shape = [2]} : i32
  %c = add %a, %b : i32
  sink %b, %c
}
)";
  EXPECT_EQ(RunY(text, {{"x", I32({2}, {1, 10})}}), (Numbers{8, 80}));
}

TEST(Graph, ParamsWithValuesNeedNotBeGiven) {
  const std::string text = R"(tg 1
module @t
buffer @k : i32[3] param = [1, 2, 3]
buffer @y : i32[3] output
graph @main {
  %k = buffer @k : i32
  %r = mul %k, %k : i32
  sink %r -> @y
}
)";
  EXPECT_EQ(RunY(text, {}), (Numbers{1, 4, 9}));
}

TEST(Graph, Errors) {
  const std::string text = Graph("f32[3]", "f32[3]", "  %r = neg %x : f32\n");
  EXPECT_EQ(
      RunError(text, {}),
      "graph @main, line 7: neg %r: element 0 of source 0 was never given a value (buffer @x)");
  EXPECT_EQ(RunError(text, {{"x", F32({4}, {1, 2, 3, 4})}}),
            "graph @main, line 6: buffer %x: buffer @x was given f32[4] (4 elements), is declared "
            "f32[3]");
}

// A copy between devices also copies undefined elements. Only reading them afterwards is an error.
TEST(Graph, CopiesWhatHasNoValue) {
  const auto text = [](const std::string& from) {
    return R"(tg 1
module @t
buffer @x : f32[2] input
buffer @t : f32[4] temp
buffer @u : f32[4] temp on "B"
buffer @y : f32[2] output on "B"
graph @main {
  %x = buffer @x : f32
  %t = buffer @t : f32
  %half = shrink %t {ranges = [(0, 2)]} : f32
  %0 = assign %half, %x : f32
  %1 = after %t, %0 : f32
  %2 = copy %1 {device = "B"} : f32
  %u = buffer @u : f32
  %3 = assign %u, %2 : f32
  %4 = shrink %3 {ranges = [()" +
           from + R"()]} : f32
  sink %4 -> @y
}
)";
  };
  EXPECT_EQ(RunY(text("0, 2"), {{"x", F32({2}, {1, -2})}}), (Numbers{1, -2}));
  EXPECT_EQ(RunError(text("1, 3"), {{"x", F32({2}, {1, -2})}}),
            "graph @main: element 1 of source 0 was never given a value");
}

TEST(Graph, TooLargeToBeHeld) {
  EXPECT_EQ(RunError(Graph("f32[1, 1]", "f32[1, 1]",
                           "  %e = expand %x {shape = [4294967296, 4294967296]} : f32\n"
                           "  %r = shrink %e {ranges = [(0, 1), (0, 1)]} : f32\n"),
                     {{"x", F32({1, 1}, {1})}}),
            "graph @main, line 7: expand %e: [4294967296, 4294967296] has too many elements to be "
            "interpreted");
}

// Random graphs of floats: the value in f64 lies within the bounds that are computed for f32.
TEST(Graph, ErrorBoundsHold) {
  const std::string nodes = R"(  %a = reshape %x {shape = [8, 1, 16]} : T
  %b = permute %x {axes = [1, 0]} : T
  %p = reshape %b {shape = [1, 16, 8]} : T
  %q = permute %p {axes = [0, 2, 1]} : T
  %e = expand %a {shape = [8, 8, 16]} : T
  %f = expand %q {shape = [8, 8, 16]} : T
  %m = mul %e, %f : T
  %s = reduce_axis %m {op = add, axes = [2]} : T
  %t = reshape %s {shape = [8, 8]} : T
  %c = const 0.125 : T
  %u = mul %t, %c : T
  %v = exp2 %u : T
  %w = reduce_axis %v {op = add, axes = [0]} : T
  %i = expand %w {shape = [8, 8]} : T
  %d = div %v, %i : T
  %g = sin %t : T
  %r = add %d, %g : T
)";
  const auto with_type = [&](const std::string& type) {
    std::string body = nodes;
    for (size_t at; (at = body.find(": T\n")) != std::string::npos;) body.replace(at + 2, 1, type);
    return Graph(type + "[8, 16]", type + "[8, 8]", body);
  };
  auto narrow = ParseOrFail(with_type("f16")), wide = ParseOrFail(with_type("f64"));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomDataOptions random;
    random.seed = seed;
    const HostBuffer x = RandomBuffer(DType(Scalar::kF16), {8, 16}, random);
    InterpretOptions options;
    options.track_error = true;
    const auto y = Interpret(*narrow, "main", {{"x", x}}, {}, options);
    const auto z =
        Interpret(*wide, "main", {{"x", BufferOf(Scalar::kF64, {8, 16}, ToDoubles(x))}}, {});
    ASSERT_TRUE(y.ok() && z.ok());
    const HostBuffer& half = y->at("y");
    ASSERT_EQ(half.error.size(), 64u);
    const Numbers value = ToDoubles(half), exact = ToDoubles(z->at("y"));
    for (size_t i = 0; i < 64; ++i) {
      // The bound is on the distance of two evaluations; each is that close to the exact value.
      EXPECT_LE(std::fabs(value[i] - exact[i]), 1.01 * half.error[i] + 1e-3 * std::fabs(exact[i]));
      EXPECT_LT(half.error[i], 4.0);
    }
  }
}

// A product that is moved before it is added may be fused with the addition all the same.
TEST(Graph, MovedProductsMayBeFused) {
  auto graph = ParseOrFail(Graph("f32[1, 2]", "f32[2, 1]", R"(  %m = mul %x, %x : f32
  %n = neg %m : f32
  %p = permute %n {axes = [1, 0]} : f32
  %q = permute %x {axes = [1, 0]} : f32
  %r = add %p, %q : f32
)"));
  InterpretOptions options;
  options.track_error = true;
  const auto y = Interpret(*graph, "main", {{"x", F32({1, 2}, {1.1, 3})}}, {}, options);
  ASSERT_TRUE(y.ok());
  ASSERT_EQ(y->at("y").error.size(), 2u);
  EXPECT_GE(y->at("y").error[0], 1.21 * 0x1p-24);
  EXPECT_LE(y->at("y").error[0], 1.21 * 0x1p-22);
}

// A sum of the one term -0 is 0 or that term, and so is what is left of it without its fraction.
TEST(Graph, SignOfTruncatedZeroIsAsUncertainAsItsSource) {
  auto graph = ParseOrFail(
      Graph("f16[3, 1]", "f16[3, 1]", R"(  %s = reduce_axis %x {op = add, axes = [1]} : f16
  %r = trunc %s : f16
)"));
  InterpretOptions options;
  options.track_error = true;
  const HostBuffer x = BufferOf(Scalar::kF16, {3, 1}, Numbers{-0.0, 2.5, -0.5});
  const auto y = Interpret(*graph, "main", {{"x", x}}, {}, options);
  ASSERT_TRUE(y.ok());
  const HostBuffer& result = y->at("y");
  ASSERT_EQ(result.error.size(), 3u);
  EXPECT_GT(result.error[0], 0);
  EXPECT_LT(result.error[0], 1e-6);
  EXPECT_EQ(result.error[1], 0);
  EXPECT_EQ(result.error[2], 0);
  HostBuffer negative = result;
  negative.data = BufferOf(Scalar::kF16, {3, 1}, Numbers{-0.0, 2, -0.0}).data;
  EXPECT_EQ(Difference(result, negative), std::nullopt);
}

// 13 * 13 * 1.625 * 1.625 can be represented in the type, but not if each product is rounded to it,
// as happens if the 0 comes last.
TEST(Graph, ProductThatOverflowsInOneOrderMayBeAnything) {
  auto graph = ParseOrFail(Graph("fp8e4m3[1, 5]", "fp8e4m3[1, 1]",
                                 "  %p = reduce_axis %x {op = mul, axes = [1]} : fp8e4m3\n"
                                 "  %r = sin %p : fp8e4m3\n"));
  InterpretOptions options;
  options.track_error = true;
  const auto error_of = [&](double last) {
    const HostBuffer x = BufferOf(Scalar::kFp8E4M3, {1, 5}, Numbers{0, 13, 13, 1.625, last});
    const auto y = Interpret(*graph, "main", {{"x", x}}, {}, options);
    return y.ok() ? y->at("y").error[0] : -1;
  };
  EXPECT_TRUE(std::isinf(error_of(1.625)));
  EXPECT_LT(error_of(1), 3);
}

// (-3)^(-3), of sums that may be a little off: only an integer has a power of a negative number.
TEST(Graph, PowerOfNegativeNumberMayBeAnything) {
  auto graph = ParseOrFail(
      Graph("f32[1, 2]", "f32[1, 1]", R"(  %s = reduce_axis %x {op = add, axes = [1]} : f32
  %r = pow %s, %s : f32
)"));
  InterpretOptions options;
  options.track_error = true;
  const auto error_of = [&](double term) {
    const auto y = Interpret(*graph, "main", {{"x", F32({1, 2}, {term, 2 * term})}}, {}, options);
    return y.ok() ? y->at("y").error[0] : -1;
  };
  EXPECT_TRUE(std::isinf(error_of(-1)));
  EXPECT_LT(error_of(1), 1e-3);
}

TEST(TensorOps, SumErrorBound) {
  const Tensor x =
      MakeTensor(Scalar::kF32, {2, 2}, BufferOf(Scalar::kF32, {4}, Numbers{1, -2, 3, 4}).data);
  const int64_t axes[] = {1};
  EXPECT_EQ(SumErrorBound(x, axes), (Numbers{2 * 3 * 0x1p-24, 2 * 7 * 0x1p-24}));
}

}  // namespace
}  // namespace tg::interpret
