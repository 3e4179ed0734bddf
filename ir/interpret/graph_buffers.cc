// Buffers, their versions, and what reads and writes them.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/interpret/deferred.h"
#include "ir/interpret/graph_run.h"
#include "ir/measure.h"
#include "ir/shape.h"
#include "ir/value.h"
#include "ir/wrong_measure.h"

namespace tg::interpret {
namespace {

absl::StatusOr<std::vector<int64_t>> ConcreteShape(const BufferDecl& decl, const VarValues& vars) {
  std::vector<int64_t> shape;
  for (const DeclDim& d : decl.shape) {
    std::string missing;
    const std::optional<int64_t> extent =
        d.Evaluate([&](std::string_view name) -> std::optional<int64_t> {
          const auto it = vars.find(name);
          if (it != vars.end()) return it->second;
          missing = name;
          return std::nullopt;
        });
    if (!missing.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("variable @", missing, " has no value"));
    }
    if (!extent || *extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("extent ", d.Text(), extent ? " is negative" : " overflows"));
    }
    shape.push_back(*extent);
  }
  return shape;
}

}  // namespace

absl::StatusOr<VersionPtr> GraphRun::Entry(std::string_view name) {
  if (const auto it = p_.entries.find(name); it != p_.entries.end()) return it->second;
  const std::string label = absl::StrCat("buffer @", std::string(name));
  const BufferDecl* decl = p_.module.FindBuffer(name);
  if (!decl) return absl::InvalidArgumentError(label + " is not declared");
  auto shape = ConcreteShape(*decl, p_.vars);
  if (!shape.ok())
    return absl::InvalidArgumentError(absl::StrCat(label, ": ", shape.status().message()));
  if (absl::Status status = CheckExtents(*shape); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(label, ": ", status.message()));
  }
  auto contents = std::make_shared<HostBuffer>();
  if (const auto given = p_.inputs.find(name); given != p_.inputs.end()) {
    const HostBuffer& b = given->second;
    if (b.dtype != decl->dtype || b.shape != *shape ||
        b.data.size() != static_cast<size_t>(NumElements(*shape))) {
      return absl::InvalidArgumentError(absl::StrCat(
          label, " was given ", b.dtype.ToString(), ShapeText(b.shape), " (", b.data.size(),
          " elements), is declared ", decl->dtype.ToString(), ShapeText(*shape)));
    }
    *contents = b;
  } else if (decl->values) {
    *contents = HostBuffer{decl->dtype, *shape, *decl->values, {}, {}, {}};
    if (contents->data.size() != static_cast<size_t>(NumElements(*shape))) {
      return absl::InvalidArgumentError(
          label + ": its declaration has another number of values than elements");
    }
  } else {
    *contents = UndefinedBuffer(decl->dtype, *shape);
  }
  auto version =
      std::make_shared<const Version>(Version{std::string(name), std::move(contents), {}});
  p_.entries.emplace(std::string(name), version);
  return version;
}

absl::StatusOr<Tensor> GraphRun::Operand(const UOp* u, size_t i) {
  const Tensor& t = values_[u->src(i)]->tensor;
  if (!t.ok()) return absl::InvalidArgumentError(absl::StrCat("source ", i, " has no value"));
  // Whether the elements of a deferred value are defined is checked when they are computed.
  if (t.deferred) return t;
  if (t.defined && p_.options.check_undefined) {
    const auto at = std::find(t.defined->begin(), t.defined->end(), 0) - t.defined->begin();
    if (at != static_cast<std::ptrdiff_t>(t.defined->size())) {
      const VersionPtr& v = values_[u->src(i)]->version;
      return absl::FailedPreconditionError(
          absl::StrCat("element ", at, " of source ", i, " was never given a value",
                       v ? absl::StrCat(" (buffer @", v->name, ")") : ""));
    }
  }
  return t;
}

absl::StatusOr<int64_t> GraphRun::Number(const UOp* u, size_t i) {
  auto t = Operand(u, i);
  if (!t.ok()) return t.status();
  if (t->size() != 1)
    return absl::InvalidArgumentError(absl::StrCat("source ", i, " is not one number"));
  return (*t->data)[0];
}

absl::Status GraphRun::Buffer(const UOp* u, GraphValue& v) {
  auto entry = Entry(ctx_.String(static_cast<StringId>(u->word())));
  if (!entry.ok()) return entry.status();
  v.version = *entry;
  Extents shape = v.version->contents->shape;
  v.tensor = Read(v.version, nullptr, std::move(shape));
  return absl::OkStatus();
}

absl::Status GraphRun::Bind(const UOp* u, GraphValue& v) {
  auto value = Number(u, 1);
  if (!value.ok()) return value.status();
  v.tensor = ScalarTensor(u->dtype.scalar(), *value);
  if (!IsMeasure(u)) return absl::OkStatus();
  const std::string name = Text(u->src(0)->word());
  const VarDecl* decl = p_.module.FindVar(name);
  if (!decl) return absl::InvalidArgumentError(absl::StrCat("there is no variable @", name));
  if (const std::string why = WrongMeasure(*decl, *value); !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
  p_.vars[name] = *value;
  if (p_.options.measured) (*p_.options.measured)[name] = *value;
  values_[u->src(0)]->tensor = v.tensor;
  return absl::OkStatus();
}

absl::Status GraphRun::Move(const UOp* u, GraphValue& v) {
  const GraphValue& from = *values_[u->src(0)];
  if (!from.tensor.ok()) return absl::InvalidArgumentError("its source has no value");
  std::vector<int64_t> symbols;
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) {
    auto n = Number(u, i);
    if (!n.ok()) return n.status();
    symbols.push_back(*n);
  }
  auto map = IndexMapOf(u, from.tensor.shape, symbols);
  if (!map.ok()) return map.status();
  const bool is_target = from.version && is_target_.Contains(u);
  if (absl::Status s = CheckExtents(map->shape); !s.ok()) return s;
  std::optional<Movement> movement;
  if (is_target) movement = MovementOf(*map);
  auto moved = Gather(u, from.tensor, *std::move(map), p_.options);
  if (!moved.ok()) return moved.status();
  v.tensor = *std::move(moved);
  if (!is_target) return absl::OkStatus();
  v.version = from.version;
  if (from.map) {
    for (int64_t& i : movement->map) {
      if (i >= 0) i = (*from.map)[static_cast<size_t>(i)];
    }
  }
  v.map = std::make_shared<const std::vector<int64_t>>(std::move(movement->map));
  return absl::OkStatus();
}

