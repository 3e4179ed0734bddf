// The order of an artifact's fields (fields.h).
#ifndef TG_RUNTIME_ARTIFACT_PLAN_CODEC_H_
#define TG_RUNTIME_ARTIFACT_PLAN_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/fields.h"

namespace tg::artifact {

// The parts of a type: a reader checks them before it makes one (CheckedType).
struct TypeParts {
  uint8_t kind = 0, scalar = 0, space = 0;
  int32_t lanes = 1;
  int64_t size = 0;
};

TypeParts PartsOf(DType type);
// None if the parts make no type that a buffer or a parameter has.
std::optional<DType> CheckedType(const TypeParts& parts);

template <typename A>
void Fields(A& a, DType& type) {
  TypeParts parts;
  if constexpr (!A::kReads) parts = PartsOf(type);
  a.Number(parts.kind);
  a.Number(parts.scalar);
  a.Number(parts.space);
  a.Number(parts.lanes);
  a.Number(parts.size);
  // An impossible type becomes void, which no check accepts.
  if constexpr (A::kReads) type = CheckedType(parts).value_or(kVoid);
}

template <typename A>
void Fields(A& a, DimExpr& expr) {
  std::vector<DimTerm> terms = expr.terms();
  a.List("a list of terms", terms, [&](DimTerm& t) {
    Enum(a, t.op);
    a.Number(t.value);
    a.String(t.var);
  });
  if constexpr (A::kReads) expr = DimExpr(std::move(terms));
}

template <typename A>
void Fields(A& a, codegen::SizeExpr& expr) {
  std::vector<codegen::SizeExpr::Step> steps(expr.steps().begin(), expr.steps().end());
  a.List("a list of terms", steps, [&](codegen::SizeExpr::Step& s) {
    Enum(a, s.op);
    Enum(a, s.type);
    Enum(a, s.operand_type);
    for (uint32_t& o : s.operands) a.Number(o);
    a.Number(s.num_operands);
    a.Number(s.value);
    a.String(s.var);
  });
  if constexpr (A::kReads) expr = codegen::SizeExpr(std::move(steps));
}

template <typename A>
void Fields(A& a, runtime::CompiledKernel& k) {
  a.Number(k.kernel);
  a.String(k.name);
  a.String(k.colored_name);
  Strings(a, "a list of metadata", k.metadata);
  a.String(k.schedule);
  a.Number(k.local_bytes);
  bool has_work = k.work.has_value();
  Flag(a, has_work);
  runtime::KernelWork work = k.work.value_or(runtime::KernelWork());
  a.Number(work.ops);
  a.Number(work.load_bytes);
  a.Number(work.store_bytes);
  if constexpr (A::kReads) k.work = has_work ? std::optional(work) : std::nullopt;
  codegen::RenderedKernel& code = k.code;
  a.String(code.name);
  a.List("a list of parameters", code.params, [&](codegen::KernelParam& p) {
    Flag(a, p.is_var);
    a.Number(p.slot);
    a.String(p.name);
    Fields(a, p.dtype);
    Flag(a, p.reads);
    Flag(a, p.writes);
  });
  for (codegen::SizeExpr& groups : code.groups) Fields(a, groups);
  for (int64_t& local : code.local) a.Number(local);
  a.Number(code.group_memory);
  a.String(k.object);
}

template <typename A>
void Fields(A& a, runtime::DeviceCode& d) {
  Strings(a, "a list of names", d.names);
  a.String(d.target);
  a.Number(d.flops_per_second);
  a.Number(d.bytes_per_second);
  a.List("a list of kernels", d.kernels, [&](runtime::CompiledKernel& k) { Fields(a, k); });
  a.List("a list of programs", d.programs, [&](runtime::ProgramSource& p) {
    std::vector<uint32_t> kernels(p.kernels.begin(), p.kernels.end());
    a.List("a list of kernels", kernels, [&](uint32_t& k) { a.Number(k); });
    if constexpr (A::kReads) p.kernels.assign(kernels.begin(), kernels.end());
  });
}

template <typename A>
void Fields(A& a, BufferDecl& b) {
  a.String(b.name);
  Fields(a, b.dtype);
  a.List("a shape", b.shape, [&](DeclDim& d) {
    a.Number(d.size);
    a.String(d.var);
    Fields(a, d.expr);
  });
  Enum(a, b.role);
  a.String(b.device);
}

template <typename A>
void Fields(A& a, runtime::ScheduledGraph& g) {
  a.String(g.name);
  a.List("a list of steps", g.steps, [&](runtime::ScheduledKernel& s) {
    a.Number(s.kernel);
    a.List("a list of buffers", s.buffers, [&](runtime::BufferSlice& slice) {
      a.Number(slice.buffer);
      a.Number(slice.offset);
      a.Number(slice.size);
    });
    a.List("a list of variables", s.vars, [&](runtime::VarUse& v) {
      a.String(v.name);
      bool is_bound = v.bound.has_value();
      int64_t bound = v.bound.value_or(0);
      Flag(a, is_bound);
      a.Number(bound);
      if constexpr (A::kReads) v.bound = is_bound ? std::optional(bound) : std::nullopt;
    });
    Strings(a, "a list of nodes", s.nodes);
    Strings(a, "a list of tensors", s.tensors);
    Flag(a, s.depends_on_input);
    a.List("a list of buffers", s.held, [&](int& b) { a.Number(b); });
  });
  a.List("a list of loops", g.loops, [&](runtime::ScheduledLoop& l) {
    auto first = static_cast<uint32_t>(l.first), last = static_cast<uint32_t>(l.last);
    a.Number(first);
    a.Number(last);
    if constexpr (A::kReads) l.first = first, l.last = last;
    Fields(a, l.trip);
    a.String(l.step);
    a.List("a list of pairs", l.pairs, [&](std::pair<int, int>& pair) {
      a.Number(pair.first);
      a.Number(pair.second);
    });
    a.Number(l.condition);
  });
  a.List("a list of measures", g.measures, [&](runtime::ScheduledMeasure& m) {
    auto before = static_cast<uint32_t>(m.before);
    a.Number(before);
    if constexpr (A::kReads) m.before = before;
    a.Number(m.buffer);
    a.String(m.var);
  });
  a.List("a list of buffers", g.buffers, [&](int& b) { a.Number(b); });
  a.List("a list of variables", g.vars, [&](int& v) { a.Number(v); });
}

template <typename A>
void Fields(A& a, PackedTexts& texts) {
  a.List("a list of lengths", texts.lengths, [&](uint32_t& length) { a.Number(length); });
  a.String(texts.packed);
}

template <typename A>
void Fields(A& a, Artifact& artifact) {
  a.String(artifact.tool);
  a.String(artifact.model);
  a.List("a list of devices", artifact.made_for, [&](MadeFor& m) {
    Flag(a, m.is_native);
    a.String(m.name);
    a.String(m.platform);
    a.String(m.key);
  });
  runtime::Executable& e = artifact.executable;
  a.String(e.name);
  a.List("a list of variables", e.vars, [&](VarDecl& v) {
    a.String(v.name);
    a.Number(v.min);
    a.Number(v.max);
  });
  a.List("a list of buffers", e.buffers, [&](BufferDecl& b) { Fields(a, b); });
  a.List("a list of requirements", e.requirements, [&](Requirement& r) {
    Flag(a, r.is_equality);
    Fields(a, r.left);
    Fields(a, r.right);
    a.String(r.what);
  });
  Strings(a, "a list of kernels", e.kernel_names);
  a.List("a list of graphs", e.graphs, [&](runtime::ScheduledGraph& g) { Fields(a, g); });
  a.List("a list of devices", e.devices, [&](runtime::DeviceCode& d) { Fields(a, d); });
  a.List("a list of texts", artifact.sources, [&](PackedTexts& t) { Fields(a, t); });
  a.List("a list of texts", artifact.binaries, [&](PackedTexts& t) { Fields(a, t); });
  a.List("a list of attachments", artifact.attachments, [&](Attachment& t) {
    a.String(t.name);
    Fields(a, t.text);
  });
  a.List("a list of files", artifact.files, [&](WeightsFile& f) {
    a.String(f.path);
    a.Number(f.bytes);
    a.Number(f.modified);
  });
  a.List("a list of contents", artifact.contents, [&](Contents& c) {
    a.Number(c.buffer);
    a.Number(c.file);
    a.Number(c.offset);
    a.Number(c.bytes);
    a.Number(c.hash);
  });
}

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_PLAN_CODEC_H_
