// Writes conversions between types, and selections of lanes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codegen/llvm/kernel_writer.h"
#include "ir/value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::llvm_ir {

std::string KernelWriter::Cast(const UOp* u) {
  const UOp* x = u->src(0);
  const DType from = x->dtype, to = u->dtype;
  const std::string source = ValueType(from), type = ValueType(to);
  if (from.scalar() == to.scalar()) return Of(x);
  if (to.is_bool()) {
    return Emit(from.is_float() ? "fcmp une " : "icmp ne ", source, " ", Of(x), ", ",
                Everywhere(from, 0));
  }
  if (from.is_float() && to.is_float()) {
    const bool wider = BitWidth(to.scalar()) > BitWidth(from.scalar());
    return Emit(wider ? "fpext " : "fptrunc ", source, " ", Of(x), " to ", type);
  }
  if (from.is_float()) return Saturated(u);
  const bool is_signed = IsSigned(from.scalar());
  if (to.is_float())
    return Emit(is_signed ? "sitofp " : "uitofp ", source, " ", Of(x), " to ", type);
  const int bits = from.is_bool() ? 1 : BitWidth(from.scalar()), wanted = BitWidth(to.scalar());
  if (bits == wanted) return Of(x);
  return Emit(bits > wanted ? "trunc "
              : is_signed   ? "sext "
                            : "zext ",
              source, " ", Of(x), " to ", type);
}

// A float as an integer: what is too large gives the greatest or least integer, NaN gives 0. LLVM's
// intrinsic does the same, but on x86-64 it splits vectors.
std::string KernelWriter::Saturated(const UOp* u) {
  const DType from = u->src(0)->dtype, to = u->dtype;
  const std::string source = ValueType(from), type = ValueType(to), x = Of(u->src(0));
  const std::string mask = ValueType(Scalar::kBool, to.lanes());
  const bool is_signed = IsSigned(to.scalar());
  const int bits = BitWidth(to.scalar()), digits = from.scalar() == Scalar::kF64 ? 53 : 24;
  const int value_bits = is_signed ? bits - 1 : bits;
  // The greatest float that fits; it is not the greatest integer if that has more digits.
  const bool is_exact = value_bits <= digits;
  const double greatest = is_exact ? std::ldexp(1, value_bits) - 1
                                   : std::ldexp(1, value_bits) - std::ldexp(1, value_bits - digits);
  const auto number = [&](double value) {
    return Everywhere(from, BitsFromDouble(from.scalar(), value));
  };
  const std::string lo = number(is_signed ? -std::ldexp(1, bits - 1) : 0), hi = number(greatest);
  const auto choose = [&](const std::string& condition, const std::string& of,
                          const std::string& yes, const std::string& no) {
    return Emit("select ", mask, " ", condition, ", ", of, " ", yes, ", ", of, " ", no);
  };
  // A NaN becomes the least integer here.
  const std::string above = Emit("fcmp ogt ", source, " ", x, ", ", lo);
  const std::string at_least = choose(above, source, x, lo);
  const std::string below = Emit("fcmp olt ", source, " ", at_least, ", ", hi);
  const std::string inside = choose(below, source, at_least, hi);
  std::string value;
  if (bits < 32) {
    const std::string wide = ValueType(Scalar::kI32, to.lanes());
    value = Emit("fptosi ", source, " ", inside, " to ", wide);
    value = Emit("trunc ", wide, " ", value, " to ", type);
  } else {
    value = Emit(is_signed ? "fptosi " : "fptoui ", source, " ", inside, " to ", type);
  }
  if (!is_exact) {
    const std::string over = Emit("fcmp ogt ", source, " ", x, ", ", hi);
    value = choose(over, type, Everywhere(to, MaxValue(to.scalar())), value);
  }
  if (!is_signed) return value;
  const std::string is_nan = Emit("fcmp uno ", source, " ", x, ", ", x);
  return choose(is_nan, type, Everywhere(to, 0), value);
}

std::string KernelWriter::Splat(const std::string& scalar, Scalar s, int lanes) {
  const std::string type = ValueType(s, lanes);
  const std::string one =
      Emit("insertelement ", type, " undef, ", ValueType(s, 1), " ", scalar, ", i32 0");
  return Emit("shufflevector ", type, " ", one, ", ", type, " undef, <", lanes,
              " x i32> zeroinitializer");
}

std::string KernelWriter::Concatenate(const std::string& a, int lanes_a, const std::string& b,
                                      int lanes_b, Scalar s) {
  // Both sides of a shuffle are vectors of one type.
  const int side = std::max({lanes_a, lanes_b, 2});
  const auto widened = [&](const std::string& v, int lanes) -> std::string {
    if (lanes == side) return v;
    const std::string type = ValueType(s, lanes);
    if (lanes == 1) {
      return Emit("insertelement ", ValueType(s, side), " undef, ", type, " ", v, ", i32 0");
    }
    return Emit("shufflevector ", type, " ", v, ", ", type, " undef, ", Sequence(0, lanes, side));
  };
  const std::string type = ValueType(s, side), left = widened(a, lanes_a),
                    right = widened(b, lanes_b);
  std::string mask;
  for (int i = 0; i < lanes_a + lanes_b; ++i) {
    absl::StrAppend(&mask, i ? ", i32 " : "i32 ", i < lanes_a ? i : side + i - lanes_a);
  }
  return Emit("shufflevector ", type, " ", left, ", ", type, " ", right, ", <", lanes_a + lanes_b,
              " x i32> <", mask, ">");
}

