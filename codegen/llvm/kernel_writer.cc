#include "codegen/llvm/kernel_writer.h"

#include <utility>

#include "base/check.h"
#include "codegen/clike/read_ahead.h"
#include "codegen/clike/unroll.h"

namespace tg::llvm_ir {

KernelWriter::KernelWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
                           const passes::Target& target)
    : module_(module),
      kernel_(kernel),
      calls_(calls),
      target_(target),
      ctx_(*kernel.body.context),
      regions_(kernel),
      bounds_(*kernel.body.context, &module),
      read_ahead_(clike::FindReadAhead(kernel, target)),
      no_contract_(module.flags.has(ModuleFlag::kNoContract)),
      no_nan_(module.flags.has(ModuleFlag::kNoNan)),
      values_(kernel.body.context->num_nodes()),
      regions_of_values_(kernel.body.context->num_nodes(), Regions::kOutside) {}

absl::Status KernelWriter::Unsupported(const UOp* u, std::string_view why) const {
  return codegen::CannotRender(kRendererName, kernel_, u, why);
}

absl::StatusOr<WrittenKernel> KernelWriter::Run() {
  if (absl::Status s = CollectParams(); !s.ok()) return s;
  const std::vector<const UOp*>& order = kernel_.body.linear;
  body_.reserve(64 * order.size());
  for (position_ = 0; position_ < order.size(); ++position_) {
    if (absl::Status s = Write(order[position_]); !s.ok()) return s;
  }
  CloseItems();
  if (!blocks_.empty()) return Unsupported(kernel_.body.root, "a loop or if is not closed");
  Line("ret void");
  result_.launch.body = Functions();
  result_.launch.source = ModuleText(std::span(&result_, 1), target_);
  return std::move(result_);
}

absl::Status KernelWriter::CheckType(const UOp* u) const {
  const Scalar s = u->dtype.scalar();
  if (s == Scalar::kVoid || passes::ComputesIn(target_, s)) return absl::OkStatus();
  // Values that are only moved from load to store are handled as bits.
  const bool moves = !IsElementwise(u->op) || u->op == Op::kWhere || u->op == Op::kBitcast;
  if (moves && IsFloat(s) && BitWidth(s) <= 16) return absl::OkStatus();
  return Unsupported(
      u, absl::StrCat(target_.name, " does not compute in ", std::string(GetScalarInfo(s).text)));
}

absl::Status KernelWriter::Write(const UOp* u) {
  if (u->dtype.is_value()) {
    if (absl::Status s = CheckType(u); !s.ok()) return s;
  }
  const bool outside = regions_.of(position_) == Regions::kOutside;
  switch (u->op) {
    case Op::kConst:
    case Op::kVConst:
    case Op::kVar:
    case Op::kDefineGlobal:
    case Op::kAfter:
    case Op::kIndex:
    case Op::kSink:
      return absl::OkStatus();
    case Op::kSpecial:
      return WriteSpecial(u);
    case Op::kBarrier:
      CloseItems();
      return absl::OkStatus();
    case Op::kScratch:
      WriteScratch(u);
      return absl::OkStatus();
    case Op::kEnd:
      for (size_t i = 1; i < u->num_srcs && !blocks_.empty(); ++i) CloseBlock();
      return absl::OkStatus();
    case Op::kEndIf:
      CloseBlock();
      return absl::OkStatus();
    default:
      break;
  }
  // Everything else is computed for each work-item, but blocks around a barrier.
  if (outside) {
    CloseItems();
  } else if (!in_items_) {
    region_ = regions_.of(position_);
    OpenItems();
  }
  switch (u->op) {
    case Op::kRange:
      WriteRange(u, outside);
      return absl::OkStatus();
    case Op::kIf:
      WriteIf(u, outside);
      return absl::OkStatus();
    case Op::kNoop:
      return u->dtype.is_void() ? absl::OkStatus() : WriteValue(u);
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
      return Unsupported(u, absl::StrCat(target_.name, " has no instruction for it"));
    default:
      if (IsElementwise(u->op) || u->op == Op::kGep || u->op == Op::kSplat ||
          u->op == Op::kVectorize || u->op == Op::kCat) {
        return WriteValue(u);
      }
      return Unsupported(u, "it has no place in a linear kernel");
  }
}

absl::Status KernelWriter::WriteSpecial(const UOp* u) {
  const auto which = static_cast<SpecialName>(u->word());
  const bool grid = which <= SpecialName::kGrid2;
  const auto dim = static_cast<size_t>(u->word()) - (grid ? 0u : 3u);
  auto size = codegen::SizeExpr::From(u->src(0), ctx_);
  if (!size.ok()) return Unsupported(u, std::string(size.status().message()));
  if (grid) {
    result_.launch.groups[dim] = *size;
    return absl::OkStatus();
  }
  if (!size->IsConst()) return Unsupported(u, "the size of a work-group has to be a number");
  result_.launch.local[dim] = u->src(0)->word();
  return absl::OkStatus();
}

// ---- Loops

// Leaves the text behind the phi of the counter. The loop is entered at least once, unless it may
// be empty.
void KernelWriter::OpenLoop(Block& block, std::string_view type, bool may_be_empty) {
  const absl::string_view t(type.data(), type.size());
  block.is_loop = true;
  block.body = NewLabel();
  block.exit = NewLabel();
  if (may_be_empty) {
    const std::string enters = Emit("icmp slt ", t, " 0, ", block.end);
    Line("br i1 ", enters, ", label %", block.body, ", label %", block.exit);
  } else {
    Line("br label %", block.body);
  }
  const std::string before = label_;
  Begin(block.body);
  block.counter = absl::StrCat("%t", next_++);
  block.step = absl::StrCat("%t", next_++);
  absl::StrAppend(&body_, "  ", block.counter, " = phi ", t, " [0, %", before, "], [", block.step,
                  ", %");
  block.phi = body_.size();
  body_ += "]\n";
}

