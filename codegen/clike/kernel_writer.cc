#include "codegen/clike/kernel_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/unroll.h"
#include "codegen/renderer.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::clike {
namespace {

// An expression longer than this gets a name even if it has a single use.
constexpr size_t kMaxInline = 56, kMaxStored = 80;

}  // namespace

KernelWriter::KernelWriter(const Language& language, const Module& module, const Kernel& kernel,
                           const KernelCalls& calls, const passes::Target& target)
    : language_(language),
      kernel_(kernel),
      calls_(calls),
      target_(target),
      ctx_(*kernel.body.context),
      plan_(kernel),
      outlined_(language.calls_outlined ? FindOutlined(kernel, target) : decltype(outlined_)()),
      read_ahead_(language.reads_ahead ? FindReadAhead(kernel, target) : decltype(read_ahead_)()),
      bounds_(*kernel.body.context, &module),
      no_contract_(module.flags.has(ModuleFlag::kNoContract)),
      no_nan_(module.flags.has(ModuleFlag::kNoNan)),
      exprs_(kernel.body.context->num_nodes(), kernel.body.linear.size()) {}

absl::Status KernelWriter::Unsupported(const UOp* u, std::string_view why) const {
  return codegen::CannotRender(language_.name, kernel_, u, why);
}

absl::StatusOr<codegen::RenderedKernel> KernelWriter::WriteFunction() {
  result_.name = FunctionName(kernel_.name);
  if (absl::Status s = CollectParams(); !s.ok()) return s;
  body_.Reserve(16 * kernel_.body.linear.size());  // an estimate of the final size
  const auto is_first = [&](const UOp* u) { return u->op == Op::kScratch && IsDeclaredFirst(u); };
  for (const UOp* u : kernel_.body.linear) {
    if (is_first(u)) WriteScratch(u);
  }
  const std::vector<const UOp*>& order = kernel_.body.linear;
  for (size_t p = 0; p < order.size(); ++p) {
    if (is_first(order[p])) continue;
    position_ = static_cast<int>(p);
    if (absl::Status s = Write(order[p]); !s.ok()) return s;
  }
  if (absl::Status s = LeaveFunction(); !s.ok()) return s;
  if (indent_ != 1) return Unsupported(kernel_.body.root, "a loop or if is not closed");
  result_.body = Cat(Comment(), Signature(), head_, body_, "}\n");
  return std::move(result_);
}

absl::Status KernelWriter::CheckType(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  if (s == Scalar::kVoid) return absl::OkStatus();
  const int n = u->dtype.lanes();
  if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
    return Unsupported(u, Cat(language_.title, "'s vectors have 2, 4, 8 or 16 lanes"));
  }
  if (passes::ComputesIn(target_, s)) {
    computed_ = u->dtype;
  } else {
    // Values that are only moved from load to store are handled as bits.
    const bool moves = !IsElementwise(u->op) || u->op == Op::kWhere || u->op == Op::kBitcast;
    const bool converts = u->op == Op::kCast && target_.inline_ptx;  // SpecialCast
    if ((!moves && !converts) || !IsFloat(s) || BitWidth(s) > 16) {
      return Unsupported(
          u, Cat(target_.name, " does not compute in ", std::string(GetScalarInfo(s).text)));
    }
  }
  UsesType(Shown(s), n);
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
      for (size_t i = 1; i < u->num_srcs; ++i) CloseBlock(u, i);
      return absl::OkStatus();
    case Op::kIf:
      WriteIfHead(u);
      ++indent_;
      ifs_.push_back(u->src(0));
      return absl::OkStatus();
    case Op::kEndIf:
      ifs_.pop_back();
      CloseBlock(u, 1);
      return absl::OkStatus();
    case Op::kBarrier:
      WriteBarrier(u);
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
    case Op::kTransposeItems:
    case Op::kWmma:
    case Op::kWgmma:
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

absl::Status KernelWriter::WriteCooperation(const UOp* u) {
  return Unsupported(u, Cat(target_.name, " has no instruction for it"));
}

