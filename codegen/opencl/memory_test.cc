// Memory: every kind of access and address space, loops, barriers and gates, compiled for the
// device and compared with the interpreter, in the default order and in shuffled orders.
#include "codegen/opencl/testing/check_kernel.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "gtest/gtest.h"
#include "ir/interpret/random_data.h"
#include "ir/text/parser.h"
#include "ir/value.h"

namespace tg::opencl {
namespace {

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    if (!HaveDevice()) GTEST_SKIP() << "no OpenCL device of that kind";
  }

  // Slots without values are outputs. The kernel in `text` is at stage expanded or linear.
  void Check(const std::string& text, const std::vector<interpret::HostBuffer>& buffers,
             const interpret::VarValues& vars = {}, int shuffles = 1) {
    for (int64_t shuffle = -1; shuffle < shuffles; ++shuffle) {
      Diagnostics diagnostics;
      auto module = ParseModule(text, "test.uop", diagnostics);
      ASSERT_TRUE(module) << diagnostics.ToString();
      ASSERT_EQ(CheckOnDevice(*module, buffers, vars, {}, shuffle), "") << "shuffle " << shuffle;
    }
  }
  static interpret::HostBuffer Random(Scalar s, int64_t n, uint64_t seed = 1) {
    interpret::RandomDataOptions o;
    o.seed = seed;
    o.special_values = true;
    return interpret::RandomBuffer(DType(s), {n}, o);
  }
  // Values whose short sums are exact in every order of addition.
  static interpret::HostBuffer Exact(Scalar s, int64_t n, uint64_t seed = 1) {
    interpret::RandomDataOptions o;
    o.seed = seed;
    o.exact_sums = true;
    return interpret::RandomBuffer(DType(s), {n}, o);
  }
  static interpret::HostBuffer Output(Scalar s, int64_t n) {
    return interpret::UndefinedBuffer(DType(s), {n});
  }
};

TEST_F(Memory, HalfIsConvertedOnTheWay) {
  for (int lanes : {1, 2, 4, 8, 16}) {
    const std::string v = lanes == 1 ? "f32" : "f32x" + std::to_string(lanes);
    const std::string n = std::to_string(8 * lanes);
    Check(
        "tg 1\nmodule @m\nkernel @E_1 : expanded {\n"
        "%o = define_global {arg = 0} : ptr<f16, " +
            n +
            ">\n"
            "%q = define_global {arg = 1} : ptr<f32, " +
            n +
            ">\n"
            "%x = define_global {arg = 2} : ptr<f16, " +
            n +
            ">\n"
            "%c8 = const 8 : i32\n%cl = const " +
            std::to_string(lanes) +
            " : i32\n"
            "%g = special %c8 {name = grid0} : i32\n%i = mul %g, %cl : i32\n"
            "%p = index %x, %i : ptr<f16, " +
            n + ">\n%l = load %p : " + v +
            "\n"
            "%s = mul %l, %l : " +
            v +
            "\n"
            "%po = index %o, %i : ptr<f16, " +
            n +
            ">\n%so = store %po, %s\n"
            "%pq = index %q, %i : ptr<f32, " +
            n +
            ">\n%sq = store %pq, %l\n"
            "sink %so, %sq\n}\n",
        {Output(Scalar::kF16, 8 * lanes), Output(Scalar::kF32, 8 * lanes),
         Random(Scalar::kF16, 8 * lanes)});
  }
}

