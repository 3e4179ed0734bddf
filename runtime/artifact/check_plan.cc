#include "runtime/artifact/check_plan.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "runtime/artifact/format.h"
#include "runtime/plan/extents.h"

namespace tg::artifact {
namespace {

using runtime::CompiledKernel;
using runtime::DeviceCode;
using runtime::Executable;
using runtime::ScheduledGraph;
using runtime::ScheduledKernel;

// The most work-items of a group, and bytes of memory that a group asks for.
constexpr int64_t kMaxGroup = 1 << 20, kMaxGroupBytes = int64_t{1} << 40;
// The most bytes of a device's texts.
constexpr uint64_t kMaxTextBytes = uint64_t{1} << 30;

class PlanChecker {
 public:
  explicit PlanChecker(const Artifact& artifact) : artifact_(artifact), e_(artifact.executable) {}

  absl::Status Check(uint64_t weights_offset, uint64_t weights_bytes) {
    TG_RETURN_IF_ERROR(CheckDeclarations());
    TG_RETURN_IF_ERROR(CheckDevices());
    for (const Attachment& a : artifact_.attachments) {
      if (a.text.lengths.size() != 1 || a.text.bytes() > kMaxTextBytes) {
        return InvalidArgument("the attachment '", a.name, "' has no size");
      }
    }
    for (const ScheduledGraph& graph : e_.graphs) TG_RETURN_IF_ERROR(CheckGraph(graph));
    return CheckContents(weights_offset, weights_bytes);
  }

 private:
  bool IsBuffer(int64_t i) const { return i >= 0 && static_cast<size_t>(i) < e_.buffers.size(); }
  bool IsVar(std::string_view name) const { return e_.FindVar(name) != nullptr; }

