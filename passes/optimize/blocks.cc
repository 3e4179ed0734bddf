#include "passes/optimize/blocks.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
namespace {

// Loops over results, the outermost first: an axis and how many steps of it.
using Nest = std::vector<std::pair<size_t, int64_t>>;

// An axis around what one step of a nest reads.
bool IsAround(AxisKind kind) { return kind == AxisKind::kGlobal || kind == AxisKind::kLoop; }

// What stays from one step of a loop to the next.
struct Cache {
  double bytes;
  double most = 1;         // of so many times as much nothing stays, of less a part
  bool innermost = false;  // looked at for the innermost loop alone; of others nothing stays
  double cost = 1;         // of a byte from beyond it
};

// What the loads of a kernel read in loops over its results.
class Traffic {
 public:
  // `own_loops`: so many of the innermost loops each store has for itself.
  explicit Traffic(const Tuner& t, size_t own_loops = 0) : t_(t), own_loops_(own_loops) {
    if (own_loops == 0) {
      AddLoads(nullptr, stores_++);
      return;
    }
    for (const UOp* store : t.kernel().body.root->srcs()) {
      NodeSet own;
      std::vector<const UOp*> order;
      AppendPostOrder(UOpSpan(&store, 1), own, order);
      AddLoads(&own, stores_++);
    }
  }

  // Bytes that are read from beyond each cache, in whole lines, times what they cost: a loop reads
  // what is within it again in each step, unless all that its body reads stays in the cache from
  // one step to the next; then what a step shares with the one before is read once.
  double Of(const Nest& nest, std::initializer_list<Cache> caches) const {
    llvm::SmallVector<double, 32> bytes;  // by level and load
    for (size_t level = 0; level <= nest.size(); ++level) {
      for (const Load& load : loads_) bytes.push_back(Bytes(load, nest, level));
    }
    double cost = 0;
    for (const Cache& cache : caches) cost += cache.cost * BeyondCache(nest, bytes, cache);
    return cost;
  }

 private:
  // How an access goes through memory: strides, and how many steps of each, the least first.
  using Strides = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;
  struct Load {
    int64_t slot;
    Strides inside;                          // of all that is not around
    llvm::SmallVector<int64_t, 12> strides;  // by axis; no less where it is not linear
    double element, whole;                   // bytes of one, and of all of the argument
    size_t store;                            // in whose loop
    bool is_again;                           // a store before this one reads the same
    bool is_packed;                          // what a group reads lies together
  };

  double BeyondCache(const Nest& nest, llvm::ArrayRef<double> bytes, const Cache& cache) const {
    const size_t n = loads_.size();
    llvm::SmallVector<double, 8> read(bytes.end() - static_cast<ptrdiff_t>(n), bytes.end());
    for (size_t level = nest.size(); level-- > 0;) {
      const auto all = bytes.slice(level * n, n), within = bytes.slice((level + 1) * n, n);
      // What the stores' own loops read, each by itself; around these, what any of them reads.
      llvm::SmallVector<double, 4> bodies(stores_, 0);
      const bool own = level + own_loops_ >= nest.size();
      for (size_t i = 0; i < n; ++i) {
        if (own || !loads_[i].is_again) bodies[own ? loads_[i].store : 0] += within[i];
      }
      const auto steps = static_cast<double>(nest[level].second);
      for (size_t i = 0; i < n; ++i) {
        const bool looked_at = !cache.innermost || level + 1 == nest.size();
        const double stays = looked_at ? Stays(bodies[own ? loads_[i].store : 0], cache) : 0;
        read[i] *= stays * (all[i] / within[i]) + (1 - stays) * steps;
      }
    }
    double sum = 0;
    for (double r : read) sum += r;
    return sum;
  }

  // Which part of so many bytes stays.
  static double Stays(double bytes, const Cache& cache) {
    if (bytes <= cache.bytes) return 1;
    const double most = cache.most * cache.bytes;
    return bytes >= most ? 0 : (most - bytes) / (most - cache.bytes);
  }

