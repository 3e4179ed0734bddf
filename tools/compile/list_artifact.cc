#include "tools/compile/list_artifact.h"

#include <algorithm>
#include <vector>

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
    uint64_t binary = a.binaries[d].bytes();
    for (const runtime::CompiledKernel& k : code.kernels) binary += k.object.size();
    const uint64_t source = a.sources[d].bytes();
    std::string names;
    for (const std::string& name : code.names) {
      if (!name.empty()) names += Cat(" '", name, "'");
    }
    out += Cat("device", names, ": ", a.made_for[d].name, " (", a.made_for[d].platform,
               "), target ", code.target, ": ", code.kernels.size(), " kernels, ", Bytes(binary),
               " of machine code, ", Bytes(source), " of source (",
               Bytes(a.sources[d].packed.size()), " compressed)\n");
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
  std::vector<uint64_t> buffers(1 + a.files.size()), bytes(buffers.size());  // by file
  for (const artifact::Contents& c : a.contents) {
    ++buffers[c.file];
    bytes[c.file] += c.bytes;
  }
  out += Cat("contents of ", buffers[0], " buffers: ", Bytes(bytes[0]), "\n");
  for (size_t f = 0; f < a.files.size(); ++f) {
    out += Cat("contents of ", buffers[f + 1], " buffers in ", a.files[f].path, ": ",
               Bytes(bytes[f + 1]), "\n");
  }
  return out;
}

}  // namespace tg::compile
