// Linearize by its results: whatever order it takes, the kernel computes what its graph says.
#include "passes/linearize/linearize.h"

#include <chrono>
#include <random>
#include <set>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/interpret/compare_values.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/random_data.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace tg::linearize {
namespace {

// A random kernel of stage expanded: nested loops that reduce into register scratch, arrays that
// one loop fills and another reads, stores with gates, elementwise work between.
class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed) : random_(seed) {
    kernel_ = std::make_unique<Kernel>();
    kernel_->name = "r_random";
    kernel_->stage = Stage::kExpanded;
    b_ = std::make_unique<Builder>(*kernel_->body.context);
    for (int i = 0; i < kInputs; ++i) {
      inputs_.push_back(b_->DefineGlobal(kOutputs + i, Pointer(kElements, AddrSpace::kGlobal)));
    }
    group_ = b_->Special(SpecialName::kGrid0, b_->Index(kGroups));
    std::vector<const UOp*> roots;
    for (int i = 0; i < kOutputs; ++i) {
      const UOp* out = b_->DefineGlobal(i, Pointer(kGroups * kTrips, AddrSpace::kGlobal));
      const UOp* r = b_->Range(b_->Index(kTrips));
      const UOp* value = Value({group_, r}, 3);
      const UOp* at = b_->Add(b_->Mul(group_, b_->Index(kTrips)), r);
      if (Draw(2)) {
        // Two stores that share a gate and its opposite, so that every element is written.
        const UOp* gate = b_->Lt(r, b_->Index(static_cast<int64_t>(Draw(4))));
        const UOp* a = b_->Store(b_->IndexPtr(out, at, gate), value);
        const UOp* c = b_->Store(b_->IndexPtr(out, at, b_->Not(gate)), Value({group_, r}, 1));
        const UOp* both[] = {a, c};
        const UOp* joined = kernel_->body.context->Make(Op::kNoop, kVoid, UOpSpan(both));
        if (Draw(2)) {
          roots.push_back(b_->End(joined, {&r, 1}));
        } else {
          roots.push_back(b_->End(a, {&r, 1}));
          roots.push_back(b_->End(c, {&r, 1}));
        }
      } else {
        const UOp* store = b_->Store(b_->IndexPtr(out, at), value);
        roots.push_back(b_->End(store, {&r, 1}));
      }
    }
    kernel_->body.root = b_->Sink(roots);
  }

  std::unique_ptr<Kernel> Take() { return std::move(kernel_); }
  static constexpr int kOutputs = 2, kInputs = 2, kGroups = 3, kTrips = 4, kElements = 24;

 private:
  static DType Pointer(int64_t n, AddrSpace space) {
    return DType::Pointer(Scalar::kF32, n, space);
  }
  uint64_t Draw(uint64_t n) { return random_() % n; }

  const UOp* Address(const std::vector<const UOp*>& open) {
    const UOp* at = b_->Index(static_cast<int64_t>(Draw(4)));
    for (const UOp* r : open) {
      if (Draw(2)) at = b_->Add(at, b_->Mul(r, b_->Index(static_cast<int64_t>(1 + Draw(2)))));
    }
    return b_->Alu(Op::kFloorMod, {at, b_->Index(kElements)});
  }

  const UOp* Value(std::vector<const UOp*> open, int depth) {
    switch (depth == 0 ? 0 : Draw(6)) {
      case 0: {
        const UOp* x = b_->Load(b_->IndexPtr(inputs_[Draw(kInputs)], Address(open)));
        if (depth > 0) known_.push_back(x);
        return x;
      }
      case 1:
        return b_->Add(Value(open, depth - 1), Value(open, depth - 1));
      case 2:
        return b_->Mul(Value(open, depth - 1), b_->Const(kF32, 0.5));
      case 3:
        return Reduce(open, depth);
      case 4:
        return Staged(open, depth);
      default:
        return b_->Alu(Op::kMax, {Value(open, depth - 1), Value(open, depth - 1)});
    }
  }

  // Two accumulators in one scratch, one loop.
  const UOp* Reduce(std::vector<const UOp*> open, int depth) {
    const UOp* acc = b_->Scratch(Pointer(2, AddrSpace::kReg));
    const UOp* fresh = b_->After(acc, UOpSpan(open).subspan(1));
    const UOp* k = b_->Range(b_->Index(static_cast<int64_t>(1 + Draw(3))));
    const UOp* first = b_->Index(0);
    const UOp* second = b_->Index(1);
    std::vector<const UOp*> tokens = {b_->Store(b_->IndexPtr(fresh, first), b_->Const(kF32, 0)),
                                      b_->Store(b_->IndexPtr(fresh, second), b_->Const(kF32, 1))};
    tokens.push_back(k);
    const UOp* in = b_->After(acc, tokens);
    open.push_back(k);
    const UOp* a = b_->Load(b_->IndexPtr(in, first));
    const UOp* c = b_->Load(b_->IndexPtr(in, second));
    const UOp* x = Value(open, depth - 1);
    // They change places: each store overwrites what the other one's value is read from.
    std::vector<const UOp*> effects = {
        b_->Store(b_->IndexPtr(in, first), b_->Alu(Op::kMax, {c, x})),
        b_->Store(b_->IndexPtr(in, second), b_->Mul(a, b_->Const(kF32, 0.5)))};
    // What was stored before the loop may be named by its end too, and stays before it.
    if (Draw(2)) effects.push_back(tokens[Draw(2)]);
    const UOp* joined = kernel_->body.context->Make(Op::kNoop, kVoid, UOpSpan(effects));
    const UOp* end = b_->End(joined, {&k, 1});
    const UOp* out = b_->After(acc, {&end, 1});
    return b_->Add(b_->Load(b_->IndexPtr(out, first)), b_->Load(b_->IndexPtr(out, second)));
  }

  // An array filled by one loop, updated in place by a second, read by a third or at one element.
  const UOp* Staged(std::vector<const UOp*> open, int depth) {
    const int64_t n = 3;
    const UOp* memory = b_->Scratch(Pointer(n, AddrSpace::kPrivate));
    const UOp* fresh = b_->After(memory, UOpSpan(open).subspan(1));
    const UOp* p = b_->Range(b_->Index(n));
    std::vector<const UOp*> inside = open;
    inside.push_back(p);
    const UOp* fill = b_->Store(b_->IndexPtr(fresh, p), Value(inside, depth - 1));
    const UOp* filled_token = b_->End(fill, {&p, 1});
    const UOp* filled = b_->After(memory, {&filled_token, 1});
    const UOp* before = b_->Load(b_->IndexPtr(filled, b_->Index(static_cast<int64_t>(Draw(3)))));
    const UOp* q = b_->Range(b_->Index(n));
    const UOp* old = b_->Load(b_->IndexPtr(filled, q));
    const UOp* update =
        b_->Store(b_->IndexPtr(filled, q), b_->Add(b_->Mul(old, b_->Const(kF32, 0.25)), before));
    const UOp* updated_token = b_->End(update, {&q, 1});
    const UOp* updated = b_->After(memory, {&updated_token, 1});
    // Read before the update, which does not need it, and used after it.
    const UOp* previous = b_->Load(b_->IndexPtr(filled, b_->Index(static_cast<int64_t>(Draw(3)))));
    return b_->Add(previous,
                   b_->Load(b_->IndexPtr(updated, b_->Index(static_cast<int64_t>(Draw(3))))));
  }

  std::mt19937_64 random_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Builder> b_;
  std::vector<const UOp*> inputs_, known_;
  const UOp* group_ = nullptr;
};

