#include "tools/train/adapters.h"

#include <algorithm>
#include <string>

#include "base/status.h"
#include "frontend/common/graph_builder.h"
#include "ir/op_groups.h"
#include "ir/walk.h"
#include "passes/gradient/sink.h"
#include "passes/legalize/forward.h"
#include "tools/train/spec.h"

namespace tg::train {

using frontend::GraphBuilder;
using frontend::Value;

absl::StatusOr<AdapterSpec> ParseAdapters(std::string_view text) {
  TG_ASSIGN_OR_RETURN(SpecText parts, SpecText::Parse(text));
  AdapterSpec spec;
  const bool is_number = parts.words.size() == 1 && parts.words[0].size() < 7 &&
                         parts.words[0].find_first_not_of("0123456789") == std::string::npos;
  if (is_number) spec.rank = std::stoll(parts.words[0]);
  if (parts.kind != "rank" || spec.rank == 0) {
    return InvalidArgument("write rank:N, with N of at least 1, not ", Quote(text));
  }
  spec.alpha = static_cast<double>(spec.rank);
  TG_RETURN_IF_ERROR(parts.Take("alpha", 1e-6, 1e6, &spec.alpha));
  TG_RETURN_IF_ERROR(parts.CheckAllTaken());
  return spec;
}

namespace {

// The buffers whose elements are factors of a sum of products.
NodeSet FactorsOfSums(const Body& body) {
  // The buffer whose elements a value is, and that whose elements times others it is.
  NodeMap<const UOp*> moved, product;
  NodeSet factors;
  for (const UOp* u : body.Order()) {
    if (u->op == Op::kBuffer) moved[u] = u;
    if (u->num_srcs == 0) continue;
    if (IsMovement(u->op) || IsIdentity(u->op) || u->op == Op::kCast || u->op == Op::kContiguous) {
      if (const UOp* w = moved.Get(u->src(0))) moved[u] = w;
      if (const UOp* w = product.Get(u->src(0))) product[u] = w;
    }
    if (u->op == Op::kMul) {
      for (const UOp* s : u->srcs()) {
        if (const UOp* w = moved.Get(s)) product[u] = w;
      }
    }
    const bool is_sum = u->op == Op::kReduceAxis && static_cast<Op>(u->word(0)) == Op::kAdd;
    if (const UOp* w = is_sum ? product.Get(u->src(0)) : nullptr) factors.Insert(w);
  }
  return factors;
}

}  // namespace

absl::StatusOr<std::vector<Adapter>> AddAdapters(
    Module& module, Body& body, const AdapterSpec& spec,
    const std::function<bool(const BufferDecl&)>& is_adapted) {
  const NodeSet factors = FactorsOfSums(body);
  GraphBuilder g(module, body);
  const std::vector<BufferDecl> declared = module.buffers;
  std::vector<Adapter> adapters;
  for (const BufferDecl& decl : declared) {
    if (decl.role != Role::kParam || !decl.dtype.is_float() || !is_adapted(decl)) continue;
    if (decl.shape.size() < 2) continue;
    if (!factors.Contains(g.ir().Buffer(decl.name, decl.dtype))) continue;
    int64_t columns = 1;
    for (size_t i = 1; i < decl.shape.size(); ++i) columns *= decl.shape[i].size;
    const int64_t rows = decl.shape[0].size;
    if (std::min(rows, columns) <= spec.rank) continue;
    Adapter adapter{.weight = decl.name,
                    .left = gradient::FreeSymbol(module, decl.name + ".lora.left"),
                    .right = gradient::FreeSymbol(module, decl.name + ".lora.right"),
                    .scale = spec.alpha / static_cast<double>(spec.rank)};
    const auto declare = [&](const std::string& name, int64_t n, int64_t m) {
      g.Declare(name, {.dtype = kF32,
                       .shape = {{.size = n}, {.size = m}},
                       .role = Role::kParam,
                       .device = decl.device});
    };
    declare(adapter.left, rows, spec.rank);
    declare(adapter.right, spec.rank, columns);
    adapters.push_back(std::move(adapter));
  }
  if (!g.ok()) return absl::InternalError(g.error());
  if (adapters.empty()) {
    return InvalidArgument("--lora: no weight of a product has more than ", spec.rank,
                           " rows and columns");
  }
  TG_RETURN_IF_ERROR(ApplyAdapters(module, body, adapters));
  return adapters;
}

absl::Status ApplyAdapters(Module& module, Body& body, const std::vector<Adapter>& adapters) {
  GraphBuilder g(module, body);
  const std::vector<const UOp*> order = body.Order();
  NodeMap<const UOp*> replaced;
  for (const Adapter& adapter : adapters) {
    const Scalar type = module.FindBuffer(adapter.weight)->dtype.scalar();
    const Value weight = g.ir().Buffer(adapter.weight, type);
    const Value left = g.ir().Buffer(adapter.left, kF32);
    const Value right = g.ir().Buffer(adapter.right, kF32);
    const Value change = g.Mul(g.MatMul(left, right), g.Const(Scalar::kF32, adapter.scale));
    const Value shaped = g.Reshape(change, g.ShapeOf(weight));
    replaced[weight] = g.Stored(g.Cast(g.Add(g.Cast(weight, Scalar::kF32), shaped), type));
  }
  if (!g.ok()) return absl::InternalError(g.error());
  legalize::ForwardRewrite(body, order, [&](const UOp* u, UOpSpan srcs) {
    const UOp* to = replaced.Get(u);
    return to ? to : legalize::WithSources(g.ir(), u, srcs);
  });
  return absl::OkStatus();
}

}  // namespace tg::train
