#include "passes/devectorize/random_kernel.h"

#include <algorithm>
#include <numeric>

#include "ir/value.h"

namespace tg::devectorize {
namespace {

using Ints = std::vector<int64_t>;
using Nodes = std::vector<const UOp*>;

class Generator {
 public:
  Generator(uint64_t seed, const RandomKernelOptions& options)
      : options_(options),
        reassociates_(seed % 2 == 0),
        random_(seed),
        module_(std::make_unique<Module>()) {
    module_->name = "random";
    // With a fixed order even max(-0.0, 0.0) has one result; otherwise it may be either zero.
    if (!reassociates_) module_->flags = {ModuleFlag::kNoReassociate};
    Kernel& k = *module_->kernels.emplace_back(std::make_unique<Kernel>());
    k.name = "k";
    k.stage = Stage::kExpanded;
    body_ = &k.body;
    b_ = std::make_unique<Builder>(*body_->context);
  }

  RandomKernel Make();

 private:
  int64_t Below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  T Pick(std::initializer_list<T> all) {
    return *(all.begin() + Below(static_cast<int64_t>(all.size())));
  }
  Scalar AnyScalar() {
    for (;;) {
      const auto s = Pick({Scalar::kBool, Scalar::kI8, Scalar::kU8, Scalar::kI16, Scalar::kU16,
                           Scalar::kI32, Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64,
                           Scalar::kFp8E4M3, Scalar::kFp8E5M2, Scalar::kF16, Scalar::kF16,
                           Scalar::kBF16, Scalar::kF32, Scalar::kF32, Scalar::kF32, Scalar::kF64});
      if (s != Scalar::kF64 || options_.f64) return s;
    }
  }
  int64_t RandomBits(Scalar s);

  const UOp* NewBuffer(Scalar s, int64_t size);
  const UOp* NewImage(DType t);
  // Lane constants in some order: consecutive, strided, repeated, permuted.
  Ints LanePattern(int n);
  const UOp* VectorOf(const Ints& v) {
    return b_->VConst(DType(Scalar::kIndex, static_cast<int>(v.size())), v);
  }
  // An index of n lanes that is never negative; *limit is above its greatest value.
  const UOp* RandomIndex(int n, int64_t* limit);
  const UOp* RandomGate(const UOp* index, int64_t limit);
  const UOp* RandomLoad(Scalar s, int n);
  const UOp* RandomConst(Scalar s, int n);
  // Converts a value of n lanes to type s.
  const UOp* ToType(const UOp* x, Scalar s) { return b_->Cast(x, x->dtype.WithScalar(s)); }
  const UOp* Apply(Scalar s, const UOp* x, const UOp* y);
  const UOp* RandomValue(Scalar s, int n, int depth);
  // n lanes, summed up in register scratch over the loop.
  const UOp* Accumulated(Scalar s, int n);
  const UOp* StoreResult(const UOp* value);

