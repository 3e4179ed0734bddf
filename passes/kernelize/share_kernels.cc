#include "passes/kernelize/share_kernels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "passes/analysis/structural_key.h"

namespace tg::kernelize {
namespace {

// A kernel with constant offsets may be better code than one with variables, so that fewer kernels
// than this are not merged.
constexpr size_t kMinShared = 4;
// The maximum number of variables of a shared kernel.
constexpr size_t kMaxVariables = 8;

using Numbers = std::vector<int64_t>;

// A number that differs between the kernels of a group, as least + step * variable; the variable is
// 0 for one of them. With this form the compiler sees that multiples of `step` remain multiples.
struct Start {
  int64_t least = 0, most = 0, step = 0;
  size_t variable = 0;  // none where the step is 0: all have the least

  bool Varies() const { return step != 0; }
};

struct Group {
  std::vector<size_t> kernels;  // by number in the module
  std::vector<Numbers> starts;  // by kernel
};

// How the starts of a group follow from a few variables.
struct Plan {
  std::vector<Start> starts;
  std::vector<Numbers> variables;  // the values of each, by kernel
};

// Returns nullopt if the group needs no variables, or too many.
std::optional<Plan> PlanOf(const Group& group) {
  Plan plan;
  std::map<Numbers, size_t> known;
  for (size_t n = 0; n < group.starts[0].size(); ++n) {
    Numbers values;
    for (const Numbers& starts : group.starts) values.push_back(starts[n]);
    Start start;
    start.least = *std::min_element(values.begin(), values.end());
    start.most = *std::max_element(values.begin(), values.end());
    for (int64_t& v : values) {
      v -= start.least;
      start.step = std::gcd(start.step, v);
    }
    if (start.Varies()) {
      for (int64_t& v : values) v /= start.step;
      const auto [it, added] = known.try_emplace(values, plan.variables.size());
      start.variable = it->second;
      if (added) plan.variables.push_back(std::move(values));
      if (plan.variables.size() > kMaxVariables) return std::nullopt;
    }
    plan.starts.push_back(start);
  }
  if (plan.variables.empty()) return std::nullopt;
  return plan;
}

class Sharer {
 public:
  Sharer(Module& module, size_t first, passes::PassContext& context)
      : module_(module), first_(first), context_(context) {}

  void Run() {
    for (const Group& group : Groups()) {
      if (group.kernels.size() < kMinShared) continue;
      if (const std::optional<Plan> plan = PlanOf(group)) Share(group, *plan);
    }
    if (calls_.empty()) return;
    for (const auto& graph : module_.graphs) RewriteCalls(graph->body);
    std::erase_if(module_.kernels, [&](const std::unique_ptr<Kernel>& k) {
      const auto call = calls_.find(k->name);
      return call != calls_.end() && call->second.kernel != k->name;
    });
  }

 private:
  // The replacement of one kernel call.
  struct Call {
    std::string kernel;
    std::vector<std::pair<std::string, int64_t>> bound;
  };

  // The groups, in the order of their first kernels.
  std::vector<Group> Groups() const {
    std::vector<Group> groups;
    std::map<std::string, size_t> by_key;
    for (size_t k = first_; k < module_.kernels.size(); ++k) {
      const Kernel& kernel = *module_.kernels[k];
      Numbers starts;
      const std::string key = analysis::StructuralKey(kernel.body, kernel.body.Order(), &starts);
      if (starts.empty()) continue;
      const size_t at = by_key.try_emplace(key, groups.size()).first->second;
      if (at == groups.size()) groups.emplace_back();
      groups[at].kernels.push_back(k);
      groups[at].starts.push_back(std::move(starts));
    }
    return groups;
  }

  void Share(const Group& group, const Plan& plan) {
    std::vector<std::string> names;
    for (const Numbers& values : plan.variables) {
      names.push_back(NewVariable(*std::max_element(values.begin(), values.end())));
    }
    Kernel& shared = *module_.kernels[group.kernels[0]];
    for (size_t i = 0; i < group.kernels.size(); ++i) {
      Call& call = calls_[module_.kernels[group.kernels[i]]->name];
      call.kernel = shared.name;
      for (size_t v = 0; v < names.size(); ++v) {
        call.bound.emplace_back(names[v], plan.variables[v][i]);
      }
    }
    Rewrite(shared.body, plan, names);
    const auto saved = static_cast<int64_t>(group.kernels.size()) - 1;
    context_.statistics["kernelize.shared-kernels"] += saved;
    context_.statistics["kernelize.kernels"] -= saved;
  }