absl::Status GraphRun::BufferView(const UOp* u, GraphValue& v) {
  const GraphValue& from = *values_[u->src(0)];
  const int64_t offset = u->word(0), size = u->word(1);
  if (!from.version) return absl::InvalidArgumentError("its source is not a buffer");
  const auto n = static_cast<int64_t>(from.tensor.size());
  if (offset < 0 || size < 0 || offset + size > n) {
    return absl::InvalidArgumentError(
        absl::StrCat("[", offset, ", ", offset + size, ") is outside a buffer of ", n));
  }
  std::vector<int64_t> map(static_cast<size_t>(size));
  for (size_t i = 0; i < map.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) + offset;
    map[i] = from.map ? (*from.map)[static_cast<size_t>(at)] : at;
  }
  v.version = from.version;
  v.tensor = Read(v.version, &map, {size});
  v.map = std::make_shared<const std::vector<int64_t>>(std::move(map));
  return absl::OkStatus();
}

absl::StatusOr<VersionPtr> GraphRun::Write(const VersionPtr& base, const std::vector<int64_t>* map,
                                           const Tensor& value) {
  const absl::StatusOr<Tensor> held = Hold(value);
  if (!held.ok()) return held.status();
  const Tensor& values = *held;
  auto record = std::make_shared<WriteRecord>();
  record->order = next_write_++;
  const Scalar storage = base->contents->dtype.scalar();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = map ? (*map)[i] : static_cast<int64_t>(i);
    if (at < 0) continue;  // what a pad adds is not there
    if (values.defined && !(*values.defined)[i]) continue;
    record->indices.push_back(at);
    record->values.push_back(CastBits(values.scalar, storage, (*values.data)[i]));
    if (values.error) record->errors.push_back(values.ErrorAt(i));
  }
  return Apply(base, std::move(record));
}

// Joins `versions` with those of the same buffer that sources `first_token`.. of `u` hold.
absl::StatusOr<VersionPtr> GraphRun::JoinAll(std::vector<VersionPtr> versions, size_t first_token,
                                             const UOp* u) {
  const std::string& name = versions[0]->name;
  const auto add = [&](const VersionPtr& v) {
    if (v && v->name == name) versions.push_back(v);
  };
  for (size_t i = first_token; i < u->num_srcs; ++i) {
    const GraphValue& token = *values_[u->src(i)];
    add(token.version);
    for (const VersionPtr& v : token.written) add(v);
  }
  if (versions.size() == 1) return versions[0];
  auto entry = Entry(name);
  if (!entry.ok()) return entry.status();
  return Join(versions, *entry);
}

absl::Status GraphRun::Assign(const UOp* u, GraphValue& v) {
  const GraphValue& target = *values_[u->src(0)];
  if (!target.version)
    return absl::InvalidArgumentError("its target is not a buffer or a view of one");
  v.map = target.map;
  VersionPtr version;
  if (IsCall(u->src(1)->op)) {
    for (const VersionPtr& w : values_[u->src(1)]->written) {
      if (w->name == target.version->name) version = w;
    }
    if (!version)
      return absl::InvalidArgumentError(
          absl::StrCat("the kernel or the loop does not write @", target.version->name));
  } else {
    const bool copy = u->src(1)->op == Op::kCopy;
    absl::StatusOr<Tensor> value = copy ? values_[u->src(1)]->tensor : Operand(u, 1);
    if (!value.ok()) return value.status();
    if (!value->ok()) return absl::InvalidArgumentError("source 1 has no value");
    if (value->size() != target.tensor.size() && value->size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat("the target has shape ",
                                                     ShapeText(target.tensor.shape), ", the value ",
                                                     ShapeText(value->shape)));
    }
    Tensor full = *value;
    if (full.size() != target.tensor.size()) {
      full = Gather(full, Movement{target.tensor.shape,
                                   std::vector<int64_t>(target.tensor.size(), int64_t{0})});
    }
    auto written = Write(target.version, target.map.get(), full);
    if (!written.ok()) return written.status();
    version = *std::move(written);
  }
  auto joined = JoinAll({version}, 2, u);
  if (!joined.ok()) return joined.status();
  v.version = *joined;
  v.tensor = Read(v.version, v.map.get(), target.tensor.shape);
  return absl::OkStatus();
}

absl::Status GraphRun::After(const UOp* u, GraphValue& v) {
  const GraphValue& from = *values_[u->src(0)];
  if (!from.version) {
    v = from;
    return absl::OkStatus();
  }
  auto joined = JoinAll({from.version}, 1, u);
  if (!joined.ok()) return joined.status();
  v.version = *joined;
  v.map = from.map;
  v.tensor = Read(v.version, v.map.get(), from.tensor.shape);
  return absl::OkStatus();
}

}  // namespace tg::interpret
