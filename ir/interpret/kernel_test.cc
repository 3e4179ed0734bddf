// Kernels at every stage, and what is reported as wrong.
#include "ir/interpret/kernel.h"

#include <cmath>

#include "ir/interpret/compare_values.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/step_list.h"
#include "ir/interpret/test_util.h"

namespace tg::interpret {
namespace {

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
  %p = pad %m {widths = [(0, 0), (1, 0)]} : ptr<f32, 6>
  %f = flip %p {axes = [1]} : ptr<f32, 6>
  %x = load %f : f32
  %s = shrink %x {ranges = [(0, 2), (2, 4)]} : f32
  %q = reshape %o {shape = [2, 2]} : ptr<f32, 4>
  %t = store %q, %s
  sink %t
)";
  EXPECT_EQ(
      RunY(KernelText("f32[4]", "f32[6]", "kernel", body), {{"x", F32({6}, {1, 2, 3, 4, 5, 6})}}),
      (Numbers{1, 0, 4, 0}));
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

// Lane i of a vector, for all values of an unroll axis: the lanes in reverse.
TEST(Lowered, ExtractsLanes) {
  EXPECT_EQ(YOf(R"(  %u = unroll {axis = 0, size = 8} : index
  %p = index %x, %c0 : ptr<f32, 8>
  %v = load %p : f32x8
  %i = sub %c7, %u : index
  %e = extract %v, %i : f32
  %q = index %y, %u : ptr<f32, 8>
  %s = store %q, %e
  sink %s
)"),
            (Numbers{8, 7, 6, 5, 4, 3, 2, 1}));
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

TEST(Expanded, GatedVectors) {
  EXPECT_EQ(RunY(KernelOfX("expanded", R"(  %i = vconst {values = [-3, 1, 3, 9]} : indexx4
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
  EXPECT_EQ(RunY(KernelOfX("linear", R"(  %one = const 1.0 : f32
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
  const auto error = [](const std::string& nodes) {
    return RunError(KernelOfX("linear", nodes), kX8);
  };
  EXPECT_NE(error("  %r = range %c4 {id = 1} : index\n  %s = store %x, %zero\n  sink %s\n")
                .find("range %r: is never closed"),
            std::string::npos);
  EXPECT_NE(error("  %r = range %c4 {id = 1} : index\n  %p = index %y, %r : ptr<f32, 8>\n"
                  "  %s = store %p, %zero\n  %e = end %s, %r\n"
                  "  %j = add %r, %c1 : index\n  sink %e, %j\n")
                .find("add %j: uses a loop that has ended"),
            std::string::npos);
}

// The pointer's type counts the greatest size, but a run has memory for its own.
TEST(Lowered, AnAccessBehindASymbolicSizeIsAnError) {
  std::string text = KernelText("f32[1]", "f32[8]", "lowered", R"(
  %y = define_global {arg = 0} : ptr<f32, 1>
  %x = define_global {arg = 1} : ptr<f32, 8>
  %c0 = const 0 : index
  %c4 = const 4 : index
  %p = index %x, %c4 : ptr<f32, 8>
  %v = load %p : f32
  %q = index %y, %c0 : ptr<f32, 1>
  %s = store %q, %v
  sink %s
)");
  const std::string fixed = "buffer @x : f32[8]";
  text.replace(text.find(fixed), fixed.size(), "var @n : [1, 8]\nbuffer @x : f32[@n]");
  EXPECT_EQ(RunY(text, {{"x", F32({5}, {1, 2, 3, 4, 5})}}, {{"n", 5}})[0], 5);
  const std::string message = RunError(text, {{"x", F32({4}, {1, 2, 3, 4})}}, {{"n", 4}});
  EXPECT_NE(message.find("load %v: element 4 is outside argument 1 of 4"), std::string::npos)
      << message;
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

TEST(Lowered, SourcesMustFit) {
  EXPECT_EQ(Error(R"(  %p = index %x, %c0 : ptr<f32, 8>
  %v = load %p : f32x4
  %w = splat %v : f32x8
  %q = index %y, %c0 : ptr<f32, 8>
  %s = store %q, %w
  sink %s
)"),
            "splat %w: source 0 has 4 lanes, not 1");
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

// The order of a graph is a linear body: the list gives the same values.
TEST(Lowered, AnOrderedGraphIsALinearBody) {
  for (const auto& [file, input] :
       {std::pair("packed_matmul", "a"), std::pair("softmax_one_kernel", "x")}) {
    auto module = ReadModuleFile("testdata/kernels/" + std::string(file) + ".uop");
    ASSERT_TRUE(module.ok());
    const HostBuffers inputs = RandomInputs(**module, {}, {.seed = 11});
    ASSERT_TRUE(inputs.contains(input));
    auto as_graph = Interpret(**module, "main", inputs);
    Kernel& kernel = *(*module)->kernels[0];
    auto steps = ScheduleGraph(kernel.body);
    ASSERT_TRUE(steps.ok() && as_graph.ok());
    for (const Step& s : *steps) {
      if (s.kind != StepKind::kEndLoop) kernel.body.linear.push_back(s.node);
    }
    kernel.stage = Stage::kLinear;
    auto as_list = Interpret(**module, "main", inputs);
    ASSERT_TRUE(as_list.ok()) << as_list.status().message();
    EXPECT_EQ(Difference(*as_graph, *as_list), std::nullopt);
  }
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
}  // namespace tg::interpret
