// Kernels at every stage, and what is reported as wrong.
#include "ir/interpret/kernel.h"

#include <cmath>

#include "ir/interpret/compare.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/test_util.h"

namespace tg {
namespace {

using Numbers = std::vector<double>;

HostBuffer Random(std::vector<int64_t> shape, uint64_t seed) {
  RandomDataOptions options;
  options.seed = seed;
  return RandomBuffer(kF32, std::move(shape), options);
}

HostBuffers RunFile(const std::string& name, const HostBuffers& inputs) {
  auto module = ReadModuleFile("testdata/kernels/" + name);
  if (!module.ok()) {
    ADD_FAILURE() << module.status().message();
    return {};
  }
  auto out = Interpret(**module, "main", inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status().message();
    return {};
  }
  return *std::move(out);
}

TEST(Lowered, PackedMatmul) {
  const HostBuffer a = Random({8, 8}, 1), b = Random({8, 16}, 2);
  const HostBuffers out = RunFile("packed_matmul.uop", {{"a", a}, {"b", b}});
  const Numbers x = ToDoubles(a), y = ToDoubles(b), z = ToDoubles(out.at("c"));
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 8; ++k) {
        sum = std::fma(static_cast<float>(x[i * 8 + k]), static_cast<float>(y[k * 16 + j]), sum);
      }
      EXPECT_EQ(z[i * 16 + j], sum);
    }
  }
}

TEST(Lowered, SoftmaxInOneKernel) {
  const HostBuffer x = Random({3, 32}, 3);
  const Numbers v = ToDoubles(x),
                y = ToDoubles(RunFile("softmax_one_kernel.uop", {{"x", x}}).at("y"));
  for (size_t row = 0; row < 3; ++row) {
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < 32; ++i) most = std::max(most, v[row * 32 + i]);
    for (size_t i = 0; i < 32; ++i) sum += std::exp(v[row * 32 + i] - most);
    for (size_t i = 0; i < 32; ++i) {
      EXPECT_NEAR(y[row * 32 + i], std::exp(v[row * 32 + i] - most) / sum, 1e-6);
    }
  }
}

TEST(Kernel, OverShapes) {
  const std::string body = R"(  %o = define_global {arg = 0} : ptr<f32, 4>
  %i = define_global {arg = 1} : ptr<f32, 6>
  %m = reshape %i {shape = [2, 3]} : ptr<f32, 6>
  %p = pad %m {pad = [(0, 0), (1, 0)]} : ptr<f32, 6>
  %f = flip %p {axes = [1]} : ptr<f32, 6>
  %x = load %f : f32
  %s = shrink %x {arg = [(0, 2), (2, 4)]} : f32
  %q = reshape %o {shape = [2, 2]} : ptr<f32, 4>
  %t = store %q, %s
  sink %t
)";
  EXPECT_EQ(
      RunY(KernelText("f32[4]", "f32[6]", "kernel", body), {{"x", F32({6}, {1, 2, 3, 4, 5, 6})}}),
      (Numbers{1, 0, 4, 0}));
}

// What is common to the lowered kernels below: y and x of 8 elements, one work-item each.
const char* const kHead = R"(  %y = define_global {arg = 0} : ptr<f32, 8>
  %x = define_global {arg = 1} : ptr<f32, 8>
  %c0 = const 0 : index
  %c1 = const 1 : index
  %c2 = const 2 : index
  %c4 = const 4 : index
  %c7 = const 7 : index
  %c8 = const 8 : index
  %zero = const 0.0 : f32
)";
const HostBuffers kX8 = {{"x", F32({8}, {1, 2, 3, 4, 5, 6, 7, 8})}};

std::string Text(const std::string& stage, const std::string& nodes) {
  return KernelText("f32[8]", "f32[8]", stage, kHead + nodes);
}
Numbers YOf(const std::string& nodes) { return RunY(Text("lowered", nodes), kX8); }
std::string Error(const std::string& nodes) {
  const std::string message = RunError(Text("lowered", nodes), kX8);
  const size_t at = message.find("kernel @k, line ");
  return at == std::string::npos ? message : message.substr(message.find(": ", at) + 2);
}

TEST(Lowered, ReduceOverARangeAndLanes) {
  EXPECT_EQ(YOf(R"(  %r = range %c2 {id = 0} : index
  %u = unroll {axis = 0, size = 2} : index
  %v = unroll {axis = 1, size = 2} : index
  %u2 = mul %u, %c2 : index
  %r4 = mul %r, %c4 : index
  %a = add %r4, %u2 : index
  %i = add %a, %v : index
  %p = index %x, %i : ptr<f32, 8>
  %l = load %p : f32
  %k = contract %l {axes = [0, 1]} : f32x4
  %m = reduce %k, %r {op = add} : f32x2
  %t = contract %l {axes = [1, 0]} : f32x4
  %n = reduce %t, %r {op = max} : f32x2
  %g = cat %m, %n : f32x4
  %h = gep %g {lanes = [0, 1, 2, 3, 3, 2, 1, 0]} : f32x8
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %h
  sink %s
)"),
            (Numbers{14, 22, 7, 8, 8, 7, 22, 14}));
}