void KernelWriter::DeclareVariables(const std::string& type, std::span<const Piece* const> pieces) {
  std::string names;
  for (const Piece* p : pieces) absl::StrAppend(&names, names.empty() ? "" : ", ", p->name);
  Line(type, " ", names, ";");
}

void KernelWriter::WriteIfHead(const UOp* u) { Line("if (", Operand(u->src(0), kTernary), ") {"); }

void KernelWriter::CloseBlock(const UOp*, size_t) {
  --indent_;
  Line("}");
}

void KernelWriter::WriteScratch(const UOp* u) {
  if (u->dtype.space() != AddrSpace::kReg || plan_.PiecesOf(u).empty()) {
    memory_names_[u] = DeclareArray(u, Cat("tile", num_tiles_++));
    return;
  }
  // Variables of one type share a line.
  constexpr size_t kMaxNames = 70;
  std::vector<const Piece*> pieces;
  std::string type;
  size_t length = 0;
  const auto flush = [&] {
    if (!pieces.empty()) DeclareVariables(type, pieces);
    pieces.clear();
    length = 0;
  };
  for (const Piece& p : plan_.PiecesOf(u)) {
    if (!p.declare) continue;
    const std::string mine =
        p.scalar == Scalar::kBool && p.lanes > 1 ? MaskType(32, p.lanes) : Type(p.scalar, p.lanes);
    if (mine != type || length > kMaxNames) flush();
    type = mine;
    length += (pieces.empty() ? 0 : 2) + p.name.size();
    pieces.push_back(&p);
  }
  flush();
}

absl::Status KernelWriter::WriteSpecial(const UOp* u) {
  const auto which = static_cast<SpecialName>(u->word());
  const bool grid = which <= SpecialName::kGrid2;
  const int dim = static_cast<int>(u->word()) - (grid ? 0 : 3);
  auto size = codegen::SizeExpr::From(u->src(0), ctx_);
  if (!size.ok()) return Unsupported(u, std::string(size.status().message()));
  if (grid) {
    result_.groups[dim] = *size;
  } else {
    if (!size->IsConst()) return Unsupported(u, "the size of a work-group has to be a number");
    result_.local[dim] = u->src(0)->word();
  }
  const std::string name = Cat(grid ? "gid" : "lid", dim);
  exprs_[u].text = name;
  DeclareSpecial(u, name, grid, dim);
  return absl::OkStatus();
}

void KernelWriter::WriteRange(const UOp* u) {
  const std::string name = Cat("i", num_ranges_++);
  exprs_[u].text = name;
  WriteLoopHead(u, name, ShouldUnroll(kernel_, static_cast<size_t>(position_), target_));
  ++indent_;
}

void KernelWriter::WriteLoopHead(const UOp* u, const std::string& name, bool unroll) {
  if (unroll) Line("#pragma unroll");
  Line("for (", ValueType(u->dtype.scalar(), 1), " ", name, " = 0; ", name, " < ",
       Operand(u->src(0), kCompare + 1), "; ", name, "++) {");
}

std::string KernelWriter::TypeOf(const UOp* u, const Expr& e) const {
  return IsMask(u) ? MaskType(e.mask_bits, u->dtype.lanes())
                   : Type(u->dtype.scalar(), u->dtype.lanes());
}

Text KernelWriter::DeclareValue(const UOp*, const std::string& type, const Text& text) {
  Text name;
  Append(name, "v", num_values_++);
  Line("const ", type, " ", name, " = ", text, ";");
  return name;
}

void KernelWriter::Name(const UOp* u, Expr& e) {
  if (plan_.uses(u) == 0) return;
  e.text = DeclareValue(u, TypeOf(u, e), e.text);
  e.precedence = kPrimary;
  e.promoted = false;
  e.others = nullptr;
}

void KernelWriter::Keep(const UOp* u, Expr& e) {
  // Selecting one lane of a name, or renaming it, costs no work.
  if ((u->op == Op::kGep && u->dtype.lanes() == 1 && e.text.size() < 8) || u->op == Op::kNoop ||
      IsRenaming(u)) {
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

}  // namespace tg::clike
