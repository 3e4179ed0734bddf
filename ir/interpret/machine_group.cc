// Ops in which the work-items of a group or subgroup act together.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/interpret/machine.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

constexpr int kSubgroup = MatrixInstruction::kSubgroup;

// The value of an f32 rounded to tf32 (nearest, ties away from zero).
double RoundToTf32(int64_t bits) {
  const auto word = static_cast<uint32_t>(bits);
  const bool special = (word & 0x7f800000u) == 0x7f800000u;
  const uint32_t rounded = special ? word : (word + 0x1000u) & ~0x1fffu;
  return DoubleFromBits(Scalar::kF32, rounded);
}

// The value of an element of matrix A or B, or of a sum.
double ElementOf(const MatrixInstruction& mi, Scalar type, bool is_factor, int64_t bits) {
  if (mi.tf32 && is_factor) return RoundToTf32(bits);
  return IsFloat(type) ? DoubleFromBits(type, bits) : static_cast<double>(bits);
}

}  // namespace

bool Machine::NeedAll(const UOp* u, int64_t together) {
  if (all_active_) return true;
  // All work-items of a unit must be active, or none of them.
  const auto unit = static_cast<size_t>(together);
  for (size_t i = 0; i < items_; ++i) {
    if (active_[i] != active_[i / unit * unit]) {
      return Fail(u, absl::StrCat("is reached by a part of ", together, " work-items only"));
    }
  }
  return true;
}

bool Machine::GroupReduce(const UOp* u) {
  if (!NeedAll(u, group_)) return false;
  const Op op = static_cast<Op>(u->word(0));
  const Scalar s = u->dtype.scalar();
  const size_t width = static_cast<size_t>(layout_[u].points * layout_[u].lanes);
  const auto group = static_cast<size_t>(group_);
  // leader[i]: the first work-item of the group that differs from i in the listed coordinates only.
  std::vector<size_t> leader(group);
  for (size_t i = 0; i < group; ++i) {
    size_t rest = i, stride = 1;
    for (size_t k = 3; k < 6; ++k) {
      const auto size = static_cast<size_t>(special_size_[k]);
      bool listed = false;
      for (const UOp* over : u->srcs().subspan(1)) {
        if (over->op != Op::kSpecial || over->word() < 3) {
          return Fail(u, "combines over something that is no work-item's coordinate in its group");
        }
        listed |= over->word() == static_cast<int64_t>(k);
      }
      if (!listed) leader[i] += rest % size * stride;
      rest /= size;
      stride *= size;
    }
  }
  const int64_t* in = In(u, 0);
  int64_t* out = Out(u);
  const bool sums = IsFloat(s) && (op == Op::kAdd || op == Op::kMul);
  std::vector<long double> acc(group);
  std::vector<int64_t> bits(group);
  for (size_t first = 0; first < items_; first += group) {
    if (!Active(first)) continue;
    for (size_t k = 0; k < width; ++k) {
      std::fill(acc.begin(), acc.end(), op == Op::kMul ? 1 : 0);
      std::fill(bits.begin(), bits.end(), ReduceIdentity(op, s));
      for (size_t i = 0; i < group; ++i) {
        const int64_t v = in[(first + i) * width + k];
        const size_t to = leader[i];
        if (sums) {
          const long double x = DoubleFromBits(s, v);
          acc[to] = op == Op::kMul ? acc[to] * x : acc[to] + x;
        } else {
          const int64_t pair[] = {bits[to], v};
          const auto r = EvalAlu(op, s, pair);
          if (!r) return Fail(u, "index overflow");
          bits[to] = *r;
        }
      }
      for (size_t i = 0; i < group; ++i) {
        const size_t from = leader[i];
        out[(first + i) * width + k] =
            sums ? BitsFromDouble(s, static_cast<double>(acc[from])) : bits[from];
      }
    }
  }
  return true;
}

bool Machine::NeedSubgroups(const UOp* u, int64_t width) {
  if (width < 1 || group_ % width != 0) {
    return Fail(u, absl::StrCat("a group of ", group_, " has no whole subgroups of ", width));
  }
  return NeedAll(u, width);
}

