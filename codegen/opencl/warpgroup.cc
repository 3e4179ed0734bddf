// Matrix instructions of warpgroups. NVIDIA's compiler refuses them, so that they are comments of
// the PTX that it makes, out of which the runtime takes them (runtime/opencl/ptx_repair.h).
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/ptx.h"
#include "ir/matrix/matrix_instruction.h"

namespace tg::opencl {

using clike::Cat;
using clike::kTernary;

namespace {

constexpr int kPerLine = 6;  // operands

// Whether the op does nothing but compute addresses, which does not disturb instructions that are
// under way.
bool IsAddress(const UOp* u) {
  return u->op == Op::kIndex || u->op == Op::kAfter || u->op == Op::kNoop || u->op == Op::kConst ||
         (IsElementwise(u->op) && u->dtype.is_int_or_index());
}

}  // namespace

bool OpenClWriter::BordersWgmma(int step) const {
  const auto& linear = kernel_.body.linear;
  for (auto at = static_cast<int64_t>(position_) + step;
       at >= 0 && at < static_cast<int64_t>(linear.size()); at += step) {
    const UOp* u = linear[static_cast<size_t>(at)];
    if (u->op == Op::kWgmma) return true;
    if (!IsAddress(u)) return false;
  }
  return false;
}

bool OpenClWriter::HasWgmma() {
  if (!has_wgmma_) {
    has_wgmma_ = std::any_of(kernel_.body.linear.begin(), kernel_.body.linear.end(),
                             [](const UOp* u) { return u->op == Op::kWgmma; });
  }
  return *has_wgmma_;
}

std::string OpenClWriter::FactorOperand(const UOp* address, FactorLayout layout) {
  const auto element = static_cast<int64_t>(ByteSize(address->dtype.scalar()));
  const PtxFunction f = DescriptorFunction({layout.row * element, layout.blocks * element});
  return Cat("\"l\"(", Call(f), "(", Pointer(address, kTernary), "))");
}

absl::Status OpenClWriter::WriteWgmma(const UOp* u) {
  const std::string name(ctx_.String(static_cast<StringId>(u->word(0))));
  const auto found = FindMatrixInstruction(name);
  const FactorLayout a{u->word(2), u->word(4)}, b{u->word(3), u->word(5)};
  if (!found || !found->is_warpgroup || !a.IsOf(found->a) || !b.IsOf(found->b)) {
    return Unsupported(u, Cat("there is no matrix instruction '", name, "' of such factors"));
  }
  const UOp* sums = u->src(0);
  if (sums->op != Op::kIndex || plan_.PiecesOf(MemoryOf(sums)).empty()) {
    return Unsupported(u, "its sums have to be at constant elements of register scratch");
  }
  if (!BordersWgmma(-1)) Line(Call(WgmmaFenceFunction()), "();");
  const bool is_float = found->accumulator == Scalar::kF32;
  const auto count = static_cast<int>(u->word(1)) / 2;
  std::vector<std::string> sums_in_lines;
  for (int e = 0; e < count; ++e) {
    if (e % kPerLine == 0) sums_in_lines.emplace_back();
    absl::StrAppend(&sums_in_lines.back(), e % kPerLine ? ", " : "",
                    is_float ? "\"+f\"(" : "\"+r\"(", VariableOf(*plan_.PieceOf(sums, e)), ")");
  }
  Line("asm volatile(");
  for (const std::string& line :
       WgmmaText(*found, static_cast<int>(u->word(1)), a.blocks > 0, b.blocks > 0)) {
    Line("    \"", line, "\"");
  }
  WriteOperands(sums_in_lines);
  Line("    : ", FactorOperand(u->src(1), a), ", ", FactorOperand(u->src(2), b));
  Line("    : \"memory\");");
  wgmma_sums_.insert(wgmma_sums_.end(), sums_in_lines.begin(), sums_in_lines.end());
  if (BordersWgmma(1)) return absl::OkStatus();
  // The sums are operands, so that nothing reads them before. Some instructions may have the same.
  std::sort(wgmma_sums_.begin(), wgmma_sums_.end());
  wgmma_sums_.erase(std::unique(wgmma_sums_.begin(), wgmma_sums_.end()), wgmma_sums_.end());
  Line("asm volatile(\"", WgmmaWaitText(), "\"");
  WriteOperands(wgmma_sums_);
  Line("    :");
  Line("    : \"memory\");");
  wgmma_sums_.clear();
  return absl::OkStatus();
}

void OpenClWriter::WriteOperands(const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    Line(i == 0 ? "    : " : "      ", lines[i], i + 1 < lines.size() ? "," : "");
  }
}

}  // namespace tg::opencl
