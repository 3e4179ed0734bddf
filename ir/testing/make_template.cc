// Instances of the left sides of rewrite rules, and integers with known bounds.
#include <algorithm>
#include <cstdlib>

#include "ir/interpret/scalar.h"
#include "ir/testing/graph_maker.h"
#include "ir/value.h"

namespace tg::testing {

// The nodes and types that a template's names have in one instance.
struct TemplateNames {
  Scalar scalar;
  const UOp* vars[4];
  const UOp* gates[4];
  int64_t numbers[4];    // small integers
  int64_t constants[4];  // usually those numbers, or quarters of them, as bits
};

namespace {

// Evaluates a template of constants over the integers. The recursion is as deep as the rule.
int64_t EvalWish(const ExprTemplate& t, const int64_t* numbers) {
  if (t.kind == ExprTemplate::Kind::kConstant) return numbers[t.value];
  if (t.kind == ExprTemplate::Kind::kLiteral) return t.value;
  int64_t args[3] = {};
  for (size_t i = 0; i < t.kids.size(); ++i) args[i] = EvalWish(t.kids[i], numbers);
  return interpret::EvalAlu(t.op, Scalar::kI64, {args, t.kids.size()}).value_or(0);
}

}  // namespace

// The constants that a guard compares are often related.
void GraphMaker::ChooseNumbers(const RootTemplate& t, int64_t* numbers) {
  const bool heed = rng_.Percent(75);
  for (int attempt = 0; attempt < 40; ++attempt) {
    int64_t last = 1;
    for (int i = 0; i < 4; ++i) {
      const int64_t k = rng_.Pick({0, 1, 2, 3, 4, 5, 6, 8, 12, 16, -1, -2, -3, -4, 7, 9});
      switch (rng_.Below(5)) {
        case 0:
          last *= rng_.In(1, 4);
          break;
        case 1:
          last = rng_.Percent(50) ? last : -last;
          break;
        case 2:
          last = last / 2 + (last == 1);
          break;
        default:
          last = k;
      }
      numbers[i] = last;
    }
    if (!heed || std::all_of(t.wishes.begin(), t.wishes.end(),
                             [&](const ExprTemplate& w) { return EvalWish(w, numbers) != 0; })) {
      return;
    }
  }
}

// A value with known bounds, made from an integer or index.
Value GraphMaker::Bounded(const Value& v, const int64_t* numbers) {
  const DType type = v.node->dtype;
  // The bound is often one of the numbers that a guard compares with.
  const auto number = [&]() -> int64_t {
    const int64_t n =
        numbers && rng_.Percent(60) ? numbers[rng_.Below(4)] : rng_.Pick({1, 2, 3, 4, 7, 8, 15});
    return IsUnsigned(type.scalar()) ? std::abs(n) : n;
  };
  const auto with = [&](Op op, const Value& x, int64_t n) {
    return Wrap(b_.Alu(op, {x.node, b_.ConstInt(type, n)}));
  };
  Value out = v;
  switch (rng_.Below(type.is_index() ? 5 : 6)) {
    case 0:
      out = with(Op::kMax, v, number());
      break;
    case 1:
      out = with(Op::kMin, v, number());
      break;
    case 5:
      out = with(Op::kAnd, v, std::abs(number()));
      break;
    default: {
      const int64_t n = std::abs(number());
      out = with(Op::kFloorMod, v, n == 0 ? 4 : n);
    }
  }
  if (rng_.Percent(15)) out = with(Op::kAdd, out, number());
  if (rng_.Percent(12) && !IsUnsigned(type.scalar())) out = with(Op::kMul, out, -1);
  return out;
}

// A small integer, possibly moved and padded, and a value that depends on its bounds.
Value GraphMaker::Narrow() {
  const Scalar s = PickScalar(ScalarsOf("i"));
  Value v = Bounded(Exact(ToScalar(Exact(Recent()), s)), nullptr);
  for (int64_t n = rng_.Below(3); n > 0; --n) v = Movement(v);
  const Op op = rng_.Pick({Op::kCmpLt, Op::kCmpLt, Op::kCmpNe, Op::kFloorDiv, Op::kFloorMod,
                           Op::kCDiv, Op::kCMod, Op::kMax, Op::kMin});
  Value with = Wrap(b_.ConstInt(DType(s), rng_.In(0, 9)));
  if (rng_.Percent(30)) with = Bounded(Operand(s, v, true), nullptr);
  return Wrap(rng_.Percent(75) ? b_.Alu(op, {v.node, with.node}) : b_.Alu(op, {with.node, v.node}));
}

std::optional<Value> GraphMaker::FromTemplate(const RootTemplate& t) {
  const bool index = t.classes.find('x') != std::string_view::npos;
  const std::vector<Scalar> scalars = ScalarsOf(t.classes);
  const bool varies = std::any_of(module_.vars.begin(), module_.vars.end(),
                                  [](const VarDecl& v) { return v.min != v.max; });
  const bool as_index = index && varies && (scalars.empty() || rng_.Percent(70));
  if (!as_index && scalars.empty()) return std::nullopt;
  TemplateNames names;
  names.scalar = as_index ? Scalar::kIndex : PickScalar(scalars);
  const Scalar s = names.scalar;
  ChooseNumbers(t, names.numbers);
  for (int i = 0; i < 4; ++i) {
    const int64_t n = names.numbers[i];
    int64_t& c = names.constants[i];
    c = IsFloat(s) ? BitsFromDouble(s, static_cast<double>(n) / rng_.Pick({1, 1, 2, 4}))
                   : BitsFromInt(s, n);
    if (!as_index && rng_.Percent(10)) c = RandomBits(rng_, s, style_);
  }
  const Value like = as_index ? Wrap(b_.Index(0)) : Exact(Source(s));
  const int bounded = t.bounded ? 85 : 40;
  for (int i = 0; i < 4; ++i) {
    if (as_index) {
      const bool leaf = rng_.Percent(75);
      Value v = Wrap(leaf ? rng_.Pick(index_vars_) : rng_.Pick(index_pool_).node);
      if (rng_.Percent(bounded)) v = Bounded(v, names.numbers);
      names.vars[i] = v.node;
      names.gates[i] = b_.Lt(rng_.Pick(index_pool_).node, rng_.Pick(index_pool_).node);
    } else {
      Value v = i == 0 ? like : Operand(s, like, true);
      if (IsInt(s) && rng_.Percent(bounded)) v = Bounded(v, names.numbers);
      names.vars[i] = v.node;
      names.gates[i] = Operand(Scalar::kBool, like, true).node;
    }
  }
  const UOp* u = Instantiate(t.expr, false, names);
  if (u->dtype.is_index()) u = b_.Cast(u, kI32);
  return Wrap(u, IsFloat(s), true);
}

const RootTemplate* GraphMaker::PickTemplate() {
  const auto usable = [&](const RootTemplate& t) {
    for (size_t i = 0; i < kModuleFlags.size(); ++i) {
      const auto f = static_cast<ModuleFlag>(i);
      if (t.flags.has(f) && !module_.flags.has(f)) return false;
    }
    return true;
  };
  // Templates that need this module's flags or known bounds would otherwise be rare.
  const bool flagged = inexact_ && rng_.Percent(60), bounded = rng_.Percent(25);
  for (int attempt = 0; attempt < 200; ++attempt) {
    const RootTemplate& t = rng_.Pick(options_.templates);
    if (usable(t) && (!flagged || !t.flags.empty()) && (flagged || !bounded || t.bounded)) {
      return &t;
    }
  }
  return nullptr;
}

// The recursion is as deep as the rule.
const UOp* GraphMaker::Instantiate(const ExprTemplate& t, bool want_bool,
                                   const TemplateNames& names) {
  const DType type = want_bool ? kBool : DType(names.scalar);
  switch (t.kind) {
    case ExprTemplate::Kind::kVar:
      return names.vars[t.value];
    case ExprTemplate::Kind::kGate:
      return names.gates[t.value];
    case ExprTemplate::Kind::kConstant:
      return b_.ConstBits(type, names.constants[t.value]);
    case ExprTemplate::Kind::kLiteral:
      return t.is_real ? b_.Const(type, t.real) : b_.ConstInt(type, t.value);
    case ExprTemplate::Kind::kOp:
      break;
  }
  std::vector<const UOp*> srcs;
  for (size_t i = 0; i < t.kids.size(); ++i) {
    const bool gate = t.op == Op::kWhere && i == 0;
    srcs.push_back(Instantiate(t.kids[i], gate || t.bool_operands, names));
  }
  if (srcs.size() == 2 && IsCommutative(t.op) && rng_.Percent(30)) std::swap(srcs[0], srcs[1]);
  return b_.Alu(t.op, srcs);
}

}  // namespace tg::testing
