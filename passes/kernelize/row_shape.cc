#include "passes/kernelize/row_shape.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::kernelize {
namespace {

// Appends the parts of an axis of size `n` that is split at the strides `cuts`, or the whole axis
// if these do not divide each other.
void AppendParts(int64_t n, llvm::SmallVectorImpl<int64_t>& cuts, Shape& out) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  llvm::erase_if(cuts, [&](int64_t c) { return c == 1 || c == n; });
  cuts.insert(cuts.begin(), 1);
  cuts.push_back(n);
  for (size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] % cuts[i - 1] != 0) return out.push_back(n);
  }
  for (size_t i = cuts.size() - 1; i > 0; --i) out.push_back(cuts[i] / cuts[i - 1]);
}

}  // namespace

Shape CutAtDigits(const Shape& shape, llvm::ArrayRef<analysis::LoopDigit> digits) {
  Shape out;
  uint32_t loop = 0;
  llvm::SmallVector<int64_t, 8> cuts;
  for (const Dim& d : shape) {
    cuts.clear();
    if (!d.Is(1)) {
      for (const analysis::LoopDigit& digit : digits) {
        if (digit.loop != loop) continue;
        cuts.push_back(digit.stride);
        cuts.push_back(digit.stride * digit.size);
      }
      ++loop;
    }
    if (cuts.empty() || d.is_symbolic())
      out.push_back(d);
    else
      AppendParts(d.value(), cuts, out);
  }
  return out;
}

Shape MergeAlong(const Shape& shape, analysis::LoopSet loops) {
  Shape out;
  size_t loop = 0;
  bool open = false;
  for (const Dim& d : shape) {
    if (d.Is(1)) {
      if (!open) out.push_back(d);
      continue;
    }
    const bool along = !d.is_symbolic() && (loops & analysis::LoopBit(loop)) != 0;
    ++loop;
    if (along && open) {
      out.back() = Dim(out.back().value() * d.value());
    } else {
      out.push_back(d);
    }
    open = along;
  }
  return out;
}

}  // namespace tg::kernelize