// sum over r of x[r] - max over the same r, and a sum of a constant.
TEST(Lowered, ReducesThatShareARange) {
  EXPECT_EQ(YOf(R"(  %r = range %c8 {id = 0} : index
  %p = index %x, %r : ptr<f32, 8>
  %l = load %p : f32
  %m = reduce %l, %r {op = max} : f32
  %d = sub %l, %m : f32
  %a = reduce %d, %r {op = add} : f32
  %b = reduce %m, %r {op = add} : f32
  %v = vectorize %m, %a, %b, %m, %m, %m, %m, %m : f32x8
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %v
  sink %s
)"),
            (Numbers{8, -28, 64, 8, 8, 8, 8, 8}));
}

// The load of the first value comes before the store of the second, though only the sink's order of
// sources says that the store comes first.
TEST(Lowered, LoadsComeBeforeLaterStores) {
  EXPECT_EQ(YOf(R"(  %five = const 5.0 : f32
  %seven = const 7.0 : f32
  %S = scratch {id = 0} : ptr<f32, 1, private>
  %a0 = index %S, %c0 : ptr<f32, 1, private>
  %s0 = store %a0, %five
  %S1 = after %S, %s0 : ptr<f32, 1, private>
  %a1 = index %S1, %c0 : ptr<f32, 1, private>
  %s1 = store %a1, %seven
  %S2 = after %S, %s1 : ptr<f32, 1, private>
  %a2 = index %S2, %c0 : ptr<f32, 1, private>
  %l2 = load %a2 : f32
  %l1 = load %a1 : f32
  %b = splat %l2 : f32x4
  %a = splat %l1 : f32x4
  %q = index %y, %c0 : ptr<f32, 8>
  %w = index %y, %c4 : ptr<f32, 8>
  %t = store %q, %b
  %u = store %w, %a
  sink %t, %u
)"),
            (Numbers{7, 7, 7, 7, 5, 5, 5, 5}));
}

// Each work-item adds up as many elements as its number says.
TEST(Lowered, LoopsOfDifferentLength) {
  EXPECT_EQ(YOf(R"(  %l = special %c8 {name = local0} : index
  %r = range %l {id = 0} : index
  %p = index %x, %r : ptr<f32, 8>
  %v = load %p : f32
  %a = reduce %v, %r {op = add} : f32
  %q = index %y, %l : ptr<f32, 8>
  %s = store %q, %a
  sink %s
)"),
            (Numbers{0, 1, 3, 6, 10, 15, 21, 28}));
}

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

TEST(Expanded, GatedVectors) {
  EXPECT_EQ(RunY(Text("expanded", R"(  %i = vconst {values = [-3, 1, 3, 9]} : indexx4
  %z4 = vconst {values = [0, 0, 0, 0]} : indexx4
  %e4 = vconst {values = [8, 8, 8, 8]} : indexx4
  %true = vconst {values = [true, true, true, true]} : boolx4
  %n = cmplt %i, %z4 : boolx4
  %o = cmplt %i, %e4 : boolx4
  %p = cmpne %n, %true : boolx4
  %g = and %o, %p : boolx4
  %alt = vconst {values = [-1.0, -2.0, -3.0, -4.0]} : f32x4
  %a = index %x, %i, %g : ptr<f32, 8>x4
  %b = load %a : f32x4
  %c = load %a, %alt : f32x4
  %d = cat %b, %c : f32x8
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %d
  sink %s
)"),
                 kX8),
            (Numbers{0, 2, 4, 0, -1, 2, 4, -4}));
}

TEST(Linear, LoopsAndBlocks) {
  EXPECT_EQ(RunY(Text("linear", R"(  %one = const 1.0 : f32
  %g = special %c2 {name = grid0} : index
  %S = scratch {id = 0} : ptr<f32, 1, reg>
  %a0 = index %S, %c0 : ptr<f32, 1, reg>
  %z = store %a0, %zero
  %r = range %c4 {id = 1} : index
  %S1 = after %S, %z, %r : ptr<f32, 1, reg>
  %a1 = index %S1, %c0 : ptr<f32, 1, reg>
  %v = load %a1 : f32
  %g4 = mul %g, %c4 : index
  %i = add %g4, %r : index
  %p = index %x, %i : ptr<f32, 8>
  %w = load %p : f32
  %n = add %v, %w : f32
  %s = store %a1, %n
  %q = index %y, %i : ptr<f32, 8>
  %odd = floormod %r, %c2 : index
  %isodd = cmplt %c0, %odd : bool
  %t0 = store %q, %n
  %if = if %isodd
  %t1 = store %q, %one
  %fi = endif %if
  %e = end %s, %r
  sink %e, %t0, %t1
)"),
                 kX8),
            (Numbers{1, 1, 6, 1, 5, 1, 18, 1}));
}

