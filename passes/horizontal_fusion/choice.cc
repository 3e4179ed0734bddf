#include "passes/horizontal_fusion/choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "passes/horizontal_fusion/work.h"

namespace tg {
namespace {

// Arguments of a kernel; devices need not take more.
constexpr size_t kMaxOperands = 64;
// And no more members than a word has bits.
constexpr size_t kMaxMembers = 64;
// Least ratio of the saved launch overhead to the work of all members. A core that switches from
// one member's groups to another's loses the contents of its cache, which outweighs less.
constexpr double kGain = 1.0 / 250;
// Limit on the candidates for one launch, among the launches with a common input.
constexpr size_t kMaxCandidates = 64;

bool IsVariable(const UOp* operand) { return operand->op == Op::kVar || operand->op == Op::kBind; }

// `var` or the variable of a `bind`.
const UOp* VariableOf(const UOp* operand) {
  return operand->op == Op::kBind ? operand->src(0) : operand;
}

class Chooser {
 public:
  Chooser(const Module& module, const std::vector<Launches>& launches, const Target& target,
          size_t most)
      : module_(module),
        launches_(launches),
        target_(target),
        most_(std::min(most, kMaxMembers)),
        readers_(module.graphs.size()) {
    facts_.resize(module.kernels.size());
    calls_.resize(module.kernels.size());
    for (size_t k = 0; k < module.kernels.size(); ++k) {
      const Kernel& kernel = *module.kernels[k];
      if (kernel.stage == Stage::kLinear) numbers_[kernel.name] = k;
    }
  }

  std::vector<Fusion> Run() {
    std::vector<size_t> first_met;
    for (size_t g = 0; g < module_.graphs.size(); ++g) {
      const Context& context = *module_.graphs[g]->body.context;
      for (const UOp* u : launches_[g].order()) {
        if (u->op != Op::kKernel) continue;
        const auto found = numbers_.find(context.String(static_cast<StringId>(u->word())));
        if (found == numbers_.end()) continue;
        const size_t k = found->second;
        if (calls_[k].empty()) first_met.push_back(k);
        calls_[k].push_back({g, u});
        for (const UOp* s : u->srcs()) {
          if (!IsVariable(s)) readers_[g][s].push_back({k, u});
        }
      }
    }
    taken_.resize(module_.kernels.size());
    std::vector<Fusion> out;
    for (size_t k : first_met) {
      if (taken_[k]) continue;
      if (std::optional<Fusion> fusion = Around(k)) out.push_back(*std::move(fusion));
    }
    return out;
  }

 private:
  struct Call {
    size_t graph;
    const UOp* node;
  };
  struct Reader {
    size_t kernel;
    const UOp* node;
  };

  // What a look at all of a kernel's instructions says, which few kernels need.
  struct Facts {
    bool known = false;
    std::vector<bool> writes;  // by argument, up to the last that is written
    double seconds = 0;
  };

  const Facts& FactsOf(size_t kernel) {
    Facts& facts = facts_[kernel];
    if (facts.known) return facts;
    facts.known = true;
    facts.seconds = ArithmeticSeconds(*module_.kernels[kernel], target_);
    for (const UOp* u : module_.kernels[kernel]->body.linear) {
      if (!WritesMemory(u->op)) continue;
      const UOp* memory = MemoryOf(u->src(0));
      for (const UOp* a : ArgumentsOf(memory)) {
        const auto slot = static_cast<size_t>(a->word());
        if (slot >= facts.writes.size()) facts.writes.resize(slot + 1);
        facts.writes[slot] = true;
      }
    }
    return facts;
  }

  bool Writes(size_t kernel, size_t slot) {
    const std::vector<bool>& writes = FactsOf(kernel).writes;
    return slot < writes.size() && writes[slot];
  }
  bool Reads(size_t kernel, const UOp* call, size_t slot) {
    return !IsVariable(call->src(slot)) && !Writes(kernel, slot);
  }

  // The kernel and the members that join it; nullopt if there are none.
  std::optional<Fusion> Around(size_t k) {
    members_ = {k};
    Fusion fusion;
    fusion.kernels = {module_.kernels[k].get()};
    for (const Call& call : calls_[k]) fusion.launches.push_back({call.graph, {call.node}, {}});
    const Call& first = calls_[k][0];
    const Launches& levels = launches_[first.graph];
    for (const UOp* operand : first.node->srcs()) {
      size_t seen = 0;
      for (const Reader& candidate : readers_[first.graph].Get(operand)) {
        if (members_.size() == most_ || ++seen > kMaxCandidates) break;
        if (levels.LevelOf(candidate.node) != levels.LevelOf(first.node)) continue;
        const bool apart =
            !taken_[candidate.kernel] && !llvm::is_contained(members_, candidate.kernel);
        if (apart && calls_[candidate.kernel].size() == calls_[k].size())
          Join(candidate.kernel, fusion);
      }
    }
    if (members_.size() < 2) return std::nullopt;
    for (size_t member : members_) taken_[member] = true;
    return fusion;
  }

