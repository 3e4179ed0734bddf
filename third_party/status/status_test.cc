// What tg relies on in a Status, for Abseil's and for the one that takes its place.
#include "absl/status/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace absl {
namespace {

TEST(Status, Codes) {
  const std::pair<Status, StatusCode> statuses[] = {
      {CancelledError("m"), StatusCode::kCancelled},
      {UnknownError("m"), StatusCode::kUnknown},
      {InvalidArgumentError("m"), StatusCode::kInvalidArgument},
      {NotFoundError("m"), StatusCode::kNotFound},
      {AlreadyExistsError("m"), StatusCode::kAlreadyExists},
      {PermissionDeniedError("m"), StatusCode::kPermissionDenied},
      {ResourceExhaustedError("m"), StatusCode::kResourceExhausted},
      {FailedPreconditionError("m"), StatusCode::kFailedPrecondition},
      {OutOfRangeError("m"), StatusCode::kOutOfRange},
      {UnimplementedError("m"), StatusCode::kUnimplemented},
      {InternalError("m"), StatusCode::kInternal},
      {UnavailableError("m"), StatusCode::kUnavailable}};
  for (const auto& [status, code] : statuses) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), "m");
    EXPECT_EQ(status.ToString(), StatusCodeToString(code) + ": m");
    EXPECT_EQ(Status(code, "m"), status);
    EXPECT_FALSE(Status(code, "n") == status);
  }
  // The numbers are those of gRPC.
  EXPECT_EQ(static_cast<int>(StatusCode::kUnauthenticated), 16);
  EXPECT_EQ(StatusCodeToString(StatusCode::kUnauthenticated), "UNAUTHENTICATED");
  EXPECT_TRUE(IsNotFound(NotFoundError("")) && !IsNotFound(OkStatus()));
  EXPECT_TRUE(IsResourceExhausted(ResourceExhaustedError("")));
  EXPECT_TRUE(IsUnimplemented(UnimplementedError("")));
  EXPECT_TRUE(IsFailedPrecondition(FailedPreconditionError("")));
  EXPECT_TRUE(IsInvalidArgument(InvalidArgumentError("")) && IsCancelled(CancelledError("")));
}

TEST(Status, OfTheSystem) {
  EXPECT_EQ(ErrnoToStatus(ENOENT, "f").code(), StatusCode::kNotFound);
  EXPECT_EQ(ErrnoToStatus(EACCES, "f").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoToStatus(EEXIST, "f").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrnoToStatus(ENOSPC, "f").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoToStatus(ENOMEM, "f").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoToStatus(EINVAL, "f").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrnoToStatus(ENOTDIR, "f").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(ErrnoToStatus(EFBIG, "f").code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ErrnoToStatus(EIO, "f").code(), StatusCode::kUnknown);
  EXPECT_EQ(ErrnoToStatus(ENOENT, "f").message(), "f: No such file or directory");
}

TEST(Status, CopiesAndMoves) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().ToString(), "OK");
  EXPECT_TRUE(Status(StatusCode::kOk, "nothing").ok());
  const Status error = NotFoundError("x");
  Status copy = error;
  EXPECT_EQ(copy, error);
  Status moved = std::move(copy);
  EXPECT_EQ(moved, error);
  moved = OkStatus();
  EXPECT_TRUE(moved.ok());
  moved = error;
  const Status& self = moved;
  moved = self;
  EXPECT_EQ(moved, error);
  moved.Update(InternalError("y"));
  EXPECT_EQ(moved, error);
  Status updated;
  updated.Update(InternalError("y"));
  EXPECT_EQ(updated, InternalError("y"));
  std::ostringstream out;
  out << error;
  EXPECT_EQ(out.str(), "NOT_FOUND: x");
}

struct Base {
  virtual ~Base() = default;
};
struct Derived : Base {};

// GCC takes what is inlined here for uninitialized.
[[gnu::noinline]] StatusOr<std::unique_ptr<Base>> Convert(StatusOr<std::unique_ptr<Derived>> from) {
  return from;
}

TEST(StatusOr, ValuesAndErrors) {
  StatusOr<std::string> value = "text";
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value.status(), OkStatus());
  EXPECT_EQ(*value, "text");
  EXPECT_EQ(value->size(), 4);
  EXPECT_EQ(std::move(value).value(), "text");
  const StatusOr<std::string> error = NotFoundError("x");
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.status(), NotFoundError("x"));
  EXPECT_EQ(error.value_or("other"), "other");
  EXPECT_EQ(StatusOr<int>(3).value_or(4), 3);
  EXPECT_EQ(StatusOr<int>().status().code(), StatusCode::kUnknown);
  StatusOr<int> assigned = NotFoundError("x");
  assigned = 7;
  EXPECT_EQ(*assigned, 7);
  assigned = InternalError("y");
  EXPECT_EQ(assigned.status(), InternalError("y"));
  EXPECT_DEATH(static_cast<void>(error.value()), "");
}

TEST(StatusOr, Converts) {
  EXPECT_TRUE(Convert(std::make_unique<Derived>()).ok());
  EXPECT_EQ(Convert(NotFoundError("x")).status(), NotFoundError("x"));
  // A value that is itself empty.
  const StatusOr<std::optional<int>> nothing = std::nullopt;
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
  const StatusOr<std::optional<int>> three = 3;
  ASSERT_TRUE(three.ok());
  EXPECT_EQ(**three, 3);
}

}  // namespace
}  // namespace absl
