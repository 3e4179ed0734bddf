#include "codegen/opencl/kernel_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "codegen/opencl/cat.h"
#include "codegen/opencl/types.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::opencl {
namespace {

// An expression longer than this gets a name even if it has a single use.
constexpr size_t kMaxInline = 56, kMaxStored = 80;

}  // namespace

KernelWriter::KernelWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
                           const passes::Target& target)
    : kernel_(kernel),
      calls_(calls),
      target_(target),
      ctx_(*kernel.body.context),
      plan_(kernel),
      outlined_(FindOutlined(kernel, target)),
      read_ahead_(FindReadAhead(kernel, target)),
      bounds_(*kernel.body.context, &module),
      no_contract_(module.flags.has(ModuleFlag::kNoContract)),
      no_nan_(module.flags.has(ModuleFlag::kNoNan)),
      exprs_(kernel.body.context->num_nodes(), kernel.body.linear.size()) {}

absl::Status KernelWriter::Unsupported(const UOp* u, std::string_view why) const {
  return absl::UnimplementedError(absl::StrCat(
      "opencl: kernel @", kernel_.name, ": cannot render ", std::string(Mnemonic(u->op)), " : ",
      u->dtype.ToString(), "; ", absl::string_view(why.data(), why.size())));
}

absl::StatusOr<RenderedKernel> KernelWriter::Run(Prelude& prelude) {
  prelude_ = &prelude;
  if (no_contract_) prelude.NoContraction();
  result_.name = FunctionName(kernel_.name);
  if (absl::Status s = CollectParams(); !s.ok()) return s;
  body_.Reserve(16 * kernel_.body.linear.size());  // an estimate of the final size
  // OpenCL C declares local memory in the outermost scope only.
  const auto is_local = [](const UOp* u) {
    return u->op == Op::kScratch && u->dtype.space() == AddrSpace::kLocal;
  };
  for (const UOp* u : kernel_.body.linear) {
    if (is_local(u)) WriteScratch(u);
  }
  const std::vector<const UOp*>& order = kernel_.body.linear;
  for (size_t p = 0; p < order.size(); ++p) {
    if (is_local(order[p])) continue;
    position_ = static_cast<int>(p);
    if (absl::Status s = Write(order[p]); !s.ok()) return s;
  }
  if (indent_ != 1) return Unsupported(kernel_.body.root, "a loop or if is not closed");
  result_.body = Cat(Comment(), Signature(), body_, "}\n");
  result_.source = Cat(prelude.Text(), result_.body);
  return std::move(result_);
}

absl::Status KernelWriter::CheckType(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  if (s == Scalar::kVoid) return absl::OkStatus();
  const int n = u->dtype.lanes();
  if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
    return Unsupported(u, "OpenCL's vectors have 2, 4, 8 or 16 lanes");
  }
  if (passes::ComputesIn(target_, s)) {
    computed_ = u->dtype;
  } else {
    // Values that are only moved from load to store are handled as bits.
    const bool moves = !IsElementwise(u->op) || u->op == Op::kWhere || u->op == Op::kBitcast;
    if (!moves || !IsFloat(s) || BitWidth(s) > 16) {
      return Unsupported(
          u, Cat(target_.name, " does not compute in ", std::string(GetScalarInfo(s).text)));
    }
  }
  prelude_->UsesScalar(Shown(s));
  // A vector of conditions is at least as wide as one of 32-bit integers.
  if (target_.HasVectors() && n * std::max<int64_t>(ByteSize(s), 4) > 16)
    prelude_->PassesWideVectors();
  return absl::OkStatus();
}