  // Whether the launches that the members save are worth it.
  bool IsWorthIt() {
    double seconds = 0;
    for (size_t member : members_) seconds += FactsOf(member).seconds;
    return static_cast<double>(members_.size() - 1) * target_.launch_seconds >= kGain * seconds;
  }

  // Adds the kernel to the fusion, if it has a launch for each of the fusion's.
  void Join(size_t kernel, Fusion& fusion) {
    members_.push_back(kernel);
    if (!IsWorthIt()) return members_.pop_back();
    Fusion joined;
    joined.kernels = fusion.kernels;
    joined.kernels.push_back(module_.kernels[kernel].get());
    std::vector<bool> used(calls_[kernel].size());
    size_t first_unused = 0;
    for (const FusedLaunch& launch : fusion.launches) {
      while (first_unused < used.size() && used[first_unused]) ++first_unused;
      size_t i = first_unused;
      for (; i < used.size(); ++i) {
        const Call& call = calls_[kernel][i];
        if (used[i] || call.graph != launch.graph || !IsCandidate(kernel, call.node, launch))
          continue;
        FusedLaunch with = launch;
        with.calls.push_back(call.node);
        MemberSlots slots;
        if (!FindOperands(with, slots)) continue;
        if (!joined.launches.empty() && slots != joined.slots) continue;
        used[i] = true;
        joined.slots = std::move(slots);
        joined.launches.push_back(std::move(with));
        break;
      }
      if (i == used.size()) return members_.pop_back();
    }
    fusion = std::move(joined);
  }

  // Whether the call is of the launch's level, and reads something that the launch does: so it is
  // on the same device.
  bool IsCandidate(size_t kernel, const UOp* call, const FusedLaunch& launch) {
    const Launches& levels = launches_[launch.graph];
    if (levels.LevelOf(call) != levels.LevelOf(launch.calls[0])) return false;
    for (size_t i = 0; i < call->num_srcs; ++i) {
      if (!Reads(kernel, call, i)) continue;
      for (size_t p = 0; p < launch.calls.size(); ++p) {
        const UOp* other = launch.calls[p];
        for (size_t n = 0; n < other->num_srcs; ++n) {
          if (other->src(n) == call->src(i) && Reads(members_[p], other, n)) return true;
        }
      }
    }
    return false;
  }

  // The operands of a launch of all members. False where there are too many, where a member writes
  // what another touches, where two read versions of a buffer that are not one, or where a variable
  // has two values.
  bool FindOperands(FusedLaunch& launch, MemberSlots& slots) {
    std::vector<const UOp*> written, read, variables;
    struct Touched {
      uint64_t by = 0, writers = 0;  // members
      const UOp* version = nullptr;  // the last one
    };
    std::map<const UOp*, Touched> touched;  // by buffer
    for (size_t p = 0; p < members_.size(); ++p) {
      const UOp* call = launch.calls[p];
      for (size_t i = 0; i < call->num_srcs; ++i) {
        const UOp* operand = call->src(i);
        if (IsVariable(operand)) {
          const auto other = [&](const UOp* v) {
            return v != operand && VariableOf(v) == VariableOf(operand);
          };
          if (llvm::any_of(variables, other)) return false;
          if (!llvm::is_contained(variables, operand)) variables.push_back(operand);
          continue;
        }
        const bool writes = Writes(members_[p], i);
        auto& [by, writers, version] = touched[BufferOf(operand)];
        if ((by & ~(uint64_t{1} << p)) != 0 && operand != version) return false;
        version = operand;
        by |= uint64_t{1} << p;
        if (writes) writers |= uint64_t{1} << p;
        std::vector<const UOp*>& list = writes ? written : read;
        if (!llvm::is_contained(list, operand)) list.push_back(operand);
      }
    }
    for (const auto& [buffer, members] : touched) {
      const auto [by, writers, version] = members;
      if (writers != 0 && (by & (by - 1)) != 0) return false;
    }
    launch.operands = std::move(written);
    for (const UOp* u : read) {
      if (!llvm::is_contained(launch.operands, u)) launch.operands.push_back(u);
    }
    slots.clear();
    for (const UOp* call : launch.calls) {
      std::vector<int64_t>& own = slots.emplace_back();
      for (const UOp* operand : call->srcs()) {
        const auto at = llvm::find(launch.operands, operand);
        if (at != launch.operands.end()) own.push_back(at - launch.operands.begin());
      }
    }
    launch.operands.insert(launch.operands.end(), variables.begin(), variables.end());
    return launch.operands.size() <= kMaxOperands;
  }

  const Module& module_;
  const std::vector<Launches>& launches_;
  const Target& target_;
  const size_t most_;
  llvm::StringMap<size_t> numbers_;                    // of kernels
  std::vector<std::vector<Call>> calls_;               // by kernel
  std::vector<Facts> facts_;                           // by kernel
  std::vector<NodeMap<std::vector<Reader>>> readers_;  // by graph: of each operand
  std::vector<bool> taken_;                            // by kernel
  std::vector<size_t> members_;                        // of the fusion that is being made
};

}  // namespace

std::vector<Fusion> ChooseFusions(const Module& module, const std::vector<Launches>& launches,
                                  const Target& target, size_t most) {
  return Chooser(module, launches, target, most).Run();
}

}  // namespace tg
