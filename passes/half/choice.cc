#include "passes/half/choice.h"

#include <algorithm>
#include <map>
#include <vector>

#include "ir/interpret/kernel.h"
#include "ir/walk.h"

namespace tg::half {
namespace {

// A reduce that has this many times fewer results than inputs is a statistic. It is a sum of many
// terms, which may exceed the greatest half, or lose precision that a later division needs.
constexpr int64_t kStatisticRatio = 16;

// A kernel call.
struct Call {
  const Kernel* kernel;
  bool is_init;
  std::vector<std::string> buffers;  // by slot
  std::vector<bool> stored;          // by slot: whether the kernel stores to it
};

class Chooser {
 public:
  Chooser(const Module& module, int64_t min_elements)
      : module_(module), min_elements_(min_elements) {
    for (const BufferDecl& b : module.buffers) decls_[b.name] = &b;
  }

  std::set<std::string, std::less<>> Run() {
    for (const auto& graph : module_.graphs) Read(*graph);
    for (const BufferDecl& b : module_.buffers) {
      if (IsCandidate(b)) chosen_.insert(b.name);
    }
    for (const std::string& name : fixed_) chosen_.erase(name);
    for (const Call& call : calls_) KeepStatistics(call);
    return std::move(chosen_);
  }

 private:
  void Read(const Graph& graph) {
    const bool is_init = graph.name == kInitGraph;
    for (const UOp* u : PostOrder(graph.body.root)) {
      switch (u->op) {
        case Op::kKernel: {
          const std::string_view name =
              graph.body.context->String(static_cast<StringId>(u->word()));
          Call& call = calls_.emplace_back(Call{module_.FindKernel(name), is_init, {}, {}});
          for (const UOp* s : u->srcs()) {
            if (s->op != Op::kVar && s->op != Op::kBind) {
              call.buffers.push_back(BufferName(graph.body, s));
            }
          }
          call.stored = interpret::StoredSlots(*call.kernel, call.buffers.size());
          Note(call);
          break;
        }
        case Op::kRepeat:
          // Buffers of a pair have one type.
          for (const UOp* s : u->srcs().subspan(2)) fixed_.insert(BufferName(graph.body, s));
          break;
        case Op::kAssign:
          // A copy between devices has the type of its source.
          if (!IsCall(u->src(1)->op)) fixed_.insert(BufferName(graph.body, u->src(0)));
          break;
        case Op::kBuffer:
        case Op::kAfter:
        case Op::kVar:
        case Op::kBind:
        case Op::kSink:
        case Op::kConst:
          break;
        default:
          // A view has the type of its buffer. Any other op computes outside of a kernel, and its
          // types are not changed, so the buffers that it reads keep their types.
          if (IsMovement(u->op) || u->op == Op::kBufferView) break;
          for (const UOp* s : u->srcs()) {
            if (BufferOf(s)->op == Op::kBuffer) fixed_.insert(BufferName(graph.body, s));
          }
          break;
      }
      if (u->op != Op::kSink) continue;
      for (const int64_t target : u->list()) {
        if (target) fixed_.emplace(graph.body.context->String(static_cast<StringId>(target)));
      }
    }
  }

  void Note(const Call& call) {
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const std::string& name = call.buffers[i];
      if (call.kernel->stage != Stage::kKernel) fixed_.insert(name);
      (call.is_init ? used_by_init_ : used_by_others_).insert(name);
      if (call.stored[i]) (call.is_init ? written_by_init_ : written_by_others_).insert(name);
      // A value that @init itself reads keeps f32, so that it is not rounded in between.
      if (call.is_init && !call.stored[i] && !IsParam(name)) fixed_.insert(name);
    }
  }

  bool IsParam(const std::string& name) const { return decls_.at(name)->role == Role::kParam; }

  int64_t Elements(const BufferDecl& b) const {
    int64_t n = 1;
    for (const DeclDim& d : b.shape) n *= BoundsOf(module_, d)->second;
    return n;
  }

  bool IsCandidate(const BufferDecl& b) const {
    if (b.dtype != DType(Scalar::kF32) || Elements(b) < min_elements_) return false;
    if (!used_by_others_.count(b.name)) return false;
    switch (b.role) {
      case Role::kParam:
        return true;
      case Role::kTemp:
        return !used_by_init_.count(b.name);
      case Role::kState:
        return written_by_init_.count(b.name) && !written_by_others_.count(b.name);
      default:
        return false;
    }
  }

  void KeepStatistics(const Call& call) {
    const auto nodes = PostOrder(call.kernel->body.root);
    const bool reduces = std::any_of(nodes.begin(), nodes.end(),
                                     [](const UOp* u) { return u->op == Op::kReduceAxis; });
    if (!reduces) return;
    int64_t most = 0;
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const BufferDecl& b = *decls_.at(call.buffers[i]);
      // Weights do not count as inputs of a statistic.
      const bool is_weight = b.role == Role::kParam || written_by_init_.count(b.name);
      if (!call.stored[i] && !is_weight) most = std::max(most, Elements(b));
    }
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const int64_t n = Elements(*decls_.at(call.buffers[i]));
      if (call.stored[i] && n * kStatisticRatio <= most) chosen_.erase(call.buffers[i]);
    }
  }

  const Module& module_;
  const int64_t min_elements_;
  std::map<std::string, const BufferDecl*, std::less<>> decls_;
  std::vector<Call> calls_;
  std::set<std::string, std::less<>> fixed_, used_by_init_, used_by_others_, written_by_init_,
      written_by_others_, chosen_;
};

}  // namespace

std::string BufferName(const Body& body, const UOp* operand) {
  return std::string(body.context->String(static_cast<StringId>(BufferOf(operand)->word())));
}

std::set<std::string, std::less<>> ChooseHalfBuffers(const Module& module, int64_t min_elements) {
  return Chooser(module, min_elements).Run();
}

}  // namespace tg::half