// Scratch of halves is stored as bits because the device has no arrays of half.
TEST_F(Memory, HalfScratch) {
  for (const char* space : {"private", "local", "reg"}) {
    Check(
        "tg 1\nmodule @m\nkernel @E_1 : expanded {\n"
        "%o = define_global {arg = 0} : ptr<f32, 8>\n"
        "%x = define_global {arg = 1} : ptr<f32, 8>\n"
        "%t = scratch {id = 0} : ptr<f16, 8, " +
            std::string(space) +
            ">\n"
            "%c0 = const 0 : i32\n%p = index %x, %c0 : ptr<f32, 8>\n%l = load %p : f32x8\n"
            "%pt = index %t, %c0 : ptr<f16, 8, " +
            space +
            ">\n%s = store %pt, %l\n"
            "%a = after %t, %s : ptr<f16, 8, " +
            space +
            ">\n"
            "%pa = index %a, %c0 : ptr<f16, 8, " +
            space +
            ">\n%r = load %pa : f32x8\n"
            "%po = index %o, %c0 : ptr<f32, 8>\n%so = store %po, %r\nsink %so\n}\n",
        {Output(Scalar::kF32, 8), Random(Scalar::kF32, 8)});
  }
}

// Halves that are only moved keep their bits, including those of NaNs.
TEST_F(Memory, HalvesAreMoved) {
  Check(
      "tg 1\nmodule @m\nkernel @E_1 : expanded {\n"
      "%o = define_global {arg = 0} : ptr<f16, 16>\n%x = define_global {arg = 1} : ptr<f16, 16>\n"
      "%t = scratch {id = 0} : ptr<f16, 8, reg>\n%c0 = const 0 : i32\n%c8 = const 8 : i32\n"
      "%p = index %x, %c0 : ptr<f16, 16>\n%l = load %p : f16x8\n"
      "%pt = index %t, %c0 : ptr<f16, 8, reg>\n%s = store %pt, %l\n"
      "%a = after %t, %s : ptr<f16, 8, reg>\n%pa = index %a, %c0 : ptr<f16, 8, reg>\n"
      "%r = load %pa : f16x8\n%po = index %o, %c8 : ptr<f16, 16>\n%so = store %po, %r\n"
      "%one = const 1.0 : f16\n%last = gep %l {lanes = [7]} : f16\n"
      "%v = vectorize %one, %last, %one, %last, %one, %last, %one, %last : f16x8\n"
      "%pf = index %o, %c0 : ptr<f16, 16>\n%sf = store %pf, %v\nsink %so, %sf\n}\n",
      {Output(Scalar::kF16, 16), Random(Scalar::kF16, 16)});
}

TEST_F(Memory, BitsOfTypesThatAreOnlyStored) {
  Check(
      "tg 1\nmodule @m\nkernel @E_1 : expanded {\n"
      "%o = define_global {arg = 0} : ptr<f32, 16>\n%y = define_global {arg = 1} : ptr<bf16, 16>\n"
      "%x = define_global {arg = 2} : ptr<bf16, 16>\n%z = define_global {arg = 3} : ptr<fp8e4m3, "
      "16>\n"
      "%w = define_global {arg = 4} : ptr<fp8e4m3, 16>\n"
      "%c0 = const 0 : i32\n"
      "%p = index %x, %c0 : ptr<bf16, 16>\n%l = load %p : u16x16\n"
      "%wide = cast %l : u32x16\n"
      "%n = vconst {values = [16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16]} : "
      "u32x16\n"
      "%up = shl %wide, %n : u32x16\n%f = bitcast %up : f32x16\n"
      "%po = index %o, %c0 : ptr<f32, 16>\n%so = store %po, %f\n"
      "%py = index %y, %c0 : ptr<bf16, 16>\n%sy = store %py, %l\n"
      "%pz = index %z, %c0 : ptr<fp8e4m3, 16>\n%e = load %pz : u8x16\n"
      "%pw = index %w, %c0 : ptr<fp8e4m3, 16>\n%sw = store %pw, %e\n"
      "sink %so, %sy, %sw\n}\n",
      {Output(Scalar::kF32, 16), Output(Scalar::kBF16, 16), Random(Scalar::kBF16, 16),
       Random(Scalar::kFp8E4M3, 16), Output(Scalar::kFp8E4M3, 16)});
}