bool Machine::TransposeItems(const UOp* u) {
  const int64_t width = u->word();
  if (!NeedSubgroups(u, width)) return false;
  const auto points = static_cast<size_t>(layout_[u].points), n = static_cast<size_t>(width);
  const auto lanes = static_cast<size_t>(layout_[u].lanes), piece = lanes / n;
  const int64_t* in = In(u, 0);
  int64_t* out = Out(u);
  for (size_t r = 0; r < Rows(u); ++r) {
    const size_t item = r / points, first = item / n * n;
    for (size_t i = 0; i < n; ++i) {
      const size_t from = ((first + i) * points + r % points) * lanes + (item - first) * piece;
      out = std::copy_n(in + from, piece, out);
    }
  }
  return true;
}

bool Machine::Shuffle(const UOp* u) {
  const int64_t width = u->word();
  if (!NeedSubgroups(u, width)) return false;
  const auto points = static_cast<size_t>(layout_[u].points);
  const auto lanes = static_cast<size_t>(layout_[u].lanes);
  const auto index_lanes = static_cast<size_t>(u->src(1)->dtype.lanes());
  if (index_lanes != 1) return Fail(u, "takes one number a work-item");
  const int64_t* in = In(u, 0);
  const int64_t* index = In(u, 1);
  int64_t* out = Out(u);
  for (size_t r = 0; r < Rows(u); ++r) {
    const auto item = static_cast<int64_t>(r / points);
    if (!Active(static_cast<size_t>(item))) {
      out = std::fill_n(out, lanes, 0);
      continue;
    }
    if (index[r] < 0 || index[r] >= width) {
      return Fail(u, absl::StrCat("asks for work-item ", index[r], " of ", width));
    }
    const auto from = static_cast<size_t>(item / width * width + index[r]);
    out = std::copy_n(in + (from * points + r % points) * lanes, lanes, out);
  }
  return true;
}

bool Machine::Wmma(const UOp* u) {
  const std::string name(body_.context->String(static_cast<StringId>(u->word())));
  const std::optional<MatrixInstruction> found = FindMatrixInstruction(name);
  if (!found) return Fail(u, "there is no matrix instruction '" + name + "'");
  const MatrixInstruction& mi = *found;
  const Scalar types[3] = {mi.a, mi.b, mi.accumulator};
  const int elements[3] = {mi.m * mi.k, mi.k * mi.n, mi.m * mi.n};
  for (size_t i = 0; i < 3; ++i) {
    // A fragment may hold the elements' bits.
    const DType given = u->src(i)->dtype;
    const bool is_bits = given.scalar() == BitsType(types[i]);
    if (given.lanes() != elements[i] / kSubgroup || (given.scalar() != types[i] && !is_bits)) {
      return Fail(u, absl::StrCat("source ", i, " is not ",
                                  DType(types[i], elements[i] / kSubgroup).ToString()));
    }
  }
  if (u->dtype != u->src(2)->dtype) return Fail(u, "has another type than its accumulator");
  if (group_ % kSubgroup != 0) return Fail(u, "needs whole subgroups of 32");
  if (!NeedAll(u, kSubgroup)) return false;
  const auto points = static_cast<size_t>(layout_[u].points);
  const int64_t* in[3] = {In(u, 0), In(u, 1), In(u, 2)};
  int64_t* out = Out(u);
  std::vector<double> a(static_cast<size_t>(elements[0])), b(static_cast<size_t>(elements[1])),
      c(static_cast<size_t>(elements[2]));
  std::vector<double>* matrices[3] = {&a, &b, &c};
  for (size_t unit = 0; unit < items_ / kSubgroup * points; ++unit) {
    const size_t first = unit / points * kSubgroup, point = unit % points;
    if (!Active(first)) continue;
    // Where the fragment of work-item `t` starts, among fragments of `lanes` elements.
    const auto fragment = [&](int t, int lanes) {
      return ((first + static_cast<size_t>(t)) * points + point) * static_cast<size_t>(lanes);
    };
    for (int which = 0; which < 3; ++which) {
      const int lanes = elements[which] / kSubgroup;
      const int columns = which == 0 ? mi.k : mi.n;
      for (int t = 0; t < kSubgroup; ++t) {
        for (int e = 0; e < lanes; ++e) {
          const auto [row, column] = FragmentElement(mi, which, t, e);
          const int64_t bits = in[which][fragment(t, lanes) + static_cast<size_t>(e)];
          (*matrices[which])[static_cast<size_t>(row * columns + column)] =
              ElementOf(mi, types[which], which < 2, bits);
        }
      }
    }
    const int lanes = elements[2] / kSubgroup;
    for (int t = 0; t < kSubgroup; ++t) {
      for (int e = 0; e < lanes; ++e) {
        const auto [row, column] = FragmentElement(mi, 2, t, e);
        double sum = c[static_cast<size_t>(row * mi.n + column)];
        for (int k = 0; k < mi.k; ++k) {
          sum += a[static_cast<size_t>(row * mi.k + k)] * b[static_cast<size_t>(k * mi.n + column)];
        }
        // Integers are exact in a double.
        out[fragment(t, lanes) + static_cast<size_t>(e)] =
            IsFloat(mi.accumulator) ? BitsFromDouble(mi.accumulator, sum)
                                    : WrapInt(mi.accumulator, static_cast<int64_t>(sum));
      }
    }
  }
  return true;
}

