// Running a kernel from a graph.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/graph_run.h"
#include "ir/interpret/kernel.h"

namespace tg::interpret {
namespace {

// The elements of a buffer that a kernel operand refers to: [first, first + n).
absl::StatusOr<std::pair<int64_t, int64_t>> Window(const GraphValue& v) {
  const auto all = static_cast<int64_t>(v.version->contents->data.size());
  if (!v.map) return std::pair<int64_t, int64_t>{0, all};
  if (v.map->empty()) return std::pair<int64_t, int64_t>{0, 0};
  const int64_t first = (*v.map)[0];
  for (size_t i = 0; i < v.map->size(); ++i) {
    if ((*v.map)[i] != first + static_cast<int64_t>(i)) {
      return absl::InvalidArgumentError("a kernel's operand is not a run of a buffer's elements");
    }
  }
  return std::pair<int64_t, int64_t>{first, static_cast<int64_t>(v.map->size())};
}

}  // namespace

absl::Status GraphRun::RunKernelNode(const UOp* u, GraphValue& result) {
  const std::string_view name = ctx_.String(static_cast<StringId>(u->word()));
  const Kernel* kernel = p_.module.FindKernel(name);
  if (!kernel)
    return absl::InvalidArgumentError(absl::StrCat("there is no kernel @", std::string(name)));
  // The memory of one buffer, which several operands may refer to.
  struct Memory {
    VersionPtr version;
    HostBuffer contents;
    bool stored = false;
  };
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Memory*> of_slot;
  std::vector<KernelArg> args;
  VarValues vars = p_.vars;
  for (size_t i = 0; i < u->num_srcs; ++i) {
    const UOp* operand = u->src(i);
    const GraphValue& v = *values_[operand];
    const UOp* var = operand->op == Op::kBind ? operand->src(0) : operand;
    if (var->op == Op::kVar) {
      vars[Text(var->word())] = (*v.tensor.data)[0];
      continue;
    }
    if (!v.version)
      return absl::InvalidArgumentError(
          absl::StrCat("operand ", i, " is neither a buffer nor a variable"));
    auto window = Window(v);
    if (!window.ok()) return window.status();
    Memory* memory = nullptr;
    for (const auto& m : memories) {
      if (m->version->name == v.version->name) memory = m.get();
    }
    if (memory && memory->version->writes != v.version->writes) {
      return absl::InvalidArgumentError(
          absl::StrCat("operand ", i, " reads @", v.version->name,
                       " as it was at another time than another operand sees it"));
    }
    if (!memory) {
      memory = memories.emplace_back(std::make_unique<Memory>()).get();
      memory->version = v.version;
      HostBuffer& b = memory->contents;
      b = *v.version->contents;
      b.written.assign(b.data.size(), 0);
    }
    const BufferDecl& decl = *p_.module.FindBuffer(v.version->name);
    const bool is_symbolic = std::any_of(decl.shape.begin(), decl.shape.end(),
                                         [](const DeclDim& d) { return d.is_symbolic(); });
    args.push_back({&memory->contents, window->first, window->second, is_symbolic});
    of_slot.push_back(memory);
  }
  const std::vector<bool> stored = StoredSlots(*kernel, args.size());
  for (size_t i = 0; i < stored.size(); ++i) of_slot[i]->stored |= stored[i];
  if (absl::Status s = RunKernel(*kernel, args, vars, p_.options); !s.ok()) return s;

  for (const auto& m : memories) {
    if (!m->stored) continue;
    auto record = std::make_shared<WriteRecord>();
    record->order = next_write_++;
    const size_t n = m->version->contents->data.size();
    for (size_t i = 0; i < n; ++i) {
      if (!m->contents.written[i]) continue;
      record->indices.push_back(static_cast<int64_t>(i));
      record->values.push_back(m->contents.data[i]);
      if (!m->contents.error.empty()) record->errors.push_back(m->contents.error[i]);
    }
    result.written.push_back(Apply(m->version, std::move(record)));
  }
  return absl::OkStatus();
}

}  // namespace tg::interpret