  std::string NewVariable(int64_t most) {
    std::string name;
    do {
      name = absl::StrCat("at", next_variable_++);
    } while (module_.FindVar(name) || module_.FindBuffer(name));
    VarDecl decl;
    decl.name = name;
    decl.max = most;
    module_.vars.push_back(std::move(decl));
    return name;
  }

  // Replaces the starts of the shrinks and pads of `body` by the expressions of `plan`.
  void Rewrite(Body& body, const Plan& plan, const std::vector<std::string>& names) {
    Builder b(*body.context);
    ShapeMap shapes(module_, *body.context);
    const auto variable = [&](const Start& start, int64_t from) -> Dim {
      const UOp* at = b.Var(names[start.variable]);
      if (start.step != 1) at = b.Mul(at, b.Index(start.step));
      return from == 0 ? at : b.Add(at, b.Index(from));
    };
    const Start* next = plan.starts.data();
    NodeMap<const UOp*> map;
    std::vector<const UOp*> srcs;
    for (const UOp* u : body.Order()) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      const UOp*& to = map[u];
      to = b.context().Rebuild(u, b.context(), srcs);
      if (analysis::HasStarts(u)) {
        const auto pairs = PairsOf(u);
        const std::span<const Start> starts(next, pairs.size());
        next += pairs.size();
        if (llvm::any_of(starts, [](const Start& s) { return s.Varies(); })) {
          to = u->op == Op::kShrink ? Shrunk(b, srcs[0], pairs, starts, variable)
                                    : Padded(b, srcs[0], shapes.Of(u), pairs, starts, variable);
        }
      }
      body.CarryOver(u, to);
    }
    body.root = map.Get(body.root);
  }

  using Pairs = std::vector<std::pair<Dim, Dim>>;

  template <typename F>
  static const UOp* Shrunk(Builder& b, const UOp* x, Pairs pairs, std::span<const Start> starts,
                           F&& variable) {
    for (size_t k = 0; k < pairs.size(); ++k) {
      if (!starts[k].Varies()) continue;
      const int64_t size = pairs[k].second.value() - pairs[k].first.value();
      pairs[k] = {variable(starts[k], starts[k].least),
                  variable(starts[k], starts[k].least + size)};
    }
    return b.Shrink(x, pairs);
  }

  // A pad by a variable amount becomes a pad by the greatest amount, followed by a shrink that
  // starts at a variable.
  template <typename F>
  static const UOp* Padded(Builder& b, const UOp* x, const Shape& shape, Pairs pairs,
                           std::span<const Start> starts, F&& variable) {
    Pairs ranges;
    for (size_t k = 0; k < pairs.size(); ++k) {
      const int64_t size = shape[k].value();
      ranges.emplace_back(0, size);
      if (!starts[k].Varies()) continue;
      const int64_t both = pairs[k].first.value() + pairs[k].second.value();
      pairs[k] = {-starts[k].least, both + starts[k].most};
      ranges[k] = {variable(starts[k], 0), variable(starts[k], size)};
    }
    return b.Shrink(b.Pad(x, pairs), ranges);
  }

  void RewriteCalls(Body& body) {
    Builder b(*body.context);
    NodeMap<const UOp*> map;
    std::vector<const UOp*> srcs;
    for (const UOp* u : body.Order()) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      Attr attr = u->attr;
      if (u->op == Op::kKernel) {
        const auto call =
            calls_.find(std::string(b.context().String(static_cast<StringId>(attr.bits))));
        if (call != calls_.end()) {
          attr.bits = b.context().Intern(call->second.kernel);
          for (const auto& [name, value] : call->second.bound) {
            srcs.push_back(b.context().Make(Op::kBind, kIndex, {b.Var(name), b.Index(value)}));
          }
        }
      }
      map[u] = b.context().Make(u->op, u->dtype, srcs, attr);
      body.CarryOver(u, map[u]);
    }
    body.root = map.Get(body.root);
    Compact(body);
  }

  Module& module_;
  const size_t first_;
  passes::PassContext& context_;
  std::map<std::string, Call> calls_;  // by the name of the kernel that was run before
  int next_variable_ = 0;
};

}  // namespace

void ShareKernels(Module& module, size_t first, passes::PassContext& context) {
  Sharer(module, first, context).Run();
}

}  // namespace tg::kernelize
