// Writes the function of a graph, for c_unit.cc: parameters, launches in order.
#ifndef TG_RUNTIME_EXPORT_C_ENTRY_H_
#define TG_RUNTIME_EXPORT_C_ENTRY_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/renderer.h"
#include "ir/module.h"
#include "runtime/export/c_unit.h"
#include "runtime/plan/launch_order.h"

namespace tg::runtime {

inline constexpr size_t kCAlign = 64;  // of the unit's blocks and of what is in them
inline size_t AlignedC(size_t bytes) { return (bytes + kCAlign - 1) / kCAlign * kCAlign; }

// The text in a comment: no character ends it or continues it on the next line.
std::string InCComment(std::string_view text);
// "@x : f32[@n, 4] input"
std::string CDeclaration(const BufferDecl& buffer);
// "const float* x, int64_t n)" behind a head, broken to lines behind commas.
std::string CPrototype(const std::string& head, std::string params);

// By name of the kernel.
using RenderedKernels = std::map<int, const codegen::RenderedKernel*>;

// Adds the buffers that the kernels of a schedule take.
void FindUsedBuffers(std::span<const ScheduledKernel> schedule, const RenderedKernels& rendered,
                     std::set<int>& used);

class CEntryWriter {
 public:
  // `unit` has the layout of the blocks; `constants` the names of constants, by buffer.
  CEntryWriter(const Module& module, const RenderedKernels& rendered, const CUnit& unit,
               const std::map<int, std::string>& constants)
      : module_(module), rendered_(rendered), unit_(unit), pointers_(constants) {}

  // Returns the entry and appends its function. `first`: statements at the beginning.
  absl::StatusOr<CEntry> Write(const Graph& graph, const std::string& function,
                               std::string_view first, std::string& source);

 private:
  absl::Status FindParams(std::span<const ScheduledKernel> schedule, CEntry& entry);
  void FindVars(std::span<const ScheduledKernel> schedule, std::set<std::string>& vars) const;
  absl::Status Checks(const CEntry& entry, std::string& out) const;
  absl::StatusOr<std::string> Body(std::span<const ScheduledKernel> schedule, CEntry& entry);
  absl::StatusOr<std::string> Pointer(const BufferSlice& slice, Scalar as, bool writes) const;
  absl::StatusOr<std::string> Copy(const ScheduledKernel& item) const;
  absl::StatusOr<std::string> Launch(const ScheduledKernel& item) const;

  const Module& module_;
  const RenderedKernels& rendered_;
  const CUnit& unit_;
  std::map<int, std::string> pointers_;  // by buffer
  std::map<std::string, std::string> var_names_;
  std::set<int> written_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_EXPORT_C_ENTRY_H_