// A tree reduction in a work-group's local memory, with barriers, gates and a uniform loop.
TEST_F(Memory, LocalMemoryAndBarriers) {
  Check(
      "tg 1\nmodule @m\nkernel @r_4_8 : expanded {\n"
      "%o = define_global {arg = 0} : ptr<f32, 4>\n%x = define_global {arg = 1} : ptr<f32, 32>\n"
      "%t = scratch {id = 0} : ptr<f32, 8, local>\n%acc = scratch {id = 1} : ptr<f32, 1, reg>\n"
      "%c0 = const 0 : i32\n%c4 = const 4 : i32\n%c8 = const 8 : i32\n%c1 = const 1 : i32\n"
      "%g = special %c4 {name = grid0} : i32\n%l = special %c8 {name = local0} : i32\n"
      "%g8 = mul %g, %c8 : i32\n%i = add %g8, %l : i32\n"
      "%px = index %x, %i : ptr<f32, 32>\n%v = load %px : f32\n"
      "%pt = index %t, %l : ptr<f32, 8, local>\n%s = store %pt, %v\n%b = barrier %s\n"
      "%t1 = after %t, %b : ptr<f32, 8, local>\n"
      "%first = cmpne %l, %c0 : bool\n%true = const true : bool\n%is0 = cmpne %first, %true : "
      "bool\n"
      "%zero = const 0.0 : f32\n%pz = index %acc, %c0 : ptr<f32, 1, reg>\n%z = store %pz, %zero\n"
      "%k = range %c8 {id = 2} : i32\n%a = after %acc, %z, %k : ptr<f32, 1, reg>\n"
      "%pa = index %a, %c0 : ptr<f32, 1, reg>\n%old = load %pa : f32\n"
      "%pk = index %t1, %k : ptr<f32, 8, local>\n%vk = load %pk : f32\n%sum = add %old, %vk : f32\n"
      "%sk = store %pa, %sum\n%e = end %sk, %k\n%d = after %acc, %e : ptr<f32, 1, reg>\n"
      "%pd = index %d, %c0 : ptr<f32, 1, reg>\n%r = load %pd : f32\n"
      "%po = index %o, %g, %is0 : ptr<f32, 4>\n%so = store %po, %r\nsink %so\n}\n",
      {Output(Scalar::kF32, 4), Exact(Scalar::kF32, 32)}, {}, 5);
}

// Local memory that is filled twice: the second fill must wait until every work-item has read the
// first.
TEST_F(Memory, LocalMemoryIsReusedAfterABarrier) {
  Check(
      "tg 1\nmodule @m\nkernel @E_8 : expanded {\n"
      "%o = define_global {arg = 0} : ptr<f32, 16>\n%x = define_global {arg = 1} : ptr<f32, 16>\n"
      "%t = scratch {id = 0} : ptr<f32, 8, local>\n"
      "%c7 = const 7 : i32\n%c8 = const 8 : i32\n%c15 = const 15 : i32\n"
      "%l = special %c8 {name = local0} : i32\n%m = sub %c7, %l : i32\n"
      "%px = index %x, %l : ptr<f32, 16>\n%v = load %px : f32\n"
      "%pt = index %t, %l : ptr<f32, 8, local>\n%s = store %pt, %v\n%b = barrier %s\n"
      "%t1 = after %t, %b : ptr<f32, 8, local>\n%p1 = index %t1, %m : ptr<f32, 8, local>\n"
      "%r1 = load %p1 : f32\n%b2 = barrier %b\n"
      "%t2 = after %t, %b2 : ptr<f32, 8, local>\n%p2 = index %t2, %l : ptr<f32, 8, local>\n"
      "%i = add %l, %c8 : i32\n%pi = index %x, %i : ptr<f32, 16>\n%w = load %pi : f32\n"
      "%s2 = store %p2, %w\n%b3 = barrier %s2\n"
      "%t3 = after %t, %b3 : ptr<f32, 8, local>\n%p3 = index %t3, %m : ptr<f32, 8, local>\n"
      "%r3 = load %p3 : f32\n"
      "%q1 = index %o, %l : ptr<f32, 16>\n%w1 = store %q1, %r1\n"
      "%q3 = index %o, %i : ptr<f32, 16>\n%w3 = store %q3, %r3\nsink %w1, %w3\n}\n",
      {Output(Scalar::kF32, 16), Random(Scalar::kF32, 16)}, {}, 5);
}