  // Those of `of`; null: all.
  void AddLoads(const NodeSet* of, size_t store) {
    for (const Access& a : t_.accesses()) {
      if (a.is_store() || (of && !of->Contains(a.node))) continue;
      const UOp* memory = a.node->src(0);
      while (memory->num_srcs > 0) memory = memory->src(0);
      const auto element = static_cast<double>(ByteSize(a.node->src(0)->dtype.scalar()));
      const auto whole = element * static_cast<double>(memory->dtype.size());
      Load load = {a.slot, {},    {},    element,
                   whole,  store, false, llvm::is_contained(t_.packed(), a.node)};
      for (size_t i = 0; i < t_.schedule().axes.size(); ++i) {
        const std::optional<int64_t> stride = t_.Stride(a, i);
        load.strides.push_back(stride ? std::abs(*stride) : INT64_MAX);
        if (!IsAround(t_.schedule().axes[i].kind)) Add(load.inside, load, i, t_.Size(i));
      }
      // Reduces that read the same read it once, if it stays.
      bool is_mine = false;
      for (const Load& other : loads_) {
        if (!Same(load, other)) continue;
        load.is_again = true;
        is_mine |= other.store == store;
      }
      if (!is_mine) loads_.push_back(std::move(load));
    }
  }
  static void Add(Strides& strides, const Load& load, size_t axis, int64_t steps) {
    if (load.strides[axis] == 0) return;
    const std::pair<int64_t, int64_t> own = {load.strides[axis], steps};
    strides.insert(llvm::upper_bound(strides, own), own);
  }
  bool Same(const Load& a, const Load& b) const {
    if (a.slot != b.slot || Bytes(a, {}, 0) != Bytes(b, {}, 0)) return false;
    for (size_t i = 0; i < t_.schedule().axes.size(); ++i) {
      if (IsAround(t_.schedule().axes[i].kind) && a.strides[i] != b.strides[i]) return false;
    }
    return true;
  }
  // What the loops of `nest` from number `level` on read, with all that is inside of them.
  double Bytes(const Load& load, const Nest& nest, size_t level) const {
    Strides strides = load.inside;
    for (size_t n = level; n < nest.size(); ++n) {
      // An axis in blocks is in two loops.
      int64_t steps = nest[n].second;
      bool again = false;
      for (size_t m = level; m < nest.size(); ++m) {
        if (m == n || nest[m].first != nest[n].first) continue;
        steps *= nest[m].second;
        again |= m < n;
      }
      if (!again) Add(strides, load, nest[n].first, steps);
    }
    if (load.is_packed) {
      double elements = 1;
      for (const auto& [stride, steps] : strides) elements *= static_cast<double>(steps);
      return elements * load.element;
    }
    // Elements that follow each other share lines, as do the windows of neighbours; a line's
    // neighbour is fetched with it.
    const double line = 2 * t_.target().cache_line / load.element;
    double runs = 1, run = 1;
    for (const auto& [stride, steps] : strides) {
      const auto apart = static_cast<double>(stride), more = static_cast<double>(steps) - 1;
      if (apart <= std::max(run, line))
        run += more * apart;
      else
        runs *= more + 1;
    }
    return std::min(runs * std::max(run, line) * load.element, load.whole);
  }

  const Tuner& t_;
  const size_t own_loops_;
  size_t stores_ = 0;
  std::vector<Load> loads_;
};

// A little is not worth it: groups that write side by side are simpler.
constexpr double kWorthIt = 0.8;

// The nest in which `steps` of the axis at `k` are innermost, and the groups of a block follow each
// other.
Nest Blocked(const Nest& plain, size_t k, int64_t steps) {
  Nest nest = plain;
  const auto [axis, size] = plain[k];
  if (steps == size) {
    nest.erase(nest.begin() + static_cast<ptrdiff_t>(k));
  } else {
    nest[k].second = size / steps;
    std::swap(nest[0], nest[k]);
  }
  nest.emplace_back(axis, steps);
  return nest;
}

double Elements(const Shape& shape) {
  double n = 1;
  for (const Dim& d : shape) n *= static_cast<double>(d.value());
  return n;
}

}  // namespace

bool LoopInCache(Tuner& t, int64_t groups) {
  Nest plain;
  int64_t results = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) return false;
    plain.emplace_back(i, t.Size(i));
    results *= t.Size(i);
  }
  if (plain.size() < 2) return false;
  const auto cache = static_cast<double>(t.target().core_cache_bytes);
  const auto near_cache = static_cast<double>(t.target().near_cache_bytes);
  // What comes from the core's next cache costs too, if less: the nearest one keeps what a group
  // reads in its own loop.
  const Cache far = {.bytes = cache};
  const Cache near = {.bytes = near_cache, .most = 1.5, .innermost = true, .cost = 1.0 / 4};
  size_t best = SIZE_MAX;
  int64_t best_steps = 0;
  double least = 0;
  bool is_apart = false;
  // Several stores may each have the group's loop for itself.
  for (const bool apart : {false, true}) {
    if (apart && t.kernel().body.root->num_srcs < 2) continue;
    const Traffic traffic(t, apart ? 1 : 0);
    const auto cost = [&](const Nest& nest) { return traffic.Of(nest, {far, near}); };
    if (!apart) least = cost(plain) * kWorthIt;
    const auto consider = [&](size_t k, int64_t steps) {
      if (steps == 1 || results / steps < groups) return;
      const double bytes = cost(Blocked(plain, k, steps));
      if (bytes < least) least = bytes, best = k, best_steps = steps, is_apart = apart;
    };
    for (size_t k = 0; k < plain.size(); ++k) {
      const int64_t size = plain[k].second;
      for (int64_t d = 1; d * d <= size; ++d) {
        if (size % d != 0) continue;
        consider(k, size / d);
        if (d != size / d) consider(k, d);
      }
    }
  }
  if (best == SIZE_MAX) return false;
  const auto [axis, size] = plain[best];
  const std::string name = t.schedule().axes[axis].name;
  if (!t.Try("loop", axis, best_steps == size ? 0 : best_steps)) return false;
  if (best_steps != size && best != 0) {
    t.TryWith("swap", t.Axes(AxisKind::kGlobal).front(), name + ".0");
  }
  if (is_apart) t.Try("distribute", t.Axes(AxisKind::kLoop).front());
  return true;
}

