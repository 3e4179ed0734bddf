#include "passes/rewrite/engine.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "ir/shape.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::rewrite {
namespace {

constexpr ptrdiff_t kRecent = 24;

std::atomic<HitSink> hit_sink{nullptr};

std::string NameOf(const RuleSet& rules, uint32_t rule) {
  const RuleInfo info = rules.Describe(rule);
  return absl::StrCat(info.name, " (", info.Location(), ")");
}

std::string NamesOf(const RuleSet& rules, std::vector<uint32_t> list) {
  std::string s;
  std::vector<bool> named(rules.num_rules());
  for (uint32_t rule : list) {
    if (named[rule]) continue;
    named[rule] = true;
    absl::StrAppend(&s, s.empty() ? "" : "; ", NameOf(rules, rule));
  }
  return s;
}

}  // namespace

void SetHitSink(HitSink sink) { hit_sink.store(sink); }

Rewriter::~Rewriter() {
  if (applied_.empty()) return;
  if (const HitSink sink = hit_sink.load()) sink(rules_, hits());
}

const UOp* Rewriter::InProgress() {
  static const UOp kMark{};
  return &kMark;
}

absl::Status Rewriter::Endless(size_t first_frame) const {
  std::vector<uint32_t> list;
  for (size_t i = first_frame; i < stack_.size(); ++i) {
    if (stack_[i].next) list.push_back(stack_[i].rule);
  }
  return absl::InternalError(
      absl::StrCat("rewriting does not end: these rules lead from an expression back to itself: ",
                   NamesOf(rules_, list)));
}

absl::Status Rewriter::TooMany() const {
  return absl::InternalError(absl::StrCat(
      "rewriting does not end: given up after ", applied_.size(), " applications, the last of: ",
      NamesOf(rules_, {applied_.end() - std::min<ptrdiff_t>(kRecent, std::ssize(applied_)),
                       applied_.end()})));
}

std::vector<uint64_t> Rewriter::hits() const {
  std::vector<uint64_t> by_rule(applied_.empty() ? 0 : rules_.num_rules());
  for (uint32_t rule : applied_) ++by_rule[rule];
  return by_rule;
}

void Rewriter::SetFinal(uint32_t n) {
  memo_.Reserve(n);
  for (uint32_t id = 0; id < n; ++id) memo_[rc_.ctx.node(id)] = rc_.ctx.node(id);
}

size_t Rewriter::NumRewritten(const UOp* u) const {
  return keep_extents_ && IsMovement(u->op) ? NumOperands(u) : u->num_srcs;
}

const UOp* Rewriter::WithFinalSources(const UOp* u) {
  const UOpSpan rewritten = u->srcs().first(NumRewritten(u));
  const auto stays = [&](const UOp* s) { return memo_.Get(s) == s; };
  if (std::all_of(rewritten.begin(), rewritten.end(), stays)) return u;
  llvm::SmallVector<const UOp*, 8> srcs(u->srcs().begin(), u->srcs().end());
  for (size_t i = 0; i < rewritten.size(); ++i) srcs[i] = memo_.Get(srcs[i]);
  return rc_.ctx.Make(u->op, u->dtype, UOpSpan(srcs.data(), srcs.size()), u->attr);
}

void Rewriter::Finish(const UOp* v) {
  const Frame& f = stack_.back();
  memo_[f.key] = v;
  memo_[f.built] = v;
  stack_.pop_back();
}