std::vector<interpret::HostBuffer> RunOn(const Kernel& kernel,
                                         std::vector<interpret::HostBuffer> buffers,
                                         const interpret::VarValues& vars = {}) {
  std::vector<interpret::KernelArg> args;
  for (interpret::HostBuffer& b : buffers) args.push_back({&b, 0, -1});
  interpret::InterpretOptions options;
  const absl::Status s = interpret::RunKernel(kernel, args, vars, options);
  EXPECT_TRUE(s.ok()) << s << "\n" << PrintKernel(kernel);
  return buffers;
}

std::unique_ptr<Kernel> Copy(const Kernel& kernel) {
  auto copy = std::make_unique<Kernel>();
  copy->name = kernel.name;
  copy->stage = kernel.stage;
  CloneBody(kernel.body, copy->body);
  return copy;
}

TEST(Linearize, EveryOrderComputesTheSame) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto kernel = RandomKernel(seed).Take();
    std::vector<interpret::HostBuffer> buffers;
    for (int i = 0; i < RandomKernel::kOutputs; ++i) {
      buffers.push_back(
          interpret::UndefinedBuffer(kF32, {RandomKernel::kGroups * RandomKernel::kTrips}));
    }
    for (int i = 0; i < RandomKernel::kInputs; ++i) {
      interpret::RandomDataOptions o;
      o.seed = seed * 10 + static_cast<uint64_t>(i);
      buffers.push_back(interpret::RandomBuffer(kF32, {RandomKernel::kElements}, o));
    }
    const std::vector<interpret::HostBuffer> expected = RunOn(*kernel, buffers);
    for (int64_t shuffle = -1; shuffle < 50; ++shuffle) {
      const auto linear = Copy(*kernel);
      const absl::Status s = LinearizeKernel(*linear, shuffle);
      ASSERT_TRUE(s.ok()) << s << "\n" << PrintKernel(*kernel);
      const std::vector<interpret::HostBuffer> actual = RunOn(*linear, buffers);
      for (int i = 0; i < RandomKernel::kOutputs; ++i) {
        const auto at = static_cast<size_t>(i);
        const auto d = interpret::Difference(expected[at], actual[at]);
        ASSERT_FALSE(d) << "seed " << seed << ", shuffle " << shuffle << ": " << *d << "\n"
                        << PrintKernel(*kernel) << PrintKernel(*linear);
      }
    }
  }
}

