// The matrix instruction of four subgroups.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/interpret/machine.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

constexpr auto kItems = static_cast<size_t>(MatrixInstruction::kWarpgroup);

// The value of a sum, or of a factor: of tf32, whose last bits are ignored, with `mask`.
double ValueOf(Scalar type, int64_t bits, uint32_t mask = ~uint32_t{0}) {
  if (type == Scalar::kF32) return DoubleFromBits(type, static_cast<uint32_t>(bits) & mask);
  return IsFloat(type) ? DoubleFromBits(type, bits) : static_cast<double>(bits);
}

}  // namespace

bool Machine::Wgmma(const UOp* u) {
  const std::string name(body_.context->String(static_cast<StringId>(u->word(0))));
  const std::optional<MatrixInstruction> found = FindMatrixInstruction(name);
  if (!found || !found->is_warpgroup) {
    return Fail(u, "there is no matrix instruction of four subgroups '" + name + "'");
  }
  const MatrixInstruction& mi = *found;
  const int columns = static_cast<int>(u->word(1));
  const FactorLayout layouts[] = {{u->word(2), u->word(4)}, {u->word(3), u->word(5)}};
  const Scalar types[] = {mi.a, mi.b, mi.accumulator};
  // The sums come first among the sources.
  const UOp* const addresses[] = {u->src(1), u->src(2), u->src(0)};
  const int64_t* at[3] = {In(u, 1), In(u, 2), In(u, 0)};
  for (size_t i = 0; i < 3; ++i) {
    const Layout& l = layout_[addresses[i]];
    if (l.memory < 0 || !l.has_value || l.lanes != 1) {
      return Fail(u, "sources are one address a work-item");
    }
    if (memories_[static_cast<size_t>(l.memory)]->element != types[i]) {
      return Fail(u,
                  absl::StrCat("its elements are not ", std::string(GetScalarInfo(types[i]).text)));
    }
    if (i < 2 && !layouts[i].IsOf(types[i])) {
      return Fail(u, absl::StrCat("no factor has rows of ", layouts[i].row, " elements"));
    }
  }
  if (group_ % MatrixInstruction::kWarpgroup != 0) return Fail(u, "needs whole units of 128");
  if (!NeedAll(u, MatrixInstruction::kWarpgroup)) return false;
  const auto points = static_cast<size_t>(layout_[u].points);
  const int results[] = {mi.m, columns};
  std::vector<double> factors[2];
  for (size_t unit = 0; unit < items_ / kItems * points; ++unit) {
    const size_t first = unit / points * kItems, point = unit % points;
    if (!Active(first)) continue;
    for (size_t which = 0; which < 2; ++which) {
      const Access access = AccessOf(addresses[which], first);
      const int64_t start = at[which][first * points + point];
      for (size_t t = 1; t < kItems; ++t) {
        if (at[which][(first + t) * points + point] != start) {
          return Fail(u, "its work-items have different addresses of one factor");
        }
      }
      factors[which].clear();
      for (int result = 0; result < results[which]; ++result) {
        for (int term = 0; term < mi.k; ++term) {
          const int64_t element =
              layouts[which].Element(start, result, term, ByteSize(types[which]));
          int64_t bits = 0;
          if (access.Read(element, &bits) != AccessError::kNone) {
            return Explain(u, access, static_cast<int64_t>(first), element);
          }
          factors[which].push_back(ValueOf(types[which], bits, mi.tf32 ? 0xffffe000u : ~0u));
        }
      }
    }
    for (size_t t = 0; t < kItems; ++t) {
      const Access sums = AccessOf(addresses[2], first + t);
      const int64_t start = at[2][(first + t) * points + point];
      for (int e = 0; e < columns / 2; ++e) {
        const auto [row, column] = FragmentElement(mi, 2, static_cast<int>(t), e);
        int64_t bits = 0;
        if (sums.Read(start + e, &bits) != AccessError::kNone) {
          return Explain(u, sums, static_cast<int64_t>(first + t), start + e);
        }
        double sum = ValueOf(mi.accumulator, bits);
        const double* a = factors[0].data() + static_cast<ptrdiff_t>(row) * mi.k;
        const double* b = factors[1].data() + static_cast<ptrdiff_t>(column) * mi.k;
        for (int k = 0; k < mi.k; ++k) sum += a[k] * b[k];
        // Integers are exact in a double.
        bits = IsFloat(mi.accumulator) ? BitsFromDouble(mi.accumulator, sum)
                                       : WrapInt(mi.accumulator, static_cast<int64_t>(sum));
        if (sums.Write(start + e, bits) != AccessError::kNone) {
          return Explain(u, sums, static_cast<int64_t>(first + t), start + e);
        }
      }
    }
  }
  return true;
}

}  // namespace tg::interpret
