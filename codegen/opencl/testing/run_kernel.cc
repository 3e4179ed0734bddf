#include "codegen/opencl/testing/run_kernel.h"

#include <CL/cl.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/opencl/ptx_repair.h"

namespace tg::opencl {
namespace {

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

const Device& TheDevice() {
  static const Device device = [] {
    Device d;
    // Concurrent runs must not share PoCL's cache of compiled kernels.
    if (const char* tmp = getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", tmp, 0);
    const char* wish = getenv("TG_TEST_DEVICE");
    const cl_device_type type =
        wish && std::string_view(wish) == "gpu" ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU;
    cl_platform_id platforms[16];
    cl_uint n = 0;
    if (clGetPlatformIDs(16, platforms, &n) != CL_SUCCESS) return d;
    for (cl_uint i = 0; i < n && i < 16 && !d.id; ++i) {
      if (clGetDeviceIDs(platforms[i], type, 1, &d.id, nullptr) != CL_SUCCESS) d.id = nullptr;
    }
    if (!d.id) return d;
    d.context = clCreateContext(nullptr, 1, &d.id, nullptr, nullptr, nullptr);
    d.queue = clCreateCommandQueueWithProperties(d.context, d.id, nullptr, nullptr);
    return d;
  }();
  return device;
}

// Creates the memory of a buffer: packed elements, or an image of four channels.
cl_mem MakeMemory(const Device& d, const interpret::HostBuffer& buffer,
                  std::vector<uint8_t>& bytes) {
  bytes = interpret::BufferToBytes(buffer);
  cl_int error = CL_SUCCESS;
  if (!buffer.dtype.is_image()) {
    return clCreateBuffer(d.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          bytes.empty() ? 1 : bytes.size(), bytes.data(), &error);
  }
  const cl_image_format format = {
      CL_RGBA, static_cast<cl_channel_type>(buffer.dtype.scalar() == Scalar::kF16 ? CL_HALF_FLOAT
                                                                                  : CL_FLOAT)};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = static_cast<size_t>(buffer.dtype.width());
  desc.image_height = static_cast<size_t>(buffer.dtype.height());
  return clCreateImage(d.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc,
                       bytes.data(), &error);
}

// The program as the runtime builds it on NVIDIA's devices, whose binaries are PTX.
cl_program Rewritten(const Device& d, cl_program program, const char* options, cl_int& error) {
  size_t size = 0;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
  std::string binary(size, '\0');
  char* out = binary.data();
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof out, &out, nullptr);
  const std::optional<std::string> text = runtime::RepairPtx(binary, /*may_contract=*/true);
  if (!text) return program;
  clReleaseProgram(program);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text->data());
  size = text->size();
  program = clCreateProgramWithBinary(d.context, 1, &d.id, &size, &bytes, nullptr, &error);
  if (error == CL_SUCCESS) error = clBuildProgram(program, 1, &d.id, options, nullptr, nullptr);
  return program;
}

absl::Status Check(cl_int error, std::string_view what) {
  if (error == CL_SUCCESS) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(std::string(what), " failed with ", error));
}

}  // namespace

bool HaveDevice() { return TheDevice().id != nullptr; }

absl::Status RunOnDevice(const std::string& source, const codegen::RenderedKernel& kernel,
                         std::span<interpret::HostBuffer> buffers,
                         const interpret::VarValues& vars) {
  const Device& d = TheDevice();
  const char* text = source.c_str();
  cl_int error = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(d.context, 1, &text, nullptr, &error);
  // Requests correctly rounded division and square root if the device has them.
  cl_device_fp_config config = 0;
  clGetDeviceInfo(d.id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, nullptr);
  const char* options =
      config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
  if (error == CL_SUCCESS) error = clBuildProgram(program, 1, &d.id, options, nullptr, nullptr);
  if (error == CL_SUCCESS) program = Rewritten(d, program, options, error);
  std::string log(1 << 16, '\0');
  size_t size = 0;
  clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &size);
  log.resize(std::min(size, log.size()));
  // A warning fails the test: a construct that compilers warn about also misleads readers.
  if (error != CL_SUCCESS || log.find("warning:") != std::string::npos) {
    return absl::InternalError(absl::StrCat("build gave ", error, ":\n", log, "\n", source));
  }
  cl_kernel function = clCreateKernel(program, kernel.name.c_str(), &error);
  absl::Status status = Check(error, "clCreateKernel");
  std::vector<cl_mem> memories(buffers.size());
  std::vector<std::vector<uint8_t>> bytes(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) memories[i] = MakeMemory(d, buffers[i], bytes[i]);
  auto value = [&](std::string_view name) {
    const auto it = vars.find(name);
    return it == vars.end() ? int64_t{0} : it->second;
  };
  for (size_t i = 0; status.ok() && i < kernel.params.size(); ++i) {
    const codegen::KernelParam& p = kernel.params[i];
    const auto at = static_cast<cl_uint>(i);
    if (!p.is_var) {
      error = clSetKernelArg(function, at, sizeof(cl_mem), &memories[static_cast<size_t>(p.slot)]);
    } else if (p.dtype == kI64) {
      const cl_long v = value(p.name);
      error = clSetKernelArg(function, at, sizeof v, &v);
    } else {
      const auto v = static_cast<cl_int>(value(p.name));
      error = clSetKernelArg(function, at, sizeof v, &v);
    }
    status = Check(error, absl::StrCat("clSetKernelArg ", i));
  }
  size_t local[3], global[3];
  for (int i = 0; i < 3; ++i) {
    local[i] = static_cast<size_t>(kernel.local[i]);
    global[i] = local[i] * static_cast<size_t>(kernel.groups[i].Evaluate(value));
  }
  if (status.ok()) {
    status = Check(
        clEnqueueNDRangeKernel(d.queue, function, 3, nullptr, global, local, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  }
  if (status.ok()) status = Check(clFinish(d.queue), "clFinish");
  for (const codegen::KernelParam& p : kernel.params) {
    if (!status.ok() || !p.writes) continue;
    interpret::HostBuffer& b = buffers[static_cast<size_t>(p.slot)];
    auto& raw = bytes[static_cast<size_t>(p.slot)];
    cl_mem memory = memories[static_cast<size_t>(p.slot)];
    if (b.dtype.is_image()) {
      const size_t origin[3] = {0, 0, 0};
      const size_t region[3] = {static_cast<size_t>(b.dtype.width()),
                                static_cast<size_t>(b.dtype.height()), 1};
      error = clEnqueueReadImage(d.queue, memory, CL_TRUE, origin, region, 0, 0, raw.data(), 0,
                                 nullptr, nullptr);
    } else {
      error = clEnqueueReadBuffer(d.queue, memory, CL_TRUE, 0, raw.size(), raw.data(), 0, nullptr,
                                  nullptr);
    }
    status = Check(error, "reading back");
    b = interpret::BufferFromBytes(b.dtype, b.shape, raw.data());
  }
  for (cl_mem m : memories) {
    if (m) clReleaseMemObject(m);
  }
  if (function) clReleaseKernel(function);
  clReleaseProgram(program);
  return status;
}

}  // namespace tg::opencl
