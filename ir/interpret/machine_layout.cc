// What is fixed before a kernel runs: its grid, its memory and the place of every value.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/interpret/machine.h"
#include "ir/op_groups.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

// Limits on the values of a batch, in words. A batch has several groups while these fit into
// kBatchWords. A single group may take more, up to kMaxWords.
constexpr size_t kBatchWords = size_t{1} << 24;
constexpr size_t kMaxWords = size_t{1} << 31;

bool IsLeafWithConstantValue(Op op) {
  return op == Op::kConst || op == Op::kVConst || op == Op::kVar;
}

}  // namespace

// The value of a small expression over constants and variables.
bool Machine::HostValue(const UOp* root, int64_t* value) {
  NodeMap<int64_t> values;
  for (const UOp* u : PostOrder(root)) {
    if (u->op == Op::kConst) {
      values[u] = u->word();
    } else if (u->op == Op::kVar) {
      const auto it = vars_.find(body_.context->String(static_cast<StringId>(u->word())));
      if (it == vars_.end()) return Fail(u, "the variable has no value");
      values[u] = it->second;
    } else if (u->op == Op::kCast) {
      values[u] = CastBits(u->src(0)->dtype.scalar(), u->dtype.scalar(), values[u->src(0)]);
    } else if (IsAlu(u->op) && u->num_srcs <= 3) {
      int64_t in[3];
      for (size_t i = 0; i < u->num_srcs; ++i) in[i] = values[u->src(i)];
      const auto r = EvalAlu(u->op, u->src(u->op == Op::kWhere ? 1 : 0)->dtype.scalar(),
                             std::span<const int64_t>(in, u->num_srcs));
      if (!r) return Fail(u, "index overflow");
      values[u] = *r;
    } else {
      return Fail(root, "a work-item's coordinate needs a size that is known at launch");
    }
  }
  *value = values[root];
  return true;
}

bool Machine::MeasureGrid() {
  for (const UOp* u : nodes_) {
    if (u->op != Op::kSpecial) continue;
    const auto which = static_cast<size_t>(u->word());
    int64_t size = 0;
    if (!HostValue(u->src(0), &size)) return false;
    if (size < 0) return Fail(u, "negative size");
    if (special_used_[which] && special_size_[which] != size) {
      return Fail(
          u, absl::StrCat("has size ", size, " here and ", special_size_[which], " elsewhere"));
    }
    special_used_[which] = true;
    special_size_[which] = size;
  }
  group_ = special_size_[3] * special_size_[4] * special_size_[5];
  return true;
}

bool Machine::AddMemory(const UOp* u) {
  auto m = std::make_unique<Memory>();
  m->node = u;
  m->element = u->dtype.scalar();
  m->flags = options_.flags;
  m->size = u->dtype.size();
  if (u->op == Op::kDefineGlobal) {
    const auto slot = static_cast<uint64_t>(u->word());
    if (slot >= args_.size()) return Fail(u, absl::StrCat("there is no argument ", slot));
    const KernelArg& arg = args_[slot];
    const auto available = static_cast<int64_t>(arg.buffer->data.size()) - arg.offset;
    const int64_t given = arg.size < 0 ? available : arg.size;
    if (u->dtype.size() == DType::kUnknownSize) m->size = given;
    if (arg.is_symbolic) m->size = std::min(m->size, given);
    if (m->size > given || given > available) {
      return Fail(u, absl::StrCat("argument ", slot, " has ", given, " elements, needs ", m->size));
    }
    if (arg.buffer->dtype.scalar() != m->element) {
      return Fail(u, absl::StrCat("argument ", slot, " holds ", arg.buffer->dtype.ToString()));
    }
    m->image = u->dtype.is_image();
    if (m->image) {
      m->width = u->dtype.width();
      m->height = u->dtype.height();
    }
    m->buffer = arg.buffer;
    m->offset = arg.offset;
    const std::vector<bool> stored = StoredSlots(kernel_, args_.size());
    for (size_t i = 0; i < args_.size(); ++i) {
      m->mutated |= stored[i] && args_[i].buffer == arg.buffer;
    }
    if (m->mutated && options_.check_races) {
      for (const auto& other : memories_) {
        if (other->buffer == m->buffer) m->races = other->races;
      }
      if (!m->races) m->races = std::make_shared<RaceDetector>(arg.buffer->data.size());
    }
  } else {
    m->space = u->dtype.space();
    if (m->space == AddrSpace::kGlobal) return Fail(u, "scratch cannot be global");
    if (m->size < 0) return Fail(u, "scratch needs a size");
    m->mutated = true;
  }
  memories_.push_back(std::move(m));
  memory_of_[u] = static_cast<int>(memories_.size());
  return true;
}

