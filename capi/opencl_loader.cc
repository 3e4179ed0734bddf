// OpenCL's functions for libtg.so: they call those of libOpenCL.so.1, which is opened at the first
// call. So the library and Python's package load on a machine without OpenCL, where there are no
// devices of OpenCL. What the runtime calls and is not here fails to link.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>

#include "base/check.h"

namespace tg::capi {
namespace {

// As OpenCL's loader says that there is no platform: CL_PLATFORM_NOT_FOUND_KHR of cl_icd.h.
constexpr cl_int kNoPlatform = -1001;

void* OpenClLibrary() {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}

// All of these follow a call of clGetPlatformIDs that has found a platform.
void* OpenClFunction(const char* name) {
  void* function = OpenClLibrary() == nullptr ? nullptr : dlsym(OpenClLibrary(), name);
  TG_CHECK(function != nullptr);
  return function;
}

}  // namespace
}  // namespace tg::capi

#define TG_OPENCL(name, params, ...)                                        \
  extern "C" auto name params->decltype(name(__VA_ARGS__)) {                \
    static const auto function =                                            \
        reinterpret_cast<decltype(&name)>(tg::capi::OpenClFunction(#name)); \
    return function(__VA_ARGS__);                                           \
  }

extern "C" cl_int clGetPlatformIDs(cl_uint a, cl_platform_id* b, cl_uint* c) {
  void* const library = tg::capi::OpenClLibrary();
  if (library == nullptr) return tg::capi::kNoPlatform;
  const auto function =
      reinterpret_cast<decltype(&clGetPlatformIDs)>(dlsym(library, "clGetPlatformIDs"));
  return function == nullptr ? tg::capi::kNoPlatform : function(a, b, c);
}

TG_OPENCL(clBuildProgram,
          (cl_program a, cl_uint b, const cl_device_id* c, const char* d,
           void(CL_CALLBACK* e)(cl_program, void*), void* f),
          a, b, c, d, e, f)
TG_OPENCL(clCreateBuffer, (cl_context a, cl_mem_flags b, size_t c, void* d, cl_int* e), a, b, c, d,
          e)
TG_OPENCL(clCreateCommandQueue,
          (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int* d), a, b, c, d)
TG_OPENCL(clCreateContext,
          (const cl_context_properties* a, cl_uint b, const cl_device_id* c,
           void(CL_CALLBACK* d)(const char*, const void*, size_t, void*), void* e, cl_int* f),
          a, b, c, d, e, f)
TG_OPENCL(clCreateKernel, (cl_program a, const char* b, cl_int* c), a, b, c)
TG_OPENCL(clCreateProgramWithBinary,
          (cl_context a, cl_uint b, const cl_device_id* c, const size_t* d, const unsigned char** e,
           cl_int* f, cl_int* g),
          a, b, c, d, e, f, g)
TG_OPENCL(clCreateProgramWithSource,
          (cl_context a, cl_uint b, const char** c, const size_t* d, cl_int* e), a, b, c, d, e)
TG_OPENCL(clCreateSubBuffer,
          (cl_mem a, cl_mem_flags b, cl_buffer_create_type c, const void* d, cl_int* e), a, b, c, d,
          e)
TG_OPENCL(clCreateUserEvent, (cl_context a, cl_int* b), a, b)
TG_OPENCL(clEnqueueBarrierWithWaitList,
          (cl_command_queue a, cl_uint b, const cl_event* c, cl_event* d), a, b, c, d)
TG_OPENCL(clEnqueueCopyBuffer,
          (cl_command_queue a, cl_mem b, cl_mem c, size_t d, size_t e, size_t f, cl_uint g,
           const cl_event* h, cl_event* i),
          a, b, c, d, e, f, g, h, i)
TG_OPENCL(clEnqueueFillBuffer,
          (cl_command_queue a, cl_mem b, const void* c, size_t d, size_t e, size_t f, cl_uint g,
           const cl_event* h, cl_event* i),
          a, b, c, d, e, f, g, h, i)
TG_OPENCL(clEnqueueMapBuffer,
          (cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d, size_t e, size_t f, cl_uint g,
           const cl_event* h, cl_event* i, cl_int* j),
          a, b, c, d, e, f, g, h, i, j)
TG_OPENCL(clEnqueueMarkerWithWaitList,
          (cl_command_queue a, cl_uint b, const cl_event* c, cl_event* d), a, b, c, d)
TG_OPENCL(clEnqueueNDRangeKernel,
          (cl_command_queue a, cl_kernel b, cl_uint c, const size_t* d, const size_t* e,
           const size_t* f, cl_uint g, const cl_event* h, cl_event* i),
          a, b, c, d, e, f, g, h, i)
TG_OPENCL(clEnqueueReadBuffer,
          (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, void* f, cl_uint g,
           const cl_event* h, cl_event* i),
          a, b, c, d, e, f, g, h, i)
TG_OPENCL(clEnqueueUnmapMemObject,
          (cl_command_queue a, cl_mem b, void* c, cl_uint d, const cl_event* e, cl_event* f), a, b,
          c, d, e, f)
TG_OPENCL(clEnqueueWriteBuffer,
          (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, const void* f, cl_uint g,
           const cl_event* h, cl_event* i),
          a, b, c, d, e, f, g, h, i)
TG_OPENCL(clFinish, (cl_command_queue a), a)
TG_OPENCL(clFlush, (cl_command_queue a), a)
TG_OPENCL(clGetCommandQueueInfo,
          (cl_command_queue a, cl_command_queue_info b, size_t c, void* d, size_t* e), a, b, c, d,
          e)
TG_OPENCL(clGetContextInfo, (cl_context a, cl_context_info b, size_t c, void* d, size_t* e), a, b,
          c, d, e)
TG_OPENCL(clGetDeviceIDs,
          (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id* d, cl_uint* e), a, b, c, d,
          e)
TG_OPENCL(clGetDeviceInfo, (cl_device_id a, cl_device_info b, size_t c, void* d, size_t* e), a, b,
          c, d, e)
TG_OPENCL(clGetEventProfilingInfo, (cl_event a, cl_profiling_info b, size_t c, void* d, size_t* e),
          a, b, c, d, e)
TG_OPENCL(clGetKernelInfo, (cl_kernel a, cl_kernel_info b, size_t c, void* d, size_t* e), a, b, c,
          d, e)
TG_OPENCL(clGetKernelWorkGroupInfo,
          (cl_kernel a, cl_device_id b, cl_kernel_work_group_info c, size_t d, void* e, size_t* f),
          a, b, c, d, e, f)
TG_OPENCL(clGetMemObjectInfo, (cl_mem a, cl_mem_info b, size_t c, void* d, size_t* e), a, b, c, d,
          e)
TG_OPENCL(clGetPlatformInfo, (cl_platform_id a, cl_platform_info b, size_t c, void* d, size_t* e),
          a, b, c, d, e)
TG_OPENCL(clGetProgramBuildInfo,
          (cl_program a, cl_device_id b, cl_program_build_info c, size_t d, void* e, size_t* f), a,
          b, c, d, e, f)
TG_OPENCL(clGetProgramInfo, (cl_program a, cl_program_info b, size_t c, void* d, size_t* e), a, b,
          c, d, e)
TG_OPENCL(clReleaseCommandQueue, (cl_command_queue a), a)
TG_OPENCL(clReleaseContext, (cl_context a), a)
TG_OPENCL(clReleaseEvent, (cl_event a), a)
TG_OPENCL(clReleaseKernel, (cl_kernel a), a)
TG_OPENCL(clReleaseMemObject, (cl_mem a), a)
TG_OPENCL(clReleaseProgram, (cl_program a), a)
TG_OPENCL(clRetainCommandQueue, (cl_command_queue a), a)
TG_OPENCL(clRetainContext, (cl_context a), a)
TG_OPENCL(clRetainMemObject, (cl_mem a), a)
TG_OPENCL(clRetainEvent, (cl_event a), a)
TG_OPENCL(clSetEventCallback,
          (cl_event a, cl_int b, void(CL_CALLBACK* c)(cl_event, cl_int, void*), void* d), a, b, c,
          d)
TG_OPENCL(clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void* d), a, b, c, d)
TG_OPENCL(clSetUserEventStatus, (cl_event a, cl_int b), a, b)
TG_OPENCL(clWaitForEvents, (cl_uint a, const cl_event* b), a, b)