  RandomKernelOptions options_;
  bool reassociates_;
  std::mt19937_64 random_;
  std::unique_ptr<Module> module_;
  Body* body_ = nullptr;
  std::unique_ptr<Builder> b_;
  RandomKernel result_;
  const UOp* group_ = nullptr;
  int64_t groups_ = 1;
  const UOp* loop_ = nullptr;  // the range that is open
  int64_t trips_ = 1;
  const UOp* output_ = nullptr;
  int output_lanes_ = 1;
};

int64_t Generator::RandomBits(Scalar s) {
  if (s == Scalar::kBool) return Below(2);
  if (IsFloat(s)) {
    if (Chance(60)) return BitsFromDouble(s, static_cast<double>(Below(65) - 32) / 8);
    const auto any = static_cast<int64_t>(random_());
    // Through f64, which makes NaNs quiet.
    const int64_t bits = BitWidth(s) == 64 ? any : any & ((int64_t{1} << BitWidth(s)) - 1);
    const double v = DoubleFromBits(s, bits);
    return BitsFromDouble(s, v != v ? std::numeric_limits<double>::quiet_NaN() : v);
  }
  if (Chance(10)) return Chance(50) ? MinValue(s) : WrapInt(s, -1);
  if (Chance(60)) return WrapInt(s, Below(41) - 20);
  return WrapInt(s, static_cast<int64_t>(random_()));
}

const UOp* Generator::NewBuffer(Scalar s, int64_t size) {
  interpret::HostBuffer buffer;
  buffer.dtype = s;
  buffer.shape = {size};
  for (int64_t i = 0; i < size; ++i) buffer.data.push_back(RandomBits(s));
  result_.buffers.push_back(std::move(buffer));
  const auto slot = static_cast<int64_t>(result_.buffers.size()) - 1;
  return b_->DefineGlobal(slot, DType::Pointer(s, size, AddrSpace::kGlobal));
}

const UOp* Generator::NewImage(DType t) {
  interpret::HostBuffer buffer;
  buffer.dtype = t;
  buffer.shape = {t.height(), t.width(), 4};
  for (int64_t i = 0; i < t.size(); ++i) buffer.data.push_back(RandomBits(t.scalar()));
  result_.buffers.push_back(std::move(buffer));
  return b_->DefineGlobal(static_cast<int64_t>(result_.buffers.size()) - 1, t);
}

Ints Generator::LanePattern(int n) {
  Ints v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  const int64_t stride = Pick<int64_t>({1, 1, 1, 2, 3, 4});
  const int64_t repeat = Pick<int64_t>({1, 1, 1, 2, 4});
  for (int64_t& x : v) x = x / repeat * stride;
  if (Chance(20)) {
    // Two axes: rows with a large stride.
    const int64_t row = Pick<int64_t>({2, 4, 8});
    for (int64_t& x : v) x = x % row + x / row * 50;
  }
  if (Chance(20)) std::shuffle(v.begin(), v.end(), random_);
  if (Chance(10)) std::fill(v.begin(), v.end(), v[0]);
  return v;
}

const UOp* Generator::RandomIndex(int n, int64_t* limit) {
  const Ints pattern = LanePattern(n);
  int64_t max = *std::max_element(pattern.begin(), pattern.end());
  const UOp* index = n == 1 ? b_->Index(pattern[0]) : VectorOf(pattern);
  const auto add = [&](const UOp* x, int64_t count) {
    const int64_t k = Pick<int64_t>({0, 1, 2, 3, 4, 8, 12, n});
    if (k == 0) return;
    index = b_->Add(b_->Splat(b_->Mul(x, b_->Index(k)), n), index);
    max += k * (count - 1);
  };
  add(group_, groups_);
  if (loop_) add(loop_, trips_);
  if (Chance(30)) {
    const int64_t d = Pick<int64_t>({2, 3, 4, 8});
    const UOp* by = b_->ConstInt(index->dtype, d);
    index = b_->Alu(Chance(50) ? Op::kFloorDiv : Op::kFloorMod, {index, by});
  }
  *limit = max + 1 + Below(3);
  return index;
}

const UOp* Generator::RandomGate(const UOp* index, int64_t limit) {
  const UOp* gate = b_->Lt(index, b_->ConstInt(index->dtype, Below(limit + 1)));
  if (Chance(30)) gate = b_->And(gate, b_->Lt(b_->ConstInt(index->dtype, Below(4)), index));
  if (Chance(20)) gate = b_->Not(gate);
  return gate;
}

const UOp* Generator::RandomLoad(Scalar s, int n) {
  int64_t limit = 0;
  const UOp* index = RandomIndex(n, &limit);
  const UOp* gate = Chance(40) ? RandomGate(index, limit) : nullptr;
  const UOp* alternative = gate && Chance(50) ? RandomConst(s, n) : nullptr;
  if (s == Scalar::kF32 && Chance(15)) {
    const int64_t width = 1 + Below(4), height = (limit + width * 4 - 1) / (width * 4);
    const DType t = DType::Image(Chance(50) ? Scalar::kF32 : Scalar::kF16,
                                 static_cast<int32_t>(height), static_cast<int32_t>(width));
    const UOp* image = NewImage(t);
    const UOp* address = gate ? b_->context().Make(Op::kIndex, t.WithLanes(n), {image, index, gate})
                              : b_->context().Make(Op::kIndex, t.WithLanes(n), {image, index});
    return b_->Load(address, alternative);
  }
  const UOp* memory = NewBuffer(s, limit);
  return b_->Load(b_->IndexPtr(memory, index, gate), alternative);
}

const UOp* Generator::RandomConst(Scalar s, int n) {
  Ints bits;
  const int64_t one = RandomBits(s);
  const bool same = Chance(50);
  for (int i = 0; i < n; ++i) bits.push_back(same ? one : RandomBits(s));
  return b_->VConst(DType(s, n), bits);
}

const UOp* Generator::Apply(Scalar s, const UOp* x, const UOp* y) {
  if (Chance(15)) return b_->Where(b_->Lt(x, y), x, y);
  if (Chance(5)) return b_->Where(b_->Alu(Op::kCmpNe, {x, y}), y, x);
  if (s == Scalar::kBool) {
    return b_->Alu(Pick({Op::kAdd, Op::kMul, Op::kMax, Op::kMin, Op::kAnd, Op::kXor, Op::kCmpLt}),
                   {x, y});
  }
  if (s == Scalar::kU64 && Chance(20)) return b_->Alu(Op::kThreefry, {x, y});
  if (IsFloat(s)) {
    if (Chance(10)) return b_->Alu(Pick({Op::kNeg, Op::kSqrt, Op::kRecip, Op::kTrunc}), {x});
    if (Chance(10)) return b_->Alu(Op::kMulAcc, {x, y, x});
    return b_->Alu(Pick({Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMax, Op::kMin}), {x, y});
  }
  if (Chance(10)) return b_->Alu(Op::kNeg, {x});
  if (Chance(10)) return b_->Alu(Op::kMulAcc, {x, y, y});
  if (Chance(20)) {
    const UOp* d = b_->ConstInt(x->dtype, Pick<int64_t>({-8, -3, -1, 0, 1, 2, 3, 7, 8, 10, 64}));
    return b_->Alu(Pick({Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod, Op::kShl, Op::kShr}),
                   {x, d});
  }
  return b_->Alu(
      Pick({Op::kAdd, Op::kSub, Op::kMul, Op::kMax, Op::kMin, Op::kAnd, Op::kOr, Op::kXor, Op::kShl,
            Op::kShr, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod}),
      {x, y});
}

const UOp* Generator::RandomValue(Scalar s, int n, int depth) {
  if (depth == 0) {
    if (Chance(15)) return RandomConst(s, n);
    if (Chance(10)) {
      int64_t limit = 0;
      return ToType(RandomIndex(n, &limit), s);
    }
    if (Chance(10) && n > 1) return b_->Splat(RandomLoad(s, 1), n);
    return RandomLoad(s, n);
  }
  const int64_t what = Below(10);
  if (what == 0) return ToType(RandomValue(AnyScalar(), n, depth - 1), s);
  if (what == 1 && !IsFloat(s) && s != Scalar::kBool) {
    // The bits of something that was just read: a NaN's payload survives no arithmetic.
    for (Scalar from : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kFp8E4M3}) {
      if (BitWidth(from) == BitWidth(s)) {
        return b_->Bitcast(RandomLoad(from, n), DType(s, n));
      }
    }
  }
  if (what == 2 && n > 1) {
    // Some other number of lanes, picked from.
    const int m = n * static_cast<int>(Pick<int64_t>({1, 2}));
    Ints lanes;
    for (int i = 0; i < n; ++i) lanes.push_back(Below(m));
    return b_->Gep(RandomValue(s, m, depth - 1), lanes);
  }
  if (what == 3 && !(IsFloat(s) && reassociates_)) {
    // The interpreter sums floats in f64, so only what needs no rounding is the same.
    const Op op = IsFloat(s) ? Pick({Op::kMax, Op::kMin})
                             : Pick({Op::kAdd, Op::kMul, Op::kMax, Op::kMin, Op::kAnd, Op::kOr});
    const UOp* x = RandomValue(s, n * static_cast<int>(Pick<int64_t>({2, 3, 4})), depth - 1);
    return b_->context().Make(Op::kReduce, DType(s, n), {x},
                              b_->context().MakeAttr(Op::kReduce, {static_cast<int64_t>(op)}));
  }
  if (what == 4 && n % 2 == 0) {
    Nodes halves = {RandomValue(s, n / 2, depth - 1)};
    halves.push_back(RandomValue(s, n / 2, depth - 1));
    return n == 2 ? b_->Vectorize(halves) : b_->Cat(halves);
  }
  const UOp* x = RandomValue(s, n, depth - 1);
  return Apply(s, x, RandomValue(s, n, depth - 1));
}

const UOp* Generator::Accumulated(Scalar s, int n) {
  const int64_t extra = Chance(20) ? 3 : 0;
  const UOp* acc = b_->Scratch(DType::Pointer(s, n + extra, AddrSpace::kReg));
  Ints lanes(static_cast<size_t>(n));
  std::iota(lanes.begin(), lanes.end(), extra);
  if (Chance(30)) std::shuffle(lanes.begin(), lanes.end(), random_);
  const UOp* at = n == 1 ? b_->Index(lanes[0]) : VectorOf(lanes);
  const UOp* zero = b_->Store(b_->IndexPtr(acc, at), RandomConst(s, n));
  trips_ = 1 + Below(4);
  loop_ = b_->Range(b_->Index(trips_));
  const Nodes entry = {zero, loop_};
  const UOp* inside = b_->IndexPtr(b_->After(acc, entry), at);
  const UOp* step = Apply(s, b_->Load(inside), RandomValue(s, n, 2));
  const UOp* store = b_->Store(inside, step);
  const UOp* done = b_->End(store, Nodes{loop_});
  loop_ = nullptr;
  return b_->Load(b_->IndexPtr(b_->After(acc, Nodes{done}), at));
}

const UOp* Generator::StoreResult(const UOp* value) {
  const int n = value->dtype.lanes();
  Ints lanes(static_cast<size_t>(n));
  std::iota(lanes.begin(), lanes.end(), 0);
  if (Chance(30)) std::shuffle(lanes.begin(), lanes.end(), random_);
  const UOp* index = n == 1 ? b_->Index(0) : VectorOf(lanes);
  index = b_->Add(b_->Splat(b_->Mul(group_, b_->Index(n)), n), index);
  const UOp* gate = Chance(30) ? RandomGate(index, groups_ * n) : nullptr;
  return b_->Store(b_->IndexPtr(output_, index, gate), value);
}

RandomKernel Generator::Make() {
  groups_ = Pick<int64_t>({1, 2, 3, 5});
  group_ = b_->Special(SpecialName::kGrid0, b_->Index(groups_));
  const int n = static_cast<int>(Pick<int64_t>({1, 2, 3, 4, 6, 8, 12, 16, 32}));
  const Scalar s = AnyScalar();
  output_ = NewBuffer(s, groups_ * n);
  const UOp* value = Chance(50) ? Accumulated(s, n) : RandomValue(s, n, 3);
  if (Chance(30)) value = Apply(s, value, RandomValue(s, n, 1));
  const UOp* store = StoreResult(value);
  body_->root = b_->Sink(Nodes{store});
  result_.module = std::move(module_);
  return std::move(result_);
}

}  // namespace

RandomKernel MakeRandomKernel(uint64_t seed, const RandomKernelOptions& options) {
  return Generator(seed, options).Make();
}

}  // namespace tg::devectorize