absl::Status Rewriter::Run(const UOp* root) {
  const uint64_t limit =
      applied_.size() +
      (max_applications_ ? max_applications_ : 100000 + 20ull * rc_.ctx.num_nodes());
  // Puts `u` on the stack, unless it is final. False if it is on the stack already.
  const auto push = [&](const UOp* u) {
    const UOp*& state = memo_[u];
    if (state == InProgress()) return false;
    if (!state && u != root && u->id < num_final_) state = u;
    if (state) return true;
    state = InProgress();
    stack_.push_back({u, nullptr, nullptr, 0, 0});
    return true;
  };
  // The frame that works on `u`.
  const auto frame_of = [&](const UOp* u) {
    size_t i = 0;
    while (i < stack_.size() && stack_[i].key != u && stack_[i].built != u) ++i;
    return i;
  };
  push(root);
  while (!stack_.empty()) {
    Frame& f = stack_.back();
    if (f.next) {
      Finish(memo_.Get(f.next));
      continue;
    }
    // Finds the first source that is not final; most are.
    const UOp* source = nullptr;
    for (const size_t n = NumRewritten(f.key); f.source < n && !source;) {
      const UOp* s = f.key->src(f.source++);
      const UOp* state = memo_.Get(s);
      if (!state || state == InProgress()) source = s;
    }
    if (source) {
      if (!push(source)) return Endless(frame_of(source));
      continue;
    }
    f.built = WithFinalSources(f.key);
    if (f.built != f.key) {
      const UOp* known = memo_.Get(f.built);
      if (known == InProgress()) return Endless(frame_of(f.built));
      if (known) {
        Finish(known);
        continue;
      }
    }
    const UOp* next = rules_.Apply(f.built, rc_, &f.rule);
    if (next && fix_up_) next = fix_up_(fix_up_data_, f.built, next);
    if (!next || next == f.built) {
      Finish(f.built);
      continue;
    }
    applied_.push_back(f.rule);
    if (applied_.size() >= limit) return TooMany();
    f.next = next;
    if (f.built != f.key) memo_[f.built] = InProgress();
    if (!push(next)) return Endless(frame_of(next));
  }
  return absl::OkStatus();
}

absl::StatusOr<const UOp*> Rewriter::Rewrite(const UOp* u) {
  if (const UOp* known = memo_.Get(u)) return known;
  if (absl::Status status = Run(u); !status.ok()) {
    for (const Frame& f : stack_) {
      memo_[f.key] = nullptr;
      if (f.built) memo_[f.built] = nullptr;
    }
    stack_.clear();
    return status;
  }
  return memo_.Get(u);
}

absl::StatusOr<const UOp*> Rewriter::RewriteTop(const UOp* u) {
  if (memo_.Get(u) == u) memo_[u] = nullptr;
  num_final_ = rc_.ctx.num_nodes();
  absl::StatusOr<const UOp*> r = Rewrite(u);
  num_final_ = 0;
  return r;
}

std::string Rewriter::HitReport() const {
  const std::vector<uint64_t> by_rule = hits();
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < by_rule.size(); ++i) {
    if (by_rule[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return by_rule[a] > by_rule[b]; });
  std::string s;
  for (uint32_t i : order) absl::StrAppend(&s, "  ", by_rule[i], "  ", NameOf(rules_, i), "\n");
  return s;
}

absl::Status RewriteBody(Body& body, Rewriter& rewriter) {
  const uint32_t old_nodes = body.context->num_nodes();
  absl::StatusOr<const UOp*> root = rewriter.Rewrite(body.root);
  if (!root.ok()) return root.status();
  if (*root == body.root) return absl::OkStatus();
  body.side.ForEach(*body.context, [&](const UOp* u) {
    const UOp* v = rewriter.Find(u);
    // A node that existed before this rewrite keeps its name.
    if (v && v->id >= old_nodes) body.CarryOver(u, v);
  });
  body.root = *root;
  return absl::OkStatus();
}

absl::StatusOr<RewriteResult> Rewrite(Body& body, const RuleSet& rules,
                                      const RewriteOptions& options) {
  if (!body.linear.empty()) return absl::InvalidArgumentError("a linear body is not rewritten");
  analysis::Bounds bounds(*body.context, options.module);
  analysis::StructuralOrder order(*body.context);
  Rewriter rewriter(rules, {*body.context, bounds, order, options.flags});
  rewriter.set_max_applications(options.max_applications);
  if (absl::Status s = RewriteBody(body, rewriter); !s.ok()) return s;
  return RewriteResult{rewriter.num_applications(), rewriter.hits(), rewriter.HitReport()};
}

}  // namespace tg::rewrite