// Checks what the ops rely on, and what the verifier has checked if the program went through it:
// sources are values, with as many lanes as the op takes.
bool Machine::CheckSources(const UOp* u) {
  const auto value = [&](size_t i, int lanes) {
    const UOp* s = u->src(i);
    if (!layout_[s].has_value || s->dtype.is_memory()) {
      return Fail(u, absl::StrCat("source ", i, " has no value"));
    }
    if (lanes != 0 && s->dtype.lanes() != lanes) {
      return Fail(u, absl::StrCat("source ", i, " has ", s->dtype.lanes(), " lanes, not ", lanes));
    }
    return true;
  };
  const int own = u->dtype.lanes();
  if (IsElementwise(u->op)) {
    if (u->num_srcs > 3) return Fail(u, "has too many sources");
    for (size_t i = 0; i < u->num_srcs; ++i) {
      if (!value(i, own)) return false;
    }
    return true;
  }
  const auto all = [&] {
    for (size_t i = 0; i < u->num_srcs; ++i) {
      if (!value(i, 0)) return false;
    }
    return true;
  };
  switch (tg::GroupOf(u->op)) {
    case OpGroup::kLeaf:
      if (u->op == Op::kVConst) {
        return static_cast<int>(u->list().size()) == own || Fail(u, "has another number of lanes");
      }
      return u->num_srcs == 0 || value(0, 1);
    case OpGroup::kLanes:
      switch (tg::LaneOp(u->op)) {
        case tg::LaneOp::kSplat:
          return value(0, 1);
        case tg::LaneOp::kContract:
        case tg::LaneOp::kGep:
          return value(0, 0);
        case tg::LaneOp::kExtract:
          return value(0, 0) && value(1, 1);
        case tg::LaneOp::kVectorize:
        case tg::LaneOp::kCat:
          return all();
      }
      TG_UNREACHABLE();
    case OpGroup::kReduce:
      return value(0, u->op == Op::kGroupReduce ? own : 0);
    case OpGroup::kMemory:
      switch (MemoryOp(u->op)) {
        case MemoryOp::kIndex:
          return value(1, 0) && (u->num_srcs < 3 || value(2, 0));
        case MemoryOp::kLoad:
          return u->num_srcs < 2 || value(1, own);
        case MemoryOp::kStore:
          return value(1, 0);
        case MemoryOp::kCopyAsync:
        case MemoryOp::kCopyTransposed:
        case MemoryOp::kStage:
          return true;
      }
      TG_UNREACHABLE();
    case OpGroup::kSubgroup:
      switch (SubgroupOp(u->op)) {
        case SubgroupOp::kShuffle:
          return value(0, own) && value(1, 1);
        case SubgroupOp::kTransposeItems:
          return value(0, own);
        case SubgroupOp::kWmma:
          return all();
        case SubgroupOp::kWgmma:
        case SubgroupOp::kLdMatrix:
          return true;
      }
      TG_UNREACHABLE();
    case OpGroup::kOrder:
      if (u->op == Op::kIf) return value(0, 1);
      // A noop without a value joins tokens; another one has the value of its source.
      return u->op != Op::kNoop || u->dtype.is_void() || (u->num_srcs > 0 && value(0, own));
    case OpGroup::kArithmetic:
    case OpGroup::kConversion:
    case OpGroup::kIdentity:
    case OpGroup::kMovement:
    case OpGroup::kTensor:
      return true;
  }
  TG_UNREACHABLE();
}

