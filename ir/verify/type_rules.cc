// V201-V206, V213: the types that the op table's rules give. Ops with rule `explicit` are
// checked in type_rules_explicit.cc.
#include "ir/verify/type_rules.h"

#include "ir/verify/body_check.h"

namespace tg::verify {
namespace {

char ClassLetter(const DType& t) {
  switch (t.cls()) {
    case ScalarClass::kBool:
      return 'b';
    case ScalarClass::kSigned:
    case ScalarClass::kUnsigned:
      return 'i';
    case ScalarClass::kIndex:
      return 'x';
    case ScalarClass::kFloat:
      return 'f';
    case ScalarClass::kVoid:
      break;
  }
  return '?';
}

std::string SourceTypes(const UOp* u) {
  std::string out = "sources have types ";
  for (size_t i = 0; i < u->num_srcs; ++i) {
    if (i) out += i + 1 == u->num_srcs ? " and " : ", ";
    out += u->src(i)->dtype.ToString();
  }
  return out;
}

bool CheckClass(BodyCheck& c, const UOp* u, const DType& t) {
  const OpInfo& info = GetOpInfo(u->op);
  if (info.classes.empty()) return true;
  if (!t.is_value()) {
    c.Error(Rule::kTypeClass, u, "it takes values, not a " + t.ToString());
    return false;
  }
  if (info.AllowsClass(ClassLetter(t))) return true;
  std::string classes;
  for (char letter : info.classes) {
    classes += classes.empty() ? "" : ", ";
    classes += letter == 'b'   ? "bool"
               : letter == 'i' ? "integer"
               : letter == 'x' ? "index"
                               : "float";
  }
  c.Error(Rule::kTypeClass, u, "it is not defined for " + t.ToString() + " (only " + classes + ")");
  return false;
}

bool CheckAll(BodyCheck& c, const UOp* u) {
  const DType t = u->src(0)->dtype;
  for (const UOp* s : u->srcs()) {
    if (s->dtype == t) continue;
    c.Error(Rule::kTypeAll, u, SourceTypes(u));
    return false;
  }
  if (u->dtype != t) {
    c.Error(Rule::kTypeAll, u,
            "the type is " + u->dtype.ToString() + ", that of the sources " + t.ToString());
    return false;
  }
  if (u->op == Op::kThreefry && t.scalar() != Scalar::kU64) {
    c.Error(Rule::kTypeClass, u, "it is defined for u64, not for " + t.ToString());
    return false;
  }
  if (u->op == Op::kDot4 && t.scalar() != Scalar::kI32) {
    c.Error(Rule::kTypeClass, u, "it is defined for i32, not for " + t.ToString());
    return false;
  }
  return CheckClass(c, u, t);
}

bool CheckCompare(BodyCheck& c, const UOp* u) {
  const DType t = u->src(0)->dtype;
  if (u->src(1)->dtype != t) {
    c.Error(Rule::kTypeCompare, u, SourceTypes(u));
    return false;
  }
  if (u->dtype != DType(Scalar::kBool, t.lanes())) {
    c.Error(
        Rule::kTypeCompare, u,
        "the type is " + u->dtype.ToString() + ", not bool with as many lanes as " + t.ToString());
    return false;
  }
  return CheckClass(c, u, t);
}

bool CheckWhere(BodyCheck& c, const UOp* u) {
  const DType t = u->dtype;
  if (t.is_value() && u->src(0)->dtype != DType(Scalar::kBool, t.lanes())) {
    const DType condition = u->src(0)->dtype;
    const bool is_scalar = condition.is_value() && condition.scalar() != Scalar::kBool;
    c.Error(Rule::kTypeWhere, u,
            "the condition, source 0, is " + condition.ToString() + ", not " +
                DType(Scalar::kBool, t.lanes()).ToString() +
                (is_scalar ? " (cmpne with 0 makes one)" : ""));
    return false;
  }
  const bool ok = u->src(0)->dtype == DType(Scalar::kBool, t.lanes()) && u->src(1)->dtype == t &&
                  u->src(2)->dtype == t;
  if (!ok) {
    c.Error(Rule::kTypeWhere, u, SourceTypes(u) + ", the result " + t.ToString());
    return false;
  }
  return CheckClass(c, u, t);
}

bool CheckSame(BodyCheck& c, const UOp* u) {
  const DType t = u->src(0)->dtype;
  if (u->dtype == t) return CheckClass(c, u, t);
  c.Error(Rule::kTypeSame, u,
          "the type is " + u->dtype.ToString() + ", that of source 0 " + t.ToString());
  return false;
}

}  // namespace

bool CheckTypes(BodyCheck& c, const UOp* u) {
  const TypeRule rule = GetOpInfo(u->op).type_rule;
  // Before lower, lanes do not exist: an element is a scalar.
  if (c.has_shapes() && u->dtype.lanes() != 1) {
    c.Error(Rule::kTypeScalar, u,
            "a type with lanes (" + u->dtype.ToString() + ") in stage " +
                std::string(StageName(c.stage)));
    return false;
  }
  if (u->dtype.is_void() != (rule == TypeRule::kVoid) && u->op != Op::kNoop) {
    c.Error(Rule::kTypeVoid, u,
            rule == TypeRule::kVoid ? "it has no value, so no type " + u->dtype.ToString()
                                    : "it has a value, so a type other than void");
    return false;
  }
  bool ok = true;
  switch (rule) {
    case TypeRule::kAll:
      ok = CheckAll(c, u);
      break;
    case TypeRule::kCmp:
      ok = CheckCompare(c, u);
      break;
    case TypeRule::kWhere:
      ok = CheckWhere(c, u);
      break;
    case TypeRule::kSame0:
      ok = CheckSame(c, u);
      break;
    case TypeRule::kVoid:
    case TypeRule::kExplicit:
      break;
  }
  // Nothing else holds for elementwise ops; other ops have more conditions.
  if (!ok || (IsElementwise(u->op) && rule != TypeRule::kExplicit)) return ok;
  return CheckExplicitType(c, u);
}

}  // namespace tg::verify
