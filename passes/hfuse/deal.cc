#include "passes/hfuse/deal.h"

#include <numeric>

namespace tg {

std::vector<DealtPlace> DealGroups(Builder& b, const UOp* group, std::span<const int64_t> sizes,
                                   int64_t num_runs, llvm::function_ref<void(const UOp*)> add) {
  const auto made = [&](const UOp* u) {
    add(u);
    return u;
  };
  const auto number = [&](int64_t n) { return made(b.ConstInt(group->dtype, n)); };
  made(b.Bool(true));  // of Not
  std::vector<DealtPlace> out(sizes.size());
  const UOp* within = nullptr;  // whether the group is of this part or of one before
  int64_t all = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  for (size_t p = sizes.size(); p-- > 1;) {
    const int64_t own = sizes[p], before = all - own;
    // Ahead of a run are so many groups of earlier parts, and so many of all.
    const auto ahead = [&](int64_t run) { return (run * before + num_runs - 1) / num_runs; };
    const auto first = [&](int64_t run) {
      return ahead(run) + (run * own + num_runs - 1) / num_runs;
    };
    // Of the group's run: how many groups of this part are ahead of it, and how many of earlier
    // parts are ahead of the next one.
    const UOp *behind = number(0), *then = number(ahead(1));
    for (int64_t run = 1; run < num_runs; ++run) {
      const UOp* is_earlier = nullptr;
      const auto from_run_on = [&](const UOp* before_it, int64_t n) {
        const UOp* value = number(n);
        if (value == before_it) return value;
        if (!is_earlier) is_earlier = made(b.Lt(group, number(first(run))));
        return made(b.Where(is_earlier, before_it, value));
      };
      behind = from_run_on(behind, first(run) - ahead(run));
      then = from_run_on(then, ahead(run + 1));
    }
    const UOp* at = made(b.Sub(group, behind));
    const UOp* is_before = made(b.Lt(at, then));
    const UOp* is_own = made(b.Not(is_before));
    out[p].number = made(b.Sub(group, then));
    out[p].is_own = within ? made(b.And(within, is_own)) : is_own;
    within = within ? made(b.And(within, is_before)) : is_before;
    group = at;
    all = before;
  }
  out[0] = {group, within};
  return out;
}

}  // namespace tg