// One loop fills a panel, the next changes it in place, a third reads it.
TEST_F(Memory, PrivateArraysAndLoops) {
  Check(
      "tg 1\nmodule @m\nkernel @r_4 : expanded {\n"
      "%o = define_global {arg = 0} : ptr<f32, 32>\n%x = define_global {arg = 1} : ptr<f32, 32>\n"
      "%t = scratch {id = 0, align = 64} : ptr<f32, 32, private>\n"
      "%c8 = const 8 : i32\n%c4 = const 4 : i32\n%half = vconst {values = [0.5, 0.5, 0.5, 0.5]} : "
      "f32x4\n"
      "%r = range %c8 {id = 0} : i32\n%i = mul %r, %c4 : i32\n"
      "%px = index %x, %i : ptr<f32, 32>\n%v = load %px : f32x4\n"
      "%pt = index %t, %i : ptr<f32, 32, private>\n%s = store %pt, %v\n%e = end %s, %r\n"
      "%t1 = after %t, %e : ptr<f32, 32, private>\n"
      "%q = range %c8 {id = 1} : i32\n%j = mul %q, %c4 : i32\n"
      "%pj = index %t1, %j : ptr<f32, 32, private>\n%old = load %pj : f32x4\n"
      "%new = mul %old, %half : f32x4\n%sj = store %pj, %new\n%f = end %sj, %q\n"
      "%t2 = after %t, %f : ptr<f32, 32, private>\n"
      "%w = range %c8 {id = 2} : i32\n%n = mul %w, %c4 : i32\n"
      "%pn = index %t2, %n : ptr<f32, 32, private>\n%ln = load %pn : f32x4\n"
      "%po = index %o, %n : ptr<f32, 32>\n%so = store %po, %ln\n%h = end %so, %w\nsink %h\n}\n",
      {Output(Scalar::kF32, 32), Random(Scalar::kF32, 32)}, {}, 5);
}

// One loop exchanges two accumulators: both are read before either is written.
TEST_F(Memory, AccumulatorsThatReadEachOther) {
  Check(
      "tg 1\nmodule @m\nkernel @r_5 : expanded {\n"
      "%o = define_global {arg = 0} : ptr<f32, 2>\n%x = define_global {arg = 1} : ptr<f32, 8>\n"
      "%acc = scratch {id = 0} : ptr<f32, 2, reg>\n"
      "%c0 = const 0 : i32\n%c1 = const 1 : i32\n%c5 = const 5 : i32\n"
      "%zero = const 0.0 : f32\n%one = const 1.0 : f32\n"
      "%p0 = index %acc, %c0 : ptr<f32, 2, reg>\n%p1 = index %acc, %c1 : ptr<f32, 2, reg>\n"
      "%z0 = store %p0, %zero\n%z1 = store %p1, %one\n"
      "%k = range %c5 {id = 0} : i32\n%a = after %acc, %z0, %z1, %k : ptr<f32, 2, reg>\n"
      "%q0 = index %a, %c0 : ptr<f32, 2, reg>\n%q1 = index %a, %c1 : ptr<f32, 2, reg>\n"
      "%l0 = load %q0 : f32\n%l1 = load %q1 : f32\n"
      "%px = index %x, %k : ptr<f32, 8>\n%v = load %px : f32\n%sum = add %l0, %v : f32\n"
      "%s0 = store %q0, %l1\n%s1 = store %q1, %sum\n%t = noop %s0, %s1 : void\n%e = end %t, %k\n"
      "%d = after %acc, %e : ptr<f32, 2, reg>\n"
      "%d0 = index %d, %c0 : ptr<f32, 2, reg>\n%d1 = index %d, %c1 : ptr<f32, 2, reg>\n"
      "%r0 = load %d0 : f32\n%r1 = load %d1 : f32\n"
      "%o0 = index %o, %c0 : ptr<f32, 2>\n%o1 = index %o, %c1 : ptr<f32, 2>\n"
      "%w0 = store %o0, %r0\n%w1 = store %o1, %r1\nsink %w0, %w1\n}\n",
      {Output(Scalar::kF32, 2), Exact(Scalar::kF32, 8)}, {}, 5);
}

