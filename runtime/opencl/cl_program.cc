#include "runtime/opencl/cl_program.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "runtime/opencl/build_log.h"
#include "runtime/opencl/cl_kernel.h"
#include "runtime/opencl/driver_cache.h"
#include "runtime/opencl/ptx_repair.h"

namespace tg::runtime {
namespace {

constexpr int kKeyFormat = 4;

std::string BuildLog(const OpenClContext& context, cl_program program) {
  size_t size = 0;
  const cl_device_id device = context.id();
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

// A compiler may fail in one of its optimizations: then its log names no place in the source, and
// the source is compiled again without them.
constexpr std::string_view kUnoptimized = "-cl-opt-disable";

absl::StatusOr<ClProgram> BuildFromSource(const OpenClContext& context, const std::string& source,
                                          const std::string& options) {
  cl_int code = CL_SUCCESS;
  const char* text = source.data();
  const size_t size = source.size();
  const cl_device_id device = context.id();
  ClProgram program(clCreateProgramWithSource(context.context(), 1, &text, &size, &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateProgramWithSource", context.name()));
  const auto build = [&](const std::string& with) {
    return clBuildProgram(program.get(), 1, &device, with.c_str(), nullptr, nullptr);
  };
  code = build(options);
  if (code == CL_SUCCESS) return program;
  const std::string log = BuildLog(context, program.get());
  if (code == CL_BUILD_PROGRAM_FAILURE && !NamesPlace(log) &&
      build(Cat(options, " ", kUnoptimized)) == CL_SUCCESS) {
    return program;
  }
  const std::string message =
      Cat("cannot compile for ", context.name(), " (", ClErrorName(code),
          options.empty() ? "" : Cat(", options \"", options, "\""),
          "): ", DescribeBuildLog(log, source), DriverCacheFault(context.info()));
  return IsOutOfMemory(code) ? absl::ResourceExhaustedError(message)
                             : absl::InvalidArgumentError(message);
}

// Returns an unset program if the driver rejects the binary.
ClProgram BuildFromBinary(const OpenClContext& context, const std::string& binary,
                          const std::string& options) {
  cl_int code = CL_SUCCESS, status = CL_SUCCESS;
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  const cl_device_id device = context.id();
  ClProgram program(
      clCreateProgramWithBinary(context.context(), 1, &device, &size, &bytes, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS) return ClProgram();
  code = clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  return code == CL_SUCCESS ? std::move(program) : ClProgram();
}

// Whether the source leaves a * b + c to the compiler to round once.
bool MayContract(std::string_view source) {
  return source.find("#pragma OPENCL FP_CONTRACT OFF") == std::string_view::npos;
}

// Returns an empty text if the driver provides no binary.
std::string Binary(cl_program program) {
  size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
      CL_SUCCESS) {
    return "";
  }
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
    return "";
  }
  return binary;
}

}  // namespace

absl::StatusOr<ClKernel> OpenClProgram::CreateKernel(const std::string& name) const {
  cl_int code = CL_SUCCESS;
  ClKernel kernel(clCreateKernel(program_.get(), name.c_str(), &code));
  if (code == CL_INVALID_KERNEL_NAME) {
    TG_ASSIGN_OR_RETURN(const std::vector<std::string> names, KernelNames());
    std::string list;
    for (const std::string& known : names) list += Cat(list.empty() ? "" : ", ", known);
    // PoCL treats an empty file in its cache as a program without kernels.
    if (list.empty()) list = Cat("none", DriverCacheHint(context()->info()));
    return NotFound("no kernel '", name, "' in the program for ", context()->name(), "; it has ",
                    list);
  }
  TG_RETURN_IF_ERROR(ClStatus(code, Cat("clCreateKernel of '", name, "'"), context()->name()));
  return kernel;
}

absl::StatusOr<std::unique_ptr<KernelObject>> OpenClProgram::NewKernel(
    const std::string& name, const std::string& label) const {
  TG_ASSIGN_OR_RETURN(ClKernel kernel, CreateKernel(name));
  return NewClKernel(cl(), std::move(kernel), label);
}

absl::StatusOr<std::vector<std::string>> OpenClProgram::KernelNames() const {
  size_t size = 0;
  TG_CL_CALL(context()->name(), clGetProgramInfo, program_.get(), CL_PROGRAM_KERNEL_NAMES, 0,
             nullptr, &size);
  std::string text(size, '\0');
  TG_CL_CALL(context()->name(), clGetProgramInfo, program_.get(), CL_PROGRAM_KERNEL_NAMES, size,
             text.data(), nullptr);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ';');) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string ProgramKey(const DeviceInfo& device, std::string_view source,
                       std::string_view options) {
  // Each field is on a separate line. Only the source may contain line breaks, and it is last, so
  // that no field can imitate another.
  std::string key = Cat("tg program ", kKeyFormat, "\n");
  for (const std::string_view field :
       {std::string_view(device.platform), std::string_view(device.platform_version),
        std::string_view(device.vendor), std::string_view(device.name),
        std::string_view(device.device_version), std::string_view(device.driver_version),
        options}) {
    for (const char c : field) key += c == '\n' ? ' ' : c;
    key += '\n';
  }
  return Cat(key, source);
}

absl::StatusOr<std::shared_ptr<const OpenClProgram>> BuildProgram(
    std::shared_ptr<OpenClContext> context, const std::string& source, const std::string& options,
    DiskCache* cache, const std::string& binary) {
  if (!binary.empty()) {
    if (ClProgram program = BuildFromBinary(*context, binary, options)) {
      return std::make_shared<const OpenClProgram>(std::move(context), std::move(program), true);
    }
  }
  std::string key;
  if (cache != nullptr) {
    key = ProgramKey(context->info(), source, options);
    if (const auto cached = cache->Load(key); cached.has_value()) {
      if (ClProgram program = BuildFromBinary(*context, *cached, options)) {
        return std::make_shared<const OpenClProgram>(std::move(context), std::move(program), true);
      }
      cache->Remove(key);
    }
  }
  TG_ASSIGN_OR_RETURN(ClProgram program, BuildFromSource(*context, source, options));
  if (context->info().is_nvidia) {
    if (const auto repaired = RepairPtx(Binary(program.get()), MayContract(source));
        repaired.has_value()) {
      program = BuildFromBinary(*context, *repaired, options);
      if (!program) {
        return absl::InternalError(
            Cat(context->name(), " refuses its own PTX, rewritten where ptxas is wrong"));
      }
    }
  }
  if (cache != nullptr) {
    const std::string made = Binary(program.get());
    if (!made.empty()) cache->Store(key, made);
  }
  return std::make_shared<const OpenClProgram>(std::move(context), std::move(program), false);
}

std::string BinaryOf(const OpenClProgram& program) { return Binary(program.program()); }

bool CachingPays(const DeviceInfo& device) { return !device.is_pocl; }

}  // namespace tg::runtime
