// Writes choices of lanes, and vectors of values.
#include "codegen/clike/cat.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/types.h"

namespace tg::opencl {

using clike::Append;
using clike::Expr;
using clike::kPostfix;
using clike::kUnary;
using clike::Text;

namespace {

// Appends the selector of these lanes of a vector of `of` lanes. The two halves have short names.
void AppendSelector(Text& out, std::span<const int64_t> lanes, int of) {
  const auto is = [&](int64_t first, int64_t step) {
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] != first + step * static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  if (lanes.size() >= 2 && 2 * static_cast<int>(lanes.size()) == of) {
    const char* half = is(0, 1)        ? ".lo"
                       : is(of / 2, 1) ? ".hi"
                       : is(0, 2)      ? ".even"
                       : is(1, 2)      ? ".odd"
                                       : nullptr;
    if (half) {
      out.Add(std::string_view(half));
      return;
    }
  }
  out.Add(".s");
  out.Add(clike::LaneDigits(lanes));
}

}  // namespace

void OpenClWriter::PickLanes(const UOp* u, const UOp* vector, Expr& e) {
  AppendOperand(e.text, vector, kPostfix, true);
  AppendSelector(e.text, u->list(), vector->dtype.lanes());
}

void OpenClWriter::MakeVector(const UOp* u, Scalar lane, Expr& e) {
  Append(e.text, "(", opencl::ValueType(lane, u->dtype.lanes()), ")(");
  for (size_t i = 0; i < u->num_srcs;) {
    const UOp* s = u->src(i);
    // A run of four or more equal scalars is written as a vector of that scalar.
    size_t run = 1;
    while (s->dtype.lanes() == 1 && i + run < u->num_srcs && u->src(i + run) == s) ++run;
    size_t taken = 1;
    if (run == u->num_srcs) {
      taken = run;
    } else if (run >= 4) {
      while (taken * 2 <= run) taken *= 2;
    }
    const bool as_vector = taken > 1 && taken < u->num_srcs;
    if (i > 0) e.text.Add(", ");
    if (as_vector) Append(e.text, "(", opencl::ValueType(lane, static_cast<int>(taken)), ")(");
    e.text.Add(Part(s, e.mask_bits));
    if (as_vector) e.text.Add(')');
    i += taken;
  }
  e.text.Add(')');
  e.precedence = kUnary;
}

}  // namespace tg::opencl