int64_t PartsInCache(const Tuner& t, LoopSet along) {
  Nest groups, loops;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) return 1;
    const bool is_loop = (along & LoopBit(t.schedule().axes[i].base)) != 0;
    (is_loop ? loops : groups).emplace_back(i, t.Size(i));
  }
  if (loops.empty()) return 1;
  double copied = 0;  // elements, for one part
  for (const UOp* load : t.packed()) copied += Elements(t.ShapeOf(load));
  const Traffic traffic(t);
  const Cache cache = {.bytes = static_cast<double>(t.target().core_cache_bytes)};
  const auto [axis, size] = loops.front();
  int64_t best = 1;
  double least = 0;
  for (int64_t parts = 1; parts <= size; ++parts) {
    if (size % parts != 0) continue;
    Nest nest = {{axis, parts}};
    nest.insert(nest.end(), groups.begin(), groups.end());
    nest.emplace_back(axis, size / parts);
    nest.insert(nest.end(), loops.begin() + 1, loops.end());
    const double bytes =
        traffic.Of(nest, {cache}) + copied * static_cast<double>(parts * t.target().copied_bytes);
    if (parts == 1) least = bytes * kWorthIt;
    // No number of parts copies less than two do.
    if (least <= 2 * copied * static_cast<double>(t.target().copied_bytes)) break;
    if (bytes < least) least = bytes, best = parts;
  }
  return best;
}

void OrderGroups(Tuner& t) {
  const std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
  Nest nest;
  for (size_t i : globals) nest.emplace_back(i, t.Size(i));
  for (size_t i : t.Axes(AxisKind::kLoop)) nest.emplace_back(i, t.Size(i));
  const bool ordered = llvm::any_of(t.opts(), [](const Opt& opt) { return opt.name == "swap"; });
  const bool symbolic =
      llvm::any_of(nest, [&](const auto& loop) { return t.IsSymbolic(loop.first); });
  if (globals.size() < 2 || ordered || symbolic) return;
  // Half of it is what a core finds for certain; to follow another order costs nothing.
  const Traffic traffic(t);
  const Cache cache = {.bytes = static_cast<double>(t.target().core_cache_bytes) / 2};
  double least = traffic.Of(nest, {cache}) * kWorthIt;
  size_t best = 0;
  for (size_t k = 1; k < globals.size(); ++k) {
    std::swap(nest[0], nest[k]);
    if (const double bytes = traffic.Of(nest, {cache}); bytes < least) least = bytes, best = k;
    std::swap(nest[0], nest[k]);
  }
  if (best != 0) t.TryWith("swap", globals[0], t.schedule().axes[globals[best]].name);
}

void DistributeLoops(Tuner& t) {
  Nest nest;
  for (size_t i : t.Axes(AxisKind::kLoop)) {
    if (t.IsSymbolic(i)) return;
    nest.emplace_back(i, t.Size(i));
  }
  const UOpSpan stores = t.kernel().body.root->srcs();
  const bool done = llvm::any_of(t.schedule().axes, [](const auto& a) { return a.own_loops; });
  if (nest.empty() || stores.size() < 2 || done) return;
  const auto near = static_cast<double>(t.target().near_cache_bytes);
  // Not all of it: what all of them write takes its place too. Apart, half more than it holds
  // serves as well, since of what each step reads anew a part need not stay.
  const double together = Traffic(t).Of(nest, {{.bytes = near * 0.75}});
  const double apart = Traffic(t, nest.size()).Of(nest, {{.bytes = near * 1.5}});
  if (apart < together * kWorthIt) t.Try("distribute", nest[0].first);
}

}  // namespace tg