void KernelWriter::CloseLoop(const Block& block, std::string_view type) {
  const absl::string_view t(type.data(), type.size());
  const std::string latch = label_;
  Line(block.step, " = add nuw nsw ", t, " ", block.counter, ", 1");
  const std::string again = Emit("icmp slt ", t, " ", block.step, ", ", block.end);
  Line("br i1 ", again, ", label %", block.body, ", label %", block.exit,
       block.unroll ? ", !llvm.loop !0" : "");
  result_.unrolls |= block.unroll;
  // Inner loops are closed before, so that no later phi moves.
  body_.insert(block.phi, latch);
  Begin(block.exit);
}

void KernelWriter::WriteRange(const UOp* u, bool outside) {
  Block block;
  block.outside = outside;
  block.range = u;
  block.end = Of(u->src(0));
  block.unroll = clike::ShouldUnroll(kernel_, position_, target_);
  OpenLoop(block, ValueType(u->dtype), bounds_.Min(u->src(0)) < 1);
  values_[u->id] = block.counter;
  regions_of_values_[u->id] = outside ? Regions::kOutside : region_;
  blocks_.push_back(std::move(block));
}

void KernelWriter::WriteIf(const UOp* u, bool outside) {
  Block block;
  block.outside = outside;
  block.gate = u->src(0);
  block.body = NewLabel();
  block.exit = NewLabel();
  Line("br i1 ", Of(u->src(0)), ", label %", block.body, ", label %", block.exit);
  Begin(block.body);
  blocks_.push_back(std::move(block));
}

void KernelWriter::CloseBlock() {
  const Block block = std::move(blocks_.back());
  blocks_.pop_back();
  if (block.outside) CloseItems();
  if (block.is_loop) {
    CloseLoop(block, ValueType(block.range->dtype));
  } else {
    Line("br label %", block.exit);
    Begin(block.exit);
  }
}

// ---- Loops over work-items

void KernelWriter::OpenItems() {
  in_items_ = true;
  if (regions_.items() == 1) return;
  item_ = "0";
  for (size_t d = 3; d-- > 0;) {
    const UOp* axis = locals_[d];
    if (axis == nullptr || axis->src(0)->word() == 1) continue;
    Block loop;
    loop.end = absl::StrCat(axis->src(0)->word());
    OpenLoop(loop, "i64", /*may_be_empty=*/false);
    const std::string outer = Emit("mul i64 ", item_, ", ", loop.end);
    item_ = Emit("add i64 ", outer, ", ", loop.counter);
    values_[axis->id] = axis->dtype == kI64
                            ? loop.counter
                            : Emit("trunc i64 ", loop.counter, " to ", ValueType(axis->dtype));
    items_.push_back(std::move(loop));
  }
}

void KernelWriter::CloseItems() {
  if (!in_items_) return;
  in_items_ = false;
  while (!items_.empty()) {
    CloseLoop(items_.back(), "i64");
    items_.pop_back();
  }
  item_ = "0";
  for (const UOp* axis : locals_) {
    if (axis != nullptr) values_[axis->id] = "0";
  }
}

// ---- Values

bool KernelWriter::IsReadable(const UOp* u) const {
  const int home = regions_of_values_[u->id];
  return regions_.is_retained(u) || home == Regions::kOutside || home == region_;
}

std::string KernelWriter::Of(const UOp* u) {
  if (IsConst(u) || u->op == Op::kVConst) return ConstantText(u);
  const int home = regions_of_values_[u->id];
  if (!regions_.is_retained(u) || home == Regions::kOutside || (in_items_ && home == region_)) {
    TG_CHECK(!values_[u->id].empty());
    return values_[u->id];
  }
  const Retained& retained = retained_[u];
  return Emit("load ", ValueType(u->dtype), ", ptr ",
              ScratchAddress(retained.offset, retained.bytes, /*each_item=*/true));
}

void KernelWriter::Set(const UOp* u, std::string value) {
  values_[u->id] = std::move(value);
  if (in_items_) regions_of_values_[u->id] = region_;
  if (!regions_.is_retained(u)) return;
  Retained& retained = retained_[u];
  if (retained.bytes == 0) {
    // A vector of bools has a bit a lane.
    retained.bytes = std::max<int64_t>(ByteSize(u->dtype.scalar()), 1) * u->dtype.lanes();
    retained.bytes =
        (retained.bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    retained.offset = Reserve(retained.bytes, /*each_item=*/true);
  }
  Line("store ", ValueType(u->dtype), " ", values_[u->id], ", ptr ",
       ScratchAddress(retained.offset, retained.bytes, /*each_item=*/true));
}

std::string KernelWriter::Wide(const UOp* u) {
  if (IsConst(u)) return absl::StrCat(u->word());
  if (BitWidth(u->dtype.scalar()) == 64) return Of(u);
  const bool is_unsigned = IsUnsigned(u->dtype.scalar()) || bounds_.Min(u) >= 0;
  return Emit(is_unsigned ? "zext " : "sext ", Typed(u), " to i64");
}

}  // namespace tg::llvm_ir
