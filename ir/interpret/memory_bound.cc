#include "ir/interpret/memory_bound.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "ir/interpret/deferred.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/scalar.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg::interpret {
namespace {

// Bytes of an element.
constexpr int64_t kWord = 8;         // a value, an index or an error bound
constexpr int64_t kMark = 1;         // whether it is defined, or was written
constexpr int64_t kRaceRecord = 64;  // who touched memory that work-items share

struct Peak {
  int64_t bytes = 0;
  int64_t own = 0;  // of the value at which it is reached
  std::string label;
  std::string shape;
};

// The value of `symbol`; 0 where it is not known before the run.
int64_t ValueOf(const Context& ctx, const UOp* symbol, const VarValues& vars) {
  NodeMap<int64_t> values;
  for (const UOp* u : PostOrder(symbol)) {
    int64_t& v = values[u];
    if (u->op == Op::kConst) {
      v = u->word();
    } else if (u->op == Op::kVar) {
      const auto it = vars.find(ctx.String(static_cast<StringId>(u->word())));
      v = it == vars.end() ? 0 : it->second;
    } else if (u->op == Op::kBind || u->op == Op::kCast) {
      v = values[u->src(u->op == Op::kBind ? 1 : 0)];
    } else if (IsElementwise(u->op)) {
      std::vector<int64_t> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(values[s]);
      v = EvalAlu(u->op, u->dtype.scalar(), srcs).value_or(0);
    }
  }
  return values[symbol];
}

class Estimate {
 public:
  Estimate(const Module& module, const VarValues& vars, const InterpretOptions& options)
      : module_(module), vars_(vars), options_(options) {}

  // What is held while `graph` runs.
  Peak OfGraph(const Graph& graph, int depth) {
    return OfBody(graph.body, "graph @" + graph.name, depth);
  }

 private:
  Peak OfBody(const Body& body, const std::string& what, int depth) {
    Peak peak;
    // A loop's body that runs itself has no end.
    if (!body.root || depth > 50) return peak;
    if (const auto known = peaks_.find(what); known != peaks_.end()) return known->second;
    int64_t held = 0;
    Context& ctx = *body.context;
    ShapeMap shapes(module_, ctx);
    const std::vector<const UOp*> order = PostOrder(body.root);
    NodeMap<std::optional<int64_t>> symbols;
    NodeMap<int64_t> elements;
    NodeMap<int64_t> num_ops;  // of a deferred value
    for (const UOp* u : order) {
      int64_t n = 1;
      for (const Dim& d : shapes.Of(u)) {
        if (d.is_symbolic() && !symbols[d.symbol()]) {
          symbols[d.symbol()] = ValueOf(ctx, d.symbol(), vars_);
        }
        n = SaturatingMul(n, d.is_symbolic() ? *symbols[d.symbol()] : d.value());
      }
      elements[u] = n;
      const bool may = IsElementwise(u->op) || (IsMovement(u->op) && !u->dtype.is_pointer());
      int64_t ops = 1;
      for (const UOp* s : u->srcs()) ops += num_ops[s];
      if (may && n > options_.max_held && ops <= kMaxDeferredOps) num_ops[u] = ops;
    }
    // For each node: the last step that reads its elements. A deferred value, or one that shares
    // the elements of its source, keeps the source's elements in memory.
    NodeMap<size_t> last;
    for (size_t i = order.size(); i-- > 0;) {
      const UOp* u = order[i];
      const bool keeps = num_ops[u] > 0 || u->op == Op::kReshape || u->op == Op::kContiguous ||
                         u->op == Op::kCopy || u->op == Op::kNoop;
      const bool stays = u->op == Op::kAssign || IsCall(u->op);
      if (stays) last[u] = order.size();
      last[u] = std::max(last[u], i);
      for (const UOp* s : u->srcs()) last[s] = std::max(last[s], keeps ? last[u] : i);
    }
    std::vector<int64_t> freed(order.size() + 1);
    std::set<int64_t> buffers;
    for (size_t i = 0; i < order.size(); ++i) {
      const UOp* u = order[i];
      int64_t meanwhile = 0;
      const int64_t own = num_ops[u] > 0 ? 0 : BytesOf(body, u, elements, buffers, &meanwhile);
      held = SaturatingAdd(held, own);
      if (SaturatingAdd(held, meanwhile) > peak.bytes) {
        peak.bytes = SaturatingAdd(held, meanwhile);
        peak.own = SaturatingAdd(own, meanwhile);
        // A sink has no name: messages name the largest value that it stores.
        const UOp* named = u;
        for (const UOp* s : u->op == Op::kSink ? u->srcs() : UOpSpan()) {
          if (named == u || elements[s] > elements[named]) named = s;
        }
        peak.label = NodeLabel(body, what, named);
        peak.shape = ShapeOf(ctx, shapes.Of(named));
      }
      Peak inner = OfCalled(body, u, depth);
      inner.bytes = SaturatingAdd(inner.bytes, held);
      if (inner.bytes > peak.bytes) peak = std::move(inner);
      freed[last[u]] = SaturatingAdd(freed[last[u]], own);
      held -= freed[i];
    }
    return peaks_[what] = peak;
  }