  template <typename List, typename Name>
  static absl::Status CheckNames(const char* what, const List& list, Name name) {
    std::set<std::string_view> seen;
    for (const auto& item : list) {
      if (!seen.insert(name(item)).second) {
        return InvalidArgument("two ", what, " are named @", std::string(name(item)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckExpr(const DimExpr& expr, const std::string& where) const {
    for (const DimTerm& t : expr.terms()) {
      const bool known = t.op == Op::kConst || t.op == Op::kVar || DimExpr::IsArithmetic(t.op);
      if (!known || (t.op == Op::kVar && !IsVar(t.var))) {
        return InvalidArgument(where, ": a size has an unknown term");
      }
    }
    return expr.IsComplete() ? absl::OkStatus()
                             : InvalidArgument(where, ": a size is no complete expression");
  }

  absl::Status CheckDeclarations() const {
    TG_RETURN_IF_ERROR(CheckNames("variables", e_.vars,
                                  [](const VarDecl& v) -> std::string_view { return v.name; }));
    TG_RETURN_IF_ERROR(CheckNames("buffers", e_.buffers,
                                  [](const BufferDecl& b) -> std::string_view { return b.name; }));
    for (const VarDecl& v : e_.vars) {
      if (v.min > v.max) return InvalidArgument("variable @", v.name, " has no values");
    }
    for (const BufferDecl& b : e_.buffers) {
      const std::string where = Cat("buffer @", b.name);
      const bool is_value = b.dtype.is_value() && !b.dtype.is_void() && b.dtype.lanes() == 1 &&
                            ByteSize(b.dtype.scalar()) > 0;
      if (!is_value && !b.dtype.is_image()) return InvalidArgument(where, " has no type");
      if (b.role > Role::kTemp) return InvalidArgument(where, " has no role");
      for (const DeclDim& d : b.shape) {
        if (!d.is_symbolic() && d.size < 0) return InvalidArgument(where, " has a negative extent");
        if (!d.var.empty() && !d.expr.empty()) {
          return InvalidArgument(where, " has an extent of two kinds");
        }
        if (!d.var.empty() && !IsVar(d.var)) {
          return InvalidArgument(where, ": there is no variable @", d.var);
        }
        if (!d.expr.empty()) TG_RETURN_IF_ERROR(CheckExpr(d.expr, where));
      }
    }
    for (const Requirement& r : e_.requirements) {
      TG_RETURN_IF_ERROR(CheckExpr(r.left, "a requirement"));
      TG_RETURN_IF_ERROR(CheckExpr(r.right, "a requirement"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckKernel(const CompiledKernel& k) const {
    const std::string where = Cat("kernel @", k.name);
    if (k.kernel < 0 || static_cast<size_t>(k.kernel) >= e_.kernel_names.size()) {
      return InvalidArgument(where, " has number ", k.kernel, " of ", e_.kernel_names.size());
    }
    const codegen::RenderedKernel& code = k.code;
    int64_t group = 1;
    for (const int64_t local : code.local) {
      if (local < 1 || local > kMaxGroup / group) {
        return InvalidArgument(where, " has groups of ", local, " work-items");
      }
      group *= local;
    }
    for (const codegen::SizeExpr& groups : code.groups) {
      if (!groups.IsComplete()) {
        return InvalidArgument(where, ": the size of its grid is no complete expression");
      }
      for (const std::string& var : groups.Vars()) {
        if (!IsVar(var)) return InvalidArgument(where, ": there is no variable @", var);
      }
    }
    for (const int64_t bytes : {k.local_bytes, code.group_memory}) {
      if (bytes < 0 || bytes > kMaxGroupBytes) {
        return InvalidArgument(where, " asks for ", bytes, " bytes for a group");
      }
    }
    for (const codegen::KernelParam& p : code.params) {
      const bool fits = p.is_var ? (p.dtype == kI32 || p.dtype == kI64) && IsVar(p.name)
                                 : p.dtype.is_memory() && p.slot >= 0;
      if (!fits) return InvalidArgument(where, ": parameter ", p.name, " is of no known kind");
    }
    return absl::OkStatus();
  }

  absl::Status CheckTexts(const std::vector<PackedTexts>& texts, size_t device,
                          size_t number) const {
    if (texts.size() != e_.devices.size() || texts[device].lengths.size() != number) {
      return InvalidArgument("device ", device, " has no texts for its ", number, " kernels");
    }
    if (texts[device].bytes() <= kMaxTextBytes) return absl::OkStatus();
    return InvalidArgument("device ", device, " has ", texts[device].bytes(), " bytes of texts");
  }

  absl::Status CheckDevices() const {
    if (e_.devices.empty()) return InvalidArgument("it runs on no device");
    if (e_.devices.size() != artifact_.made_for.size()) {
      return InvalidArgument("it has code for ", e_.devices.size(), " devices and the names of ",
                             artifact_.made_for.size());
    }
    for (size_t d = 0; d < e_.devices.size(); ++d) {
      const DeviceCode& device = e_.devices[d];
      std::set<int> numbers;
      for (const CompiledKernel& k : device.kernels) {
        TG_RETURN_IF_ERROR(CheckKernel(k));
        if (!numbers.insert(k.kernel).second) {
          return InvalidArgument("kernel @", k.name, " is there twice");
        }
      }
      std::set<size_t> in_programs;
      for (const runtime::ProgramSource& program : device.programs) {
        for (const size_t k : program.kernels) {
          if (k < device.kernels.size() && in_programs.insert(k).second) continue;
          return InvalidArgument("a program has kernel ", k, " of ", device.kernels.size());
        }
      }
      const size_t wanted = artifact_.made_for[d].is_native ? 0 : device.kernels.size();
      if (in_programs.size() != wanted) {
        return InvalidArgument(in_programs.size(), " kernels are in programs, not ", wanted);
      }
      TG_RETURN_IF_ERROR(
          CheckTexts(artifact_.sources, d, device.kernels.size() + device.programs.size()));
      TG_RETURN_IF_ERROR(CheckTexts(artifact_.binaries, d, device.programs.size()));
    }
    return absl::OkStatus();
  }

  const CompiledKernel* Find(int kernel, std::string_view device) const {
    for (const DeviceCode& code : e_.devices) {
      bool is_named = false;
      for (const std::string& name : code.names) is_named |= name == device;
      if (!is_named) continue;
      for (const CompiledKernel& k : code.kernels) {
        if (k.kernel == kernel) return &k;
      }
    }
    return nullptr;
  }

  absl::Status CheckSlice(const runtime::BufferSlice& slice, const std::string& where) const {
    if (!IsBuffer(slice.buffer)) {
      return InvalidArgument(where, " takes buffer ", slice.buffer, " of ", e_.buffers.size());
    }
    if (slice.offset < 0 || slice.size < -1) {
      return InvalidArgument(where, " takes a part of @",
                             e_.buffers[static_cast<size_t>(slice.buffer)].name,
                             " that is outside of it");
    }
    const BufferDecl& decl = e_.buffers[static_cast<size_t>(slice.buffer)];
    if (slice.size < 0 && slice.offset == 0) return absl::OkStatus();
    TG_ASSIGN_OR_RETURN(const size_t bytes, runtime::BufferBytes(e_, decl));
    const auto total = static_cast<int64_t>(bytes) / ByteSize(decl.dtype.scalar());
    if (slice.offset > total || (slice.size >= 0 && slice.size > total - slice.offset)) {
      return InvalidArgument(where, " takes a part of @", decl.name, " that is outside of it");
    }
    return absl::OkStatus();
  }

  // Loops are runs of steps, each inside of an earlier one or behind it.
  absl::Status CheckLoops(const ScheduledGraph& graph) const {
    std::vector<size_t> ends;  // of the loops around the next one
    size_t begin = 0;
    for (const runtime::ScheduledLoop& loop : graph.loops) {
      const std::string where = Cat("a loop of graph @", graph.name);
      while (!ends.empty() && ends.back() <= loop.first) ends.pop_back();
      const size_t most = ends.empty() ? graph.steps.size() : ends.back();
      if (loop.first < begin || loop.first >= loop.last || loop.last > most) {
        return InvalidArgument(where, " has steps ", loop.first, " to ", loop.last, " of ", most);
      }
      begin = loop.first;
      ends.push_back(loop.last);
      if (!loop.trip.IsComplete()) {
        return InvalidArgument(where, ": its trip count is no complete expression");
      }
      for (const std::string& var : loop.trip.Vars()) {
        if (!IsVar(var)) return InvalidArgument(where, ": there is no variable @", var);
      }
      if (!IsVar(loop.step)) return InvalidArgument(where, ": there is no variable @", loop.step);
      const auto is_temporary = [&](int b) {
        return IsBuffer(b) && e_.buffers[static_cast<size_t>(b)].role == Role::kTemp;
      };
      const auto is_held = [&](int b) {
        const auto holds = [&](size_t step) {
          const std::vector<int>& held = graph.steps[step].held;
          return std::find(held.begin(), held.end(), b) != held.end();
        };
        return holds(loop.first) && holds(loop.last - 1);
      };
      for (const auto& [first, second] : loop.pairs) {
        if (!is_temporary(first) || !is_temporary(second) || !is_held(first) || !is_held(second)) {
          return InvalidArgument(where, " exchanges buffers ", first, " and ", second);
        }
        const BufferDecl &a = e_.buffers[static_cast<size_t>(first)],
                         &b = e_.buffers[static_cast<size_t>(second)];
        if (a.dtype != b.dtype || a.shape != b.shape || a.device != b.device) {
          return InvalidArgument(where, " exchanges @", a.name, " and @", b.name,
                                 ", which are not alike");
        }
      }
      const bool has_condition =
          loop.condition >= 0 && !loop.pairs.empty() && loop.pairs[0].first == loop.condition;
      if (loop.condition != -1 && !has_condition) {
        return InvalidArgument(where, " has condition ", loop.condition, ", no buffer of a pair");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckMeasures(const ScheduledGraph& graph) const {
    size_t from = 0;
    for (const runtime::ScheduledMeasure& m : graph.measures) {
      const std::string where = Cat("graph @", graph.name, ": measured variable @", m.var);
      if (!IsVar(m.var)) return InvalidArgument(where, " is not declared");
      const bool in_loop = std::any_of(graph.loops.begin(), graph.loops.end(),
                                       [&](const runtime::ScheduledLoop& loop) {
                                         return loop.first < m.before && m.before < loop.last;
                                       });
      if (m.before < from || m.before > graph.steps.size() || in_loop) {
        return InvalidArgument(where, " is read before step ", m.before);
      }
      from = m.before;
      const bool is_known = IsBuffer(m.buffer);
      const BufferDecl* decl = is_known ? &e_.buffers[static_cast<size_t>(m.buffer)] : nullptr;
      if (decl == nullptr || !decl->dtype.is_int() || !decl->shape.empty()) {
        return InvalidArgument(where, " is read from buffer ", m.buffer, ", which is no integer");
      }
      // Only what a step before it uses has memory.
      const bool is_used = std::any_of(
          graph.steps.begin(), graph.steps.begin() + static_cast<std::ptrdiff_t>(m.before),
          [&](const ScheduledKernel& step) {
            return std::any_of(step.buffers.begin(), step.buffers.end(),
                               [&](const auto& s) { return s.buffer == m.buffer; });
          });
      if (decl->role == Role::kTemp && !is_used) {
        return InvalidArgument(where, " is read from @", decl->name, ", which nothing writes");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckGraph(const ScheduledGraph& graph) const {
    for (size_t i = 0; i < graph.steps.size(); ++i) {
      const ScheduledKernel& step = graph.steps[i];
      const std::string where = Cat("step ", i, " of graph @", graph.name);
      for (const runtime::BufferSlice& slice : step.buffers) {
        TG_RETURN_IF_ERROR(CheckSlice(slice, where));
      }
      for (const runtime::VarUse& var : step.vars) {
        if (!IsVar(var.name)) return InvalidArgument(where, ": there is no variable @", var.name);
      }
      for (const int b : step.held) {
        if (!IsBuffer(b)) return InvalidArgument(where, " holds buffer ", b);
      }
      if (step.is_copy()) {
        if (step.buffers.size() != 2) return InvalidArgument(where, " copies no two buffers");
        continue;
      }
      if (step.buffers.empty()) return InvalidArgument(where, " runs a kernel on no buffer");
      const BufferDecl& first = e_.buffers[static_cast<size_t>(step.buffers[0].buffer)];
      const CompiledKernel* kernel = Find(step.kernel, first.device);
      if (kernel == nullptr) {
        return InvalidArgument(where, " runs kernel ", step.kernel,
                               ", which its device does not have");
      }
      for (const codegen::KernelParam& p : kernel->code.params) {
        if (p.is_var || static_cast<size_t>(p.slot) < step.buffers.size()) continue;
        return InvalidArgument(where, ": kernel @", kernel->name, " takes buffer ", p.slot, " of ",
                               step.buffers.size());
      }
    }
    TG_RETURN_IF_ERROR(CheckLoops(graph));
    TG_RETURN_IF_ERROR(CheckMeasures(graph));
    for (const int b : graph.buffers) {
      if (!IsBuffer(b)) return InvalidArgument("graph @", graph.name, " names buffer ", b);
    }
    for (const int v : graph.vars) {
      if (v < 0 || static_cast<size_t>(v) >= e_.vars.size()) {
        return InvalidArgument("graph @", graph.name, " names variable ", v);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckContents(uint64_t weights_offset, uint64_t weights_bytes) const {
    std::set<int> seen;
    for (const Contents& c : artifact_.contents) {
      if (!IsBuffer(c.buffer) || !seen.insert(c.buffer).second) {
        return InvalidArgument("contents of buffer ", c.buffer, " of ", e_.buffers.size());
      }
      const BufferDecl& decl = e_.buffers[static_cast<size_t>(c.buffer)];
      if (decl.role != Role::kParam && decl.role != Role::kState) {
        return InvalidArgument("contents of @", decl.name, ", which is ",
                               std::string(RoleName(decl.role)));
      }
      for (const DeclDim& d : decl.shape) {
        if (d.is_symbolic()) return InvalidArgument("contents of @", decl.name, " of any size");
      }
      TG_ASSIGN_OR_RETURN(const size_t bytes, runtime::BufferBytes(e_, decl));
      if (bytes != c.bytes) {
        return InvalidArgument("the contents of @", decl.name, " have ", c.bytes, " bytes, not ",
                               bytes);
      }
      if (c.file > artifact_.files.size()) {
        return InvalidArgument("the contents of @", decl.name, " are in file ", c.file, " of ",
                               artifact_.files.size());
      }
      if (c.file > 0) {
        const uint64_t size = artifact_.files[c.file - 1].bytes;
        if (c.offset <= size && c.bytes <= size - c.offset) continue;
        return InvalidArgument("the contents of @", decl.name, " are outside of ",
                               artifact_.files[c.file - 1].path);
      }
      if (c.offset % kLineBytes != 0 || c.offset < weights_offset ||
          c.offset - weights_offset > weights_bytes ||
          c.bytes > weights_bytes - (c.offset - weights_offset)) {
        return InvalidArgument("the contents of @", decl.name, " are outside of the weights");
      }
    }
    return absl::OkStatus();
  }

  const Artifact& artifact_;
  const Executable& e_;
};

}  // namespace

absl::Status CheckPlan(const Artifact& artifact, uint64_t weights_offset, uint64_t weights_bytes) {
  return PlanChecker(artifact).Check(weights_offset, weights_bytes);
}

}  // namespace tg::artifact