absl::Status KernelWriter::Write(const UOp* u) {
  if (u->dtype.is_value() && u->dtype != computed_) {
    if (absl::Status s = CheckType(u); !s.ok()) return s;
  }
  switch (u->op) {
    case Op::kConst:
    case Op::kVConst:
    case Op::kVar:
    case Op::kDefineGlobal:
    case Op::kAfter:
    case Op::kIndex:
    case Op::kSink:
      return absl::OkStatus();
    case Op::kNoop:
      return u->dtype.is_void() ? absl::OkStatus() : WriteValue(u);
    case Op::kScratch:
      WriteScratch(u);
      return absl::OkStatus();
    case Op::kSpecial:
      return WriteSpecial(u);
    case Op::kRange:
      WriteRange(u);
      return absl::OkStatus();
    case Op::kEnd:
      for (size_t i = 1; i < u->num_srcs; ++i) {
        --indent_;
        Line("}");
      }
      return absl::OkStatus();
    case Op::kIf:
      Line("if (", Operand(u->src(0), kTernary), ") {");
      ++indent_;
      ifs_.push_back(u->src(0));
      return absl::OkStatus();
    case Op::kEndIf:
      ifs_.pop_back();
      --indent_;
      Line("}");
      return absl::OkStatus();
    case Op::kBarrier:
      Line("barrier(", BarrierFences(u), ");");
      return absl::OkStatus();
    case Op::kLoad:
      return WriteLoad(u);
    case Op::kStore:
      return WriteStore(u);
    case Op::kCopyTransposed:
      return WriteCopyTransposed(u);
    case Op::kCopyAsync:
    case Op::kCommit:
    case Op::kWait:
    case Op::kShuffle:
    case Op::kWmma:
    case Op::kLdMatrix:
      return WriteCooperation(u);
    default:
      if (IsElementwise(u->op) || u->op == Op::kGep || u->op == Op::kSplat ||
          u->op == Op::kVectorize || u->op == Op::kCat) {
        return WriteValue(u);
      }
      return Unsupported(u, "it has no place in a linear kernel");
  }
}

// The fence covers global memory too if the kernel both writes and reads a global buffer.
std::string KernelWriter::BarrierFences(const UOp*) const {
  for (const KernelParam& arg : result_.params) {
    if (arg.reads && arg.writes) return "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE";
  }
  return "CLK_LOCAL_MEM_FENCE";
}

void KernelWriter::WriteScratch(const UOp* u) {
  const DType t = u->dtype;
  if (t.space() == AddrSpace::kReg && !plan_.PiecesOf(u).empty()) {
    std::string names, type;
    auto flush = [&] {
      if (!names.empty()) Line(type, " ", names, ";");
      names.clear();
    };
    for (const Piece& p : plan_.PiecesOf(u)) {
      if (!p.declare) continue;
      const std::string mine = p.scalar == Scalar::kBool && p.lanes > 1 ? MaskType(32, p.lanes)
                                                                        : Type(p.scalar, p.lanes);
      if (mine != type || names.size() > 70) flush();
      type = mine;
      absl::StrAppend(&names, names.empty() ? "" : ", ", p.name);
    }
    flush();
    return;
  }
  const std::string name = Cat("tile", num_tiles_++);
  memory_names_[u] = name;
  const Scalar s = t.scalar() == Scalar::kF16 && !target_.fp16 ? Scalar::kU16 : t.scalar();
  const int64_t align = u->words().size() > 1 ? u->word(1) : 0;
  // The array is accessed by vectors. If the target requires alignment, it is aligned for the
  // widest vector; otherwise to cache lines, since a vector that crosses a line takes two accesses.
  const bool lines = target_.unaligned_access && t.size() * ByteSize(s) >= target_.cache_line;
  const int64_t natural = !target_.unaligned_access ? std::min(target_.mem_width, 128)
                          : lines                   ? target_.cache_line
                                                    : 0;
  const int64_t wanted = std::max(align, natural);
  Line(SpacePrefix(t.space()), MemoryType(s), " ", name, "[", t.size(), "]",
       wanted > ByteSize(s) ? Cat(" __attribute__((aligned(", wanted, ")))") : "", ";");
}

absl::Status KernelWriter::WriteSpecial(const UOp* u) {
  const auto which = static_cast<SpecialName>(u->word());
  const bool grid = which <= SpecialName::kGrid2;
  const int dim = static_cast<int>(u->word()) - (grid ? 0 : 3);
  auto size = SizeExpr::From(u->src(0), ctx_);
  if (!size.ok()) return Unsupported(u, std::string(size.status().message()));
  if (grid) {
    result_.groups[dim] = *size;
  } else {
    if (!size->IsConst()) return Unsupported(u, "the size of a work-group has to be a number");
    result_.local[dim] = u->src(0)->word();
  }
  const std::string name = Cat(grid ? "gid" : "lid", dim);
  exprs_[u].text = name;
  Line("const ", ValueType(u->dtype.scalar(), 1), " ", name, " = get_", grid ? "group" : "local",
       "_id(", dim, ");  // < ", Operand(u->src(0), kCompare + 1));
  return absl::OkStatus();
}