  // What is taken for `u` as long as it is used, and in `meanwhile` while it is computed.
  int64_t BytesOf(const Body& body, const UOp* u, NodeMap<int64_t>& elements,
                  std::set<int64_t>& buffers, int64_t* meanwhile) {
    const int64_t value = kWord + (options_.track_error ? kWord : 0);
    const int64_t memory = value + 2 * kMark, record = kWord + value;
    const int64_t n = elements[u];
    const auto times = [](int64_t count, int64_t bytes) { return SaturatingMul(count, bytes); };
    switch (u->op) {
      case Op::kReshape:
        return u->dtype.is_pointer() ? times(n, kWord) : 0;
      case Op::kBuffer:
        return buffers.insert(u->word()).second ? times(n, memory) : 0;
      case Op::kAssign:
        return IsCall(u->src(1)->op) ? 0 : times(n, memory + record);
      case Op::kAfter:
      case Op::kNoop:
      case Op::kCopy:
      case Op::kContiguous:
      case Op::kCarried:
        return 0;
      case Op::kSink: {
        int64_t bytes = 0;
        for (size_t i = 0; i < u->num_srcs; ++i) {
          const int64_t of = elements[u->src(i)];
          const auto targets = u->list();
          if (i >= targets.size() || targets[i] == 0) continue;
          bytes = SaturatingAdd(bytes, times(of, memory));
          *meanwhile = std::max(*meanwhile, times(of, memory + record + value));
        }
        return bytes;
      }
      case Op::kKernel: {
        const std::string_view name = body.context->String(static_cast<StringId>(u->word()));
        const Kernel* kernel = module_.FindKernel(name);
        if (!kernel) return 0;
        const std::vector<bool> stored = StoredSlots(*kernel, u->num_srcs);
        const bool races = options_.check_races && kernel->stage != Stage::kKernel;
        int64_t bytes = 0;
        for (size_t i = 0; i < u->num_srcs; ++i) {
          const int64_t of = elements[u->src(i)];
          *meanwhile = SaturatingAdd(*meanwhile, times(of, memory));
          if (!stored[i]) continue;
          bytes = SaturatingAdd(bytes, times(of, memory + record));
          *meanwhile = SaturatingAdd(*meanwhile, times(of, races ? kRaceRecord : memory));
        }
        return bytes;
      }
      case Op::kRepeat: {
        int64_t bytes = 0;
        for (const UOp* s : u->srcs().subspan(2)) {
          bytes = SaturatingAdd(bytes, times(elements[s], memory + record));
        }
        return bytes;
      }
      case Op::kDefineGlobal:
        return times(std::max<int64_t>(0, u->dtype.size()), kWord);
      case Op::kLoop: {
        int64_t bytes = 0;
        for (size_t i = 1; i < u->num_srcs; ++i) {
          bytes = SaturatingAdd(bytes, times(elements[u->src(i)], value));
        }
        return bytes;
      }
      case Op::kReduceTuple:
        *meanwhile = times(n, 4 * static_cast<int64_t>(u->num_srcs) * value);
        return times(n, value);
      case Op::kReduceAxis:
        *meanwhile = times(n, 2 * value);
        return times(n, value);
      default:
        break;
    }
    if (u->dtype.is_pointer()) return times(n, kWord);
    if (IsMovement(u->op)) {
      *meanwhile = times(n, kWord);
    } else if (IsElementwise(u->op)) {
      for (const UOp* s : u->srcs()) {
        if (elements[s] == 1) *meanwhile = SaturatingAdd(*meanwhile, times(n, kWord));
      }
    }
    return u->dtype.is_void() ? 0 : times(n, value);
  }

  // The body of a loop or of a kernel that `u` runs.
  Peak OfCalled(const Body& body, const UOp* u, int depth) {
    if (u->op != Op::kLoop && !IsCall(u->op)) return {};
    const std::string_view name =
        body.context->String(static_cast<StringId>(u->op == Op::kKernel ? u->word() : u->word(0)));
    if (u->op != Op::kKernel) {
      const Graph* graph = module_.FindGraph(name);
      return graph ? OfGraph(*graph, depth + 1) : Peak();
    }
    const Kernel* kernel = module_.FindKernel(name);
    if (!kernel || kernel->stage != Stage::kKernel) return {};
    return OfBody(kernel->body, "kernel @" + kernel->name, depth + 1);
  }

  std::string ShapeOf(const Context& ctx, const Shape& shape) {
    std::vector<int64_t> extents;
    for (const Dim& d : shape) {
      extents.push_back(d.is_symbolic() ? ValueOf(ctx, d.symbol(), vars_) : d.value());
    }
    return ShapeText(extents);
  }

  const Module& module_;
  const VarValues& vars_;
  const InterpretOptions& options_;
  std::map<std::string, Peak> peaks_;  // of bodies, by what messages call them
};

std::string BytesText(int64_t bytes) {
  const bool giga = bytes >= 1'000'000'000;
  char text[32];
  std::snprintf(text, sizeof text, giga ? "%.1f GB" : "%.3f MB",
                static_cast<double>(bytes) / (giga ? 1e9 : 1e6));
  return text;
}

}  // namespace

int64_t UsableMemory() {
  int64_t bytes = SaturatingMul(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE));
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<int64_t>(limit.rlim_cur));
  }
  return bytes / 4 * 3;
}

int64_t PeakBytes(const Module& module, const Graph& graph, const VarValues& vars,
                  const InterpretOptions& options) {
  return Estimate(module, vars, options).OfGraph(graph, 0).bytes;
}

absl::Status CheckMemory(const Module& module, const Graph& graph, const VarValues& vars,
                         const InterpretOptions& options) {
  const int64_t limit = options.max_bytes > 0 ? options.max_bytes : UsableMemory();
  const Peak peak = Estimate(module, vars, options).OfGraph(graph, 0);
  if (peak.bytes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(peak.label, "the interpreter would hold ", BytesText(peak.bytes),
                   " at this value, ", BytesText(peak.own), " of it for the value (shape ",
                   peak.shape, "); it may hold ", BytesText(limit)));
}

}  // namespace tg::interpret
