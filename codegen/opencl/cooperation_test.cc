// Matrix instructions, ldmatrix, shuffles and asynchronous copies. With NVIDIA's OpenCL
// (TG_TEST_DEVICE=gpu) the kernels run and are compared with the interpreter; on other machines
// only their text is checked.
#include <cstdlib>

#include "codegen/opencl/renderer.h"
#include "codegen/opencl/testing/check_kernel.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/interpret/random_data.h"
#include "ir/text/parser.h"
#include "passes/linearize/linearize.h"

namespace tg::opencl {
namespace {

using testing::HasSubstr;

bool OnNvidia() {
  const char* wish = getenv("TG_TEST_DEVICE");
  return wish && std::string_view(wish) == "gpu" && HaveDevice();
}

// Checks the values if this machine has a device that runs the kernel; returns the source.
std::string Check(const std::string& body, const std::vector<interpret::HostBuffer>& buffers,
                  const interpret::Tolerance& tolerance = {}) {
  const std::string text =
      "tg 1\nmodule @m {target = \"cl-nvidia-sm90\"}\nkernel @E_32 : expanded {\n" + body + "}\n";
  Diagnostics diagnostics;
  auto module = ParseModule(text, "test.uop", diagnostics);
  EXPECT_TRUE(module) << diagnostics.ToString();
  if (!module) return "";
  EXPECT_TRUE(linearize::LinearizeKernel(*module->kernels[0]).ok());
  const auto target = passes::FindTarget(module->target);
  const auto rendered = RenderKernel(*module, *module->kernels[0], *target);
  EXPECT_TRUE(rendered.ok()) << rendered.status();
  if (!rendered.ok()) return "";
  if (OnNvidia()) {
    EXPECT_EQ(CheckOnDevice(*module, buffers, {}, tolerance), "");
  }
  return rendered->source;
}

interpret::HostBuffer Exact(Scalar s, int64_t n, uint64_t seed) {
  interpret::RandomDataOptions o;
  o.seed = seed;
  o.exact_sums = true;
  return interpret::RandomBuffer(DType(s), {n}, o);
}

std::string Ptr(Scalar s, int64_t n, const char* space = "") {
  return "ptr<" + std::string(GetScalarInfo(s).text) + ", " + std::to_string(n) + space + ">";
}

TEST(Cooperation, MatrixInstructions) {
  struct Case {
    const char* name;
    Scalar in, sum;
    int a, b, c;  // numbers of lanes of the fragments
    Scalar b_in = in;
  };
  for (const Case& m :
       {Case{"m16n8k16.f32.f16", Scalar::kF16, Scalar::kF32, 8, 4, 4},
        Case{"m16n8k16.f32.bf16", Scalar::kBF16, Scalar::kF32, 8, 4, 4},
        Case{"m16n8k16.f16.f16", Scalar::kF16, Scalar::kF16, 8, 4, 4},
        Case{"m16n8k8.f32.f16", Scalar::kF16, Scalar::kF32, 4, 2, 4},
        Case{"m16n8k8.f32.bf16", Scalar::kBF16, Scalar::kF32, 4, 2, 4},
        Case{"m16n8k8.f32.tf32", Scalar::kF32, Scalar::kF32, 4, 2, 4},
        Case{"m16n8k8.f32.f32", Scalar::kF32, Scalar::kF32, 4, 2, 4},
        Case{"m16n8k32.s32.s8.s8", Scalar::kI8, Scalar::kI32, 16, 8, 4},
        Case{"m16n8k32.s32.u8.u8", Scalar::kU8, Scalar::kI32, 16, 8, 4},
        Case{"m16n8k32.s32.s8.u8", Scalar::kI8, Scalar::kI32, 16, 8, 4, Scalar::kU8},
        Case{"m16n8k32.s32.u8.s8", Scalar::kU8, Scalar::kI32, 16, 8, 4, Scalar::kI8}}) {
    auto load = [&](const char* v, int arg, Scalar s, int lanes) {
      const std::string p = Ptr(s, 32 * lanes);
      const std::string n(v);
      return "%p" + n + " = define_global {arg = " + std::to_string(arg) + "} : " + p + "\n%n" + n +
             " = const " + std::to_string(lanes) + " : i32\n%i" + n + " = mul %l, %n" + n +
             " : i32\n%x" + n + " = index %p" + n + ", %i" + n + " : " + p + "\n%" + n +
             " = load %x" + n + " : " + std::string(GetScalarInfo(s).text) + "x" +
             std::to_string(lanes) + "\n";
    };
    const std::string sum(GetScalarInfo(m.sum).text);
    const std::string source =
        Check("%c32 = const 32 : i32\n%l = special %c32 {name = local0} : i32\n" +
                  load("a", 1, m.in, m.a) + load("b", 2, m.b_in, m.b) + load("c", 3, m.sum, m.c) +
                  "%d = wmma %a, %b, %c {name = \"" + m.name + "\"} : " + sum + "x4\n" +
                  "%o = define_global {arg = 0} : " + Ptr(m.sum, 128) +
                  "\n%po = index %o, %ic : " + Ptr(m.sum, 128) + "\n%s = store %po, %d\nsink %s\n",
              {interpret::UndefinedBuffer(DType(m.sum), {128}), Exact(m.in, 32 * m.a, 1),
               Exact(m.b_in, 32 * m.b, 2), Exact(m.sum, 128, 3)});
    EXPECT_THAT(source, HasSubstr("mma.sync.aligned.m16n8k")) << m.name;
  }
}

// One instruction of a warpgroup on factors that work-items store to local memory without moving
// chunks, so that the values say which elements the instruction takes.
TEST(Cooperation, WarpgroupInstructions) {
  struct Case {
    const char *name, *layout;
    Scalar in, sum;
    int columns;
    const char* text;
  };
  for (const Case& m : {Case{"m64n8k16.f32.f16", "a_row = 16, b_row = 64, b_blocks = 1024",
                             Scalar::kF16, Scalar::kF32, 128, "m64n128k16.f32.f16.f16"},
                        Case{"m64n8k16.f32.bf16", "a_row = 64, b_row = 16, a_blocks = 1024",
                             Scalar::kBF16, Scalar::kF32, 32, "m64n32k16.f32.bf16.bf16"},
                        Case{"m64n8k32.s32.s8.s8", "a_row = 32, b_row = 64", Scalar::kI8,
                             Scalar::kI32, 64, "m64n64k32.s32.s8.s8"}}) {
    constexpr int kElements = 8192;
    const std::string tile = Ptr(m.in, kElements, ", local"), sum(GetScalarInfo(m.sum).text);
    const int sums = m.columns / 2;
    const std::string acc = "ptr<" + sum + ", " + std::to_string(sums) + ", reg>",
                      out = Ptr(m.sum, 128 * sums);
    std::string body =
        "%c4 = const 4 : i32\n%c8 = const 8 : i32\n"
        "%l0 = special %c4 {name = local0} : i32\n"
        "%l1 = special %c8 {name = local1} : i32\n"
        "%l2 = special %c4 {name = local2} : i32\n"
        "%m1 = mul %l1, %c4 : i32\n%c32 = const 32 : i32\n"
        "%m2 = mul %l2, %c32 : i32\n%i0 = add %l0, %m1 : i32\n"
        "%i = add %i0, %m2 : i32\n%c64 = const 64 : i32\n"
        "%e = mul %i, %c64 : i32\n";
    std::string stores;
    for (const char* factor : {"a", "b"}) {
      const std::string f(factor);
      body += "%p" + f + " = define_global {arg = " + (f == "a" ? "1" : "2") +
              "} : " + Ptr(m.in, kElements) + "\n%t" + f +
              " = scratch {id = " + (f == "a" ? "0" : "1") + ", align = 1024} : " + tile + "\n";
      for (int k = 0; k < 64; k += 8) {
        const std::string n = f + std::to_string(k);
        body += "%k" + n + " = const " + std::to_string(k) + " : i32\n%e" + n + " = add %e, %k" +
                n + " : i32\n%x" + n + " = index %p" + f + ", %e" + n + " : " +
                Ptr(m.in, kElements) + "\n%v" + n + " = load %x" + n + " : " +
                std::string(GetScalarInfo(m.in).text) + "x8\n%y" + n + " = index %t" + f + ", %e" +
                n + " : " + tile + "\n%s" + n + " = store %y" + n + ", %v" + n + "\n";
        stores += (stores.empty() ? "%s" : ", %s") + n;
      }
    }
    body += "%bar = barrier " + stores + "\n%c0 = const 0 : i32\n%zero = const 0" +
            std::string(IsFloat(m.sum) ? ".0" : "") + " : " + sum +
            "\n%acc = scratch {id = 2} : " + acc + "\n";
    std::string begun;
    for (int k = 0; k < sums; ++k) {
      const std::string n = std::to_string(k);
      body += "%j" + n + " = const " + n + " : i32\n%q" + n + " = index %acc, %j" + n + " : " +
              acc + "\n%z" + n + " = store %q" + n + ", %zero\n";
      begun += (k ? ", %z" : "%z") + n;
    }
    body += "%acc1 = after %acc, " + begun + " : " + acc + "\n%first = index %acc1, %c0 : " + acc +
            "\n%ta1 = after %ta, %bar : " + tile + "\n%tb1 = after %tb, %bar : " + tile +
            "\n%ia = index %ta1, %c0 : " + tile + "\n%ib = index %tb1, %c0 : " + tile +
            "\n%w = wgmma %first, %ia, %ib {name = \"" + m.name +
            "\", columns = " + std::to_string(m.columns) + ", " + m.layout +
            "}\n%acc2 = after %acc, %w : " + acc + "\n%o = define_global {arg = 0} : " + out +
            "\n%cs = const " + std::to_string(sums) + " : i32\n%io = mul %i, %cs : i32\n";
    std::string sink = "sink ";
    for (int k = 0; k < sums; ++k) {
      const std::string n = std::to_string(k);
      body += "%g" + n + " = index %acc2, %j" + n + " : " + acc + "\n%r" + n + " = load %g" + n +
              " : " + sum + "\n%h" + n + " = add %io, %j" + n + " : i32\n%po" + n +
              " = index %o, %h" + n + " : " + out + "\n%so" + n + " = store %po" + n + ", %r" + n +
              "\n";
      sink += (k ? ", %so" : "%so") + n;
    }
    const std::string source =
        Check(body + sink + "\n", {interpret::UndefinedBuffer(DType(m.sum), {128 * sums}),
                                   Exact(m.in, kElements, 1), Exact(m.in, kElements, 2)});
    EXPECT_THAT(source, HasSubstr(std::string("wgmma.mma_async.sync.aligned.") + m.text)) << m.name;
  }
}

TEST(Cooperation, LdMatrix) {
  for (int count : {1, 2, 4}) {
    for (const char* transpose : {"", ", transpose = true"}) {
      const std::string tile = Ptr(Scalar::kF16, 256, ", local");
      const std::string lanes = std::to_string(2 * count);
      const std::string n = std::to_string(64 * count);
      const std::string source = Check(
          "%c32 = const 32 : i32\n%c8 = const 8 : i32\n%cn = const " + lanes +
              " : i32\n%l = special %c32 {name = local0} : i32\n"
              "%x = define_global {arg = 1} : ptr<f16, 256>\n%o = define_global {arg = 0} : "
              "ptr<f16, " +
              n + ">\n%t = scratch {id = 0, align = 16} : " + tile +
              "\n%i = mul %l, %c8 : i32\n%px = index %x, %i : ptr<f16, 256>\n"
              "%v = load %px : f16x8\n%pt = index %t, %i : " +
              tile + "\n%s = store %pt, %v\n%b = barrier %s\n%t1 = after %t, %b : " + tile +
              "\n%row = index %t1, %i : " + tile +
              "\n%m = ldmatrix %row {count = " + std::to_string(count) + transpose + "} : f16x" +
              lanes + "\n%j = mul %l, %cn : i32\n%po = index %o, %j : ptr<f16, " + n +
              ">\n%so = store %po, %m\nsink %so\n",
          {interpret::UndefinedBuffer(DType(Scalar::kF16), {64 * count}),
           Exact(Scalar::kF16, 256, 5)});
      EXPECT_THAT(source, HasSubstr("ldmatrix.sync.aligned.m8n8.x" + std::to_string(count)));
    }
  }
}

TEST(Cooperation, Shuffles) {
  for (Scalar s :
       {Scalar::kF32, Scalar::kI32, Scalar::kI64, Scalar::kU8, Scalar::kBool, Scalar::kF16}) {
    for (int width : {32, 8}) {
      const std::string t(GetScalarInfo(s).text);
      const std::string p = Ptr(s, 32);
      interpret::RandomDataOptions o;
      o.seed = static_cast<uint64_t>(width);
      o.small_integers = false;
      // Each work-item reads the value of its mirror image in the subgroup.
      const std::string source = Check(
          "%c32 = const 32 : i32\n%last = const " + std::to_string(width - 1) +
              " : i32\n%l = special %c32 {name = local0} : i32\n%in = and %l, %last : i32\n"
              "%from = sub %last, %in : i32\n%x = define_global {arg = 1} : " +
              p + "\n%o = define_global {arg = 0} : " + p + "\n%px = index %x, %l : " + p +
              "\n%v = load %px : " + t +
              "\n%r = shuffle %v, %from {width = " + std::to_string(width) + "} : " + t +
              "\n%po = index %o, %l : " + p + "\n%s = store %po, %r\nsink %s\n",
          {interpret::UndefinedBuffer(DType(s), {32}), interpret::RandomBuffer(DType(s), {32}, o)});
      EXPECT_THAT(source, HasSubstr("shfl.sync.idx.b32"));
    }
  }
}

// Element i of a work-item is the one that it has in work-item i of its neighbours.
TEST(Cooperation, TransposeItems) {
  for (const auto& [s, width, lanes] : {std::tuple(Scalar::kF32, 4, 4),
                                        {Scalar::kI32, 8, 8},
                                        {Scalar::kF16, 4, 8},
                                        {Scalar::kU8, 2, 8}}) {
    const std::string t = absl::StrCat(std::string(GetScalarInfo(s).text), "x", lanes);
    const std::string p = Ptr(s, 32 * lanes);
    const std::string source = Check(
        absl::StrCat("%c32 = const 32 : i32\n%n = const ", lanes,
                     " : i32\n%l = special %c32 {name = local0} : i32\n%i = mul %l, %n : "
                     "i32\n%x = define_global {arg = 1} : ",
                     p, "\n%o = define_global {arg = 0} : ", p, "\n%px = index %x, %i : ", p,
                     "\n%v = load %px : ", t, "\n%r = transpose_items %v {width = ", width,
                     "} : ", t, "\n%po = index %o, %i : ", p, "\n%s = store %po, %r\nsink %s\n"),
        {interpret::UndefinedBuffer(DType(s), {32 * lanes}), Exact(s, 32 * lanes, 7)});
    EXPECT_THAT(source, HasSubstr("shfl.sync.bfly.b32"));
  }
}

// Two batches are in flight at once; the second has a gate and leaves zeros.
TEST(Cooperation, AsynchronousCopies) {
  for (int count : {1, 2, 4}) {
    const std::string n = std::to_string(32 * count);
    const std::string tile = "ptr<f32, " + n + ", local>";
    const std::string global = "ptr<f32, " + n + ">";
    const std::string source =
        Check("%c32 = const 32 : i32\n%cn = const " + std::to_string(count) +
                  " : i32\n%c20 = const 20 : i32\n%l = special %c32 {name = local0} : i32\n"
                  "%i = mul %l, %cn : i32\n%gate = cmplt %l, %c20 : bool\n"
                  "%o = define_global {arg = 0} : " +
                  global + "\n%x = define_global {arg = 1} : " + global +
                  "\n%y = define_global {arg = 2} : " + global +
                  "\n%t = scratch {id = 0, align = 16} : " + tile +
                  "\n%u = scratch {id = 1, align = 16} : " + tile +
                  "\n%px = index %x, %i : " + global + "\n%py = index %y, %i, %gate : " + global +
                  "\n%pt = index %t, %i : " + tile + "\n%pu = index %u, %i : " + tile +
                  "\n%a = copy_async %pt, %px {count = " + std::to_string(count) +
                  "}\n%ca = commit %a\n"
                  "%b = copy_async %pu, %py, %ca {count = " +
                  std::to_string(count) +
                  "}\n%cb = commit %b\n%w = wait %cb {pending = 1}\n%ba = barrier %w\n%w0 = wait "
                  "%ba {pending = 0}\n"
                  "%bb = barrier %w0\n%t1 = after %t, %ba : " +
                  tile + "\n%u1 = after %u, %bb : " + tile + "\n%qt = index %t1, %i : " + tile +
                  "\n%qu = index %u1, %i : " + tile + "\n%v = load %qt : f32" +
                  (count > 1 ? "x" + std::to_string(count) : "") + "\n%z = load %qu : f32" +
                  (count > 1 ? "x" + std::to_string(count) : "") + "\n%sum = add %v, %z : f32" +
                  (count > 1 ? "x" + std::to_string(count) : "") +
                  "\n%po = index %o, %i : " + global + "\n%s = store %po, %sum\nsink %s\n",
              {interpret::UndefinedBuffer(kF32, {32 * count}), Exact(Scalar::kF32, 32 * count, 7),
               Exact(Scalar::kF32, 32 * count, 8)});
    EXPECT_THAT(source, HasSubstr("cp.async.c"));
    EXPECT_THAT(source, HasSubstr("cp.async.wait_group 1;"));
  }
}

TEST(Cooperation, OtherTargetsRefuse) {
  Diagnostics diagnostics;
  auto module = ParseModule(
      "tg 1\nmodule @m\nkernel @E_32 : expanded {\n%c32 = const 32 : i32\n"
      "%l = special %c32 {name = local0} : i32\n%o = define_global {arg = 0} : ptr<i32, 32>\n"
      "%r = shuffle %l, %l {width = 32} : i32\n%p = index %o, %l : ptr<i32, 32>\n"
      "%s = store %p, %r\nsink %s\n}\n",
      "test.uop", diagnostics);
  ASSERT_TRUE(module) << diagnostics.ToString();
  ASSERT_TRUE(linearize::LinearizeKernel(*module->kernels[0]).ok());
  const auto target = passes::FindTarget("cl-cpu");
  const auto rendered = RenderKernel(*module, *module->kernels[0], *target);
  EXPECT_EQ(std::string(rendered.status().message()),
            "opencl: kernel @E_32: cannot render shuffle : i32; cl-cpu has no instruction for it");
}

}  // namespace
}  // namespace tg::opencl