bool KernelWriter::ShouldUnroll(const UOp* range) const {
  constexpr int64_t kSteps = 4;
  const auto is_short = [](const UOp* u) {
    return IsConst(u->src(0)) && u->src(0)->word() <= kSteps;
  };
  if (target_.unrolled_instructions == 0 || !is_short(range)) return false;
  const auto max_nodes = static_cast<size_t>(target_.unrolled_instructions / kSteps);
  const auto depends = [&](const UOp* gate) { return llvm::is_contained(PostOrder(gate), range); };
  const std::vector<const UOp*>& order = kernel_.body.linear;
  size_t open = 1, nodes = 0;
  bool decides = false, all_short = true;
  for (auto at = static_cast<size_t>(position_) + 1; open > 0 && at < order.size(); ++at) {
    const UOp* u = order[at];
    if (++nodes > max_nodes) return false;
    if (u->op == Op::kRange) {
      ++open;
      all_short &= is_short(u);
    } else if (u->op == Op::kEnd) {
      open -= std::min(open, u->num_srcs - size_t{1});
    } else if (u->op == Op::kLoad && u->src(0)->op == Op::kIndex && u->src(0)->num_srcs > 2) {
      decides = decides || depends(u->src(0)->src(2));
    }
  }
  return decides || all_short;
}

void KernelWriter::WriteRange(const UOp* u) {
  const std::string name = Cat("i", num_ranges_++);
  exprs_[u].text = name;
  if (ShouldUnroll(u)) Line("#pragma unroll");
  Line("for (", ValueType(u->dtype.scalar(), 1), " ", name, " = 0; ", name, " < ",
       Operand(u->src(0), kCompare + 1), "; ", name, "++) {");
  ++indent_;
}

std::string KernelWriter::TypeOf(const UOp* u, const Expr& e) const {
  return IsMask(u) ? MaskType(e.mask_bits, u->dtype.lanes())
                   : Type(u->dtype.scalar(), u->dtype.lanes());
}

std::string KernelWriter::Type(Scalar s, int lanes) const { return ValueType(Shown(s), lanes); }

void KernelWriter::Name(const UOp* u, Expr& e) {
  if (plan_.uses(u) == 0) return;
  const int number = num_values_++;
  Line("const ", TypeOf(u, e), " v", number, " = ", e.text, ";");
  e.text.clear();
  Append(e.text, "v", number);
  e.precedence = kPrimary;
  e.promoted = false;
  e.others = nullptr;
}

void KernelWriter::Keep(const UOp* u, Expr& e) {
  // Selecting one lane of a name, or renaming it, costs no work.
  if ((u->op == Op::kGep && u->dtype.lanes() == 1 && e.text.size() < 8) || u->op == Op::kNoop) {
    return;
  }
  if (plan_.uses(u) == 1) {
    const int user = plan_.user(u);
    // A stored value may be longer because the store has a line to itself.
    const bool stored = kernel_.body.linear[user]->op == Op::kStore;
    // An expression is not inlined into a deeper loop, which would recompute it in every iteration.
    if (e.text.size() <= (stored ? kMaxStored : kMaxInline) &&
        plan_.depth(user) <= plan_.depth(position_)) {
      return;
    }
  }
  Name(u, e);
}

void KernelWriter::EndLine(size_t begin) {
  size_t indent = static_cast<size_t>(indent_) * 2;
  if (body_.size() - begin > kMaxLine) {
    // A line that is too long is broken at a blank outside of strings; any such blank is valid in
    // C.
    const std::string line(body_.view().substr(begin + indent));
    std::string_view text = line;
    body_.Shrink(begin);
    while (indent + text.size() > kMaxLine) {
      size_t at = 0;
      bool quoted = false;
      for (size_t i = 0; i < text.size() && (i <= kMaxLine - indent || at == 0); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == ' ' && !quoted && i > 20) at = i;
      }
      if (at == 0 || text.substr(0, at).find("//") != std::string_view::npos) break;
      body_.Fill(indent, ' ');
      Append(body_, text.substr(0, at), "\n");
      text.remove_prefix(at + 1);
      indent = static_cast<size_t>(indent_) * 2 + 4;
    }
    body_.Fill(indent, ' ');
    body_.Add(text);
  }
  body_.Add('\n');
}

}  // namespace tg::opencl