// The bound is the value that the register held before the loop changes it.
TEST_F(Memory, ALoopsBoundIsReadOnce) {
  Check(
      "tg 1\nmodule @m\nkernel @r_n : expanded {\n"
      "%o = define_global {arg = 0} : ptr<i32, 1>\n%x = define_global {arg = 1} : ptr<i32, 1>\n"
      "%acc = scratch {id = 0} : ptr<i32, 1, reg>\n%c0 = const 0 : i32\n%c3 = const 3 : i32\n"
      "%px = index %x, %c0 : ptr<i32, 1>\n%v = load %px : i32\n%abs = and %v, %c3 : i32\n"
      "%p0 = index %acc, %c0 : ptr<i32, 1, reg>\n%z = store %p0, %abs\n"
      "%b = after %acc, %z : ptr<i32, 1, reg>\n%pb = index %b, %c0 : ptr<i32, 1, reg>\n"
      "%n = load %pb : i32\n%size = add %n, %c3 : i32\n%k = range %size {id = 0} : i32\n"
      "%a = after %acc, %z, %k : ptr<i32, 1, reg>\n%pa = index %a, %c0 : ptr<i32, 1, reg>\n"
      "%old = load %pa : i32\n%sum = add %old, %c3 : i32\n%s = store %pa, %sum\n"
      "%e = end %s, %k\n%d = after %acc, %e : ptr<i32, 1, reg>\n"
      "%pd = index %d, %c0 : ptr<i32, 1, reg>\n%r = load %pd : i32\n"
      "%po = index %o, %c0 : ptr<i32, 1>\n%so = store %po, %r\nsink %so\n}\n",
      {Output(Scalar::kI32, 1), Random(Scalar::kI32, 1, 3)});
}

TEST_F(Memory, GatesAndAlternatives) {
  for (Scalar s : {Scalar::kF32, Scalar::kU8, Scalar::kBool, Scalar::kI64}) {
    const std::string t(GetScalarInfo(s).text);
    Check(
        "tg 1\nmodule @m\nkernel @E_16 : expanded {\n"
        "%o = define_global {arg = 0} : ptr<" +
            t +
            ", 64>\n"
            "%q = define_global {arg = 1} : ptr<" +
            t +
            ", 16>\n"
            "%x = define_global {arg = 2} : ptr<" +
            t +
            ", 20>\n"
            "%c16 = const 16 : i32\n%c5 = const 5 : i32\n%c4 = const 4 : i32\n%c12 = const 12 : "
            "i32\n"
            "%g = special %c16 {name = grid1} : i32\n%g4 = mul %g, %c4 : i32\n"
            "%in = cmplt %g, %c5 : bool\n%low = cmplt %g, %c12 : bool\n"
            "%one = const " +
            (s == Scalar::kF32    ? "1.5"
             : s == Scalar::kBool ? "true"
                                  : "7") +
            " : " + t +
            "\n"
            "%alt = splat %one : " +
            t +
            "x4\n"
            "%p = index %x, %g4, %in : ptr<" +
            t + ", 20>\n%v = load %p, %alt : " + t +
            "x4\n"
            "%po = index %o, %g4 : ptr<" +
            t +
            ", 64>\n%so = store %po, %v\n"
            "%ps = index %x, %g, %low : ptr<" +
            t + ", 20>\n%vs = load %ps : " + t +
            "\n"
            "%pq = index %q, %g, %low : ptr<" +
            t +
            ", 16>\n%sq = store %pq, %vs\n"
            "%true = const true : bool\n%high = cmpne %low, %true : bool\n"
            "%ph = index %q, %g, %high : ptr<" +
            t +
            ", 16>\n%sh = store %ph, %one\n"
            "sink %so, %sq, %sh\n}\n",
        {Output(s, 64), Output(s, 16), Random(s, 20)});
  }
}

