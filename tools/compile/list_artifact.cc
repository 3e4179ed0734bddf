#include "tools/compile/list_artifact.h"

#include <algorithm>

#include "base/cat.h"
#include "runtime/report/format.h"
#include "runtime/session/tensors.h"

namespace tg::compile {
namespace {

std::string Bytes(uint64_t bytes) { return runtime::FormatBytes(static_cast<double>(bytes)); }

}  // namespace

std::string ListArtifact(const artifact::ArtifactFile& file) {
  const artifact::Artifact& a = file.artifact();
  const runtime::Executable& e = a.executable;
  std::string out = Cat("compiled of ", a.model, " by ", a.tool, "\n");
  for (size_t d = 0; d < e.devices.size(); ++d) {
    const runtime::DeviceCode& code = e.devices[d];
    uint64_t binary = 0, source = 0;
    for (const runtime::CompiledKernel& k : code.kernels) {
      binary += k.object.size();
      source += k.code.source.size();
    }
    for (const runtime::ProgramSource& p : code.programs) {
      binary += p.binary.size();
      source += p.source.size();
    }
    std::string names;
    for (const std::string& name : code.names) {
      if (!name.empty()) names += Cat(" '", name, "'");
    }
    out += Cat("device", names, ": ", a.made_for[d].name, " (", a.made_for[d].platform,
               "), target ", code.target, ": ", code.kernels.size(), " kernels, ", Bytes(binary),
               " of machine code, ", Bytes(source), " of source\n");
  }
  for (const VarDecl& v : e.vars)
    out += Cat("variable @", v.name, ": ", v.min, " to ", v.max, "\n");
  for (const runtime::ScheduledGraph& g : e.graphs) {
    const auto copies = std::count_if(g.steps.begin(), g.steps.end(),
                                      [](const auto& step) { return step.is_copy(); });
    out += Cat("graph @", g.name, ": ", g.steps.size() - static_cast<size_t>(copies),
               " launches of kernels");
    out += copies > 0 ? Cat(", ", copies, " copies\n") : "\n";
    for (const Role role : {Role::kInput, Role::kOutput, Role::kState}) {
      for (const int b : g.buffers) {
        const BufferDecl& decl = e.buffers[static_cast<size_t>(b)];
        if (decl.role != role) continue;
        out += Cat("  ", RoleName(role), " @", decl.name, " ", runtime::DeclaredType(decl), "\n");
      }
    }
  }
  uint64_t weights = 0;
  for (const artifact::Contents& c : a.contents) weights += c.bytes;
  return Cat(out, "contents of ", a.contents.size(), " buffers: ", Bytes(weights), "\n");
}

}  // namespace tg::compile
