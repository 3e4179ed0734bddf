// Expressions of a module's variables as C: numbers of groups, and requirements.
#ifndef TG_RUNTIME_EXPORT_C_SIZES_H_
#define TG_RUNTIME_EXPORT_C_SIZES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "codegen/launch_data.h"
#include "ir/module.h"

namespace tg::runtime {

std::string CInt64(int64_t v);

// Returns the value as a C expression. `lines` receives the declarations that compute it, whose
// names begin with `prefix`; `vars` has the C expression of each variable.
absl::StatusOr<std::string> CSize(const codegen::SizeExpr& size,
                                  const std::map<std::string, std::string>& vars,
                                  std::string_view prefix, std::string& lines);

// Returns the condition that a requirement is broken, with the declarations that it needs.
// Unimplemented where 64 bits may not hold a value.
absl::StatusOr<std::string> CBroken(const Module& module, const Requirement& requirement,
                                    const std::map<std::string, std::string>& vars,
                                    std::string_view prefix, std::string& lines);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_EXPORT_C_SIZES_H_