TEST(Linear, Errors) {
  const auto error = [](const std::string& nodes) { return RunError(Text("linear", nodes), kX8); };
  EXPECT_NE(error("  %r = range %c4 {id = 1} : index\n  %s = store %x, %zero\n  sink %s\n")
                .find("range %r: is never closed"),
            std::string::npos);
  EXPECT_NE(error("  %r = range %c4 {id = 1} : index\n  %p = index %y, %r : ptr<f32, 8>\n"
                  "  %s = store %p, %zero\n  %e = end %s, %r\n"
                  "  %j = add %r, %c1 : index\n  sink %e, %j\n")
                .find("add %j: uses a loop that has ended"),
            std::string::npos);
}

TEST(Lowered, Errors) {
  const auto load = [](const std::string& index) {
    return Error("  %p = index %x, " + index +
                 " : ptr<f32, 8>\n  %v = load %p : f32\n  %q = index %y, %c0 : ptr<f32, 8>\n"
                 "  %s = store %q, %v\n  sink %s\n");
  };
  EXPECT_EQ(load("%c8"), "load %v: element 8 is outside argument 1 of 8 (work-item 0 of group 0)");
  EXPECT_EQ(load("%c7"), "graph @main: element 1 of output @y is never written");
  EXPECT_EQ(Error(R"(  %S = scratch {id = 0} : ptr<f32, 2, private>
  %p = index %S, %c1 : ptr<f32, 2, private>
  %v = load %p : f32
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %v
  sink %s
)"),
            "load %v: element 1 of private scratch 0 was never written "
            "(work-item 0 of group 0)");
  EXPECT_EQ(Error(R"(  %big = const 9223372036854775807 : index
  %i = add %big, %c1 : index
  %q = index %y, %i : ptr<f32, 8>
  %s = store %q, %zero
  sink %s
)"),
            "add %i: index overflow");
  EXPECT_EQ(Error(R"(  %l = special %c2 {name = local0} : index
  %r = range %l {id = 0} : index
  %p = index %y, %r : ptr<f32, 8>
  %s = store %p, %zero
  %b = barrier %s
  %e = end %b, %r
  sink %e
)"),
            "barrier %b: is reached by a part of 2 work-items only");
}

TEST(Lowered, ConvertingAccess) {
  EXPECT_EQ(RunY(KernelText("f16[4]", "bf16[4]", "expanded",
                            R"(  %y = define_global {arg = 0} : ptr<f16, 4>
  %x = define_global {arg = 1} : ptr<bf16, 4>
  %c0 = const 0 : index
  %p = index %x, %c0 : ptr<bf16, 4>
  %v = load %p : u16x4
  %w = cast %v : u32x4
  %n = vconst {values = [16, 16, 16, 16]} : u32x4
  %h = shl %w, %n : u32x4
  %f = bitcast %h : f32x4
  %q = index %y, %c0 : ptr<f16, 4>
  %s = store %q, %f
  sink %s
)"),
                 {{"x", BufferOf(Scalar::kBF16, {4}, Numbers{1.5, -2, 0.25, 3})}}),
            (Numbers{1.5, -2, 0.25, 3}));
}

// y[i] = x[i] shifted by one texel to the left: outside the image there is 0.
TEST(Lowered, Images) {
  const std::string text = KernelText("f32[8]", "image<f16, 1, 2>[1, 2, 4]", "lowered",
                                      R"(  %y = define_global {arg = 0} : ptr<f32, 8>
  %x = define_global {arg = 1} : image<f16, 1, 2>
  %c0 = const 0 : index
  %c1 = const 1 : index
  %c2 = const 2 : index
  %c4 = const 4 : index
  %i = special %c2 {name = grid0} : index
  %j = add %i, %c1 : index
  %xy = vectorize %j, %c0 : indexx2
  %p = index %x, %xy : image<f16, 1, 2>
  %v = load %p : f32x4
  %i4 = mul %i, %c4 : index
  %q = index %y, %i4 : ptr<f32, 8>
  %s = store %q, %v
  sink %s
)");
  HostBuffer x = BufferOf(Scalar::kF16, {1, 2, 4}, Numbers{1, 2, 3, 4, 5, 6, 7, 8});
  x.dtype = DType::Image(Scalar::kF16, 1, 2);
  EXPECT_EQ(RunY(text, {{"x", x}}), (Numbers{5, 6, 7, 8, 0, 0, 0, 0}));
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

// Batches of groups, whatever their size, give the same values.
TEST(Lowered, BatchSizeDoesNotMatter) {
  auto module = ReadModuleFile("testdata/kernels/softmax_one_kernel.uop");
  ASSERT_TRUE(module.ok());
  const HostBuffer x = Random({3, 32}, 5);
  std::vector<HostBuffers> results;
  for (int64_t items : {1, 16, 1024}) {
    InterpretOptions options;
    options.max_items = items;
    auto out = Interpret(**module, "main", {{"x", x}}, {}, options);
    ASSERT_TRUE(out.ok());
    results.push_back(*out);
  }
  EXPECT_EQ(Difference(results[0], results[1]), std::nullopt);
  EXPECT_EQ(Difference(results[0], results[2]), std::nullopt);
}

}  // namespace
}  // namespace tg