TEST(Linearize, ShufflesDiffer) {
  const auto kernel = RandomKernel(3).Take();
  std::set<std::string> texts;
  for (int64_t shuffle = -1; shuffle < 10; ++shuffle) {
    const auto linear = Copy(*kernel);
    ASSERT_TRUE(LinearizeKernel(*linear, shuffle).ok());
    texts.insert(PrintKernel(*linear));
  }
  EXPECT_GT(texts.size(), 8u);
}

// The order follows from structure: not from the order in which nodes were made.
TEST(Linearize, IsDeterminedByStructure) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto kernel = RandomKernel(seed).Take();
    const auto twice = Copy(*Copy(*kernel));
    const auto once = Copy(*kernel);
    ASSERT_TRUE(LinearizeKernel(*once).ok());
    ASSERT_TRUE(LinearizeKernel(*twice).ok());
    ASSERT_TRUE(LinearizeKernel(*kernel).ok());
    EXPECT_EQ(PrintKernel(*kernel), PrintKernel(*once));
    EXPECT_EQ(PrintKernel(*kernel), PrintKernel(*twice));
  }
}

std::string ErrorOf(std::string_view body) {
  const std::string text =
      "tg 1\nmodule @m\nkernel @k : expanded {\n" + std::string(body) + "\n}\n";
  Diagnostics diagnostics;
  auto module = ParseModule(text, "test", diagnostics);
  if (!module) return diagnostics.ToString();
  return std::string(LinearizeKernel(*module->kernels[0]).message());
}