bool Machine::LdMatrix(const UOp* u) {
  const int64_t count = u->word(0);
  const bool transpose = u->word(1) != 0;
  const UOp* address = u->src(0);
  if (layout_[address].memory < 0 || !layout_[address].has_value || layout_[address].lanes != 1) {
    return Fail(u, "source 0 is not one address a work-item");
  }
  if (count != 1 && count != 2 && count != 4) return Fail(u, "count must be 1, 2 or 4");
  // A row of a matrix has 16 bytes, of which a work-item holds four.
  const int bits_of_element = static_cast<int>(BitWidth(u->dtype.scalar()));
  const auto own = static_cast<size_t>(32 / bits_of_element);
  if (u->dtype.lanes() != static_cast<int>(own) * count || bits_of_element > 32 ||
      static_cast<int>(BitWidth(address->dtype.scalar())) != bits_of_element) {
    return Fail(u, "its type must be 32 * count bits of the memory's type of 8 to 32 bits");
  }
  if (transpose && own != 2) return Fail(u, "only elements of 16 bits are transposed");
  if (group_ % kSubgroup != 0) return Fail(u, "needs whole subgroups of 32");
  if (!NeedAll(u, kSubgroup)) return false;
  const auto points = static_cast<size_t>(layout_[u].points);
  const int64_t* at = In(u, 0);
  int64_t* out = Out(u);
  const size_t lanes = own * static_cast<size_t>(count);
  for (size_t unit = 0; unit < items_ / kSubgroup * points; ++unit) {
    const size_t first = unit / points * kSubgroup, point = unit % points;
    if (!Active(first)) continue;
    for (size_t t = 0; t < kSubgroup; ++t) {
      for (size_t e = 0; e < lanes; ++e) {
        // Work-item t holds elements own*(t%4) and the next of row t/4 of each matrix, or of its
        // transpose; row r of matrix i lies where work-item 8*i + r points to.
        size_t row = t / 4, column = own * (t % 4) + e % own;
        if (transpose) std::swap(row, column);
        const size_t owner = first + e / own * 8 + row;
        const Access access = AccessOf(address, first + t);
        int64_t bits = 0;
        const int64_t element = at[owner * points + point] + static_cast<int64_t>(column);
        if (access.Read(element, &bits) != AccessError::kNone) {
          return Explain(u, access, static_cast<int64_t>(first + t), element);
        }
        out[((first + t) * points + point) * lanes + e] = bits;
      }
    }
  }
  return true;
}

}  // namespace tg::interpret
