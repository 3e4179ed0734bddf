#include "codegen/testing/op_cases.h"

#include <utility>

#include "ir/builder.h"
#include "ir/interpret/random_data.h"
#include "ir/value.h"

namespace tg::codegen {
namespace {

constexpr int kGroups = 32;

// One kernel: out[slot][g*lanes .. ] = f(operands at g*lanes), with one region of `out` per f.
class OpKernel {
 public:
  OpKernel(int lanes, ModuleFlags flags) : lanes_(lanes), b_(*NewKernel()) {
    module_->name = "ops";
    module_->flags = flags;
    const UOp* size = b_.ConstInt(kI32, kGroups);
    const UOp* group =
        b_.context().Make(Op::kSpecial, kI32, {size}, b_.context().MakeAttr(Op::kSpecial, {0}));
    base_ = b_.Mul(group, b_.ConstInt(kI32, lanes));
  }
  Builder& b() { return b_; }
  int lanes() const { return lanes_; }

  const UOp* Input(const interpret::HostBuffer& buffer) {
    const auto n = static_cast<int64_t>(buffer.data.size());
    const UOp* p = b_.DefineGlobal(static_cast<int64_t>(buffers_.size()),
                                   DType::Pointer(buffer.dtype.scalar(), n, AddrSpace::kGlobal));
    buffers_.push_back(buffer);
    return b_.Load(b_.IndexPtr(p, base_), nullptr, lanes_);
  }
  void Output(const UOp* value, std::string what, interpret::Tolerance tolerance = {}) {
    const DType t = value->dtype;
    const int64_t n = kGroups * t.lanes();
    const UOp* p = b_.DefineGlobal(static_cast<int64_t>(buffers_.size()),
                                   DType::Pointer(t.scalar(), n, AddrSpace::kGlobal));
    outputs_.push_back({static_cast<int>(buffers_.size()), std::move(what), tolerance});
    buffers_.push_back(interpret::UndefinedBuffer(DType(t.scalar()), {n}));
    // A scalar result of vector operands has a separate address.
    const UOp* at =
        t.lanes() == lanes_ ? base_ : b_.Alu(Op::kCDiv, {base_, b_.ConstInt(kI32, lanes_)});
    stores_.push_back(b_.Store(b_.IndexPtr(p, at), value));
  }
  OpCase Take() {
    module_->kernels[0]->body.root = b_.Sink(stores_);
    return {std::move(module_), std::move(buffers_), std::move(outputs_)};
  }

 private:
  Context* NewKernel() {
    module_->kernels.push_back(std::make_unique<Kernel>());
    module_->kernels[0]->name = "E_ops";
    module_->kernels[0]->stage = Stage::kExpanded;
    return module_->kernels[0]->body.context.get();
  }

