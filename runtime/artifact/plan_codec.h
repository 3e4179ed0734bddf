// Fields: the order of an artifact's fields, once for writing and for reading.
//
// An archive has Number, Bool, String and List. The writer's take what they are given; the reader's
// set it.
#ifndef TG_RUNTIME_ARTIFACT_PLAN_CODEC_H_
#define TG_RUNTIME_ARTIFACT_PLAN_CODEC_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/cat.h"
#include "runtime/artifact/artifact.h"

namespace tg::artifact {

class PlanWriter {
 public:
  static constexpr bool kReads = false;

  template <typename T>
  void Number(T& value) {
    Append(&value, sizeof value);
  }
  void String(std::string& text) {
    auto size = static_cast<uint32_t>(text.size());
    Number(size);
    out_ += text;
  }
  template <typename T, typename F>
  void List(const char*, std::vector<T>& list, F&& fields) {
    auto size = static_cast<uint32_t>(list.size());
    Number(size);
    for (T& item : list) fields(item);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Append(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
  std::string out_;
};

// After an error everything that is read is 0 or empty.
class PlanReader {
 public:
  static constexpr bool kReads = true;

  explicit PlanReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void Number(T& value) {
    value = T();
    if (!Has(sizeof value, "a number")) return;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }
  void String(std::string& text) {
    uint32_t size = 0;
    Number(size);
    text.clear();
    if (!Has(size, "a text")) return;
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  template <typename T, typename F>
  void List(const char* what, std::vector<T>& list, F&& fields) {
    uint32_t size = 0;
    Number(size);
    list.clear();
    // Each element takes a byte at least, so that a wrong count asks for no memory.
    if (!Has(size, what)) return;
    for (uint32_t i = 0; i < size && error_.empty(); ++i) fields(list.emplace_back());
  }

  size_t at() const { return at_; }
  bool AtEnd() const { return at_ == bytes_.size(); }
  const std::string& error() const { return error_; }

 private:
  bool Has(size_t size, std::string_view what) {
    if (error_.empty() && size > bytes_.size() - at_) {
      error_ = Cat("byte ", at_, " of the plan: ", what, " goes beyond its end");
    }
    return error_.empty();
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::string error_;
};

template <typename A, typename E>
requires std::is_enum_v<E>
void Enum(A& a, E& value) { a.Number(value); }

template <typename A>
void Flag(A& a, bool& value) {
  uint8_t byte = value;
  a.Number(byte);
  value = byte != 0;
}

template <typename A>
void Strings(A& a, const char* what, std::vector<std::string>& list) {
  a.List(what, list, [&](std::string& s) { a.String(s); });
}

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
  a.String(code.source);
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
    a.String(p.source);
    a.String(p.binary);
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
  });
  a.List("a list of buffers", g.buffers, [&](int& b) { a.Number(b); });
  a.List("a list of variables", g.vars, [&](int& v) { a.Number(v); });
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
  a.List("a list of contents", artifact.contents, [&](Contents& c) {
    a.Number(c.buffer);
    a.Number(c.offset);
    a.Number(c.bytes);
    a.Number(c.hash);
  });
}

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_PLAN_CODEC_H_
