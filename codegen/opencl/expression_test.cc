// Random expressions. The renderer may inline, parenthesize, cast or compute in another type, but
// the value must equal the interpreter's bit for bit.
#include <random>

#include "codegen/opencl/testing/check_kernel.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/interpret/random_data.h"
#include "ir/value.h"

namespace tg::opencl {
namespace {

constexpr int kGroups = 16;

// Grows a pool of values of several types and one width by applying ops to random members.
class Grower {
 public:
  Grower(Builder& b, uint64_t seed, int lanes) : b_(b), random_(seed), lanes_(lanes) {}
  void Add(const UOp* u) { pool_.push_back(u); }
  uint64_t Draw(uint64_t n) { return random_() % n; }

  const UOp* Any(DType t) {
    std::vector<const UOp*> fitting;
    // Recent values are the likeliest operands, so that expressions grow deep.
    for (const UOp* u : pool_) {
      if (u->dtype == t) fitting.push_back(u);
    }
    if (fitting.empty() || Draw(6) == 0) {
      return b_.ConstInt(t, static_cast<int64_t>(Draw(9)) - (IsUnsigned(t.scalar()) ? 0 : 4));
    }
    const size_t n = std::min<size_t>(fitting.size(), 4);
    return fitting[fitting.size() - 1 - Draw(n)];
  }

  void Step() {
    static constexpr Scalar kTypes[] = {Scalar::kI8,  Scalar::kU8,  Scalar::kI16, Scalar::kU16,
                                        Scalar::kI32, Scalar::kI32, Scalar::kI32, Scalar::kU32,
                                        Scalar::kI64, Scalar::kU64, Scalar::kF32, Scalar::kF32};
    const Scalar s = kTypes[Draw(std::size(kTypes))];
    const DType t(s, lanes_), bools(Scalar::kBool, lanes_);
    const UOp *x = Any(t), *y = Any(t);
    switch (Draw(14)) {
      case 0:
      case 1:
        return Add(b_.Add(x, y));
      case 2:
        return Add(b_.Sub(x, y));
      case 3:
      case 4:
        return Add(b_.Mul(x, y));
      case 5:
        return Add(b_.Alu(Op::kNeg, {x}));
      case 6:
        return Add(b_.Where(Any(bools), x, y));
      case 7:
        if (x == y) return;  // compilers warn about a comparison of a value with itself
        return Add(b_.Alu(Draw(2) ? Op::kCmpLt : Op::kCmpNe, {x, y}));
      case 8:
        return Add(b_.Alu(Draw(2) ? Op::kMax : Op::kMin, {x, y}));
      case 9: {
        const UOp *p = Any(bools), *q = Any(bools);
        if (p == q) return;
        static constexpr Op kBoolOps[] = {Op::kAnd, Op::kOr, Op::kXor, Op::kCmpNe, Op::kCmpLt};
        return Add(b_.Alu(kBoolOps[Draw(5)], {p, q}));
      }
      case 10:
        return Add(b_.Cast(x, DType(kTypes[Draw(std::size(kTypes))], lanes_)));
      case 11:
        if (IsFloat(s)) return Add(b_.Alu(Draw(2) ? Op::kDiv : Op::kSub, {x, y}));
        return Add(b_.Alu(Draw(2) ? Op::kAnd : Draw(2) ? Op::kOr : Op::kXor, {x, y}));
      case 12:
        if (IsFloat(s)) return Add(b_.Alu(Draw(2) ? Op::kSqrt : Op::kTrunc, {x}));
        return Add(b_.Alu(
            Draw(2) ? Op::kShl : Op::kShr,
            {x, b_.ConstInt(t, static_cast<int64_t>(Draw(static_cast<uint64_t>(BitWidth(s)))))}));
      default:
        if (IsFloat(s)) return Add(b_.Mul(x, x));
        return Add(b_.Alu(Op::kMulAcc, {x, y, Any(t)}));
    }
  }

 private:
  Builder& b_;
  std::mt19937_64 random_;
  int lanes_;
  std::vector<const UOp*> pool_;
};

class Expressions : public testing::TestWithParam<int> {};

TEST_P(Expressions, KeepTheirValue) {
  if (!HaveDevice()) GTEST_SKIP() << "no OpenCL device of that kind";
  const int lanes = GetParam();
  static constexpr Scalar kInputs[] = {Scalar::kI8,  Scalar::kU8,  Scalar::kI16, Scalar::kU16,
                                       Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64,
                                       Scalar::kF32, Scalar::kBool};
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Module module;
    module.name = "expressions";
    module.flags = {ModuleFlag::kNoContract};
    module.kernels.push_back(std::make_unique<Kernel>());
    Kernel& kernel = *module.kernels[0];
    kernel.name = "E_expressions";
    kernel.stage = Stage::kExpanded;
    Builder b(*kernel.body.context);
    const UOp* group = b.context().Make(Op::kSpecial, kI32, {b.ConstInt(kI32, kGroups)},
                                        b.context().MakeAttr(Op::kSpecial, {0}));
    const UOp* base = b.Mul(group, b.ConstInt(kI32, lanes));
    Grower grow(b, seed * 100 + static_cast<uint64_t>(lanes), lanes);
    std::vector<interpret::HostBuffer> buffers;
    const int64_t n = kGroups * lanes;
    auto argument = [&](Scalar s) {
      return b.DefineGlobal(static_cast<int64_t>(buffers.size()),
                            DType::Pointer(s, n, AddrSpace::kGlobal));
    };
    for (Scalar s : kInputs) {
      interpret::RandomDataOptions o;
      o.seed = seed * 1000 + buffers.size();
      o.special_values = true;
      o.small_integers = seed % 2;
      const UOp* p = argument(s);
      buffers.push_back(interpret::RandomBuffer(DType(s), {n}, o));
      grow.Add(b.Load(b.IndexPtr(p, base), nullptr, lanes));
    }
    // Bounded values need no cast to unsigned types for their arithmetic, so they take another
    // path.
    if (lanes == 1) grow.Add(group);
    for (int i = 0; i < 60; ++i) grow.Step();
    std::vector<const UOp*> stores;
    for (Scalar s : kInputs) {
      for (int i = 0; i < 3; ++i) {
        const UOp* value = grow.Any(DType(s, lanes));
        const UOp* p = argument(s);
        buffers.push_back(interpret::UndefinedBuffer(DType(s), {n}));
        stores.push_back(b.Store(b.IndexPtr(p, base), value));
      }
    }
    kernel.body.root = b.Sink(stores);
    const std::string difference = CheckOnDevice(module, buffers);
    ASSERT_EQ(difference, "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Expressions, testing::Values(1, 2, 4, 8, 16));

}  // namespace
}  // namespace tg::opencl
