#include "absl/status/status.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <utility>

#include "absl/status/statusor.h"

namespace absl {

struct Status::Error {
  StatusCode code;
  std::string message;
};

Status::Status(StatusCode code, string_view message) {
  if (code != StatusCode::kOk) error_ = new Error{code, std::string(message)};
}

Status::Status(const Status& other) {
  if (!other.ok()) error_ = new Error(*other.error_);
}

Status& Status::operator=(const Status& other) {
  if (this != &other) *this = Status(other);
  return *this;
}

Status& Status::operator=(Status&& other) noexcept {
  std::swap(error_, other.error_);
  return *this;
}

void Status::Delete() { delete error_; }

StatusCode Status::code() const { return ok() ? StatusCode::kOk : error_->code; }

string_view Status::message() const { return ok() ? string_view() : string_view(error_->message); }

std::string Status::ToString() const {
  return ok() ? "OK" : StatusCodeToString(code()) + ": " + error_->message;
}

void Status::Update(Status other) {
  if (ok()) *this = std::move(other);
}

std::ostream& operator<<(std::ostream& out, const Status& status) {
  return out << status.ToString();
}

std::string StatusCodeToString(StatusCode code) {
  static const char* const kNames[] = {"OK",
                                       "CANCELLED",
                                       "UNKNOWN",
                                       "INVALID_ARGUMENT",
                                       "DEADLINE_EXCEEDED",
                                       "NOT_FOUND",
                                       "ALREADY_EXISTS",
                                       "PERMISSION_DENIED",
                                       "RESOURCE_EXHAUSTED",
                                       "FAILED_PRECONDITION",
                                       "ABORTED",
                                       "OUT_OF_RANGE",
                                       "UNIMPLEMENTED",
                                       "INTERNAL",
                                       "UNAVAILABLE",
                                       "DATA_LOSS",
                                       "UNAUTHENTICATED"};
  const auto number = static_cast<size_t>(code);
  return number < std::size(kNames) ? kNames[number] : "";
}

Status CancelledError(string_view message) { return {StatusCode::kCancelled, message}; }
Status UnknownError(string_view message) { return {StatusCode::kUnknown, message}; }
Status InvalidArgumentError(string_view message) { return {StatusCode::kInvalidArgument, message}; }
Status NotFoundError(string_view message) { return {StatusCode::kNotFound, message}; }
Status AlreadyExistsError(string_view message) { return {StatusCode::kAlreadyExists, message}; }
Status PermissionDeniedError(string_view message) {
  return {StatusCode::kPermissionDenied, message};
}
Status ResourceExhaustedError(string_view message) {
  return {StatusCode::kResourceExhausted, message};
}
Status FailedPreconditionError(string_view message) {
  return {StatusCode::kFailedPrecondition, message};
}
Status OutOfRangeError(string_view message) { return {StatusCode::kOutOfRange, message}; }
Status UnimplementedError(string_view message) { return {StatusCode::kUnimplemented, message}; }
Status InternalError(string_view message) { return {StatusCode::kInternal, message}; }
Status UnavailableError(string_view message) { return {StatusCode::kUnavailable, message}; }

Status ErrnoToStatus(int number, string_view message) {
  StatusCode code = StatusCode::kUnknown;
  switch (number) {
    case 0:
      code = StatusCode::kOk;
      break;
    case EINVAL:
    case ENAMETOOLONG:
      code = StatusCode::kInvalidArgument;
      break;
    case ENOENT:
      code = StatusCode::kNotFound;
      break;
    case EEXIST:
      code = StatusCode::kAlreadyExists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = StatusCode::kPermissionDenied;
      break;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBADF:
    case EPIPE:
      code = StatusCode::kFailedPrecondition;
      break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      code = StatusCode::kResourceExhausted;
      break;
    case EFBIG:
    case EOVERFLOW:
    case ERANGE:
      code = StatusCode::kOutOfRange;
      break;
    case EAGAIN:
      code = StatusCode::kUnavailable;
      break;
    case EINTR:
      code = StatusCode::kUnavailable;
      break;
    default:
      break;
  }
  return {code, std::string(message) + ": " + std::strerror(number)};
}

namespace status_internal {

Status CheckedError(Status status) {
  return status.ok() ? InternalError("An OK status is not a valid constructor argument to StatusOr")
                     : status;
}

void NoValue(const Status& status) {
  std::fprintf(stderr, "a StatusOr has no value: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace status_internal
}  // namespace absl
