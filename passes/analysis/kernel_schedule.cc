#include "passes/analysis/kernel_schedule.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "ir/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/output_staging.h"

namespace tg {

bool Schedule::FindInPlace() const {
  for (int64_t w : written) {
    if (llvm::is_contained(read, w)) return true;
  }
  for (const UOp* call : calls->Of(kernel)) {
    for (int64_t w : written) {
      if (w >= call->num_srcs) continue;
      const UOp* buffer = BufferOf(call->src(static_cast<size_t>(w)));
      for (int64_t i = 0; i < call->num_srcs; ++i) {
        if (i != w && BufferOf(call->src(static_cast<size_t>(i))) == buffer) return true;
      }
    }
  }
  return false;
}

AxisList Schedule::AxesOf(const UOp* node) const {
  AxisList out;
  for (size_t i = 0; i < axes.size(); ++i) {
    const BaseAxis& own = base[axes[i].base];
    if (own.reduce == node || own.staged == node) out.push_back(i);
  }
  return out;
}

LoopSet Schedule::VariesOf(const UOp* staged) const {
  for (size_t n = 0; n < base.size(); ++n) {
    if (base[n].staged == staged) return varies[n];
  }
  return 0;
}

std::vector<Axis> Schedule::ToAxes() const {
  std::vector<Axis> out;
  for (const ScheduledAxis& a : axes) {
    out.push_back({a.name, a.max_size, a.kind, a.size.is_symbolic()});
  }
  return out;
}

int64_t Schedule::GroupSize() const {
  int64_t n = 1;
  for (const ScheduledAxis& a : axes) {
    const bool group = a.kind == AxisKind::kGroup && a.shares.empty();
    if (a.kind == AxisKind::kLocal || group) n = SaturatingMul(n, a.max_size);
  }
  return n;
}

int Schedule::FindAxis(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int64_t Schedule::UpcastSize() const {
  int64_t n = 1;
  for (const ScheduledAxis& a : axes) {
    if (a.kind == AxisKind::kUpcast || a.kind == AxisKind::kVector) {
      n = SaturatingMul(n, a.max_size);
    }
  }
  return n;
}

int64_t Schedule::StagedBytes() const {
  std::map<const UOp*, int64_t> bytes;
  for (const BaseAxis& b : base) {
    if (!b.staged) continue;
    int64_t& own = bytes.try_emplace(b.staged, ByteSize(b.staged->dtype.scalar())).first->second;
    own = SaturatingMul(own, b.max_size);
  }
  int64_t sum = 0;
  for (const auto& [node, own] : bytes) sum = SaturatingAdd(sum, own);
  return sum;
}

int64_t Schedule::LocalBytes() const {
  const auto is_group = [](const ScheduledAxis& a) { return a.kind == AxisKind::kGroup; };
  int64_t sum = PackedBytes(/*in_local_memory=*/true);
  if (llvm::none_of(axes, is_group)) return sum;
  NodeSet seen;
  for (size_t i = 0; i < base.size(); ++i) {
    const UOp* node = base[i].reduce ? base[i].reduce : base[i].staged;
    if (!node || !seen.Insert(node)) continue;
    // Work-items that make a staged value together have one; each has its part of a reduce.
    int64_t copies = GroupSize();
    bool shared = false;
    for (size_t a : AxesOf(node)) {
      if (axes[a].kind != AxisKind::kGroup) continue;
      shared = true;
      if (base[i].staged) copies /= axes[a].max_size;
    }
    if (!shared) continue;
    int64_t bytes = SaturatingMul(copies, ByteSize(node->dtype.scalar()));
    for (size_t k = i; base[i].staged && k < base.size(); ++k) {
      if (base[k].staged == node) bytes = SaturatingMul(bytes, base[k].max_size);
    }
    for (const ScheduledAxis& a : axes) {
      const bool lanes =
          a.kind == AxisKind::kUnroll || a.kind == AxisKind::kUpcast || a.kind == AxisKind::kVector;
      if (lanes && (varies[i] & LoopBit(a.base)) != 0) bytes = SaturatingMul(bytes, a.max_size);
    }
    sum = SaturatingAdd(sum, bytes);
  }
  return sum;
}

bool Schedule::IsInside(size_t axis, size_t at) const {
  switch (axes[axis].kind) {
    case AxisKind::kGlobal:
    case AxisKind::kLocal:
    case AxisKind::kGroup:
      return false;
    default:
      return axis > at;
  }
}

bool Schedule::IsCopied(const PackedValue& value, size_t axis) const {
  if (value.at.empty() || (value.varies & LoopBit(axes[axis].base)) == 0) return false;
  const AxisKind kind = axes[axis].kind;
  if (kind == AxisKind::kLocal || kind == AxisKind::kGroup) return value.is_local;
  return IsInside(axis, static_cast<size_t>(FindAxis(value.at)));
}

namespace {

// Whether the reduce of a base axis is part of no other reduce or staged value.
bool OnlyStoredAxes(const Schedule& schedule, size_t axis) {
  for (size_t i = 0; i < schedule.base.size(); ++i) {
    const bool varies = (schedule.varies[axis] & LoopBit(i)) != 0;
    if (varies && !schedule.base[i].IsStored()) return false;
  }
  return true;
}

}  // namespace

int64_t Schedule::CopyBytes(const PackedValue& value) const {
  if (value.at.empty()) return 0;
  int64_t row = ByteSize(value.node->dtype.scalar());
  // Each reduce that reads the value has a copy, unless one is part of another.
  bool nested = false;
  llvm::SmallVector<std::pair<const UOp*, int64_t>, 4> terms;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!IsCopied(value, i)) continue;
    const UOp* reduce = base[axes[i].base].reduce;
    if (!reduce) {
      row = SaturatingMul(row, axes[i].max_size);
      continue;
    }
    auto of = llvm::find_if(terms, [&](const auto& t) { return t.first == reduce; });
    if (of == terms.end()) of = terms.insert(of, {reduce, 1});
    of->second = SaturatingMul(of->second, axes[i].max_size);
    nested |= !OnlyStoredAxes(*this, axes[i].base);
  }
  if (value.is_local && !terms.empty()) row = SaturatingAdd(row, kRowPadding);
  int64_t rows = terms.empty() || nested ? 1 : 0;
  for (const auto& [reduce, elements] : terms) {
    rows = nested ? SaturatingMul(rows, elements) : SaturatingAdd(rows, elements);
  }
  return SaturatingMul(value.buffers, SaturatingMul(row, rows));
}

