#include "tools/driver/evaluation.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "ir/interpret/compare_values.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/run.h"
#include "ir/interpret/scalar.h"
#include "ir/walk.h"

namespace tg::driver {
namespace {

// The nodes of a body at any stage.
std::vector<const UOp*> Nodes(const Body& body) {
  return body.linear.empty() ? PostOrder(body.root) : body.linear;
}

std::string Symbol(const Body& body, const UOp* u) {
  return std::string(body.context->String(static_cast<StringId>(u->word())));
}

interpret::VarValues RandomVars(const Module& module, uint64_t seed) {
  interpret::VarValues vars;
  for (const VarDecl& var : module.vars) {
    const uint64_t range = static_cast<uint64_t>(var.max) - static_cast<uint64_t>(var.min) + 1;
    const uint64_t draw = interpret::Threefry2x32(vars.size(), seed);
    const uint64_t offset = seed % 2 == 0 ? range - 1 : range == 0 ? draw : draw % range;
    vars[var.name] = static_cast<int64_t>(static_cast<uint64_t>(var.min) + offset);
  }
  return vars;
}

// Records the values that the graph binds to variables.
void TakeBound(const Graph& graph, interpret::VarValues& vars) {
  for (const UOp* u : Nodes(graph.body)) {
    if (u->op == Op::kBind && u->src(0)->op == Op::kVar && IsConst(u->src(1))) {
      vars[Symbol(graph.body, u->src(0))] = u->src(1)->word();
    }
  }
}

std::vector<const Kernel*> KernelsOutsideGraphs(const Module& module) {
  std::set<std::string> called;
  for (const auto& graph : module.graphs) {
    for (const UOp* u : Nodes(graph->body)) {
      if (u->op == Op::kKernel) called.insert(Symbol(graph->body, u));
    }
  }
  std::vector<const Kernel*> out;
  for (const auto& kernel : module.kernels) {
    if (!called.count(kernel->name)) out.push_back(kernel.get());
  }
  return out;
}

// The kernel of a case that was made from a module before later passes ran.
const Kernel* KernelOf(const Module& module, const EvaluationCase& c) {
  const std::vector<const Kernel*> kernels = KernelsOutsideGraphs(module);
  return kernels.size() == c.of ? kernels[c.number] : module.FindKernel(c.name);
}

EvaluationCase KernelCase(const Kernel& kernel, interpret::VarValues vars, uint64_t seed) {
  EvaluationCase c;
  c.is_kernel = true;
  c.name = kernel.name;
  c.vars = std::move(vars);
  for (const UOp* u : Nodes(kernel.body)) {
    if (u->op != Op::kDefineGlobal) continue;
    const DType type = u->dtype.is_image() ? u->dtype : DType(u->dtype.scalar());
    interpret::RandomDataOptions options;
    options.seed = interpret::Threefry2x32(static_cast<uint64_t>(u->word()), seed);
    const int64_t size = std::max<int64_t>(u->dtype.size(), 0);
    c.inputs[std::to_string(u->word())] = interpret::RandomBuffer(type, {size}, options);
  }
  return c;
}

absl::StatusOr<interpret::HostBuffers> EvaluateKernel(const Kernel& kernel, const EvaluationCase& c,
                                                      const interpret::InterpretOptions& options) {
  interpret::HostBuffers buffers = c.inputs;
  // A slot that the kernel no longer uses keeps its number.
  std::vector<interpret::KernelArg> args;
  for (auto& [slot, buffer] : buffers) {
    const size_t number = std::stoul(slot);
    if (args.size() <= number) args.resize(number + 1);
    args[number].buffer = &buffer;
  }
  const std::vector<bool> stored = interpret::StoredSlots(kernel, args.size());
  const absl::Status status = interpret::RunKernel(kernel, args, c.vars, options);
  if (!status.ok()) return status;
  interpret::HostBuffers written;
  for (auto& [slot, buffer] : buffers) {
    if (stored[std::stoul(slot)]) written["slot " + slot] = std::move(buffer);
  }
  return written;
}

absl::StatusOr<interpret::HostBuffers> EvaluateGraph(const Module& module, const EvaluationCase& c,
                                                     const interpret::InterpretOptions& options) {
  absl::StatusOr<interpret::HostBuffers> buffers =
      interpret::InterpretFirstRun(module, c.name, c.inputs, c.vars, options);
  if (!buffers.ok()) return buffers;
  for (auto i = buffers->begin(); i != buffers->end();) {
    const BufferDecl* decl = module.FindBuffer(i->first);
    i = decl && decl->role == Role::kTemp ? buffers->erase(i) : std::next(i);
  }
  return buffers;
}

}  // namespace

std::string EvaluationCase::Title() const {
  std::string title = (is_kernel ? "kernel @" : "graph @") + name;
  const char* separator = " with @";
  for (const auto& [var, value] : vars) {
    title += separator + var + " = " + std::to_string(value);
    separator = ", @";
  }
  return title;
}

std::vector<EvaluationCase> MakeCases(const Module& module, uint64_t seed) {
  std::set<std::string> loop_bodies;
  for (const auto& graph : module.graphs) {
    for (const UOp* u : Nodes(graph->body)) {
      if (u->op == Op::kLoop || u->op == Op::kRepeat) {
        loop_bodies.insert(Symbol(graph->body, u));
      }
    }
  }
  const interpret::VarValues vars = RandomVars(module, seed);
  std::vector<EvaluationCase> cases;
  for (const auto& graph : module.graphs) {
    if (loop_bodies.count(graph->name)) continue;
    EvaluationCase& c = cases.emplace_back();
    c.name = graph->name;
    c.vars = vars;
    TakeBound(*graph, c.vars);
    interpret::RandomDataOptions options;
    options.seed = seed;
    c.inputs = interpret::RandomInputs(module, c.vars, options);
  }
  const std::vector<const Kernel*> kernels = KernelsOutsideGraphs(module);
  for (size_t i = 0; i < kernels.size(); ++i) {
    EvaluationCase& c = cases.emplace_back(KernelCase(*kernels[i], vars, seed));
    c.number = i;
    c.of = kernels.size();
  }
  return cases;
}

absl::StatusOr<interpret::HostBuffers> Evaluate(const Module& module, const EvaluationCase& c,
                                                bool track_error) {
  interpret::InterpretOptions options = interpret::OptionsFor(module);
  options.track_error = track_error;
  absl::StatusOr<interpret::HostBuffers> result = absl::NotFoundError("it is gone");
  if (!c.is_kernel) {
    if (module.FindGraph(c.name)) result = EvaluateGraph(module, c, options);
  } else if (const Kernel* kernel = KernelOf(module, c)) {
    result = EvaluateKernel(*kernel, c, options);
  }
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      c.Title() + ": " + std::string(result.status().message()));
}

bool GivesBounds(const Module& module) {
  return std::all_of(module.kernels.begin(), module.kernels.end(),
                     [](const auto& kernel) { return kernel->stage == Stage::kKernel; });
}

std::optional<std::string> Disagreement(const interpret::HostBuffers& expected,
                                        const interpret::HostBuffers& actual, bool bounds,
                                        ModuleFlags flags) {
  for (const auto& [name, buffer] : actual) {
    if (!expected.count(name)) return "'" + name + "' is written, which it was not before";
  }
  for (const auto& [name, buffer] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end()) return "'" + name + "' is not written any more";
    interpret::Tolerance tolerance;
    if (!bounds) {
      tolerance.flags = flags;
      tolerance.ulps = 4;
      tolerance.relative = tolerance.absolute = 1e-5;
    }
    if (const auto difference = interpret::Difference(buffer, found->second, tolerance)) {
      return "'" + name + "': " + *difference;
    }
  }
  return std::nullopt;
}

}  // namespace tg::driver