TEST(Linearize, NamesWhatCannotBeOrdered) {
  const std::string head =
      "%p = define_global {arg = 0} : ptr<f32, 64>\n%c = const 4 : i32\n%v = const 1.0 : f32\n"
      "%r = range %c {id = 7} : i32\n%a = index %p, %r : ptr<f32, 64>\n%s = store %a, %v\n";
  EXPECT_EQ(ErrorOf(head + "sink %s"), "linearize: kernel @k: range #7 is not closed by any end");
  // The first loop is over before the second begins, yet they are one range.
  EXPECT_EQ(
      ErrorOf(head + "%e = end %s, %r\n%q = after %p, %e : ptr<f32, 64>\n"
                     "%b = index %q, %r : ptr<f32, 64>\n%l = load %b : f32\n%t = store %a, %l\n"
                     "%f = end %t, %r\nsink %f"),
      "linearize: kernel @k: loops of the kernel wait for each other's effects");
  EXPECT_EQ(ErrorOf(head + "%d = range %c {id = 8} : i32\n%x = add %r, %d : i32\n"
                           "%b = index %p, %d : ptr<f32, 64>\n%t = store %b, %v\n"
                           "%e = end %s, %r\n%f = end %t, %d\n%z = index %p, %x : ptr<f32, 64>\n"
                           "%u = store %z, %v\n%g = end %u, %d\nsink %e, %f, %g"),
            "linearize: kernel @k: range #7 is not closed by any end");
  EXPECT_EQ(ErrorOf("%p = define_global {arg = 0} : ptr<f32, 64>\n%c = const 4 : i32\n"
                    "%l = special %c {name = local0} : i32\n%v = const 1.0 : f32\n"
                    "%r = range %l {id = 2} : i32\n%a = index %p, %r : ptr<f32, 64>\n"
                    "%s = store %a, %v\n%b = barrier %s\n%e = end %b, %r\nsink %e"),
            "linearize: kernel @k: a barrier stands in the loop of range #2, whose size differs "
            "between the work-items of a group");
}

// 40000 nodes in a chain of loops, and 40000 in adjacent loops, are handled in near-linear time.
TEST(Linearize, IsNearLinear) {
  auto time = [](int n) {
    Kernel kernel;
    kernel.name = "k";
    kernel.stage = Stage::kExpanded;
    Builder b(*kernel.body.context);
    const UOp* acc = b.Scratch(DType::Pointer(Scalar::kF32, n, AddrSpace::kReg));
    const UOp* in = b.DefineGlobal(1, DType::Pointer(Scalar::kF32, n, AddrSpace::kGlobal));
    const UOp* out = b.DefineGlobal(0, DType::Pointer(Scalar::kF32, n, AddrSpace::kGlobal));
    std::vector<const UOp*> tokens;
    for (int i = 0; i < n; ++i) {
      tokens.push_back(b.Store(b.IndexPtr(acc, b.Index(i)), b.Const(kF32, 0)));
    }
    const UOp* k = b.Range(b.Index(4));
    tokens.push_back(k);
    const UOp* a = b.After(acc, tokens);
    std::vector<const UOp*> stores;
    for (int i = 0; i < n; ++i) {
      const UOp* at = b.IndexPtr(a, b.Index(i));
      const UOp* x = b.Load(b.IndexPtr(in, b.Add(k, b.Index(i))));
      stores.push_back(b.Store(at, b.Add(b.Load(at), x)));
    }
    const UOp* end = b.End(b.context().Make(Op::kNoop, kVoid, UOpSpan(stores)), {&k, 1});
    const UOp* d = b.After(acc, {&end, 1});
    std::vector<const UOp*> roots;
    for (int i = 0; i < n; ++i) {
      roots.push_back(b.Store(b.IndexPtr(out, b.Index(i)), b.Load(b.IndexPtr(d, b.Index(i)))));
    }
    kernel.body.root = b.Sink(roots);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(LinearizeKernel(kernel).ok());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double small = std::max(time(250), 1e-3);
  const double large = time(4000);
  EXPECT_LT(large, 16 * 12 * small)
      << "sixteen times the nodes took " << large / small << " times as long";
}

}  // namespace
}  // namespace tg::linearize