int64_t Schedule::PackedBytes(bool in_local_memory) const {
  int64_t sum = 0;
  for (const PackedValue& value : packed) {
    if (value.is_local == in_local_memory) sum = SaturatingAdd(sum, CopyBytes(value));
  }
  return sum;
}

namespace {

// The reduces whose results the store writes where they are, after elementwise ops: each result of
// the reduce is needed for one element only.
void FindStoredReduces(const UOp* store, NodeSet& out) {
  NodeSet seen;
  std::vector<const UOp*> stack = {store->src(1)};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.Insert(u)) continue;
    if (u->op == Op::kReduceAxis) {
      if (u->dtype == store->src(1)->dtype) out.Insert(u);
    } else if ((IsElementwise(u->op) && u->op != Op::kStaged && u->op != Op::kPacked) ||
               u->op == Op::kReshape || u->op == Op::kPermute || u->op == Op::kExpand) {
      stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
    }
  }
}

// Adds the kernel's argument that `pointer` is a place in.
void AddArgument(const UOp* pointer, std::vector<int64_t>& out) {
  while (pointer->num_srcs > 0) pointer = pointer->src(0);
  if (pointer->op != Op::kDefineGlobal || llvm::is_contained(out, pointer->word())) return;
  out.push_back(pointer->word());
}

}  // namespace

absl::StatusOr<Schedule> MakeSchedule(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const Target& target,
                                      ShapeMap& shapes) {
  Schedule schedule;
  const std::vector<const UOp*> order = kernel.body.Order();
  schedule.base = BaseAxes(module, kernel, shapes, order);
  Dependence dependence = FindDependence(order, schedule.base, shapes);
  schedule.varies = std::move(dependence.varies);
  schedule.packed = std::move(dependence.packed);
  schedule.read_once = dependence.read_once;
  schedule.SetCalls(calls, kernel.name);
  for (const UOp* u : order) {
    if (u->op == Op::kLoad) AddArgument(u->src(0), schedule.read);
  }
  for (const UOp* store : kernel.body.root->srcs()) AddArgument(store->src(0), schedule.written);
  schedule.stores = kernel.body.root->num_srcs;
  NodeSet stored;
  if (schedule.stores == 1) FindStoredReduces(kernel.body.root->src(0), stored);
  schedule.axes.reserve(schedule.base.size());
  schedule.digits.reserve(schedule.base.size());
  for (size_t i = 0; i < schedule.base.size(); ++i) {
    const BaseAxis& b = schedule.base[i];
    ScheduledAxis& axis = schedule.axes.emplace_back();
    axis.name = b.name;
    axis.size = b.size;
    axis.max_size = b.max_size;
    axis.kind = KindOf(b);
    axis.base = i;
    schedule.digits.push_back({{i, 1}});
    schedule.padded.push_back(false);
    const bool alone = b.reduce && dependence.read_once[i] && stored.Contains(b.reduce);
    schedule.accumulates.push_back(alone && OnlyStoredAxes(schedule, i));
  }
  schedule.held_by_output = FindOutputStaging(kernel, schedule);
  for (const Directive& directive : kernel.directives) {
    if (absl::Status s = ApplyGivenDirective(schedule, directive, target); !s.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel @", kernel.name, ": ",
                       absl::string_view(s.message().data(), s.message().size())));
    }
  }
  return schedule;
}

}  // namespace tg
