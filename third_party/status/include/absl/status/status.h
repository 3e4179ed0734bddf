// The part of Abseil's Status that tg uses, under its name, for --config=small: Abseil's own brings
// cords, a symbolizer and time zones into a program, which are half of the runtime library.
#ifndef TG_THIRD_PARTY_STATUS_INCLUDE_ABSL_STATUS_STATUS_H_
#define TG_THIRD_PARTY_STATUS_INCLUDE_ABSL_STATUS_STATUS_H_

#include <iosfwd>
#include <string>

#include "absl/strings/string_view.h"

namespace absl {

enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  // An OK status has no message.
  Status(StatusCode code, string_view message);
  Status(const Status& other);
  Status(Status&& other) noexcept : error_(other.error_) { other.error_ = nullptr; }
  Status& operator=(const Status& other);
  Status& operator=(Status&& other) noexcept;
  ~Status() {
    if (error_ != nullptr) Delete();
  }

  bool ok() const { return error_ == nullptr; }
  StatusCode code() const;
  string_view message() const;
  // "INVALID_ARGUMENT: the message", or "OK".
  std::string ToString() const;
  void IgnoreError() const {}
  void Update(Status other);

  friend bool operator==(const Status& a, const Status& b) {
    return a.code() == b.code() && a.message() == b.message();
  }

 private:
  struct Error;
  void Delete();

  Error* error_ = nullptr;  // null: OK
};

std::ostream& operator<<(std::ostream& out, const Status& status);
std::string StatusCodeToString(StatusCode code);

inline Status OkStatus() { return {}; }
Status CancelledError(string_view message);
Status UnknownError(string_view message);
Status InvalidArgumentError(string_view message);
Status NotFoundError(string_view message);
Status AlreadyExistsError(string_view message);
Status PermissionDeniedError(string_view message);
Status ResourceExhaustedError(string_view message);
Status FailedPreconditionError(string_view message);
Status OutOfRangeError(string_view message);
Status UnimplementedError(string_view message);
Status InternalError(string_view message);
Status UnavailableError(string_view message);
// "MESSAGE: what the system says about `number`".
Status ErrnoToStatus(int number, string_view message);

inline bool IsNotFound(const Status& s) { return s.code() == StatusCode::kNotFound; }
inline bool IsInvalidArgument(const Status& s) { return s.code() == StatusCode::kInvalidArgument; }
inline bool IsUnimplemented(const Status& s) { return s.code() == StatusCode::kUnimplemented; }
inline bool IsResourceExhausted(const Status& s) {
  return s.code() == StatusCode::kResourceExhausted;
}
inline bool IsFailedPrecondition(const Status& s) {
  return s.code() == StatusCode::kFailedPrecondition;
}
inline bool IsCancelled(const Status& s) { return s.code() == StatusCode::kCancelled; }

}  // namespace absl

#endif  // TG_THIRD_PARTY_STATUS_INCLUDE_ABSL_STATUS_STATUS_H_