bool Machine::LayOutNode(const UOp* u) {
  if (!CheckSources(u)) return false;
  Layout& l = layout_[u];
  l.lanes = u->dtype.lanes();
  // One address with a gate for each element is that of each of them.
  if (u->op == Op::kIndex && u->num_srcs > 2 && l.lanes == 1) l.lanes = u->src(2)->dtype.lanes();
  const bool drops_axes = u->op == Op::kBarrier || u->op == Op::kEnd || u->op == Op::kSink ||
                          u->op == Op::kCommit || u->op == Op::kWait;
  const auto add_axis = [&](UnrollAxis axis) {
    const auto less = [](const UnrollAxis& a, const UnrollAxis& b) { return a.axis < b.axis; };
    const auto at = std::lower_bound(l.axes.begin(), l.axes.end(), axis, less);
    if (at == l.axes.end() || at->axis != axis.axis) l.axes.insert(at, axis);
  };
  if (u->op == Op::kUnroll) {
    add_axis({u->word(0), u->word(1)});
    const auto [it, is_new] = axis_size_.try_emplace(u->word(0), u->word(1));
    if (!is_new && it->second != u->word(1)) return Fail(u, "its axis has another size elsewhere");
    if (u->word(1) < 1) return Fail(u, "needs a positive size");
  }
  if (!drops_axes) {
    // The tokens of an `after` and the ranges of a reduce do not give the result their axes.
    const bool first_only =
        u->op == Op::kAfter || u->op == Op::kReduce || u->op == Op::kGroupReduce;
    const size_t n = first_only ? std::min<size_t>(1, u->num_srcs) : u->num_srcs;
    for (size_t i = 0; i < n; ++i) {
      if (u->src(i)->dtype.is_void()) continue;
      for (const UnrollAxis& axis : layout_[u->src(i)].axes) add_axis(axis);
    }
  }
  Axes with_contracted = l.axes;
  if (u->op == Op::kContract) {
    for (int64_t axis : u->list()) {
      std::erase_if(l.axes, [&](const UnrollAxis& a) { return a.axis == axis; });
    }
  }
  int64_t points = 1;
  for (const UnrollAxis& a : with_contracted) {
    points *= a.size;
    if (points > (1 << 20)) return Fail(u, "is unrolled too widely");
  }
  l.points = 1;
  for (const UnrollAxis& a : l.axes) l.points *= static_cast<int>(a.size);

  if (u->dtype.is_memory() && u->op != Op::kIndex) {
    const UOp* memory = MemoryOf(u);
    if (memory_of_[memory] == 0) return Fail(u, "is not an address of any memory");
    l.memory = memory_of_[memory] - 1;
  }
  if (u->op == Op::kIndex) {
    const UOp* memory = MemoryOf(u);
    if (memory_of_[memory] == 0) return Fail(u, "is not an address of any memory");
    l.memory = memory_of_[memory] - 1;
    l.has_value = true;
  }
  l.has_value |= u->dtype.is_value() && !u->dtype.is_void();
  // An `after` of an address is that address.
  if (u->op == Op::kAfter) l.has_value = layout_[u->src(0)].has_value;
  if (l.has_value) {
    l.place = words_;
    words_ += static_cast<size_t>(l.points) * static_cast<size_t>(l.lanes);
  }
  // How to bring sources to the points of this node (of a contract: to all points it reads).
  if (u->op == Op::kContract) return true;
  l.source_points.resize(u->num_srcs);
  for (size_t i = 0; i < u->num_srcs; ++i) {
    const Layout& s = layout_[u->src(i)];
    if (!s.has_value || s.axes == l.axes || drops_axes) continue;
    std::vector<int>& map = l.source_points[i];
    for (int p = 0; p < l.points; ++p) {
      int rest = p, at = 0, stride = 1;
      for (size_t k = l.axes.size(); k-- > 0;) {
        const int size = static_cast<int>(l.axes[k].size);
        if (std::find(s.axes.begin(), s.axes.end(), l.axes[k]) != s.axes.end()) {
          at += rest % size * stride;
          stride *= size;
        }
        rest /= size;
      }
      map.push_back(at);
    }
  }
  return true;
}

