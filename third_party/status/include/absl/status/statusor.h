// The part of Abseil's StatusOr that tg uses: status.h.
#ifndef TG_THIRD_PARTY_STATUS_INCLUDE_ABSL_STATUS_STATUSOR_H_
#define TG_THIRD_PARTY_STATUS_INCLUDE_ABSL_STATUS_STATUSOR_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"

namespace absl {

template <typename T>
class StatusOr;

namespace status_internal {

template <typename T>
inline constexpr bool kIsStatus = std::is_same_v<T, Status>;
template <typename T>
inline constexpr bool kIsStatus<StatusOr<T>> = true;

// What becomes the value of a StatusOr<T>.
template <typename U, typename T>
concept Value = !kIsStatus<std::remove_cvref_t<U>> && std::is_constructible_v<T, U>;

// `status` of a StatusOr without a value; one that is OK is an error of the program.
Status CheckedError(Status status);
[[noreturn]] void NoValue(const Status& status);

}  // namespace status_internal

// A value, or the status that says why there is none.
template <typename T>
class [[nodiscard]] StatusOr {
 public:
  using value_type = T;

  StatusOr() : status_(UnknownError("")) {}
  StatusOr(Status status) : status_(status_internal::CheckedError(std::move(status))) {}  // NOLINT
  template <status_internal::Value<T> U = T>
  explicit(!std::is_convertible_v<U, T>) StatusOr(U&& value)
      : value_(std::in_place, std::forward<U>(value)) {}
  template <typename U>
  requires(!std::is_same_v<T, U> && std::is_constructible_v<T, U&&>)
      StatusOr(StatusOr<U>&& other) {  // NOLINT
    if (other.ok()) {
      value_.emplace(*std::move(other));
    } else {
      status_ = std::move(other).status();
    }
  }
  template <typename U>
  requires(!std::is_same_v<T, U> && std::is_constructible_v<T, const U&>)
      StatusOr(const StatusOr<U>& other)  // NOLINT
      : StatusOr(StatusOr<U>(other)) {}
  StatusOr(const StatusOr&) = default;
  StatusOr(StatusOr&&) = default;
  StatusOr& operator=(const StatusOr&) = default;
  StatusOr& operator=(StatusOr&&) = default;

  bool ok() const { return status_.ok(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  // Ends the process without a value.
  const T& value() const& { return *Checked(); }
  T& value() & { return *Checked(); }
  T&& value() && { return std::move(*Checked()); }
  const T& operator*() const& { return *value_; }
  T& operator*() & { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  const T* operator->() const { return &*value_; }
  T* operator->() { return &*value_; }
  template <typename U>
  T value_or(U&& other) const& {
    return ok() ? *value_ : static_cast<T>(std::forward<U>(other));
  }
  template <typename U>
  T value_or(U&& other) && {
    return ok() ? *std::move(value_) : static_cast<T>(std::forward<U>(other));
  }

 private:
  const std::optional<T>& Checked() const {
    if (!ok()) status_internal::NoValue(status_);
    return value_;
  }
  std::optional<T>& Checked() {
    if (!ok()) status_internal::NoValue(status_);
    return value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace absl

#endif  // TG_THIRD_PARTY_STATUS_INCLUDE_ABSL_STATUS_STATUSOR_H_
