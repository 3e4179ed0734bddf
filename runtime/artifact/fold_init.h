// Chooses which results of @init a .tgx file has, instead of the steps that compute them.
#ifndef TG_RUNTIME_ARTIFACT_FOLD_INIT_H_
#define TG_RUNTIME_ARTIFACT_FOLD_INIT_H_

#include <set>

#include "runtime/plan/executable.h"

namespace tg::artifact {

// A result of up to this many bytes is stored however small its sources are.
inline constexpr int64_t kSmallResultBytes = 16 << 10;

// Removes from @init, whose results are the same in each session (init_constants.h), the steps of
// those results that take at most as many bytes as the params for which nothing else has a use:
// weights in another order, or scaled. Weights that @init makes wider, and tables that it makes of
// nothing, are computed at each start. Returns the states whose results are to be stored; states
// that no graph writes any more become params. @init goes if no step remains.
std::set<int> FoldInit(runtime::Executable& executable);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_FOLD_INIT_H_
