#include "passes/rewrite/testing/eval.h"

#include <cmath>

#include "base/check.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "ir/walk.h"

namespace tg::testing {
namespace {

// False on overflow.
bool EvaluateNode(const UOp* u, const Values& values, Lanes& out) {
  const auto src = [&](size_t i) -> const Lanes& { return values.at(u->src(i)); };
  switch (u->op) {
    case Op::kConst:
      out.assign(static_cast<size_t>(u->dtype.lanes()), u->word());
      return true;
    case Op::kVConst:
      out.assign(u->list().begin(), u->list().end());
      return true;
    case Op::kSplat:
      out.assign(static_cast<size_t>(u->dtype.lanes()), src(0)[0]);
      return true;
    case Op::kVectorize:
    case Op::kCat:
      for (size_t i = 0; i < u->num_srcs; ++i) out.insert(out.end(), src(i).begin(), src(i).end());
      return true;
    case Op::kGep:
      for (int64_t lane : u->list()) out.push_back(src(0)[static_cast<size_t>(lane)]);
      return true;
    default:
      break;
  }
  TG_CHECK(IsElementwise(u->op));  // else a leaf without a value
  const Scalar to = u->dtype.scalar();
  const Scalar from = u->op == Op::kWhere ? to : u->src(0)->dtype.scalar();
  for (size_t lane = 0; lane < static_cast<size_t>(u->dtype.lanes()); ++lane) {
    int64_t args[3];
    for (size_t i = 0; i < u->num_srcs; ++i) args[i] = src(i)[src(i).size() == 1 ? 0 : lane];
    if (u->op == Op::kCast) {
      out.push_back(CastBits(from, to, args[0]));
    } else if (u->op == Op::kBitcast) {
      out.push_back(BitcastBits(from, to, args[0]));
    } else {
      const auto v =
          interpret::EvalAlu(u->op, from, {args, u->num_srcs}, interpret::MulAcc::kTwoRoundings);
      if (!v) return false;
      out.push_back(*v);
    }
  }
  return true;
}

}  // namespace

std::optional<Lanes> Evaluate(const UOp* root, Values& values) {
  // The walk ends at nodes that have a value already: the sources of a load do not matter.
  std::vector<const UOp*> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    if (values.contains(u)) {
      stack.pop_back();
      continue;
    }
    const size_t pending = stack.size();
    for (const UOp* s : u->srcs()) {
      if (!values.contains(s)) stack.push_back(s);
    }
    if (stack.size() != pending) continue;
    Lanes out;
    if (!EvaluateNode(u, values, out)) return std::nullopt;
    values.emplace(u, std::move(out));
  }
  return values.at(root);
}

bool SameValue(DType type, const Lanes& a, const Lanes& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (!type.is_float() || !std::isnan(DoubleFromBits(type.scalar(), a[i])) ||
        !std::isnan(DoubleFromBits(type.scalar(), b[i]))) {
      return false;
    }
  }
  return true;
}

}  // namespace tg::testing