// Variables as arguments: in the grid's size, in loop bounds and in addresses.
TEST_F(Memory, Variables) {
  const std::string text =
      "tg 1\nmodule @m\nvar @n : [1, 6]\nvar @max : [1, 9]\nvar @max_ : [1, 9]\nkernel @r_n : "
      "expanded {\n"
      "%o = define_global {arg = 0} : ptr<i32, 6>\n%x = define_global {arg = 1} : ptr<i32, 64>\n"
      "%acc = scratch {id = 0} : ptr<i32, 1, reg>\n%c0 = const 0 : i32\n%c2 = const 2 : i32\n"
      "%n = var @n : i32\n%max = var @max : i32\n%max_ = var @max_ : i32\n"
      "%diff = sub %max, %max_ : i32\n%m = add %max, %diff : i32\n"
      "%g = special %n {name = grid0} : i32\n"
      "%p0 = index %acc, %c0 : ptr<i32, 1, reg>\n%z = store %p0, %c0\n"
      "%size = add %n, %c2 : i32\n%k = range %size {id = 0} : i32\n"
      "%a = after %acc, %z, %k : ptr<i32, 1, reg>\n%q = index %a, %c0 : ptr<i32, 1, reg>\n"
      "%old = load %q : i32\n%gm = mul %g, %m : i32\n%i = add %gm, %k : i32\n"
      "%px = index %x, %i : ptr<i32, 64>\n%v = load %px : i32\n%w = mul %v, %m : i32\n"
      "%sum = add %old, %w : i32\n%s = store %q, %sum\n%e = end %s, %k\n"
      "%d = after %acc, %e : ptr<i32, 1, reg>\n%pd = index %d, %c0 : ptr<i32, 1, reg>\n"
      "%r = load %pd : i32\n%po = index %o, %g : ptr<i32, 6>\n%so = store %po, %r\nsink %so\n}\n";
  for (int64_t n : {1, 3, 6}) {
    Check(text, {Output(Scalar::kI32, 6), Random(Scalar::kI32, 64)},
          {{"n", n}, {"max", 8}, {"max_", 7}});
  }
}

TEST_F(Memory, Images) {
  interpret::HostBuffer image;
  image.dtype = DType::Image(Scalar::kF32, 3, 8);
  image.shape = {3, 8, 4};
  image.data = Random(Scalar::kF32, 96).data;
  interpret::HostBuffer out = interpret::UndefinedBuffer(image.dtype, image.shape);
  // Shifts by one column to the left; reads outside the image give 0.
  Check(
      "tg 1\nmodule @m {target = \"cl-intel\"}\nkernel @E_3_8 : expanded {\n"
      "%o = define_global {arg = 0} : image<f32, 3, 8>\n"
      "%x = define_global {arg = 1} : image<f32, 3, 8>\n"
      "%c3 = const 3 : i32\n%c8 = const 8 : i32\n%c1 = const 1 : i32\n"
      "%g = special %c8 {name = grid0} : i32\n%l = special %c3 {name = local1} : i32\n"
      "%to = vectorize %g, %l : i32x2\n%left = sub %g, %c1 : i32\n"
      "%from = vectorize %left, %l : i32x2\n"
      "%px = index %x, %from : image<f32, 3, 8>\n%v = load %px : f32x4\n"
      "%w = neg %v : f32x4\n"
      "%po = index %o, %to : image<f32, 3, 8>\n%s = store %po, %w\nsink %s\n}\n",
      {out, image}, {}, 1);
}

}  // namespace
}  // namespace tg::opencl
