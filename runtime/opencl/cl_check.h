// Converts OpenCL's error codes to absl::Status, and owns its objects.
#ifndef TG_RUNTIME_OPENCL_CL_CHECK_H_
#define TG_RUNTIME_OPENCL_CL_CHECK_H_

#include <CL/cl.h>

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"

namespace tg::runtime {

// Returns "CL_OUT_OF_RESOURCES"; "unknown OpenCL error" for a code that is not in the table.
std::string_view ClErrorName(cl_int code);

// Returns Ok for CL_SUCCESS; else an error like "clFinish failed on `device`: CL_OUT_OF_RESOURCES
// (-5)". The code is ResourceExhausted if memory or resources ran out, Internal otherwise.
absl::Status ClStatus(cl_int code, std::string_view call, std::string_view device);

// Returns whether a failed allocation may succeed after other memory is released.
bool IsOutOfMemory(cl_int code);

// Returns from the enclosing function if the call fails: TG_CL_CALL(device, clFinish, queue).
#define TG_CL_CALL(device, function, ...) \
  TG_RETURN_IF_ERROR(::tg::runtime::ClStatus(function(__VA_ARGS__), #function, device))

// Owns one reference to an OpenCL object.
template <typename T, cl_int (*kRelease)(T)>
class ClOwner {
 public:
  ClOwner() = default;
  explicit ClOwner(T object) : object_(object) {}
  ClOwner(ClOwner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ClOwner& operator=(ClOwner&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ClOwner() { Reset(); }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void Reset() {
    if (object_ != nullptr) kRelease(std::exchange(object_, nullptr));
  }
  // For calls that return the object through a pointer. Releases the object that was owned before.
  T* Receive() {
    Reset();
    return &object_;
  }

 private:
  T object_ = nullptr;
};

using ClContext = ClOwner<cl_context, clReleaseContext>;
using ClQueue = ClOwner<cl_command_queue, clReleaseCommandQueue>;
using ClMem = ClOwner<cl_mem, clReleaseMemObject>;
using ClProgram = ClOwner<cl_program, clReleaseProgram>;
using ClKernel = ClOwner<cl_kernel, clReleaseKernel>;
using ClEvent = ClOwner<cl_event, clReleaseEvent>;

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_CL_CHECK_H_