  int lanes_;
  std::unique_ptr<Module> module_ = std::make_unique<Module>();
  Builder b_;
  const UOp* base_ = nullptr;
  std::vector<interpret::HostBuffer> buffers_;
  std::vector<OpCase::Output> outputs_;
  std::vector<const UOp*> stores_;
};

interpret::HostBuffer Random(Scalar s, int lanes, uint64_t seed) {
  interpret::RandomDataOptions o;
  o.seed = seed;
  o.special_values = true;
  o.small_integers = seed % 2;
  return interpret::RandomBuffer(DType(s), {kGroups * lanes}, o);
}

interpret::Tolerance ToleranceOf(Op op) {
  interpret::Tolerance t;
  if (op == Op::kExp2 || op == Op::kLog2 || op == Op::kSin) t.ulps = 4;
  if (op == Op::kPow) t.ulps = 16;
  return t;
}

void Elementwise(Scalar scalar, int lanes, std::vector<OpCase>& cases) {
  const DType type(scalar, lanes);
  const bool is_float = IsFloat(scalar), is_bool = scalar == Scalar::kBool;
  for (const bool contract : {true, false}) {
    if (contract && !is_float) continue;
    OpKernel k(lanes, contract ? ModuleFlags() : ModuleFlags{ModuleFlag::kNoContract});
    Builder& b = k.b();
    const UOp* x = k.Input(Random(scalar, lanes, 2));
    const UOp* y = k.Input(Random(scalar, lanes, 3));
    const UOp* z = k.Input(Random(scalar, lanes, 4));
    interpret::HostBuffer divisors = Random(scalar, lanes, 5), amounts = Random(scalar, lanes, 6);
    for (int64_t& v : divisors.data) v = v == 0 || v == -1 ? 3 : v;
    for (int64_t& v : amounts.data) v = (v & 0xffff) % std::max(BitWidth(scalar), 1);
    const UOp* divisor = k.Input(divisors);
    const UOp* amount = k.Input(amounts);
    for (int i = 0; i < kNumOps; ++i) {
      const OpInfo& info = GetOpInfo(static_cast<Op>(i));
      const Op op = info.op;
      const bool mine = info.AllowsClass(is_float ? 'f' : is_bool ? 'b' : 'i');
      if (!IsElementwise(op) || !mine || IsIdentity(op) || op == Op::kThreefry || op == Op::kDot4) {
        continue;  // devectorize rewrites these, or does where the target lacks dot4
      }
      const bool divides =
          op == Op::kCDiv || op == Op::kCMod || op == Op::kFloorDiv || op == Op::kFloorMod;
      const UOp* second = divides ? divisor : op == Op::kShl || op == Op::kShr ? amount : y;
      const std::string what = std::string(info.mnemonic) + " " + type.ToString();
      if (op == Op::kWhere) {
        k.Output(b.Where(b.Lt(x, y), y, z), what);
        continue;
      }
      const UOp* all[] = {x, second, z};
      k.Output(b.Alu(op, UOpSpan(all).first(static_cast<size_t>(info.max_sources))), what,
               ToleranceOf(op));
      // A constant operand has the same value in every lane, on either side.
      if (info.max_sources == 2 && op != Op::kPow) {
        const UOp* c = b.ConstInt(type, is_bool ? 1 : 3);
        k.Output(b.Alu(op, {x, c}), what + " constant");
        if (op != Op::kShl && op != Op::kShr) {
          k.Output(b.Alu(op, {c, second}), what + " of constant");
        }
      }
    }
    cases.push_back(k.Take());
  }
}

void Casts(Scalar scalar, int lanes, std::vector<OpCase>& cases) {
  const DType type(scalar, lanes);
  OpKernel k(lanes, {});
  Builder& b = k.b();
  const UOp* x = k.Input(Random(scalar, lanes, 7));
  const UOp* mask = b.Lt(x, k.Input(Random(scalar, lanes, 8)));
  for (Scalar to : kOpScalars) {
    const DType t(to, lanes);
    const std::string what = type.ToString() + " to " + t.ToString();
    k.Output(b.Cast(x, t), what);
    k.Output(b.Cast(mask, t), "mask to " + t.ToString());
    // A mask of one width selects among values of another width.
    if (to != scalar) k.Output(b.Where(mask, b.Cast(x, t), b.ConstInt(t, 1)), "where " + what);
    if (BitWidth(to) == BitWidth(scalar) && to != Scalar::kBool && scalar != Scalar::kBool) {
      k.Output(b.Bitcast(x, t), "bits of " + what);
    }
  }
  cases.push_back(k.Take());
}

void LaneOps(Scalar scalar, int lanes, std::vector<OpCase>& cases) {
  OpKernel k(lanes, {});
  Builder& b = k.b();
  const int n = lanes;
  const UOp* x = k.Input(Random(scalar, n, 9));
  const UOp* y = k.Input(Random(scalar, n, 10));
  std::vector<int64_t> reversed;
  std::vector<const UOp*> picked;
  for (int64_t i = n; i-- > 0;) {
    reversed.push_back(i);
    const int64_t lane[] = {i};
    picked.push_back(b.Gep(x, lane));
    k.Output(picked.back(), "gep");
  }
  k.Output(b.Gep(x, reversed), "reverse");
  k.Output(b.Vectorize(picked), "vectorize");
  k.Output(b.Splat(picked[0], n), "splat");
  if (n > 1) {
    std::vector<int64_t> low, high;
    for (int64_t i = 0; i < n / 2; ++i) low.push_back(i);
    for (int64_t i = n / 2; i < n; ++i) high.push_back(i);
    const UOp* halves[] = {b.Gep(y, high), b.Gep(x, low)};
    k.Output(b.Cat(halves), "cat");
  }
  // The same ops on masks.
  const UOp* mask = b.Lt(x, y);
  std::vector<const UOp*> bits;
  for (int64_t i : reversed) bits.push_back(b.Gep(mask, std::span(&i, 1)));
  k.Output(b.Where(b.Gep(mask, reversed), x, y), "reversed mask");
  k.Output(b.Where(b.Vectorize(bits), x, y), "mask of bools");
  k.Output(b.Where(b.Splat(bits[0], n), x, y), "splat of a bool");
  cases.push_back(k.Take());
}

}  // namespace

std::vector<OpCase> MakeOpCases(Scalar scalar, int lanes) {
  std::vector<OpCase> cases;
  Elementwise(scalar, lanes, cases);
  Casts(scalar, lanes, cases);
  LaneOps(scalar, lanes, cases);
  return cases;
}

}  // namespace tg::codegen