std::optional<std::string> KernelWriter::ShuffleOf(const UOp* u) {
  // More scalars take more instructions than the joins that they spare.
  constexpr size_t kMostScalars = 2;
  llvm::SmallVector<const UOp*, 2> from;
  std::vector<std::pair<size_t, const UOp*>> scalars;  // by lane
  std::string mask;
  size_t lane = 0;
  for (const UOp* x : u->srcs()) {
    const bool picks = x->op == Op::kGep && x->src(0)->dtype.lanes() > 1 && IsReadable(x->src(0));
    const UOp* const source = picks ? x->src(0) : x;
    for (int i = 0; i < x->dtype.lanes(); ++i, ++lane) {
      absl::StrAppend(&mask, lane == 0 ? "i32 " : ", i32 ");
      if (source->dtype.lanes() == 1) {
        scalars.emplace_back(lane, x);
        absl::StrAppend(&mask, "undef");
        continue;
      }
      size_t number = static_cast<size_t>(llvm::find(from, source) - from.begin());
      if (number == from.size()) from.push_back(source);
      if (from.size() > 2 || source->dtype != from[0]->dtype) return std::nullopt;
      const int64_t of = source->dtype.lanes(), at = picks ? x->list()[static_cast<size_t>(i)] : i;
      absl::StrAppend(&mask, static_cast<int64_t>(number) * of + at);
    }
  }
  if (from.empty() || scalars.size() > kMostScalars) return std::nullopt;
  const std::string type = ValueType(from[0]->dtype);
  std::string vector = Emit("shufflevector ", Typed(from[0]), ", ", type, " ",
                            from.size() > 1 ? Of(from[1]) : std::string("undef"), ", <", lane,
                            " x i32> <", mask, ">");
  for (const auto& [at, scalar] : scalars) {
    vector = Emit("insertelement ", ValueType(u->dtype), " ", vector, ", ",
                  ValueType(u->dtype.scalar(), 1), " ", Of(scalar), ", i32 ", at);
  }
  return vector;
}

std::string KernelWriter::Lanes(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  const int lanes = u->dtype.lanes();
  const UOp* first = u->src(0);
  const std::string type = ValueType(u->dtype);
  if (u->op == Op::kGep) {
    const int of = first->dtype.lanes();
    if (of == 1) return lanes == 1 ? Of(first) : Splat(Of(first), s, lanes);
    const auto picks = u->list();
    if (lanes == 1) return Emit("extractelement ", Typed(first), ", i32 ", picks[0]);
    std::string mask;
    for (const int64_t lane : picks) {
      absl::StrAppend(&mask, mask.empty() ? "i32 " : ", i32 ", lane);
    }
    const std::string source = Typed(first);
    return Emit("shufflevector ", source, ", ", ValueType(first->dtype), " undef, <", lanes,
                " x i32> <", mask, ">");
  }
  if (lanes == 1) return Of(first);
  const bool same =
      std::all_of(u->srcs().begin(), u->srcs().end(), [&](const UOp* x) { return x == first; });
  if (u->op == Op::kSplat || (same && first->dtype.lanes() == 1)) return Splat(Of(first), s, lanes);
  if (std::optional<std::string> shuffled = ShuffleOf(u)) return *shuffled;
  // Vectors of scalars are filled lane by lane; vectors are joined pairwise.
  std::vector<std::pair<std::string, int>> parts;
  for (const UOp* x : u->srcs()) parts.emplace_back(Of(x), x->dtype.lanes());
  if (std::all_of(parts.begin(), parts.end(), [](const auto& p) { return p.second == 1; })) {
    std::string vector = "undef";
    for (size_t i = 0; i < parts.size(); ++i) {
      vector = Emit("insertelement ", type, " ", vector, ", ", ValueType(s, 1), " ", parts[i].first,
                    ", i32 ", i);
    }
    return vector;
  }
  while (parts.size() > 1) {
    std::vector<std::pair<std::string, int>> joined;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      const auto& [a, lanes_a] = parts[i];
      const auto& [b, lanes_b] = parts[i + 1];
      joined.emplace_back(Concatenate(a, lanes_a, b, lanes_b, s), lanes_a + lanes_b);
    }
    if (parts.size() % 2 != 0) joined.push_back(parts.back());
    parts = std::move(joined);
  }
  return parts[0].first;
}

}  // namespace tg::llvm_ir
