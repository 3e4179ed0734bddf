// Short spellings for absl::Status.
#ifndef TG_BASE_STATUS_H_
#define TG_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cat.h"

#ifndef TG_RETURN_IF_ERROR
#define TG_RETURN_IF_ERROR(expr)                                               \
  do {                                                                         \
    if (absl::Status tg_status_ = (expr); !tg_status_.ok()) return tg_status_; \
  } while (false)
#endif

#ifndef TG_ASSIGN_OR_RETURN
#define TG_STATUS_CONCAT_INNER_(a, b) a##b
#define TG_STATUS_CONCAT_(a, b) TG_STATUS_CONCAT_INNER_(a, b)
#define TG_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                              \
  if (!tmp.ok()) return tmp.status();             \
  lhs = std::move(tmp).value()
// Evaluates `expr`, a StatusOr. Returns its error, or moves its value into `lhs` (which may be a
// declaration).
#define TG_ASSIGN_OR_RETURN(lhs, expr) \
  TG_ASSIGN_OR_RETURN_IMPL_(TG_STATUS_CONCAT_(tg_statusor_, __LINE__), lhs, expr)
#endif

namespace tg {

template <typename... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(Cat(parts...));
}
template <typename... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(Cat(parts...));
}
template <typename... Parts>
absl::Status Unimplemented(const Parts&... parts) {
  return absl::UnimplementedError(Cat(parts...));
}

}  // namespace tg

#endif  // TG_BASE_STATUS_H_
