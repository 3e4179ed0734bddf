#include "runtime/opencl/cl_check.h"

#include <array>
#include <string>

namespace tg::runtime {
namespace {

struct ErrorRow {
  cl_int code;
  std::string_view name;
};

#define TG_ROW(name) \
  ErrorRow { name, #name }
constexpr std::array kErrors = {
    TG_ROW(CL_DEVICE_NOT_FOUND),
    TG_ROW(CL_DEVICE_NOT_AVAILABLE),
    TG_ROW(CL_COMPILER_NOT_AVAILABLE),
    TG_ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    TG_ROW(CL_OUT_OF_RESOURCES),
    TG_ROW(CL_OUT_OF_HOST_MEMORY),
    TG_ROW(CL_PROFILING_INFO_NOT_AVAILABLE),
    TG_ROW(CL_MEM_COPY_OVERLAP),
    TG_ROW(CL_IMAGE_FORMAT_MISMATCH),
    TG_ROW(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    TG_ROW(CL_BUILD_PROGRAM_FAILURE),
    TG_ROW(CL_MAP_FAILURE),
    TG_ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    TG_ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    TG_ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    TG_ROW(CL_INVALID_VALUE),
    TG_ROW(CL_INVALID_DEVICE_TYPE),
    TG_ROW(CL_INVALID_PLATFORM),
    TG_ROW(CL_INVALID_DEVICE),
    TG_ROW(CL_INVALID_CONTEXT),
    TG_ROW(CL_INVALID_QUEUE_PROPERTIES),
    TG_ROW(CL_INVALID_COMMAND_QUEUE),
    TG_ROW(CL_INVALID_HOST_PTR),
    TG_ROW(CL_INVALID_MEM_OBJECT),
    TG_ROW(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    TG_ROW(CL_INVALID_IMAGE_SIZE),
    TG_ROW(CL_INVALID_SAMPLER),
    TG_ROW(CL_INVALID_BINARY),
    TG_ROW(CL_INVALID_BUILD_OPTIONS),
    TG_ROW(CL_INVALID_PROGRAM),
    TG_ROW(CL_INVALID_PROGRAM_EXECUTABLE),
    TG_ROW(CL_INVALID_KERNEL_NAME),
    TG_ROW(CL_INVALID_KERNEL_DEFINITION),
    TG_ROW(CL_INVALID_KERNEL),
    TG_ROW(CL_INVALID_ARG_INDEX),
    TG_ROW(CL_INVALID_ARG_VALUE),
    TG_ROW(CL_INVALID_ARG_SIZE),
    TG_ROW(CL_INVALID_KERNEL_ARGS),
    TG_ROW(CL_INVALID_WORK_DIMENSION),
    TG_ROW(CL_INVALID_WORK_GROUP_SIZE),
    TG_ROW(CL_INVALID_WORK_ITEM_SIZE),
    TG_ROW(CL_INVALID_GLOBAL_OFFSET),
    TG_ROW(CL_INVALID_EVENT_WAIT_LIST),
    TG_ROW(CL_INVALID_EVENT),
    TG_ROW(CL_INVALID_OPERATION),
    TG_ROW(CL_INVALID_BUFFER_SIZE),
    TG_ROW(CL_INVALID_GLOBAL_WORK_SIZE),
    TG_ROW(CL_INVALID_PROPERTY),
    TG_ROW(CL_INVALID_IMAGE_DESCRIPTOR),
    TG_ROW(CL_INVALID_COMPILER_OPTIONS),
    ErrorRow{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};
#undef TG_ROW

}  // namespace

std::string_view ClErrorName(cl_int code) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return row.name;
  }
  return "unknown OpenCL error";
}

bool IsOutOfMemory(cl_int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
         code == CL_OUT_OF_HOST_MEMORY;
}

absl::Status ClStatus(cl_int code, std::string_view call, std::string_view device) {
  if (code == CL_SUCCESS) return absl::OkStatus();
  const std::string message =
      Cat(call, " failed on ", device, ": ", ClErrorName(code), " (", code, ")");
  return IsOutOfMemory(code) ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

}  // namespace tg::runtime
