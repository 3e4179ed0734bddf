// V301-V303, V108: shapes of nodes before lower.
#include <algorithm>
#include <optional>

#include "ir/attr.h"
#include "ir/verify/body_check.h"
#include "ir/verify/extent.h"

namespace tg::verify {
namespace {

// Checks that the attribute's numbers are small enough for computing a shape without overflow.
bool CheckEntries(BodyCheck& c, const UOp* u) {
  const OpInfo& info = GetOpInfo(u->op);
  if (info.num_fields == 0 || info.inline_attr()) return true;
  bool ok = true;
  ForEachField(info, u->words(), [&](const AttrField& field, auto words) {
    const bool extents = field.kind == FieldKind::kDims || u->op == Op::kCarried;
    const bool numbers = extents || field.kind == FieldKind::kPairs ||
                         field.kind == FieldKind::kViews || u->op == Op::kBufferView;
    if (!numbers || !ok) return;
    std::vector<int64_t> known;
    for (int64_t w : words.subspan(IsOneWord(field.kind) ? 0 : 1)) {
      if (w == kSymbolic) continue;
      if (w > kMaxExtent || w < -kMaxExtent || (extents && w < 0)) {
        c.Error(Rule::kExtent, u,
                std::to_string(w) + " is not from " + (extents ? "0" : "-" + MaxExtentText()) +
                    " to " + MaxExtentText());
        ok = false;
        return;
      }
      known.push_back(w);
    }
    if (!extents || CountElements(known)) return;
    c.Error(Rule::kExtent, u, "too many elements");
    ok = false;
  });
  return ok;
}

bool CheckMask(BodyCheck& c, const UOp* u, const View& v) {
  for (size_t i = 0; i < v.mask.size(); ++i) {
    const auto [begin, end] = v.mask[i];
    if (0 <= begin && begin <= end && end <= v.shape[i]) continue;
    c.Error(Rule::kViewBounds, u,
            "the mask (" + std::to_string(begin) + ", " + std::to_string(end) + ") of axis " +
                std::to_string(i) + " is not inside its extent " + std::to_string(v.shape[i]));
    return false;
  }
  return true;
}

// Each view reads the flat elements of the one before it, the first those of the source.
bool CheckViews(BodyCheck& c, const UOp* u) {
  const auto views = StaticViewsOf(u);
  const Shape& source = c.shapes.Of(u->src(0));
  if (!views || !IsStatic(source)) return true;
  int64_t size = NumElements(source);
  for (size_t i = 0; i < views->size(); ++i) {
    const View& v = (*views)[i];
    const auto elements = CountElements(v.shape);
    if (!elements) {
      c.Error(Rule::kExtent, u, "a view has too many elements");
      return false;
    }
    if (!CheckMask(c, u, v)) return false;
    const auto range = OffsetsOf(v);
    if (range && (range->first < 0 || range->second >= size)) {
      c.Error(Rule::kViewBounds, u,
              "view " + std::to_string(i) + " reads elements " + std::to_string(range->first) +
                  " to " + std::to_string(range->second) + " of " + std::to_string(size));
      return false;
    }
    size = *elements;
  }
  return true;
}

bool CheckBufferView(BodyCheck& c, const UOp* u) {
  const Shape& source = c.shapes.Of(u->src(0));
  if (!IsStatic(source)) return true;
  const int64_t size = NumElements(source);
  if (u->word(0) + u->word(1) <= size) return true;
  c.Error(Rule::kViewBounds, u,
          "elements " + std::to_string(u->word(0)) + " to " +
              std::to_string(u->word(0) + u->word(1) - 1) + " of " + std::to_string(size));
  return false;
}

// Ops whose shape may have other extents than those of their sources.
bool MakesExtents(Op op) {
  return IsMovement(op) || op == Op::kDefineGlobal || op == Op::kScratch || op == Op::kCarried ||
         op == Op::kBufferView;
}

}  // namespace

bool CheckShape(BodyCheck& c, const UOp* u) {
  if (!CheckEntries(c, u)) return false;
  std::string error;
  if (!c.shapes.Try(u, &error)) {
    // ShapeMap begins with the op's name, as this message does.
    const std::string prefix = std::string(Mnemonic(u->op)) + ": ";
    if (error.starts_with(prefix)) error.erase(0, prefix.size());
    c.Error(Rule::kShape, u, error);
    return false;
  }
  if (!MakesExtents(u->op)) return true;
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) {
    if (c.shapes.Of(u->src(i)).empty()) continue;
    c.Error(Rule::kSymbolicDim, u,
            "the symbolic entry " + c.Name(u->src(i)) + " is a tensor, not a single index");
    return false;
  }
  std::vector<int64_t> numbers;
  for (const Dim& d : c.shapes.Of(u)) {
    if (!d.is_symbolic()) numbers.push_back(d.value());
  }
  if (!CountElements(numbers)) {
    c.Error(Rule::kExtent, u, "too many elements");
    return false;
  }
  if (u->op == Op::kView) return CheckViews(c, u);
  if (u->op == Op::kBufferView) return CheckBufferView(c, u);
  return true;
}

}  // namespace tg::verify
