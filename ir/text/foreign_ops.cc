#include "ir/text/foreign_ops.h"

#include <vector>

#include "base/suggest.h"
#include "ir/text/diagnostic.h"

namespace tg {
namespace {

constexpr ForeignFunction kFunctions[] = {
    {"exp", "exp2(x * 1.4426950408889634)"},
    {"log ln", "log2(x) * 0.6931471805599453"},
    {"log10", "log2(x) * 0.3010299956639812"},
    {"cos", "sin(x + 1.5707963267948966)"},
    {"tan", "sin(x) / sin(x + 1.5707963267948966)"},
    {"tanh", "2 / (exp2(x * -2.8853900817779268) + 1) - 1"},
    {"sigmoid logistic", "recip(exp2(x * -1.4426950408889634) + 1)"},
    {"silu swish", "x / (exp2(x * -1.4426950408889634) + 1)"},
    {"relu", "max(x, 0)"},
    {"abs", "max(x, neg(x))"},
    {"square", "mul(x, x)"},
    {"rsqrt", "recip(sqrt(x))"},
    {"reciprocal inverse", "recip(x)"},
    {"negate negative", "neg(x)"},
    {"floor", "where(cmplt(x, trunc(x)), trunc(x) - 1, trunc(x))"},
    {"ceil", "where(cmplt(trunc(x), x), trunc(x) + 1, trunc(x))"},
    {"cmpeq eq equal", "xor(cmpne(a, b), true)"},
    {"ne neq not_equal", "cmpne(a, b)"},
    {"lt less", "cmplt(a, b)"},
    {"cmpgt gt greater", "cmplt(b, a)"},
    {"cmple le less_equal", "or(cmplt(a, b), xor(cmpne(a, b), true))"},
    {"cmpge ge greater_equal", "or(cmplt(b, a), xor(cmpne(a, b), true))"},
    {"maximum", "max(a, b)"},
    {"minimum", "min(a, b)"},
    {"clip clamp", "min(max(a, b), c)"},
    {"fma mad", "mulacc(a, b, c)"},
    {"power", "pow(a, b)"},
};

constexpr ForeignOp kOps[] = {
    {"not logical_not bitwise_not invert", "xor with true, of integers with -1"},
    {"idiv", "floordiv, which rounds toward -inf, or cdiv, which rounds toward zero"},
    {"mod rem remainder", "floormod, with the sign of the divisor, or cmod, with that of x"},
    {"select", "where"},
    {"convert astype to", "cast"},
    {"sum reduce_sum", "reduce_axis with op = add"},
    {"prod reduce_prod", "reduce_axis with op = mul"},
    {"amax reduce_max", "reduce_axis with op = max"},
    {"amin reduce_min", "reduce_axis with op = min"},
    {"any", "reduce_axis with op = or"},
    {"all", "reduce_axis with op = and"},
    {"mean reduce_mean", "reduce_axis with op = add, then mul by 1/n"},
    {"matmul dot gemm mm bmm", "broadcast, mul and reduce_axis: 'Products' in docs/ir.md"},
    {"conv conv2d convolution", "a view of windows, mul and reduce_axis: 'Products' in docs/ir.md"},
    {"softmax", "max, exp2 and sum along an axis: the first example of docs/ir.md"},
    {"transpose swapaxes", "permute"},
    {"slice", "shrink"},
    {"squeeze unsqueeze flatten", "reshape"},
    {"broadcast_to broadcast_in_dim", "broadcast"},
    {"tile", "reshape, expand, reshape"},
    {"concat concatenate stack", "pad each part to the whole shape, then add"},
    {"arange", "iota"},
    {"full fill zeros ones constant", "const, then broadcast"},
};

struct Renamed {
  Op op;
  std::string_view old, now;
};
constexpr Renamed kRenamed[] = {
    {Op::kPad, "pad", "widths"},
    {Op::kShrink, "arg", "ranges"},
    {Op::kPermute, "order", "axes"},
    {Op::kView, "st", "views"},
};

std::string LowerCase(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool Contains(std::string_view names, std::string_view word) {
  while (!names.empty()) {
    const size_t end = names.find(' ');
    if (names.substr(0, end) == word) return true;
    names = end == std::string_view::npos ? "" : names.substr(end + 1);
  }
  return false;
}

}  // namespace

std::span<const ForeignFunction> ForeignFunctions() { return kFunctions; }
std::span<const ForeignOp> ForeignOps() { return kOps; }

std::string GuessOp(std::string_view word) {
  const std::string lower = LowerCase(word);
  for (const ForeignFunction& f : kFunctions) {
    if (Contains(f.names, lower)) return "; write " + std::string(f.formula);
  }
  for (const ForeignOp& op : kOps) {
    if (Contains(op.names, lower)) return "; write " + std::string(op.ours);
  }
  std::vector<std::string_view> mnemonics;
  for (int i = 0; i < kNumOps; ++i) mnemonics.push_back(Mnemonic(static_cast<Op>(i)));
  return DidYouMean(word, mnemonics);
}

std::string_view RenamedField(Op op, std::string_view old) {
  for (const Renamed& r : kRenamed) {
    if (r.op == op && r.old == old) return r.now;
  }
  return {};
}

}  // namespace tg
