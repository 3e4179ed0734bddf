// TG_CHECK(cond): our own invariants. A failure is a bug in tg, never something that an input can
// cause: inputs get an absl::Status or a diagnostic.
#ifndef TG_BASE_CHECK_H_
#define TG_BASE_CHECK_H_

namespace tg {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace tg

#define TG_CHECK(cond) \
  (__builtin_expect(!!(cond), 1) ? (void)0 : ::tg::CheckFailed(__FILE__, __LINE__, #cond))
#define TG_UNREACHABLE() ::tg::CheckFailed(__FILE__, __LINE__, "unreachable")

#endif  // TG_BASE_CHECK_H_