bool Machine::LayOut() {
  size_t scratch_per_item = 0;
  for (const UOp* u : nodes_) {
    if ((u->op == Op::kDefineGlobal || u->op == Op::kScratch) && !AddMemory(u)) return false;
    if (!LayOutNode(u)) return false;
    if (u->op == Op::kReduce) {
      accumulators_.emplace_back();
      accumulators_of_[u] = static_cast<int>(accumulators_.size());
    }
  }
  for (const auto& m : memories_) {
    if (m->buffer) continue;
    const int64_t shared_by = m->space == AddrSpace::kLocal ? std::max<int64_t>(1, group_) : 1;
    scratch_per_item += static_cast<size_t>((m->size + shared_by - 1) / shared_by);
  }
  const size_t per_item = words_ + scratch_per_item + 1;
  const auto group = static_cast<size_t>(std::max<int64_t>(1, group_));
  if (per_item * group > kMaxWords) {
    return Fail(nodes_.back(), "a work-group needs too much memory to be interpreted");
  }
  const size_t wanted = static_cast<size_t>(std::max<int64_t>(1, options_.max_items)) / group;
  const size_t groups = std::max<size_t>(1, std::min(wanted, kBatchWords / (per_item * group)));
  const int64_t all = special_size_[0] * special_size_[1] * special_size_[2];
  capacity_ = group * std::min(groups, static_cast<size_t>(std::max<int64_t>(1, all)));
  slab_.assign(words_ * capacity_, 0);
  active_.assign(capacity_, 1);
  for (const auto& m : memories_) {
    if (m->buffer) continue;
    const size_t instances = m->space == AddrSpace::kLocal ? capacity_ / group : capacity_;
    m->own_data.assign(instances * static_cast<size_t>(m->size), 0);
    m->own_defined.assign(m->own_data.size(), 0);
  }
  return true;
}

bool Machine::Prepare() {
  const bool linear = kernel_.stage == Stage::kLinear;
  auto steps = linear ? StepsOfLinear(body_) : ScheduleGraph(body_);
  if (!steps.ok()) {
    status_ = absl::Status(steps.status().code(),
                           absl::StrCat("kernel @", kernel_.name, ", ", steps.status().message()));
    return false;
  }
  steps_ = *std::move(steps);
  nodes_ = linear ? body_.linear : PostOrder(body_.root);
  if (!MeasureGrid()) return false;
  if (!LayOut()) return false;
  // Constants have the same values in all batches, so they are stored once, and their steps do
  // nothing.
  items_ = capacity_;
  for (const UOp* u : nodes_) {
    if (!IsLeafWithConstantValue(u->op)) continue;
    int64_t* out = Out(u);
    const size_t lanes = static_cast<size_t>(u->dtype.lanes());
    int64_t value = 0;
    if (u->op == Op::kVar && !HostValue(u, &value)) return false;
    if (u->op == Op::kConst) value = u->word();
    for (size_t i = 0; i < items_; ++i) {
      for (size_t k = 0; k < lanes; ++k) {
        out[i * lanes + k] = u->op == Op::kVConst ? u->list()[k] : value;
      }
    }
  }
  std::vector<size_t> moved(steps_.size() + 1);
  Steps remaining;
  for (size_t i = 0; i < steps_.size(); ++i) {
    moved[i] = remaining.size();
    const Op op = steps_[i].node->op;
    const bool drop = steps_[i].kind == StepKind::kEval &&
                      (IsLeafWithConstantValue(op) || op == Op::kSpecial || op == Op::kEnd ||
                       op == Op::kDefineGlobal || op == Op::kScratch || op == Op::kSink ||
                       (op == Op::kAfter && !layout_[steps_[i].node].has_value) ||
                       (op == Op::kNoop && !layout_[steps_[i].node].has_value));
    if (!drop) remaining.push_back(steps_[i]);
  }
  moved[steps_.size()] = remaining.size();
  for (Step& s : remaining) s.jump = moved[s.jump];
  steps_ = std::move(remaining);
  return true;
}

}  // namespace tg::interpret
