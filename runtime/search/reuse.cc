#include "runtime/search/reuse.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/cat.h"
#include "base/check.h"
#include "ir/builder.h"
#include "ir/walk.h"
#include "runtime/device/buffer.h"

namespace tg::search {
namespace {

// A graph of more calls takes long to build and to run.
constexpr int64_t kMostBufferCopies = 64;
// A part of a kernel's time by which schedules do not differ.
constexpr double kLittle = 0.02;

size_t CommonBytes(const Extent& a, const Extent& b) {
  if (a.block != b.block) return 0;
  const size_t first = std::max(a.first, b.first), end = std::min(a.end, b.end);
  return end > first ? end - first : 0;
}

Extent ExtentOf(const runtime::Plan& plan, const Declarations& declarations,
                const runtime::BufferSlice& slice) {
  const runtime::BufferRef& buffer = plan.buffer(slice.buffer);
  if (buffer == nullptr) return {};
  const auto element = static_cast<size_t>(
      ByteSize(declarations.buffers[static_cast<size_t>(slice.buffer)].dtype.scalar()));
  const size_t skipped = static_cast<size_t>(slice.offset) * element;
  const size_t size = slice.size < 0 ? buffer->size() - std::min(buffer->size(), skipped)
                                     : static_cast<size_t>(slice.size) * element;
  const size_t first = buffer->offset() + skipped;
  return {&buffer->whole(), first, first + size};
}

// Distinct bytes.
class ByteSet {
 public:
  void Add(Extent extent) {
    std::map<size_t, size_t>& ranges = ranges_[extent.block];
    auto it = ranges.upper_bound(extent.first);
    if (it != ranges.begin() && std::prev(it)->second >= extent.first) --it;
    while (it != ranges.end() && it->first <= extent.end) {
      extent.first = std::min(extent.first, it->first);
      extent.end = std::max(extent.end, it->second);
      bytes_ -= it->second - it->first;
      it = ranges.erase(it);
    }
    ranges.emplace(extent.first, extent.end);
    bytes_ += extent.end - extent.first;
  }
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  std::map<const void*, std::map<size_t, size_t>> ranges_;  // end by first
  size_t bytes_ = 0;
};

// Adds declarations like `name`'s, with its contents.
std::vector<std::string> DeclareCopies(Module& module, const std::string& name, int64_t count) {
  std::vector<std::string> names;
  BufferDecl copy = *module.FindBuffer(name);
  // The memory of a parameter's file would be used as it is, by all copies.
  if (copy.role == Role::kParam) copy.role = Role::kState;
  for (int64_t i = 1; i < count; ++i) {
    copy.name = Cat(name, "_copy", i);
    while (module.FindBuffer(copy.name) != nullptr) copy.name += "_";
    names.push_back(copy.name);
    module.buffers.push_back(copy);
  }
  return names;
}

}  // namespace

std::vector<double> ReuseDistances(const std::vector<std::vector<Extent>>& steps, size_t step) {
  std::vector<Extent> open = steps[step];  // of no bytes: found
  std::vector<double> distances(open.size());
  ByteSet between;
  for (size_t back = 1; back <= steps.size(); ++back) {
    const std::vector<Extent>& accessed = steps[(step + steps.size() - back) % steps.size()];
    for (size_t i = 0; i < open.size(); ++i) {
      size_t common = 0;
      for (const Extent& extent : accessed) common += CommonBytes(open[i], extent);
      if (open[i].size() == 0 || 2 * static_cast<double>(common) < open[i].size()) continue;
      distances[i] = between.bytes();
      open[i] = {};
    }
    for (const Extent& extent : accessed) {
      if (extent.size() > 0) between.Add(extent);
    }
  }
  return distances;
}

std::vector<BufferReuse> ReuseOf(const runtime::ScheduledGraph& graph, const runtime::Plan& plan,
                                 size_t step, const Declarations& declarations) {
  std::vector<std::vector<Extent>> steps(graph.steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (plan.kernels()[i].empty) continue;
    for (const runtime::BufferSlice& slice : graph.steps[i].buffers) {
      steps[i].push_back(ExtentOf(plan, declarations, slice));
    }
  }
  const std::vector<double> distances = ReuseDistances(steps, step);
  std::vector<BufferReuse> reuse;
  for (size_t i = 0; i < distances.size(); ++i) {
    const auto buffer = static_cast<size_t>(graph.steps[step].buffers[i].buffer);
    const std::string& name = declarations.buffers[buffer].name;
    const bool is_known = std::any_of(reuse.begin(), reuse.end(),
                                      [&](const BufferReuse& r) { return r.buffer == name; });
    if (!is_known) reuse.push_back({name, steps[step][i].size(), distances[i]});
  }
  return reuse;
}

CopyCounts CopiesOf(const std::vector<BufferReuse>& reuse, double seconds,
                    const passes::Target& target) {
  const double most = target.cache_slack * static_cast<double>(target.shared_cache_bytes);
  const auto nearest = static_cast<double>(target.near_cache_bytes > 0 ? target.near_cache_bytes
                                                                       : target.core_cache_bytes);
  double bytes = 0;  // of the buffers that get copies, in a call
  for (const BufferReuse& r : reuse) {
    if (r.distance > nearest) bytes += r.bytes;
  }
  CopyCounts copies;
  if (bytes / target.bytes_per_second < kLittle * seconds) return copies;
  for (const BufferReuse& r : reuse) {
    if (r.distance <= nearest) continue;
    const double count = std::ceil(std::min(r.distance, most) / bytes);
    if (count > 1) copies[r.buffer] = std::min(kMostBufferCopies, static_cast<int64_t>(count));
  }
  return copies;
}

std::map<std::string, std::vector<std::string>> RotateBuffers(Module& module,
                                                              const CopyCounts& copies) {
  std::map<std::string, std::vector<std::string>> names;
  int64_t calls = 1;
  for (const auto& [name, count] : copies) {
    if (module.FindBuffer(name) == nullptr) continue;
    names[name] = DeclareCopies(module, name, count);
    calls = std::max(calls, count);
  }
  if (calls == 1) return names;
  Graph& graph = *module.graphs.front();
  Context& context = *graph.body.context;
  const std::vector<const UOp*> writes(graph.body.root->srcs().begin(),
                                       graph.body.root->srcs().end());
  TG_CHECK(!writes.empty() && writes[0]->op == Op::kAssign);
  const UOp* const kernel = writes[0]->src(1);
  std::map<std::string, const UOp*> current;  // contents after the calls so far
  const auto copy_in = [&](const UOp* buffer, int64_t call) -> const UOp*& {
    std::string name(context.String(static_cast<StringId>(buffer->word())));
    const auto known = names.find(name);
    if (known != names.end()) {
      const int64_t number = call % (static_cast<int64_t>(known->second.size()) + 1);
      if (number > 0) name = known->second[static_cast<size_t>(number - 1)];
    }
    const UOp*& contents = current[name];
    if (contents == nullptr) contents = Builder(context).Buffer(name, buffer->dtype);
    return contents;
  };
  for (int64_t call = 0; call < calls; ++call) {
    NodeMap<const UOp*> map;
    std::vector<const UOp*> sources;
    for (const UOp* u : PostOrder(kernel)) {
      sources.clear();
      for (const UOp* s : u->srcs()) sources.push_back(map.Get(s));
      map[u] = u->op == Op::kBuffer ? copy_in(u, call)
                                    : context.Rebuild(u, context, {sources.data(), sources.size()});
    }
    for (const UOp* write : writes) {
      const UOp*& contents = copy_in(write->src(0), call);
      contents = context.Make(Op::kAssign, contents->dtype, {contents, map.Get(kernel)});
    }
  }
  std::vector<const UOp*> last;
  for (const auto& [name, contents] : current) {
    if (contents->op == Op::kAssign) last.push_back(contents);
  }
  graph.body.root = Builder(context).Sink(last);
  return names;
}

}  // namespace tg::search
